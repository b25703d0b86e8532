"""`folkmoot status`: how a running instance is."""

import argparse
from typing import Final

import msgspec

from node.cli.client import Client, connect, data_of, node_options
from node.cli.command import Command
from node.cli.errors import Exit
from node.cli.output import Json, Output
from node.cli.tables import cell, put_fields, row_of

_READY: Final = "ready"


def _run(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        health = row_of(client.get("health"))
        realm = row_of(client.get("v1", "realm"))
        peers = row_of(client.get("v1", "peers"))
        addresses = _addresses(arguments, client)
    state = health.get("state")
    if output.quiet:
        output.put_json(
            {
                "url": client.url,
                "addresses": addresses,
                "health": dict(health),
                "realm": dict(realm),
                "peers": {name: peers.get(name) for name in ("known", "connected")},
            }
        )
    else:
        cut = row_of(realm.get("cut"))
        put_fields(
            output,
            {
                "state": state,
                "reasons": health.get("reasons"),
                "url": client.url,
                "address": addresses,
                "realm": realm.get("name"),
                "instance": realm.get("me"),
                "cut": cut.get("number"),
                "tick": cut.get("tick"),
                "world": cut.get("world"),
                "records": realm.get("records"),
                "agents": realm.get("agents"),
                "peers": f"{cell(peers.get('connected'))} of {cell(peers.get('known'))} connected",
            },
        )
    return Exit.OK if state == _READY else Exit.FAILED


def _addresses(arguments: argparse.Namespace, client: Client) -> list[Json]:
    """List where other instances reach the node, if the data directory is that node's."""
    try:
        told = row_of(msgspec.json.decode(data_of(arguments).address.read_bytes()))
    except (OSError, msgspec.DecodeError):
        return []
    found = told.get("addresses")
    ours = str(told.get("url")).rstrip("/") == client.url
    return list(found) if ours and isinstance(found, list) else []


STATUS: Final = Command(
    words=("status",),
    summary="Tell how a running instance is",
    why="Whether it takes part, and why not; how far it is, and how many others it hears. Equal "
    "numbers of the cut with different `world` digests mean that two instances disagree. For "
    "scripts: the exit code is 0 only if the instance is ready.",
    data={
        "url": "of API and status page",
        "addresses": "where other instances reach it",
        "health": "`state` (ready, settling, waiting_for_quorum, stopping), `reasons`, `version`",
        "realm": "`id`, `name`, `cut` with `number`, `tick` and `world` digest, `records`, "
        "and more",
        "peers": "how many are `known`, and `connected`",
    },
    examples=("folkmoot status", "folkmoot status --url http://127.0.0.1:8420 --json"),
    exits={Exit.OK: "it is ready", Exit.FAILED: "it does not run, or is not ready"},
    options=node_options,
    run=_run,
)
