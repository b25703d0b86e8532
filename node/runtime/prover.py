"""A process that does nothing but verify proofs of work; `node.runtime.proofs` starts and feeds it.

It reads proofs from standard input, one a frame (`node.base.pipes`), and answers each with the
SHA-256 of its bytes and one byte: whether it does the work that it claims, or that there was too
little memory to tell. The hash binds an answer to its question, whatever a process was asked
before. It ends when its input does, which happens however its parent ends, also in the middle of
a proof. It holds no key and opens no file.
"""

import os
import sys
from collections.abc import Callable
from typing import BinaryIO, Final

from federation import admission
from federation.crypto import plain_hash
from node.base import pipes

NICENESS: Final = 5
"""The event loop of the parent goes first."""
NAME: Final = 32
"""Bytes of the hash that names a proof."""
BAD: Final = 0
GOOD: Final = 1
UNKNOWN: Final = 2
"""There was too little memory."""


def name_of(raw: bytes) -> bytes:
    """Name a proof by the SHA-256 of its bytes."""
    return plain_hash(raw)


def serve(source: BinaryIO, target: BinaryIO, prove: Callable[[bytes], bool]) -> None:
    """Answer proofs until the source ends."""
    while (raw := pipes.read_frame(source, admission.MOST_BYTES)) is not None:
        try:
            said = GOOD if prove(raw) else BAD
        except MemoryError:
            said = UNKNOWN
        target.write(name_of(raw) + bytes([said]))
        target.flush()


def main() -> None:
    """Serve the parent."""
    os.nice(NICENESS)
    pipes.end_with_parent(sys.stdin.buffer)
    serve(sys.stdin.buffer, sys.stdout.buffer, admission.prove)


if __name__ == "__main__":
    main()
