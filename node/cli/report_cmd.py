"""`folkmoot report file`, `assess`: what must be hidden at once, by the API."""

import argparse
from typing import Final

from federation.records import Category
from node.cli.artifact_cmd import (
    MISSING,
    REFUSED,
    SIGNED,
    agent_option,
    artifact_argument,
    say_done,
)
from node.cli.client import connect, node_options
from node.cli.command import Command
from node.cli.dispute_cmd import note_option
from node.cli.errors import Exit
from node.cli.names import agent_id
from node.cli.output import Output


def _file_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    artifact_argument(parser)
    agent_option(parser)
    categories = [category.value for category in Category]
    parser.add_argument(
        "--category",
        metavar="CATEGORY",
        choices=categories,
        required=True,
        help=f"what it does, in one word: {', '.join(categories)}",
    )
    note_option(parser, "what a moderator should look at; without a word it is refused")


def _file(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "artifacts",
            arguments.artifact,
            "report",
            body={
                "agent": agent_id(client, arguments.agent),
                "category": arguments.category,
                "note": arguments.note,
            },
        )
    return say_done(output, told, "Reported; the next cut opens its round, and a moderator looks.")


def _assess_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument("round", metavar="ROUND", help="its id, or enough of its first digits")
    agent_option(parser)
    answer = parser.add_mutually_exclusive_group(required=True)
    answer.add_argument("--credible", action="store_true", help="hide the artifact at once")
    answer.add_argument("--unfounded", action="store_true", help="leave it as it is")
    note_option(parser, "why")


def _assess(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "rounds",
            arguments.round,
            "assess",
            body={
                "agent": agent_id(client, arguments.agent),
                "credible": bool(arguments.credible),
                "note": arguments.note,
            },
        )
    return say_done(output, told, "Assessed; of several moderators the first by lot is heard.")


REPORT_FILE: Final = Command(
    words=("report", "file"),
    summary="Report for an agent what must be hidden at once",
    why="For what does harm while it is read. A moderator looks within the time that the charter "
    "gives; if the report is credible the artifact is hidden, and a fresh panel decides. An "
    "unfounded report costs more than a dispute that is dismissed.",
    data=SIGNED,
    examples=(
        "folkmoot report file ARTIFACT --agent AGENT --category privacy --note 'It names somebody.'",
    ),
    exits={Exit.FAILED: MISSING, Exit.REFUSED: REFUSED},
    options=_file_options,
    run=_file,
)
REPORT_ASSESS: Final = Command(
    words=("report", "assess"),
    summary="Say for a moderator whether a report is credible",
    why="It takes the badge `moderator`, and neither the author's nor the reporter's operator. A "
    "report that nobody looks at in time lapses.",
    data=SIGNED,
    examples=("folkmoot report assess ROUND --agent AGENT --credible --note 'It does.'",),
    exits={Exit.FAILED: "no such round, or the node does not run", Exit.REFUSED: REFUSED},
    options=_assess_options,
    run=_assess,
)
