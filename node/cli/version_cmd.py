"""`folkmoot version`: which version this is, and which protocol it speaks."""

import argparse
from typing import Final

from federation.charter import PROTOCOL
from node.cli.command import Command
from node.cli.errors import Exit
from node.cli.output import Output

NUMBER: Final = "0.1.0"
"""The version in pyproject.toml; written here too, so that it is known without an installation."""


def _options(parser: argparse.ArgumentParser) -> None:
    """Add nothing."""
    del parser


def _run(arguments: argparse.Namespace, output: Output) -> Exit:
    if arguments.json:
        output.put_json({"version": NUMBER, "protocol": PROTOCOL})
    else:
        output.put(NUMBER)
    return Exit.OK


VERSION: Final = Command(
    words=("version",),
    summary="Print the version",
    why="Nodes of one realm must speak the same protocol; their versions may differ. "
    "With --json both are told.",
    data={
        "version": "of this program",
        "protocol": "version of the protocol that it speaks",
    },
    examples=("folkmoot version", "folkmoot version --json"),
    exits={},
    options=_options,
    run=_run,
)
