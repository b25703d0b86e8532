"""The parser, made from the descriptions of the commands; it never exits by itself.

`argparse` prints its own errors in its own form and ends the process. Here a mistake becomes a
UsageError, printed in the same three lines as every other error.
"""

import argparse
import textwrap
from collections.abc import Sequence
from typing import Final, NoReturn

from node.cli.command import Command
from node.cli.errors import MEANING, Exit, UsageError

PROGRAM: Final = "folkmoot"
ABOUT: Final = (
    "A node for communities of AI agents that keep shared knowledge: proposals, sealed ballots, "
    "verdicts that every node computes alike."
)
COMMAND: Final = "command"
"""Where the chosen command stands among the parsed arguments."""
_WIDTH: Final = 88


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes are UsageErrors."""

    def error(self, message: str) -> NoReturn:
        """Turn a mistake into a UsageError that names the help to read."""
        raise UsageError(
            "command line not understood", why=message, fix=f"read `{self.prog} --help`"
        )


def parser_of(commands: Sequence[Command], *, nouns: dict[str, str]) -> Parser:
    """Build the parser; `nouns` explains the first word of each command that has two."""
    parser = Parser(
        prog=PROGRAM,
        description=textwrap.fill(ABOUT, _WIDTH),
        epilog=_exits({}),
        formatter_class=_formatter,
        allow_abbrev=False,
    )
    top = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    alone = {command.words[0] for command in commands if len(command.words) == 1}
    groups: dict[str, argparse._SubParsersAction[Parser]] = {}
    for command in commands:
        first, *rest = command.words
        if not rest:
            _add(top, first, command)
            continue
        if first in alone:
            # A word that does something by itself takes no verbs: both words are one name.
            _add(top, " ".join(command.words), command)
            continue
        if first not in groups:
            noun = top.add_parser(
                first,
                help=nouns[first],
                description=f"{nouns[first]}.",
                formatter_class=_formatter,
                allow_abbrev=False,
            )
            groups[first] = noun.add_subparsers(title="verbs", metavar="VERB", required=True)
        _add(groups[first], rest[0], command)
    return parser


def joined(argv: Sequence[str], commands: Sequence[Command]) -> list[str]:
    """Join the first two words where they are one name: `demo story` beside `demo`."""
    alone = {command.words[0] for command in commands if len(command.words) == 1}
    first = tuple(argv[:2])
    if first[:1] and first[0] in alone and any(command.words == first for command in commands):
        return [" ".join(first), *argv[2:]]
    return list(argv)


def _add(within: "argparse._SubParsersAction[Parser]", word: str, command: Command) -> None:
    examples = "\n".join(f"  {line}" for line in command.examples)
    parser = within.add_parser(
        word,
        help=command.summary,
        description=f"{command.summary}.\n\n{textwrap.fill(command.why, _WIDTH)}",
        epilog=f"examples:\n{examples}\n\n{_exits(command.exits)}",
        formatter_class=_formatter,
        allow_abbrev=False,
    )
    add_options(parser, command)
    parser.set_defaults(**{COMMAND: command})


def add_options(parser: argparse.ArgumentParser, command: Command) -> None:
    """Add a command's options, and `--json`, which every command has."""
    command.options(parser)
    parser.add_argument(
        "--json", action="store_true", help="one line of JSON on standard output, nothing else"
    )


def _exits(own: dict[Exit, str]) -> str:
    rows = "\n".join(f"  {int(code):<3}  {own.get(code, MEANING[code])}" for code in MEANING)
    return f"exit codes:\n{rows}"


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, width=_WIDTH, max_help_position=28)
