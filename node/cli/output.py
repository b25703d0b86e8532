"""Where a command writes: data to standard output, words for people to standard error.

A program that reads standard output never meets a heading, a progress bar or an error. With
`--json` there is exactly one line of data, and people are told nothing but errors.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO, TypeAlias

import msgspec

from node.cli.errors import AnyError

Json: TypeAlias = (
    str | int | float | bool | Sequence["Json"] | dict[str, "Json"] | msgspec.Struct | None
)
"""What a command may print as data."""


def clean(text: str) -> str:
    """Put a mark in the place of each character that a terminal would obey instead of show.

    Titles, names and errors may come from strangers: they must not move the cursor, clear the
    screen, or turn the writing around.
    """
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)


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
        """Print a value as one line of JSON, at once even into a pipe."""
        self.put(msgspec.json.encode(value).decode())
        self.data.flush()

    def say(self, text: str = "") -> None:
        """Tell people something, unless they asked for data only."""
        if not self.quiet:
            print(text, file=self.people)

    def complain(self, error: AnyError) -> None:
        """Print an error in three lines: what, why, fix with its code."""
        print(f"folkmoot: {clean(error.what)}", file=self.people)
        print(f"  why: {clean(error.why)}", file=self.people)
        print(f"  fix: {clean(error.fix)} [{clean(error.code)}]", file=self.people)

    @property
    def is_watched(self) -> bool:
        """Tell whether a person sits at a terminal and wants to be told."""
        return not self.quiet and self.people.isatty()
