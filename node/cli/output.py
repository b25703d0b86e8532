"""Where a command writes: data to standard output, words for people to standard error.

A program that reads standard output never meets a heading, a progress bar or an error. With
`--json` there is exactly one line of data, and people are told nothing but errors.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO, TypeAlias

import msgspec

from federation.core import FederationError
from node.cli.errors import CommandError

Json: TypeAlias = (
    str | int | float | bool | Sequence["Json"] | dict[str, "Json"] | msgspec.Struct | None
)
"""What a command may print as data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The two streams of one command."""

    data: TextIO
    people: TextIO
    quiet: bool
    """True with `--json`: people are told nothing but errors."""

    @staticmethod
    def standard(*, quiet: bool = False) -> "Output":
        """Give the streams of this process."""
        return Output(data=sys.stdout, people=sys.stderr, quiet=quiet)

    def put(self, line: str) -> None:
        """Print one line of data."""
        print(line, file=self.data)

    def put_json(self, value: Json) -> None:
        """Print a value as one line of JSON."""
        self.put(msgspec.json.encode(value).decode())

    def say(self, text: str = "") -> None:
        """Tell people something, unless they asked for data only."""
        if not self.quiet:
            print(text, file=self.people)

    def complain(self, error: CommandError | FederationError) -> None:
        """Print an error in three lines: what, why, fix with its code."""
        print(f"folkmoot: {error.what}", file=self.people)
        print(f"  why: {error.why}", file=self.people)
        print(f"  fix: {error.fix} [{error.code}]", file=self.people)

    @property
    def is_watched(self) -> bool:
        """Tell whether a person sits at a terminal and wants to be told."""
        return not self.quiet and self.people.isatty()
