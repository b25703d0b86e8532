"""The search of a process: what it reports and when, and that it ends with whoever started it."""

import itertools
from pathlib import Path

import pytest

from federation import admission
from federation.admission import Mint, Progress, Terms
from federation.codec import encode
from node.base import pipes
from node.runtime import children, minter
from node.runtime.minter import REPORT_S, search
from tests.federation.admission.proofs import blank, terms

PROGRAM = Path(minter.__file__)
LONG = 60.0
"""Seconds for what includes the start of a process on a busy machine."""
ENDLESS = terms(bits=32)


def watched(mint: Mint, begun: Progress, a_look: float) -> list[Progress]:
    """Give what a search reports while each look at the clock takes so many seconds."""
    heard = list[Progress]()
    clock = itertools.count()
    search(mint, begun, heard.append, lambda: next(clock) * a_look)
    return heard


def question(under: Terms, begun: Progress | None = None) -> bytes:
    asked = blank(under)
    progress = begun or Mint(blank=asked).start()
    return pipes.frame(admission.work_bytes(asked)) + pipes.frame(encode(progress))


@pytest.mark.parametrize("a_look", [0.0, 0.001, 0.1, 3.0])
def test_the_last_report_is_a_proof_however_slow_the_machine(a_look: float) -> None:
    mint = Mint(blank=blank(terms()))
    heard = watched(mint, mint.start(), a_look)

    assert [one.is_over for one in heard] == [False] * (len(heard) - 1) + [True]
    assert admission.does_work(mint.finish(heard[-1]))


def test_a_slow_search_reports_every_step_and_a_fast_one_only_its_ends() -> None:
    mint = Mint(blank=blank(terms(bits=5)))
    slow = watched(mint, mint.start(), REPORT_S)
    fast = watched(mint, mint.start(), 0.0)

    # A step of one try is the smallest there is, and while it is slow it stays so.
    assert [one.tried for one in slow[:4]] == [0, 1, 2, 3]
    assert [one.tried for one in fast] == [0, fast[-1].tried]


def test_a_search_goes_on_where_another_stopped() -> None:
    mint = Mint(blank=blank(terms()))
    whole = watched(mint, mint.start(), REPORT_S)
    middle = whole[len(whole) // 2]

    assert watched(mint, middle, 0.0)[-1] == whole[-1]
    assert watched(mint, whole[-1], 0.0) == [whole[-1]]


def test_the_process_searches_and_ends_when_it_has_found() -> None:
    mint = Mint(blank=blank(terms()))
    process = children.start(PROGRAM)
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        # Its input stays open: not its end is what ends the process.
        process.stdin.write(question(terms()))
        heard = bytearray()
        while piece := process.stdout.read(65_536):
            heard += piece
        size = int.from_bytes(heard[: pipes.SIZE], "big")
        first = admission.read_progress(bytes(heard[pipes.SIZE : pipes.SIZE + size]))
        last = watched(mint, mint.start(), 0.0)[-1]

        assert first == mint.start()
        assert heard.endswith(pipes.frame(encode(last)))
        assert process.wait(LONG) == 0
    finally:
        children.end(process)


def test_the_process_ends_in_the_middle_of_a_search_when_its_input_does() -> None:
    process = children.start(PROGRAM)
    try:
        process.communicate(question(ENDLESS), timeout=LONG)

        assert process.returncode == 0
    finally:
        children.end(process)


@pytest.mark.parametrize(
    "junk", [b"", question(ENDLESS)[:-1], pipes.frame(b"a") + pipes.frame(b"b"), b"\xff" * 100]
)
def test_a_process_that_is_asked_for_no_search_ends(junk: bytes) -> None:
    process = children.start(PROGRAM)
    try:
        said, _ = process.communicate(junk, timeout=LONG)

        assert said == b""
    finally:
        children.end(process)
