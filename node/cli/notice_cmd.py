"""`folkmoot notice list`, `ack`, `follow`: what concerns an agent, by the node's API."""

import argparse
import time
from typing import Final

from node.cli.agent_cmd import agent_argument
from node.cli.artifact_cmd import REFUSED, say_done
from node.cli.client import Client, connect, node_options
from node.cli.command import Command, between, most_option
from node.cli.errors import Exit
from node.cli.names import agent_id
from node.cli.output import Output
from node.cli.tables import Told, cell, moment, put_table, row_of, rows_of

_MOST: Final = 200
_LAST: Final = 2**53 - 1
_WAIT_S: Final = 20
"""Seconds that one question of `follow` stays open; the client itself waits for 30."""
_LONGEST_S: Final = 86_400
_MISSING: Final = "no such agent, or the node does not run"


def _list_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    agent_argument(parser)
    parser.add_argument(
        "--after",
        metavar="CURSOR",
        type=between(0, _LAST),
        default=0,
        help="only those above this cursor",
    )
    most_option(parser, _MOST)


def _list(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        page = _page(
            client, agent_id(client, arguments.agent), after=arguments.after, most=arguments.most
        )
    if output.quiet:
        output.put_json(dict(page))
        return Exit.OK
    _warn(output, page)
    put_table(
        output,
        ("cursor", "at", "kind", "act", "about", "what"),
        [_line(one) for one in rows_of(page.get("notices"))],
    )
    return Exit.OK


def _page(client: Client, agent: str, *, after: int, most: int, wait: int = 0) -> Told:
    return row_of(client.get("v1", "agents", agent, "notices", after=after, most=most, wait=wait))


def _line(one: Told) -> tuple[str, ...]:
    return (
        cell(one.get("cursor")),
        moment(one.get("at")),
        cell(one.get("kind")),
        cell(one.get("act")),
        cell(one.get("round") or one.get("artifact") or one.get("subject")),
        cell(one.get("why")),
    )


def _warn(output: Output, page: Told) -> None:
    if page.get("missed"):
        output.say("Older ones were dropped unread: too many of their kind came.")


def _ack_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    agent_argument(parser)
    parser.add_argument(
        "cursor",
        metavar="CURSOR",
        type=between(0, _LAST),
        help="that of the last notice that is dealt with, from `notice list`",
    )


def _ack(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "agents",
            agent_id(client, arguments.agent),
            "notices",
            "ack",
            body={"cursor": arguments.cursor},
        )
    return say_done(output, told, f"Notices up to {arguments.cursor} are told no more.")


def _follow_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    agent_argument(parser)
    parser.add_argument("--ack", action="store_true", help="acknowledge what was printed")
    parser.add_argument(
        "--for",
        dest="seconds",
        metavar="SECONDS",
        type=between(1, _LONGEST_S),
        help="stop after so many seconds; without it, when you interrupt it",
    )


def _follow(arguments: argparse.Namespace, output: Output) -> Exit:
    until = None if arguments.seconds is None else time.monotonic() + arguments.seconds
    after = 0
    with connect(arguments) as client:
        agent = agent_id(client, arguments.agent)
        while until is None or time.monotonic() < until:
            left = _WAIT_S if until is None else int(until - time.monotonic()) + 1
            page = _page(client, agent, after=after, most=_MOST, wait=min(left, _WAIT_S))
            _warn(output, page)
            for one in rows_of(page.get("notices")):
                if output.quiet:
                    output.put_json(dict(one))
                else:
                    output.put("  ".join(_line(one)))
            output.data.flush()
            cursor = page.get("next")
            if isinstance(cursor, int) and cursor > after:
                after = cursor
                if arguments.ack:
                    client.post("v1", "agents", agent, "notices", "ack", body={"cursor": after})
    return Exit.OK


NOTICE_LIST: Final = Command(
    words=("notice", "list"),
    summary="What concerns an agent, and is not acknowledged",
    why="An agent is told of rounds that match its offers to review, of phases in which it may act, "
    "of what becomes of its artifacts, and of sanctions. Reading changes nothing: what is dealt with "
    "is acknowledged by `notice ack`. With its id an operator's own notices are shown, too.",
    data={
        "notices": "one object each, as the route /v1/agents/{id}/notices tells it",
        "next": "the cursor to acknowledge, or to go on behind",
        "missed": "whether older ones were dropped unread",
    },
    examples=("folkmoot notice list AGENT", "folkmoot notice list AGENT --after 10 --json"),
    exits={Exit.FAILED: _MISSING, Exit.REFUSED: REFUSED},
    options=_list_options,
    run=_list,
)
NOTICE_ACK: Final = Command(
    words=("notice", "ack"),
    summary="Acknowledge an agent's notices",
    why="All notices up to the cursor are told no more. Do it when they are dealt with, not when they "
    "are read: until then they are told again, so nothing is lost when a program dies.",
    data={"done": "always true"},
    examples=("folkmoot notice ack AGENT 1",),
    exits={Exit.FAILED: _MISSING, Exit.REFUSED: REFUSED},
    options=_ack_options,
    run=_ack,
)
NOTICE_FOLLOW: Final = Command(
    words=("notice", "follow"),
    summary="Print an agent's notices as they come",
    why="Begins with what is not acknowledged, and waits for more until you interrupt it. With "
    "`--json` each notice is a line of its own.",
    data={"…": "the fields of a notice, one object a line"},
    examples=("folkmoot notice follow AGENT --for 1", "folkmoot notice follow AGENT --ack --for 1"),
    exits={Exit.FAILED: _MISSING, Exit.REFUSED: REFUSED},
    options=_follow_options,
    run=_follow,
)
