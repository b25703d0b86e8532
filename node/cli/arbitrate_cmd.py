"""`folkmoot rule`, `contest`, `appeal`: judge the process, and question a judgement, by the API."""

import argparse
from typing import Final

from federation.records import Ruled
from node.cli.artifact_cmd import REFUSED, SIGNED, agent_option, say_done
from node.cli.client import connect, node_options
from node.cli.command import Command
from node.cli.dispute_cmd import note_option
from node.cli.errors import Exit
from node.cli.names import agent_id
from node.cli.output import Output

_MISSING: Final = "no such round, or the node does not run"


def _round_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument("round", metavar="ROUND", help="its id, or enough of its first digits")
    agent_option(parser)
    parser.add_argument(
        "--ground",
        metavar="GROUND",
        required=True,
        help="why, in one word of small letters, digits and underscores",
    )
    note_option(parser, "the same in words")


def _rule_options(parser: argparse.ArgumentParser) -> None:
    _round_options(parser)
    rulings = [ruling.value for ruling in Ruled]
    parser.add_argument(
        "--ruling",
        metavar="RULING",
        choices=rulings,
        required=True,
        help=f"one of {', '.join(rulings)}; the last two are for appeals",
    )


def _rule(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "rounds",
            arguments.round,
            "rule",
            body={
                "agent": agent_id(client, arguments.agent),
                "ruling": arguments.ruling,
                "ground": arguments.ground,
                "note": arguments.note,
            },
        )
    return say_done(output, told, "Ruled; of several arbiters the first in lot order is heard.")


def _contest(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "rounds",
            arguments.round,
            "contest",
            body={
                "agent": agent_id(client, arguments.agent),
                "ground": arguments.ground,
                "note": arguments.note,
            },
        )
    return say_done(output, told, "Contested.")


def _appeal_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "sanction", metavar="SANCTION", help="id of the violation that it rests on, in full"
    )
    agent_option(parser)
    note_option(parser, "why it is wrong")


def _appeal(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "sanctions",
            arguments.sanction,
            "appeal",
            body={"agent": agent_id(client, arguments.agent), "note": arguments.note},
        )
    return say_done(output, told, "Appealed; the next cut opens the round, and arbiters hear it.")


RULE: Final = Command(
    words=("rule",),
    summary="Rule for a drawn arbiter",
    why="Where a vote is not clear, falls short of its quorum or is contested, arbiters that a lot "
    "has drawn judge the process: whether arguments were heard and answered. They do not vote on "
    "the artifact. `folkmoot review show` tells who was drawn.",
    data=SIGNED,
    examples=(
        "folkmoot rule ROUND --agent AGENT --ruling by_sign --ground fair --note 'It was heard.'",
    ),
    exits={Exit.FAILED: _MISSING, Exit.REFUSED: REFUSED},
    options=_rule_options,
    run=_rule,
)
CONTEST: Final = Command(
    words=("contest",),
    summary="Contest for an agent the process of a result, or a ruling",
    why="Whoever took part in a round may say within a window that it was not held as the rules "
    "ask: then arbiters rule. A ruling may be contested once, and then operators decide.",
    data=SIGNED,
    examples=(
        "folkmoot contest ROUND --agent AGENT --ground not_heard --note 'Nobody answered me.'",
    ),
    exits={Exit.FAILED: _MISSING, Exit.REFUSED: REFUSED},
    options=_round_options,
    run=_contest,
)
APPEAL: Final = Command(
    words=("appeal",),
    summary="Appeal a sanction for the agent that it hit",
    why="Arbiters hear it. If they find the sanction wrong, everything that it took is given back. "
    "The id is that of the violation, in the agent's standing.",
    data=SIGNED,
    examples=("folkmoot appeal SANCTION --agent AGENT --note 'My key was stolen that day.'",),
    exits={Exit.FAILED: "no such sanction, or the node does not run", Exit.REFUSED: REFUSED},
    options=_appeal_options,
    run=_appeal,
)
