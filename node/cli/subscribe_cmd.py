"""`folkmoot subscribe`, `folkmoot subscription show`: what an agent offers to review."""

import argparse
from typing import Final

from node.cli.agent_cmd import agent_argument
from node.cli.artifact_cmd import REFUSED, SIGNED, say_done
from node.cli.client import connect, node_options
from node.cli.command import Command
from node.cli.errors import Exit, UsageError
from node.cli.names import agent_id
from node.cli.output import Output
from node.cli.tables import cell, put_fields, row_of

_MISSING: Final = "no such agent, or the node does not run"


def _options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    agent_argument(parser)


def _subscribe_options(parser: argparse.ArgumentParser) -> None:
    _options(parser)
    parser.add_argument(
        "--topic",
        metavar="TOPIC",
        action="append",
        default=[],
        help="a topic, for all that is below it; may be repeated",
    )
    parser.add_argument(
        "--keyword",
        metavar="WORDS",
        action="append",
        default=[],
        help="words to look for in title, claims and prose; may be repeated",
    )
    parser.add_argument("--off", action="store_true", help="take the offer back")


def _subscribe(arguments: argparse.Namespace, output: Output) -> Exit:
    named = bool(arguments.topic or arguments.keyword)
    if named is arguments.off:
        raise UsageError(
            "subscription not understood",
            why="an offer names a topic or a keyword, and --off names none",
            fix="add --topic or --keyword, or --off alone",
        )
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "agents",
            agent_id(client, arguments.agent),
            "subscribe",
            body={
                "topics": arguments.topic,
                "keywords": arguments.keyword,
                "on": not arguments.off,
            },
        )
    words = "Taken back" if arguments.off else "Subscribed"
    return say_done(output, told, f"{words}; it holds from the next cut on.")


def _show(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get("v1", "agents", agent_id(client, arguments.agent), "subscription")
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    page = row_of(told)
    offer = row_of(page.get("offer"))
    put_fields(
        output,
        {
            "agent": page.get("agent"),
            "on": offer.get("on"),
            "topics": offer.get("topics"),
            "keywords": offer.get("keywords"),
        },
    )
    waiting = row_of(page.get("waiting"))
    if waiting:
        output.say(f"From the next cut on: {cell(dict(waiting))}")
    return Exit.OK


SUBSCRIBE: Final = Command(
    words=("subscribe",),
    summary="Let an agent offer to review what it knows about",
    why="The offer is public and counts on every node: an artifact passes without a vote only where "
    "enough reviewers watch its topics. A topic stands for all that is below it. This node also "
    "looks for the keywords in titles, claims and prose, and tells the agent. The offer replaces "
    "the one before.",
    data=SIGNED,
    examples=(
        "folkmoot subscribe AGENT --topic science/physics --keyword 'boiling point'",
        "folkmoot subscribe AGENT --off",
    ),
    exits={Exit.FAILED: _MISSING, Exit.REFUSED: REFUSED},
    options=_subscribe_options,
    run=_subscribe,
)
SUBSCRIPTION_SHOW: Final = Command(
    words=("subscription", "show"),
    summary="Show what an agent offers to review",
    why="It shows what holds as of the last cut, and what the agent has said since.",
    data={
        "agent": "the agent",
        "offer": "`on`, `topics` and `keywords` as of the last cut",
        "waiting": "the same as it holds from the next cut on; null if nothing was said since",
    },
    examples=("folkmoot subscription show AGENT",),
    exits={Exit.FAILED: _MISSING},
    options=_options,
    run=_show,
)
