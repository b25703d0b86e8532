"""The command `folkmoot`: find the command, run it, turn what goes wrong into three lines.

This is the only place that turns errors into exit codes. It never calls `sys.exit`, so a test or
another program can call `main` and look at what it returns.
"""

import os
import sys
from collections.abc import Sequence
from typing import Final

from federation.core import FederationError
from node.cli.charter_cmd import CHARTER_CHECK, CHARTER_SHOW
from node.cli.command import Command
from node.cli.demo_cmd import DEMO
from node.cli.errors import Code, CommandError, Exit, exit_of
from node.cli.output import Output
from node.cli.parser import COMMAND, Parser, parser_of
from node.cli.version_cmd import VERSION

COMMANDS: Final[tuple[Command, ...]] = (DEMO, CHARTER_CHECK, CHARTER_SHOW, VERSION)
"""All commands, in the order in which help lists them."""
NOUNS: Final = {"charter": "Look at rules before adopting them"}
"""What a noun with several verbs is about."""


def parser() -> Parser:
    """Build the parser of all commands."""
    return parser_of(COMMANDS, nouns=NOUNS)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (without the program's name); give its exit code."""
    try:
        return _guarded(argv)
    except BrokenPipeError:
        # The interpreter flushes both streams once more when it ends; that must not fail too.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.dup2(nowhere, sys.stderr.fileno())
        return Exit.CLOSED


def _guarded(argv: Sequence[str] | None) -> Exit:
    output = Output.standard()
    try:
        code = _run(argv)
        output.data.flush()
    except (CommandError, FederationError) as error:
        output.complain(error)
        return exit_of(error)
    except KeyboardInterrupt:
        output.complain(_interrupted())
        return Exit.INTERRUPTED
    return code


def _run(argv: Sequence[str] | None) -> Exit:
    try:
        arguments = parser().parse_args(argv)
    except SystemExit:
        # Only `--help` ends the parser, after it has printed.
        return Exit.OK
    command: Command = getattr(arguments, COMMAND)
    return command.run(arguments, Output.standard(quiet=arguments.json))


def _interrupted() -> CommandError:
    return CommandError(
        "interrupted",
        why="it was stopped by Ctrl-C",
        fix="run it again; nothing is left half done",
        code=Code.INTERRUPTED,
        leaves=Exit.INTERRUPTED,
    )
