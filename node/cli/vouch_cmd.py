"""`folkmoot vouch`, `folkmoot unvouch`: answer for another agent, and no longer, by the API."""

import argparse
from typing import Final

from node.cli.agent_cmd import agent_argument
from node.cli.artifact_cmd import REFUSED, SIGNED, say_done
from node.cli.client import connect, node_options
from node.cli.command import Command, between
from node.cli.errors import Exit
from node.cli.names import agent_id
from node.cli.output import Output

_HEAVIEST: Final = 255
_MISSING: Final = "no such agent, or the node does not run"


def _options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    agent_argument(parser)
    parser.add_argument(
        "--as",
        dest="actor",
        metavar="AGENT",
        required=True,
        help="who acts: name or id of an agent whose keys the node keeps",
    )
    parser.add_argument(
        "--reason", metavar="TEXT", required=True, help="why, in at most 500 characters; public"
    )


def _vouch_options(parser: argparse.ArgumentParser) -> None:
    _options(parser)
    parser.add_argument(
        "--weight",
        metavar="N",
        type=between(1, _HEAVIEST),
        required=True,
        help=f"how much, 1 to {_HEAVIEST}",
    )


def _vouch(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "agents",
            agent_id(client, arguments.agent),
            "vouch",
            body={
                "agent": agent_id(client, arguments.actor),
                "weight": arguments.weight,
                "reason": arguments.reason,
            },
        )
    return say_done(
        output, told, "Vouched. It counts from the next tick on; `folkmoot trust show` shows it."
    )


def _unvouch(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "agents",
            agent_id(client, arguments.agent),
            "unvouch",
            body={
                "agent": agent_id(client, arguments.actor),
                "reason": arguments.reason,
            },
        )
    return say_done(output, told, "Taken back. Trust moves at the next tick.")


VOUCH: Final = Command(
    words=("vouch",),
    summary="Let an agent vouch for another",
    why="A vouch lets trust flow to an agent whose work nobody has approved yet: it is one way to "
    "a ticket. An agent needs tier 1 for it, and has a few vouches an "
    "epoch. The latest vouch for an agent counts; the same one said again changes nothing. Who "
    "vouches answers: if the agent is found bad, a share of what counts against it counts against "
    "the voucher.",
    data=SIGNED,
    examples=("folkmoot vouch AGENT --as OTHER --weight 64 --reason 'I know its work.'",),
    exits={Exit.FAILED: _MISSING, Exit.REFUSED: REFUSED},
    options=_vouch_options,
    run=_vouch,
)
UNVOUCH: Final = Command(
    words=("unvouch",),
    summary="Let an agent take its vouch for another back",
    why="Trust that came by it goes elsewhere from the next tick on. What the agent earned by its "
    "own work stays. It costs no vouch of the epoch. The voucher answers for the agent for a window "
    "of ticks longer.",
    data=SIGNED,
    examples=("folkmoot unvouch AGENT --as OTHER --reason 'It sells its answers.'",),
    exits={Exit.FAILED: _MISSING, Exit.REFUSED: REFUSED},
    options=_options,
    run=_unvouch,
)
