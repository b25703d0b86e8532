"""Command lines run as a user runs them: in this process, or as a real one."""

import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from node.cli.main import main

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What a command line left behind."""

    code: int
    data: str
    people: str

    @property
    def three(self) -> list[str]:
        """The three lines of its error."""
        lines = self.people.splitlines()
        assert len(lines) == 3, self.people
        assert lines[0].startswith("folkmoot: ")
        assert lines[1].startswith("  why: ")
        assert lines[2].startswith("  fix: ")
        assert lines[2].endswith("]")
        return lines


def run(line: str, capsys: pytest.CaptureFixture[str]) -> Session:
    """Run `folkmoot LINE` in this process."""
    capsys.readouterr()
    code = main(shlex.split(line))
    out = capsys.readouterr()
    return Session(code=code, data=out.out, people=out.err)


def command(line: str) -> list[str]:
    """Give the words that start a real process."""
    return [sys.executable, "-m", "node", *shlex.split(line)]


def run_process(line: str, **environment: str) -> Session:
    """Run `python -m node LINE` as a process of its own."""
    done = subprocess.run(  # noqa: S603 # our own command
        command(line), cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    return Session(code=done.returncode, data=done.stdout, people=done.stderr)
