"""`folkmoot version`: which version this is, and which protocol it speaks."""

import argparse
from importlib.metadata import version
from typing import Final

from federation.charter import PROTOCOL
from node.cli.command import Command
from node.cli.errors import Exit
from node.cli.output import Output


def _options(parser: argparse.ArgumentParser) -> None:
    """Add nothing."""
    del parser


def _run(arguments: argparse.Namespace, output: Output) -> Exit:
    number = version("folkmoot")
    if arguments.json:
        output.put_json({"version": number, "protocol": PROTOCOL})
    else:
        output.put(number)
    return Exit.OK


VERSION: Final = Command(
    words=("version",),
    summary="Print the version",
    why="Nodes of one realm must speak the same protocol; their versions may differ. "
    "With --json both are told.",
    examples=("folkmoot version", "folkmoot version --json"),
    exits={},
    options=_options,
    run=_run,
)
