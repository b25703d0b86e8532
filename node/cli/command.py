"""One command as data: its words, what it is for, examples, exit codes, options.

The parser, the help texts and the reference page are all made from this one description, so they
cannot tell three different stories.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from node.cli.errors import Exit
from node.cli.output import Output

_LONGEST: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command of `folkmoot`."""

    words: tuple[str, ...]
    """A noun and a verb, such as ("charter", "check"); or one word."""
    summary: str
    """One line without a full stop."""
    why: str
    """What it is good for, in a paragraph."""
    data: dict[str, str]
    """The keys of its JSON, with what they say."""
    examples: tuple[str, ...]
    """Command lines that can be run, once words in capitals are replaced by names or ids."""
    exits: dict[Exit, str]
    """What the exit codes mean for this command, where that is more than their general meaning."""
    options: Callable[[argparse.ArgumentParser], None]
    """Adds its options; every command has `--json` besides."""
    run: Callable[[argparse.Namespace, Output], Exit]
    """Carries it out; raises CommandError or FederationError."""

    @property
    def name(self) -> str:
        """The words as they are typed."""
        return " ".join(self.words)


def between(low: int, high: int) -> Callable[[str], int]:
    """Make a reader of whole numbers from `low` to `high`; both are allowed."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = None
        if number is None or not low <= number <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {low} to {high}")
        return number

    return read


def most_option(parser: argparse.ArgumentParser, most: int, *, usual: int = 50) -> None:
    """Add how many rows of a list are shown: 1 to `most`."""
    parser.add_argument(
        "--most",
        metavar="N",
        type=between(1, most),
        default=usual,
        help=f"rows, 1 to {most} (default {usual})",
    )


def page_options(
    parser: argparse.ArgumentParser, thing: str, most: int, *, usual: int = 50
) -> None:
    """Add which page of a list is shown: what stands behind a `thing`, and how many rows."""
    parser.add_argument(
        "--after", metavar=thing, help="go on behind this one: `next` of the page before"
    )
    most_option(parser, most, usual=usual)


def word(text: str) -> str:
    """Read a word of 1 to 64 printable characters."""
    if not text.isprintable() or not 1 <= len(text) <= _LONGEST:
        raise argparse.ArgumentTypeError(
            f"a word has 1 to {_LONGEST} printable characters, this one does not"
        )
    return text
