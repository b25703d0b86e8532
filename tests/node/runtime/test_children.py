"""A process that computes gets pipes, a way to our modules, and nothing else of its parent."""

import os
import signal
import time
from pathlib import Path

import pytest

from node.runtime import children
from tests.node.runtime.problems import is_running


def program(root: Path, text: str) -> Path:
    path = root / "program.py"
    path.write_text(text)
    return path


def test_it_finds_our_modules_and_only_the_surroundings_that_were_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLKMOOT_PASSPHRASE", "secret")
    text = "import os, node\nprint(*sorted(name for name in os.environ if name != 'LC_CTYPE'))\n"
    process = children.start(program(tmp_path, text), {"SIZE": "1"})
    said, _ = process.communicate(timeout=30)

    assert said == b"PYTHONPATH SIZE\n"


def test_questions_go_in_and_answers_come_out(tmp_path: Path) -> None:
    text = "import sys\nsys.stdout.write(sys.stdin.read(3) + '!')\nsys.stdout.flush()\n"
    process = children.start(program(tmp_path, text))
    source, target = children.pipes(process)
    os.write(target, b"why")

    assert os.read(source, 10) == b"why!"
    children.end(process)


@pytest.mark.parametrize("way", [children.end, children.kill])
def test_a_frozen_one_is_ended_at_once(tmp_path: Path, way: object) -> None:
    process = children.start(program(tmp_path, "import sys\nsys.stdin.read()\n"))
    os.kill(process.pid, signal.SIGSTOP)
    began = time.monotonic()
    assert callable(way)
    way(process)

    assert time.monotonic() - began < 5
    assert not is_running(process.pid)
    children.end(process)


def test_ending_twice_changes_nothing(tmp_path: Path) -> None:
    process = children.start(program(tmp_path, ""))
    children.end(process)
    children.end(process)

    assert process.stdin is not None
    assert process.stdin.closed
