"""Computes trust beside the core: the effect `Reckon` becomes the input `Reckoned`.

The core computes trust over a small graph itself, which takes a moment. A large one goes to a
process of its own, because the computation must hold up neither the event loop nor the
interpreter's lock. The process is started when it is first needed and ended when it has had
nothing to do for a while, so a small node never pays for one.

**The answer always comes**, because the next cut waits for it. A process that dies, hangs or says
what cannot be right is replaced once; then a thread computes with the reference, which is slow and
gives the same bits.
"""

import fcntl
import os
import select
import struct
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

import trio

from federation.core import ParameterError
from federation.protocol import effects as fx
from federation.protocol.inputs import Reckoned
from federation.trust import eigentrust
from federation.trust.eigentrust import Problem
from node.base.clock import SteadyClock
from node.runtime import children
from node.runtime.children import Process
from node.runtime.inbox import Inbox, Urgency
from node.runtime.reckoner import ANSWER, TRUST, pieces
from node.telemetry import log

INLINE_EDGES: Final = 256
"""Edges up to which the core computes trust itself, in a few milliseconds."""
INLINE_NODES: Final = 1_024
"""Nodes up to which it does: seeds without an edge cost time, too."""
ATTEMPTS: Final = 2
"""Processes that are tried with one problem."""
IDLE_S: Final = 60.0
"""Seconds without a problem after which the process is ended."""
PATIENCE_S: Final = 60.0
"""Seconds until a process that does not answer is given up, for a small problem."""
PATIENCE_EDGE_US: Final = 20
"""What each edge adds to that; a busy machine takes about one."""

_MS: Final = 1_000
_PIECE: Final = 2**20
"""Bytes that are written or read at once; pipes are made so large where the system lets them."""
_PROGRAM: Final = Path(__file__).with_name("reckoner.py")
_SURROUNDINGS: Final = {"OPENBLAS_NUM_THREADS": "1"}
"""It computes in integers; threads for anything else would only cost memory."""


def small_only(problem: Problem) -> bytes | None:
    """Compute trust here and now if the graph is small; None if that would hold up the loop."""
    if len(problem.weights) > INLINE_EDGES or problem.nodes > INLINE_NODES:
        return None
    return eigentrust.reckon(problem)


class Reckoner:
    """A process that computes trust, started when it is needed; for one thread at a time."""

    def __init__(self, *, patience: float = PATIENCE_S) -> None:
        """Start nothing; a process has `patience` seconds for a problem without edges."""
        self._patience = int(patience * _MS)
        self.failures = 0
        """Processes that could not be started, ended early, hung, or gave a wrong answer."""
        # It guards the three below: `close` is called while a thread may be at work.
        self._lock = threading.Lock()
        self._process: Process | None = None
        self._is_closed = False
        self.is_busy = False
        """A process has a problem."""

    def answer(self, problem: Problem) -> bytes:
        """Compute trust, whatever happens to processes; blocks the calling thread meanwhile.

        Raises EOFError once `close` was called.
        """
        for _ in range(ATTEMPTS):
            try:
                trust = _ask(self._take(), problem, self._patience)
                eigentrust.unpack(problem, trust)
            except (OSError, EOFError, ValueError, struct.error, ParameterError):
                # It was killed, is stuck, does not know how to answer, or cannot be started.
                self.failures += 1
                self._give_back(is_sound=False)
            else:
                self._give_back(is_sound=True)
                return trust
        if self._is_closed:
            raise EOFError
        log.warning("reckoner.given_up", edges=len(problem.weights))
        return eigentrust.reckon(problem)

    def rest(self) -> None:
        """End the process until there is work again; call it when no thread is at work."""
        self._give_back(is_sound=False)

    def close(self) -> None:
        """End the process, for good and at once, also while a thread waits for its answer."""
        with self._lock:
            self._is_closed = True
            process = self._process
            if process is None:
                return
            if self.is_busy:
                # The thread finds that the process has ended, and closes the pipes: were they
                # closed here, it could write to what is opened next under the same number.
                children.kill(process)
            else:
                self._process = None
                children.end(process)

    @property
    def pids(self) -> tuple[int, ...]:
        """Name the process that runs, if one does."""
        process = self._process
        return () if process is None else (process.pid,)

    def _take(self) -> Process:
        with self._lock:
            if self._is_closed:
                raise EOFError
            if self._process is None:
                self._process = children.start(_PROGRAM, _SURROUNDINGS)
            self.is_busy = True
            return self._process

    def _give_back(self, *, is_sound: bool) -> None:
        with self._lock:
            self.is_busy = False
            process = self._process
            if process is not None and (self._is_closed or not is_sound):
                self._process = None
                children.end(process)


