"""Where signatures are checked: short runs in the calling thread, long ones in other processes.

libsodium lets go of the interpreter's lock for the 40 µs of one signature, and the thread must
then win it back from whoever computes. Beside a busy event loop that costs it half of its time:
two threads did 0.4 of what they do alone. A process has a lock of its own, and a signature costs
the way there and back only 129 bytes of a pipe. A node that never gets long runs never starts one.
"""

import os
import select
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Final, NamedTuple

from federation.core import PublicKey, RecordId, Signature
from federation.crypto import is_signed_by
from federation.records import signing_payload
from node.base.clock import Clock, SteadyClock
from node.runtime import children
from node.runtime.checker import COUNT
from node.runtime.children import Process
from node.telemetry import log

LONG: Final = 32
"""Signatures from which on a run goes to a process."""
PATIENCE: Final = 10.0
"""Seconds until a process that does not answer is given up."""
MOST_FAILURES: Final = 8
"""After so many processes that could not be started or ended early, threads must do."""

_MS: Final = 1_000
_PROGRAM: Final = Path(__file__).with_name("checker.py")


class Asked(NamedTuple):
    """A question: whether this key signed this record."""

    key: PublicKey
    record: RecordId
    signature: Signature


def is_right(asked: Asked) -> bool:
    """Answer one question here and now."""
    return is_signed_by(asked.key, signing_payload(asked.record), asked.signature)


class Checkers:
    """A few processes, each started when it is first needed; for use from several threads."""

    def __init__(self, most: int, *, patience: float = PATIENCE) -> None:
        """Start none; at most `most` will run, and as many threads need not wait for each other.

        One that takes longer than `patience` seconds for a run is given up.
        """
        self._patience = int(patience * _MS)
        self._clock = SteadyClock(None)
        self.failures = 0
        """Processes that could not be started, or ended before they were told to."""
        self._counting = threading.Lock()
        # Places to work at: each holds the process that was started for it, if it is still there.
        self._places: SimpleQueue[Process | None] = SimpleQueue()
        self._running: list[Process] = []
        for _ in range(most):
            self._places.put(None)
        # Also without `close` no process outlives this object.
        self._end = weakref.finalize(self, _end_all, self._running)

    def check(self, run: Sequence[Asked]) -> list[bool]:
        """Answer a run of questions, in order; blocks the calling thread meanwhile."""
        if len(run) < LONG or self.failures >= MOST_FAILURES or not self._end.alive:
            return [is_right(one) for one in run]
        process = self._places.get()
        try:
            if process is None:
                process = self._start()
            return _ask(process, run, self._clock, self._patience)
        except (OSError, EOFError, ValueError):
            # It was killed, is stuck, was closed, or cannot be started. The answers come from
            # here, and the next run tries a new one.
            self._failed()
            if process is not None:
                self._running.remove(process)
                children.end(process)
            process = None
            return [is_right(one) for one in run]
        finally:
            self._places.put(process)

    def _failed(self) -> None:
        with self._counting:
            self.failures += 1
            given_up = self.failures == MOST_FAILURES
        if given_up:
            log.warning("checkers.given_up", failures=MOST_FAILURES)

    def close(self) -> None:
        """End all processes, for good and at once; call it when no thread checks any more."""
        self._end()

    @property
    def pids(self) -> tuple[int, ...]:
        """Name the processes that run."""
        return tuple(process.pid for process in self._running)

    def _start(self) -> Process:
        process = children.start(_PROGRAM)
        self._running.append(process)
        return process


def _ask(process: Process, run: Sequence[Asked], clock: Clock, patience: int) -> list[bool]:
    """Put a run to a process; EOFError if it ends, or has not answered all of it in time."""
    source, target = children.pipes(process)
    question = memoryview(len(run).to_bytes(COUNT, "big") + b"".join(map(b"".join, run)))
    answers = b""
    # Not `select`, which takes no descriptor from 1,024 on.
    pipes = select.poll()
    pipes.register(source, select.POLLIN)
    pipes.register(target, select.POLLOUT)
    # A process that somebody stopped, at whatever moment, must not keep this one from stopping.
    until = clock.now() + patience
    while len(answers) < len(run):
        ready = dict(pipes.poll(max(0, until - clock.now())))
        if not ready:
            raise EOFError
        if target in ready:
            # So much a pipe takes without blocking once it says that it takes something.
            question = question[os.write(target, question[: select.PIPE_BUF]) :]
            if not question:
                pipes.unregister(target)
        if source in ready:
            piece = os.read(source, len(run) - len(answers))
            if not piece:
                raise EOFError
            answers += piece
    return [answer == 1 for answer in answers]


def _end_all(processes: list[Process]) -> None:
    for process in processes:
        process.kill()
    while processes:
        children.end(processes.pop())
