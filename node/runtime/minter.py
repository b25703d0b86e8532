"""A process that searches for one proof of work; `node.runtime.minting` starts and feeds it.

It reads two frames (`node.base.pipes`): the proof to be searched for, with zeros where solutions
belong, and the progress to go on from. It writes its progress as frames every now and then, the
last one when the search is over, and ends. It also ends when its input does, which happens however
its parent ends. It is given nothing secret: the key in a proof is the public one.
"""

import os
import sys
import time
from collections.abc import Callable
from typing import BinaryIO, Final

from federation import admission
from federation.admission import Mint, Progress
from federation.codec import encode
from node.base import pipes

NICENESS: Final = 15
"""Everything else that the machine does goes first; a search takes what is left."""
REPORT_S: Final = 0.5
"""Seconds between two reports of progress, or those of one try if that takes longer."""
_STEP_S: Final = 0.1
"""Seconds that one call of the search is to take."""


def search(
    mint: Mint, progress: Progress, report: Callable[[Progress], None], now: Callable[[], float]
) -> None:
    """Search until the proof is found; reports at the start, every now and then, and at the end."""
    report(progress)
    reported, tries = now(), 1
    while not progress.is_over:
        began = now()
        progress = mint.advance(progress, tries)
        ended = now()
        if ended - began < _STEP_S / 2:
            tries *= 2
        elif ended - began > _STEP_S:
            tries = max(1, tries // 2)
        if progress.is_over or ended - reported >= REPORT_S:
            report(progress)
            reported = ended


def main() -> None:
    """Search for what the parent wants."""
    os.nice(NICENESS)
    source, target = sys.stdin.buffer, sys.stdout.buffer
    blank, begun = (pipes.read_frame(source, admission.MOST_BYTES) for _ in range(2))
    if blank is None or begun is None:
        return
    pipes.end_with_parent(source)
    _search_into(target, Mint(blank=admission.read_work(blank)), begun)


def _search_into(target: BinaryIO, mint: Mint, begun: bytes) -> None:
    def report(progress: Progress) -> None:
        target.write(pipes.frame(encode(progress)))
        target.flush()

    search(mint, admission.read_progress(begun), report, time.monotonic)


if __name__ == "__main__":
    main()