def _ask(process: Process, problem: Problem, patience: int) -> bytes:
    """Put a problem to a process; EOFError if it ends, is too slow, or says too much."""
    source, target = children.pipes(process)
    for pipe in (source, target):
        # Larger pipes mean fewer turns for the interpreter's lock; Linux has them.
        with suppress(OSError, AttributeError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIECE)
    os.set_blocking(target, False)
    question = [memoryview(piece) for piece in reversed(pieces(problem)) if piece]
    size = TRUST * problem.nodes
    answer = bytearray()
    # Not `select`, which takes no descriptor from 1,024 on.
    pipes = select.poll()
    pipes.register(source, select.POLLIN)
    pipes.register(target, select.POLLOUT)
    # A process that somebody stopped, at whatever moment, must not hold up the next cut for ever.
    clock = SteadyClock(None)
    until = clock.now() + patience + len(problem.weights) * PATIENCE_EDGE_US // _MS
    while len(answer) < ANSWER.size + size:
        ready = dict(pipes.poll(max(0, until - clock.now())))
        if not ready:
            raise EOFError
        if target in ready:
            piece = question.pop()
            if rest := piece[os.write(target, piece[:_PIECE]) :]:
                question.append(rest)
            if not question:
                pipes.unregister(target)
        if source in ready:
            part = os.read(source, min(_PIECE, ANSWER.size + size - len(answer)))
            # A process that answers before it has heard everything answers something else.
            if not part or question:
                raise EOFError
            answer += part
    if ANSWER.unpack_from(answer) != (size,):
        raise EOFError
    return bytes(memoryview(answer)[ANSWER.size :])


class Reckoning:
    """The part of a node that answers `Reckon`."""

    def __init__(self, inbox: Inbox, *, idle: float = IDLE_S, patience: float = PATIENCE_S) -> None:
        """Answer into `inbox`; the process ends after `idle` seconds without work."""
        self._inbox = inbox
        self._idle = idle
        self.reckoner = Reckoner(patience=patience)
        self._asked: fx.Reckon | None = None
        """What has no answer yet; a part that has failed begins with it again."""
        self._news = trio.Event()
        # A thread for it alone: the answer waits for nobody else's work.
        self._thread = trio.CapacityLimiter(1)

    def at_once(self, problem: Problem) -> bytes:
        """Solve a problem before `run`, while a node starts; blocks the calling thread."""
        return small_only(problem) or self.reckoner.answer(problem)

    def ask(self, effect: fx.Reckon) -> None:
        """Have a problem solved, instead of any that nobody has begun with; waits for nothing."""
        self._asked = effect
        self._news.set()

    def close(self) -> None:
        """End the process, for good; call it when `run` has ended."""
        self.reckoner.close()

    async def run(self) -> None:
        """Solve problems for ever, one at a time."""
        while True:
            effect = await self._next()
            trust = await trio.to_thread.run_sync(
                self.reckoner.answer,
                effect.problem,
                # A node that stops does not wait: `close` ends what the thread waits for.
                abandon_on_cancel=True,  # type: ignore[call-arg] # mypy loses it
                limiter=self._thread,
            )
            answer = Reckoned(cut=effect.cut, trust=trust)
            await self._inbox.put(answer, Urgency.CERTIFICATE, size=len(trust))
            if self._asked is effect:
                self._asked = None

    async def _next(self) -> fx.Reckon:
        """Give the problem to solve, waiting until there is one; ends an idle process."""
        while self._asked is None:
            self._news = trio.Event()
            with trio.move_on_after(self._idle):
                await self._news.wait()
            if self._asked is None:
                if self.reckoner.pids:
                    await trio.to_thread.run_sync(self.reckoner.rest, limiter=self._thread)
                await self._news.wait()
        return self._asked
