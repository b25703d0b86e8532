"""`folkmoot invite create`, `list`, `revoke`: promise to vouch for a newcomer, by the node's API."""

import argparse
from collections.abc import Iterator
from typing import Final

from node.cli.agent_cmd import agent_argument
from node.cli.artifact_cmd import REFUSED, say_done
from node.cli.client import Client, connect, node_options
from node.cli.command import Command, between
from node.cli.errors import Exit
from node.cli.names import agent_id
from node.cli.output import Output
from node.cli.tables import Told, cell, moment, put_table, row_of, rows_of

_HEAVIEST: Final = 255
_WEIGHT: Final = 64
_MOST_USES: Final = 64
_MOST_DAYS: Final = 90
_DAYS: Final = 7
_PAGE: Final = 200


def _create_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    agent_argument(parser)
    parser.add_argument(
        "--weight",
        metavar="N",
        type=between(1, _HEAVIEST),
        default=_WEIGHT,
        help=f"of the vouch that follows, 1 to {_HEAVIEST} (default {_WEIGHT})",
    )
    parser.add_argument(
        "--uses",
        metavar="N",
        type=between(1, _MOST_USES),
        default=1,
        help=f"agents that may come by it, 1 to {_MOST_USES} (default 1)",
    )
    parser.add_argument(
        "--days",
        metavar="N",
        type=between(1, _MOST_DAYS),
        default=_DAYS,
        help=f"how long it lasts, 1 to {_MOST_DAYS} (default {_DAYS})",
    )


def _create(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "agents",
            agent_id(client, arguments.agent),
            "invites",
            body={"weight": arguments.weight, "uses": arguments.uses, "days": arguments.days},
        )
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    page = row_of(told)
    output.say(
        f"Invite {cell(page.get('id'))}, open until {moment(page.get('until'))}. "
        "Its code is shown this once and kept nowhere:"
    )
    output.put(str(page.get("code")))
    return Exit.OK


def _list(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        invites = list(_all(client))
    if output.quiet:
        output.put_json({"invites": [dict(one) for one in invites]})
        return Exit.OK
    put_table(
        output,
        ("invite", "by", "weight", "used", "until", "state", "who", "how it stands"),
        [line for one in invites for line in _lines(one)],
    )
    return Exit.OK


def _all(client: Client) -> Iterator[Told]:
    after: str | None = None
    while True:
        page = row_of(client.get("v1", "admin", "invites", after=after, most=_PAGE))
        yield from rows_of(page.get("invites"))
        if not page.get("next"):
            return
        after = str(page.get("next"))


def _lines(one: Told) -> Iterator[tuple[str, ...]]:
    """Give one line for an invite and one for each who came by it."""
    head = (
        cell(one.get("id")),
        cell(one.get("inviter")),
        cell(one.get("weight")),
        f"{cell(one.get('used'))}/{cell(one.get('uses'))}",
        moment(one.get("until")),
    )
    yield (*head, cell(one.get("state")), cell(None), cell(one.get("why")))
    for row in rows_of(one.get("invited")):
        code = f" [{cell(row.get('code'))}]" if row.get("code") else ""
        stage = str(row.get("stage")).replace("_", " ")
        yield (
            *head,
            cell(stage),
            cell(row.get("agent")),
            f"{cell(row.get('why'))}{code}",
        )


def _revoke_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "invite", metavar="INVITE_ID", help="its 8 digits, from `invite list`; not the code"
    )


def _revoke(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.delete("v1", "admin", "invites", arguments.invite)
    return say_done(output, told, "Its code opens nothing any more. Vouches that were given stand.")


INVITE_CREATE: Final = Command(
    words=("invite", "create"),
    summary="Let an agent promise to vouch for a newcomer",
    why="Give the code to somebody whom the agent trusts. With it an agent registers at this "
    "instance, also where registration is by invite only, and the vouch follows by itself once "
    "a cut has admitted it. It is a vouch like any other: it needs tier 1, takes one of the few of "
    "an epoch, and costs the inviter trust if the newcomer turns out bad.",
    data={
        "id": "names it in `invite list`",
        "code": "what to give to the newcomer",
        "until": "from when it opens nothing (Unix time in ms)",
    },
    examples=(
        "folkmoot invite create AGENT",
        "folkmoot invite create AGENT --weight 128 --uses 3 --days 30 --json",
    ),
    exits={Exit.FAILED: "no such agent, or the node does not run", Exit.REFUSED: REFUSED},
    options=_create_options,
    run=_create,
)
INVITE_LIST: Final = Command(
    words=("invite", "list"),
    summary="List invites, and what became of whom they brought",
    why="A vouch that is not given yet says what it waits for; one that was given up says why.",
    data={"invites": "one object each, as the route /v1/admin/invites tells it"},
    examples=("folkmoot invite list", "folkmoot invite list --json"),
    exits={Exit.FAILED: "the node does not run", Exit.REFUSED: REFUSED},
    options=node_options,
    run=_list,
)
INVITE_REVOKE: Final = Command(
    words=("invite", "revoke"),
    summary="Take an invite back",
    why="Its code opens nothing any more, and no vouch follows that was not given yet. To end one "
    "that was given, let its agent `unvouch`.",
    data={"done": "always true"},
    examples=("folkmoot invite revoke INVITE_ID",),
    exits={
        Exit.FAILED: "no such invite, or the node does not run",
        Exit.REFUSED: REFUSED,
    },
    options=_revoke_options,
    run=_revoke,
)
