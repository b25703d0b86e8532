"""Frames travel unchanged or not at all, and a process ends when nobody can speak to it."""

import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest

from node.base import pipes

ROOT = Path(pipes.__file__).parents[2]
LONG = 60.0
"""Seconds for what includes the start of a process on a busy machine."""


@pytest.mark.parametrize("content", [b"", b"x", bytes(1_000)])
def test_a_frame_arrives_as_it_was_sent(content: bytes) -> None:
    source = BytesIO(pipes.frame(content) + pipes.frame(b"next"))

    assert pipes.read_frame(source, 1_000) == content
    assert pipes.read_frame(source, 4) == b"next"


@pytest.mark.parametrize(
    "sent", [b"", b"\0\0\0", pipes.frame(b"four")[:-1], pipes.frame(b"fifth"), b"\xff" * 4]
)
def test_what_is_cut_short_or_too_large_is_none(sent: bytes) -> None:
    assert pipes.read_frame(BytesIO(sent), 4) is None


def test_what_is_too_large_is_not_even_read() -> None:
    source = BytesIO(pipes.frame(bytes(100)))
    pipes.read_frame(source, 99)

    assert source.tell() == pipes.SIZE


def test_a_process_that_is_busy_ends_when_its_input_does() -> None:
    script = (
        "import sys, time; from node.base import pipes\n"
        "pipes.end_with_parent(sys.stdin.buffer)\n"
        "sys.stdin.buffer.read(5)\n"
        "while True: time.sleep(0.01)\n"
    )
    done = subprocess.run(  # noqa: S603 # our own interpreter
        [sys.executable, "-c", script], cwd=ROOT, input=b"begin", timeout=LONG, check=False
    )

    assert done.returncode == 0
