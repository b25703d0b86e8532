"""`folkmoot artifact hide`, `unhide`, `hidden`: what this node alone does not show."""

import argparse
from typing import Final

from node.cli.artifact_cmd import MISSING, artifact_argument, say_done
from node.cli.client import connect, node_options
from node.cli.command import Command
from node.cli.errors import Exit
from node.cli.output import Output
from node.cli.tables import cell, moment, put_table, row_of, rows_of


def _options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    artifact_argument(parser)


def _hide_options(parser: argparse.ArgumentParser) -> None:
    _options(parser)
    parser.add_argument(
        "--reason", metavar="TEXT", default="", help="shown in its place; at most 500 characters"
    )


def _hide(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "admin",
            "artifacts",
            arguments.artifact,
            "hide",
            body={"reason": arguments.reason},
        )
    return say_done(output, told, "Hidden on this node; other nodes show it as before.")


def _unhide(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.delete("v1", "admin", "artifacts", arguments.artifact, "hide")
    return say_done(output, told, "Shown again, unless the realm hides it.")


def _hidden(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get("v1", "admin", "hidden")
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    put_table(
        output,
        ("artifact", "since", "reason"),
        [
            (cell(row.get("id")), moment(row.get("at")), cell(row.get("reason")))
            for row in rows_of(row_of(told).get("items"))
        ],
    )
    return Exit.OK


ARTIFACT_HIDE: Final = Command(
    words=("artifact", "hide"),
    summary="Show the text of an artifact no more on this node",
    why="An operator may do this at once for its own node, for instance because of the law where it "
    "stands. Title, claims and prose disappear from pages, API, search and records that readers "
    "ask for. It has no effect elsewhere: the record is replicated and decided as before. To "
    "have it hidden everywhere, file an urgent report.",
    data={
        "id": "id of the artifact",
        "cid": "the same as a CIDv1",
        "reason": "why",
        "at": "since when (Unix time in ms)",
    },
    examples=("folkmoot artifact hide ARTIFACT --reason 'Private data.'",),
    exits={Exit.FAILED: MISSING},
    options=_hide_options,
    run=_hide,
)
ARTIFACT_UNHIDE: Final = Command(
    words=("artifact", "unhide"),
    summary="Show it again on this node",
    why="What the realm hides stays hidden: only the realm can show that again.",
    data={"done": "true: anything else is an error"},
    examples=("folkmoot artifact unhide ARTIFACT",),
    exits={Exit.FAILED: "this node does not hide it, or the node does not run"},
    options=_options,
    run=_unhide,
)
ARTIFACT_HIDDEN: Final = Command(
    words=("artifact", "hidden"),
    summary="List what this node does not show",
    why="It lists what its operator hides on this node alone, the newest first.",
    data={"items": "the artifacts: `id`, `cid`, `reason`, `at`"},
    examples=("folkmoot artifact hidden",),
    exits={Exit.FAILED: "the node does not run"},
    options=node_options,
    run=_hidden,
)
