"""Problems travel unchanged, and the process that solves them ends with whoever started it."""

import struct
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest

from federation.trust import eigentrust
from node.runtime import children, reckoner
from node.runtime.reckoner import ANSWER, HEAD, LARGEST, pieces, read, serve
from tests.node.runtime.problems import problem

PROGRAM = Path(reckoner.__file__)
LONG = 60.0
"""Seconds for what includes the start of a process on a busy machine."""


def travelled(edges: int) -> bytes:
    return b"".join(pieces(problem(edges)))


@pytest.mark.parametrize("edges", [0, 1, 300])
def test_a_problem_arrives_as_it_was_sent(edges: int) -> None:
    sent = problem(edges)

    assert read(BytesIO(b"".join(pieces(sent)))) == sent


def test_what_is_large_is_not_copied_on_its_way() -> None:
    sent = problem(300)

    assert [one for one in pieces(sent) if one is sent.sources] == [sent.sources]


@pytest.mark.parametrize("missing", [1, 300, 2_000])
def test_a_problem_that_is_cut_short_is_none(missing: int) -> None:
    assert read(BytesIO(travelled(300)[:-missing])) is None


def test_an_input_that_ends_is_no_problem() -> None:
    assert read(BytesIO()) is None
    assert read(BytesIO(travelled(0)[: HEAD.size - 1])) is None


@pytest.mark.parametrize(
    "head",
    [
        HEAD.pack(1, 20, 0, 0, 0, 0),
        HEAD.pack(9 * LARGEST, 20, LARGEST, 0, 0, 0),
        HEAD.pack(0, LARGEST, 0, 0, 0, 0),
        b"\xff" * HEAD.size,
    ],
)
def test_a_head_that_promises_too_much_or_disagrees_with_itself_is_refused(head: bytes) -> None:
    assert read(BytesIO(head)) is None


def test_a_problem_beyond_the_bound_is_not_sent() -> None:
    with pytest.raises(ValueError, match="too large"):
        pieces(problem(0, nodes=LARGEST // 8 + 1))


def test_a_number_that_does_not_fit_is_not_sent() -> None:
    beyond = eigentrust.Problem(
        nodes=1, sources=b"", targets=b"", weights=b"", seeds=(2**32,), silent=(), edge_cap=1
    )

    with pytest.raises(struct.error):
        pieces(beyond)


def test_problems_are_answered_one_after_another_until_the_input_ends() -> None:
    target = BytesIO()
    serve(BytesIO(travelled(5) + travelled(40) + travelled(7)[:-1]), target, eigentrust.reckon)
    answers = [eigentrust.reckon(problem(edges)) for edges in (5, 40)]

    assert target.getvalue() == b"".join(ANSWER.pack(len(one)) + one for one in answers)


def test_the_process_gives_the_bits_of_the_reference_and_ends_with_its_input() -> None:
    process = children.start(PROGRAM)
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        for edges in (3_000, 300):
            for piece in pieces(problem(edges)):
                process.stdin.write(piece)
            expected = eigentrust.reckon(problem(edges))
            answer = b""
            while len(answer) < ANSWER.size + len(expected):
                answer += process.stdout.read(4_096)
            assert answer == ANSWER.pack(len(expected)) + expected
        process.stdin.close()

        assert process.wait(LONG) == 0
    finally:
        children.end(process)


def test_the_process_ends_in_the_middle_of_a_problem_when_its_input_does() -> None:
    # It has heard the whole problem, and could answer: its standard output is still open.
    process = children.start(PROGRAM)
    try:
        said, _ = process.communicate(travelled(300_000), timeout=LONG)

        assert said == b""
        assert process.returncode == 0
    finally:
        children.end(process)


def test_who_imports_the_frames_does_not_load_what_computes() -> None:
    looked = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, node.runtime.reckoning; print('scipy' in sys.modules, 'numpy' in sys.modules)",
        ],
        cwd=PROGRAM.parents[2],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=True,
    )

    assert looked.stdout == "False False\n"
