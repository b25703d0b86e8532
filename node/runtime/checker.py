"""A process that does nothing but check signatures; `node.runtime.signatures` starts and feeds it.

It reads runs from standard input and answers each with one byte per signature, 1 if it is right,
until its input ends, which happens however its parent ends. It holds no key, opens no file, and
its one import is the checking itself.

A run is its number of signatures as 4 bytes, then for each: key (32), record id (32), signature (64).
"""

import os
import sys
from typing import BinaryIO, Final

from federation.crypto import is_signed_by
from federation.records.statement import signing_payload

NICENESS: Final = 5
"""The event loop of the parent goes first."""
COUNT: Final = 4
"""Bytes of the number before a run."""
KEY: Final = 32
ID: Final = 32
ASKED: Final = KEY + ID + 64
"""Bytes of one signature to check."""


def answer(run: bytes) -> bytes:
    """Check a run; one byte per signature."""
    right = bytearray()
    for at in range(0, len(run), ASKED):
        key, record, signature = (
            run[at : at + KEY],
            run[at + KEY : at + KEY + ID],
            run[at + KEY + ID : at + ASKED],
        )
        right.append(is_signed_by(key, signing_payload(record), signature))
    return bytes(right)


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """Answer runs until the source ends."""
    while count := source.read(COUNT):
        size = int.from_bytes(count, "big") * ASKED
        run = source.read(size)
        if len(run) < size:
            return
        target.write(answer(run))
        target.flush()


def main() -> None:
    """Serve the parent."""
    os.nice(NICENESS)
    serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
