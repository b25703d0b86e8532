"""Processes that compute for the node: how one is started, and how it ends.

Such a process reads from standard input and answers on standard output. It holds no key, opens no
file, and has nothing that could be lost, so it is killed when it is no longer wanted; when its
parent is killed, its input ends, and so does it.
"""

import os
import select
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

import trio

import federation

Process: TypeAlias = subprocess.Popen[bytes]

_DYING: Final = 0.5
"""Seconds that a process which was killed may take to be gone; it takes a few milliseconds."""
_ROOT: Final = Path(federation.__file__).parents[1]


def start(program: Path, surroundings: Mapping[str, str] | None = None) -> Process:
    """Start a program of ours; raises OSError if it cannot be started.

    `surroundings` are environment variables, its only ones beside the way to our modules.
    """
    return subprocess.Popen(  # noqa: S603 # our own program, by its own path
        [sys.executable, "-P", str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        # Nothing of the parent's surroundings is its business.
        env={"PYTHONPATH": str(_ROOT), **(surroundings or {})},
        # A Ctrl-C in the terminal is for the parent, which ends it in good order. A session of
        # its own would do as well, but Linux gives each session an equal share of the
        # processor, and then it would not matter that the event loop goes first.
        process_group=0,
    )


def pipes(process: Process) -> tuple[int, int]:
    """Give the descriptors to read its answers from and to write questions to."""
    assert process.stdout is not None, "it was opened with pipes"  # noqa: S101 # our own invariant
    assert process.stdin is not None, "both ways"  # noqa: S101 # our own invariant
    return process.stdout.fileno(), process.stdin.fileno()


def kill(process: Process) -> None:
    """End a process at once, also a frozen one; its pipes stay open."""
    process.kill()
    # The event loop may wait for this, so it takes next to no time, whatever the kernel is doing.
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=_DYING)


def end(process: Process) -> None:
    """End a process at once and close its pipes: no thread may be using them."""
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    kill(process)


class Talk:
    """A process of ours that one task of the event loop talks with; the task ends it as well."""

    def __init__(self, program: Path) -> None:
        """Start the process; raises OSError if it cannot be started."""
        self._process = start(program)
        self._source, self._target = pipes(self._process)
        os.set_blocking(self._source, False)
        os.set_blocking(self._target, False)

    @property
    def pid(self) -> int:
        """Name the process."""
        return self._process.pid

    async def say(self, content: bytes) -> None:
        """Write to it; raises OSError if it has ended. It has no deadline of its own."""
        rest = memoryview(content)
        while rest:
            await trio.lowlevel.wait_writable(self._target)
            # So much a pipe takes at once when it says that it takes something.
            rest = rest[os.write(self._target, rest[: select.PIPE_BUF]) :]

    async def hear(self, size: int) -> bytes:
        """Read so many bytes; raises EOFError if it ends before. It has no deadline of its own."""
        heard = b""
        while len(heard) < size:
            await trio.lowlevel.wait_readable(self._source)
            piece = os.read(self._source, size - len(heard))
            if not piece:
                raise EOFError
            heard += piece
        return heard

    def kill(self) -> None:
        """End the process although a task talks with it: that hears the end of it."""
        self._process.kill()

    def end(self) -> None:
        """End the process at once, also a frozen one; no task may talk with it any more."""
        end(self._process)
