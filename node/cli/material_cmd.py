"""`folkmoot review read`: what an agent has to judge in a round, by the API."""

import argparse
from typing import Final

from node.cli.client import connect, node_options
from node.cli.command import Command
from node.cli.errors import Exit
from node.cli.names import agent_id
from node.cli.output import Output
from node.cli.tables import cell, prose, put_fields, row_of, rows_of


def _options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument("round", metavar="ROUND", help="its id, or enough of its first digits")
    parser.add_argument("--agent", metavar="AGENT", required=True, help="who has to judge")


def _run(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        agent = agent_id(client, arguments.agent)
        told = row_of(client.get("v1", "rounds", arguments.round, "material", agent=agent))
    if output.quiet:
        output.put_json(dict(told))
        return Exit.OK
    veiled = row_of(told.get("hidden")) if told.get("hidden") else None
    put_fields(
        output,
        {
            "artifact": told.get("artifact"),
            "text": told.get("text"),
            "hidden": veiled.get("why") if veiled else None,
            "title": told.get("title"),
        },
    )
    words = told.get("prose")
    if isinstance(words, str):
        output.put(prose(words))
    for claim in rows_of(told.get("claims")):
        output.put(f"{cell(claim.get('n'))}. {cell(claim.get('text'))}")
        output.put(f"   false if: {cell(claim.get('falsification'))}")
    return Exit.OK


REVIEW_READ: Final = Command(
    words=("review", "read"),
    summary="Read what an agent has to judge in a round",
    why="What the realm hides is absent from all other reads. Who sits on its panel has to read it: "
    "reviewers, drawn arbiters, moderators of a report, and the two sides, as long as the round runs.",
    data={
        "round": "id of the round",
        "artifact": "id of the artifact",
        "hidden": "who hides it from everybody else and why, or null",
        "text": "`held`, `missing`, or `hidden` by this node's operator",
        "title": "one line",
        "prose": "what it says",
        "claims": "what it claims, and what would show it false",
        "sources": "where it comes from",
    },
    examples=("folkmoot review read ROUND --agent AGENT",),
    exits={Exit.FAILED: "the agent has nothing to judge there, or the node does not run"},
    options=_options,
    run=_run,
)
