"""`folkmoot peer list`, `add`, `why`, `ban`, `remove`: other instances, by the node's API."""

import argparse
from typing import Final

from node.base.errors import NodeCode, RequestError
from node.base.settings import read_address
from node.cli.artifact_cmd import REFUSED, say_done
from node.cli.client import Client, connect, node_options
from node.cli.command import Command, between
from node.cli.errors import AnswerError, Exit
from node.cli.names import chosen
from node.cli.operator_cmd import put_void, sentences_of
from node.cli.output import Json, Output
from node.cli.tables import Told, cell, moment, put_fields, put_table, row_of, rows_of

_LONGEST_BAN: Final = 525_600
"""Minutes in a year."""
_MISSING: Final = "no such peer, or the node does not run"


def _list(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get("v1", "peers")
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    put_table(
        output,
        (
            "instance",
            "name",
            "connected",
            "cut",
            "last progress",
            "faults",
            "banned until",
            "why not",
        ),
        [
            (
                cell(row.get("instance")),
                cell(row.get("name")),
                cell(row.get("connected")),
                cell(row.get("cut")),
                moment(row.get("last_progress")),
                cell(row.get("score")),
                moment(row.get("banned_until")),
                cell(row.get("unreachable")),
            )
            for row in peers_of(told)
        ],
    )
    return Exit.OK


def peers_of(told: Json) -> list[Told]:
    """Take the peers out of what the node answers; raises NOT_ALLOWED if it tells none."""
    page = row_of(told)
    if page.get("peers") is None:
        raise RequestError(
            "peers not listed",
            why="only the operator of an instance is told who its peers are; it knows "
            f"{cell(page.get('known'))}, and {cell(page.get('connected'))} are connected",
            fix="use the operator's token: name its data directory with --data",
            code=NodeCode.NOT_ALLOWED,
        )
    return rows_of(page.get("peers"))


def address(text: str) -> str:
    """Read the multiaddr of a peer."""
    try:
        return read_address(text, with_peer=True)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _add_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "address",
        metavar="ADDRESS",
        type=address,
        help="its multiaddr, such as /ip4/192.0.2.7/tcp/4420/p2p/12D3KooW…; "
        "`folkmoot status` of that instance shows it",
    )


def _add(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post("v1", "admin", "peers", body={"address": arguments.address})
    return say_done(
        output, told, "It is called from now on; `folkmoot peer list` shows what comes of it."
    )


def _peer_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "instance", metavar="INSTANCE", help="its name, its id, or the first digits of its id"
    )


