"""What a process that computes for its parent needs: frames on its pipes, and an end with it.

Nothing heavier than this may be imported by such a program before it has begun to listen, so the
module stands among what every part of an instance stands on.

A frame is the number of its bytes in 4 bytes, the most significant first, then so many bytes.
"""

import os
import select
import threading
from typing import BinaryIO, Final

SIZE: Final = 4
"""Bytes of the number before a frame."""


def frame(content: bytes) -> bytes:
    """Give some bytes as they travel."""
    return len(content).to_bytes(SIZE, "big") + content


def read_frame(source: BinaryIO, most: int) -> bytes | None:
    """Read one frame; None if the source ends first, or brings one of over `most` bytes."""
    head = source.read(SIZE)
    size = int.from_bytes(head, "big")
    if len(head) < SIZE or size > most:
        return None
    content = source.read(size)
    return content if len(content) == size else None


def end_with_parent(source: BinaryIO) -> None:
    """End this process at once when nobody can write to its source any more, whatever it does.

    A thread waits for that: a parent that is killed closes its end of the pipe like any other.
    """
    threading.Thread(target=_end_after, args=(source.fileno(),), daemon=True).start()


def _end_after(source: int) -> None:
    pipe = select.poll()
    # No event is asked for: that the other end is closed is told all the same.
    pipe.register(source, 0)
    pipe.poll()
    # Not `sys.exit`, which ends this thread alone.
    os._exit(0)
