"""A process that tries values for a search of many; `node.minting.search` starts and feeds it.

It reads frames (`node.base.pipes`): first the proof to be searched for, with zeros where solutions
belong, then blocks, each a progress to go on from and a number of tries. It answers each with the
progress that it came to, and how long that took. It ends after its block when its input does, which
happens however its parent ends. It is given nothing secret: the key in a proof is the public one.
"""

import os
import sys
import time
from typing import Annotated, BinaryIO, Final

import msgspec
from msgspec import Meta

from federation.admission import MOST_BYTES, Mint, Progress, read_work
from federation.codec import decode, encode
from node.base import pipes

NICENESS: Final = 10
"""Whoever waits for a search still works with the machine."""
LARGEST: Final = 1_024
"""Bytes of a block or of an answer."""
NO_MEMORY: Final = 3
"""What the process leaves behind if the machine has too little memory for one hash."""


class Task(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A block of values to be tried, as it travels."""

    progress: Progress
    """What to go on from."""
    tries: Annotated[int, Meta(ge=1, le=1_000_000)]
    """How many values at most."""


class Answer(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What came of a block, as it travels."""

    progress: Progress
    """What the process came to."""
    micros: Annotated[int, Meta(ge=0, le=2**53 - 1)]
    """How long it took, in millionths of a second."""


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """Try what the source asks for, until it ends; raises MemoryError."""
    raw = pipes.read_frame(source, MOST_BYTES)
    if raw is None:
        return
    mint = Mint(blank=read_work(raw))
    while (asked := pipes.read_frame(source, LARGEST)) is not None:
        task = decode(asked, Task, what="block", most=LARGEST)
        began = time.monotonic_ns()
        progress = mint.advance(task.progress, task.tries)
        micros = (time.monotonic_ns() - began) // 1_000
        target.write(pipes.frame(encode(Answer(progress=progress, micros=micros))))
        target.flush()


def main() -> None:
    """Serve the parent."""
    os.nice(NICENESS)
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except MemoryError:
        sys.exit(NO_MEMORY)


if __name__ == "__main__":
    main()
