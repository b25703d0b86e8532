"""`folkmoot webhook add`, `list`, `remove`, `dead`, `retry`: notices that are posted, by the API."""

import argparse
from typing import Final

from node.cli.agent_cmd import agent_argument
from node.cli.artifact_cmd import REFUSED, say_done
from node.cli.client import connect, node_options
from node.cli.command import Command, between
from node.cli.errors import Exit
from node.cli.names import agent_id
from node.cli.output import Output
from node.cli.tables import cell, moment, put_table, row_of, rows_of

_LAST: Final = 2**53 - 1
_MOST: Final = 200
_MISSING: Final = "no such agent or webhook, or the node does not run"


def _agent_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    agent_argument(parser)


def _add_options(parser: argparse.ArgumentParser) -> None:
    _agent_options(parser)
    parser.add_argument(
        "target", metavar="HTTPS_ADDRESS", help="where to post; a host by name, https only"
    )


def _add(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "agents",
            agent_id(client, arguments.agent),
            "webhooks",
            body={"url": arguments.target},
        )
    return say_done(
        output, told, "Made. Give the receiver its keyid and public key; nothing was called yet."
    )


def _list(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get("v1", "agents", agent_id(client, arguments.agent), "webhooks")
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    put_table(
        output,
        ("webhook", "on", "waiting", "dead", "made", "address", "public key", "why off"),
        [
            (
                cell(one.get("id")),
                cell(one.get("on")),
                cell(one.get("waiting")),
                cell(one.get("dead")),
                moment(one.get("created")),
                cell(one.get("url")),
                cell(one.get("public_key")),
                cell(one.get("why")),
            )
            for one in rows_of(row_of(told).get("webhooks"))
        ],
    )
    return Exit.OK


def _remove_options(parser: argparse.ArgumentParser) -> None:
    _agent_options(parser)
    parser.add_argument("webhook", metavar="WEBHOOK_ID", help="its 16 digits, from `webhook list`")


def _remove(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.delete(
            "v1", "agents", agent_id(client, arguments.agent), "webhooks", arguments.webhook
        )
    return say_done(
        output, told, "Nothing is posted there any more; `notice list` still tells all."
    )


def _dead_options(parser: argparse.ArgumentParser) -> None:
    _agent_options(parser)
    parser.add_argument(
        "--after",
        metavar="N",
        type=between(0, _LAST),
        default=0,
        help="go on behind this number",
    )


def _dead(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get(
            "v1",
            "agents",
            agent_id(client, arguments.agent),
            "webhooks",
            "dead",
            after=arguments.after,
            most=_MOST,
        )
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    put_table(
        output,
        ("n", "webhook", "tries", "notice", "kind", "why"),
        [
            (
                cell(one.get("n")),
                cell(one.get("webhook")),
                cell(one.get("tries")),
                cell(row_of(one.get("notice")).get("cursor")),
                cell(row_of(one.get("notice")).get("kind")),
                cell(one.get("last")),
            )
            for one in rows_of(row_of(told).get("dead"))
        ],
    )
    after = row_of(told).get("next")
    if after:
        output.say(f"There are more: --after {cell(after)}")
    return Exit.OK


def _retry_options(parser: argparse.ArgumentParser) -> None:
    _agent_options(parser)
    parser.add_argument(
        "n", metavar="N", type=between(0, _LAST), help="its number, from `webhook dead`"
    )


def _retry(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "agents",
            agent_id(client, arguments.agent),
            "webhooks",
            "dead",
            str(arguments.n),
            "retry",
        )
    return say_done(output, told, "It is tried again now, and its webhook is on.")


_EXITS: Final = {Exit.FAILED: _MISSING, Exit.REFUSED: REFUSED}

WEBHOOK_ADD: Final = Command(
    words=("webhook", "add"),
    summary="Have an agent's notices posted to an address",
    why="From now on each notice is posted there as JSON, in order, and signed by a key of this "
    "webhook's own (RFC 9421): the receiver keeps the public key and checks each request. The "
    "address must be https and lead to public addresses, unless `webhook_addresses` lists them. "
    "The same address again turns its webhook on.",
    data={
        "id": "names it in the other commands",
        "url": "where notices are posted, in the spelling that is signed",
        "keyid": "name of the key in the signature",
        "algorithm": "always `ed25519`",
        "public_key": "its 32 bytes in base64",
    },
    examples=("folkmoot webhook add AGENT https://hooks.example.org/moot",),
    exits=_EXITS,
    options=_add_options,
    run=_add,
)
WEBHOOK_LIST: Final = Command(
    words=("webhook", "list"),
    summary="An agent's webhooks, and how they stand",
    why="A webhook is turned off after three notices in a row that could not be delivered; it says why.",
    data={"webhooks": "one object each, as the route /v1/agents/{id}/webhooks tells it"},
    examples=("folkmoot webhook list AGENT", "folkmoot webhook list AGENT --json"),
    exits=_EXITS,
    options=_agent_options,
    run=_list,
)
WEBHOOK_REMOVE: Final = Command(
    words=("webhook", "remove"),
    summary="Post an agent's notices somewhere no more",
    why="What waits for it is forgotten, dead letters too. The notices themselves stay until they are "
    "acknowledged.",
    data={"done": "always true"},
    examples=("folkmoot webhook remove AGENT WEBHOOK_ID",),
    exits=_EXITS,
    options=_remove_options,
    run=_remove,
)
WEBHOOK_DEAD: Final = Command(
    words=("webhook", "dead"),
    summary="Notices that could not be delivered to an agent's webhooks",
    why="Each was tried ten times within about an hour and a half. The reason is that of the last try.",
    data={
        "dead": "one object each, as the route /v1/agents/{id}/webhooks/dead tells it",
        "next": "pass it as --after for more; nil on the last page",
    },
    examples=("folkmoot webhook dead AGENT", "folkmoot webhook dead AGENT --json"),
    exits=_EXITS,
    options=_dead_options,
    run=_dead,
)
WEBHOOK_RETRY: Final = Command(
    words=("webhook", "retry"),
    summary="Deliver a dead notice after all",
    why="It goes first again, as if it was new, and its webhook is turned on if it was off.",
    data={"done": "always true"},
    examples=("folkmoot webhook retry AGENT 1",),
    exits=_EXITS,
    options=_retry_options,
    run=_retry,
)