def _why(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        peers = peers_of(client.get("v1", "peers"))
        own = _own(client)
        peer = find_peer([*peers, own], arguments.instance)
        admissions = _admissions(client, peer)
    if output.quiet:
        output.put_json(dict(peer) | {"admissions": dict(admissions) or None})
        return Exit.OK
    if peer is own:
        output.put(
            f"{cell(peer.get('name'))} is this instance itself: it holds no fault against it."
        )
        _put_door(output, admissions)
        return Exit.OK
    times = {name: moment(peer.get(name)) for name in ("last_progress", "banned_until")}
    put_fields(output, {name: value for name, value in peer.items() if name != "why"} | times)
    output.say()
    put_table(
        output,
        ("at", "code", "cost", "why"),
        [
            (
                moment(row.get("at")),
                cell(row.get("code")),
                cell(row.get("cost")),
                cell(row.get("why")),
            )
            for row in rows_of(peer.get("why"))
        ],
    )
    _put_door(output, admissions)
    return Exit.OK


def _put_door(output: Output, admissions: Told) -> None:
    if admissions:
        output.say()
        output.say("As a door for newcomers:")
        for sentence in sentences_of(admissions):
            output.put(sentence)
        put_void(output, row_of(admissions.get("void")))


def _own(client: Client) -> Told:
    """Give the instance that is asked, as if it were a peer of its own: it is a door as well."""
    me = row_of(row_of(client.get("v1", "realm")).get("me"))
    return {
        "instance": me.get("id"),
        "name": me.get("name"),
        "score": 0,
        "banned_until": None,
        "why": [],
    }


def _admissions(client: Client, peer: Told) -> Told:
    """Ask what a peer admits; empty if it is no member's instance any more."""
    try:
        return row_of(client.get("v1", "instances", str(peer.get("instance")), "admissions"))
    except AnswerError as error:
        if error.code != NodeCode.NOT_FOUND:
            raise
        return {}


def find_peer(peers: list[Told], said: str) -> Told:
    """Find the peer of a name, an id or its beginning; raises NOT_FOUND and AMBIGUOUS."""
    # A ban must not hit who merely calls itself by another's id, so an id always is one.
    rows: list[Told] = [{"id": one.get("instance"), "name": one.get("name")} for one in peers]
    meant = chosen(rows, said, what="peer").lower()
    found = [one for one in peers if one.get("instance") == meant]
    if not found:
        raise RequestError(
            f"peer {said!r} not found",
            why="no peer has this id",
            fix="`folkmoot peer list` shows them",
            code=NodeCode.NOT_FOUND,
        )
    return found[0]


def _ban_options(parser: argparse.ArgumentParser) -> None:
    _peer_options(parser)
    parser.add_argument(
        "--minutes",
        metavar="N",
        type=between(0, _LONGEST_BAN),
        default=1_440,
        help=f"how long, up to {_LONGEST_BAN}, a year; 0 ends a ban (default 1440, a day)",
    )


def _ban(arguments: argparse.Namespace, output: Output) -> Exit:
    minutes: int = arguments.minutes
    with connect(arguments) as client:
        peer = find_peer(peers_of(client.get("v1", "peers")), arguments.instance)
        told = client.post(
            "v1",
            "admin",
            "peers",
            str(peer.get("instance")),
            "ban",
            body={"minutes": minutes},
        )
    words = f"Refused here for {minutes} min; others decide themselves."
    return say_done(output, told, words if minutes else "The ban is over.")


def _remove(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        peer = find_peer(peers_of(client.get("v1", "peers")), arguments.instance)
        told = client.delete("v1", "admin", "peers", str(peer.get("instance")))
    return say_done(output, told, "It is called no more.")


PEER_LIST: Final = Command(
    words=("peer", "list"),
    summary="List other instances with their last progress",
    why="Connected is not the same as in step: `last progress` is when a peer last answered a "
    "question, and `cut` how far it has come.",
    data={
        "known": "how many this instance knows",
        "connected": "how many of them it is connected to",
        "peers": "one object each; null without the operator's token",
        "gossip": "what gossip has lost since the node started; null like `peers`",
    },
    examples=("folkmoot peer list", "folkmoot peer list --json"),
    exits={Exit.FAILED: "the node does not run", Exit.REFUSED: "the token is not the operator's"},
    options=node_options,
    run=_list,
)
PEER_ADD: Final = Command(
    words=("peer", "add"),
    summary="Call another instance now",
    why="The node calls the address, now and whenever the connection ends, also after a restart, "
    "until `peer remove`. Addresses may stand in `peers` of folkmoot.toml just as well.",
    data={"done": "always true; anything else is an error"},
    examples=("folkmoot peer add ADDRESS",),
    exits={Exit.FAILED: "the node does not run", Exit.REFUSED: REFUSED},
    options=_add_options,
    run=_add,
)
PEER_WHY: Final = Command(
    words=("peer", "why"),
    summary="Tell why a peer is in its present standing",
    why="Every fault that a peer was charged with: when, which rule, what it cost. Reasons fade "
    "with time, and a ban ends by itself. Then whom it has admitted in this epoch and may, which of "
    "its admissions do not count and why, and what the agents that it admitted weigh in a vote. Of "
    "the instance that is asked it tells only this.",
    data={
        "instance": "its id",
        "score": "what its faults add up to; 0 is spotless",
        "banned_until": "Unix time in ms, or null",
        "why": "list of faults: `at`, `code`, `why`, `cost`",
        "admissions": "what it admits, as the route /v1/instances/{id}/admissions tells it; null if "
        "it is no member's instance",
        "…": "more, as the API's route /v1/peers tells it; not of the instance that is asked",
    },
    examples=("folkmoot peer why INSTANCE",),
    exits={Exit.FAILED: _MISSING, Exit.REFUSED: "the token is not the operator's"},
    options=_peer_options,
    run=_why,
)
PEER_BAN: Final = Command(
    words=("peer", "ban"),
    summary="Refuse a peer for some time",
    why="What is open with it ends, and whenever it calls it is told why, here only. While a "
    "member is banned, certificates that need its signature do not come.",
    data={"done": "always true; anything else is an error"},
    examples=("folkmoot peer ban INSTANCE --minutes 120",),
    exits={Exit.FAILED: _MISSING, Exit.REFUSED: REFUSED},
    options=_ban_options,
    run=_ban,
)
PEER_REMOVE: Final = Command(
    words=("peer", "remove"),
    summary="Stop calling a peer",
    why="The node does not call it again, not even after a restart. A conversation that is open "
    "goes on until it ends, and the peer may still call here; `peer ban` ends both. An address "
    "that stands in folkmoot.toml must be taken out there.",
    data={"done": "always true; anything else is an error"},
    examples=("folkmoot peer remove INSTANCE",),
    exits={Exit.FAILED: _MISSING, Exit.REFUSED: REFUSED},
    options=_peer_options,
    run=_remove,
)
