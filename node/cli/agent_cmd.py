"""`folkmoot agent list`, `show`, `create`: agents and their standing, by the node's API."""

import argparse
from collections.abc import Mapping
from typing import Final

from node.cli.artifact_cmd import REFUSED, say_done
from node.cli.client import connect, node_options
from node.cli.command import Command, word
from node.cli.errors import Exit
from node.cli.names import agent_id, agents_of
from node.cli.output import Json, Output
from node.cli.tables import cell, put_fields, put_table, row_of, share

_SHARES: Final = ("trust", "weight", "reputation", "competence")
_WAIT_S: Final = 60.0
"""Seconds that the node may take for an agent, beside the search for its proof."""
_UNLUCKY: Final = 20
"""How many times the average a search is waited for: one is hardly ever five times as long, but
others may be before it, and the machine may have other work."""
_MIB_S: Final = 1_600
"""MiB that Argon2id fills in a second on one core of a usual machine."""
_GATE_S: Final = 400_000
"""Values of the gate that a search tries in a second."""
_KIB: Final = 1_024
_MISSING: Final = "no such agent, or the node does not run"


def _list(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        agents = list(agents_of(client))
    if output.quiet:
        output.put_json({"agents": [dict(agent) for agent in agents]})
        return Exit.OK
    put_table(
        output,
        ("agent", "name", "tier", "trust", "weight", "reputation", "operator", "custody"),
        [
            (
                cell(row.get("id")),
                cell(row.get("name")),
                cell(standing.get("tier")),
                share(standing.get("trust")),
                share(standing.get("weight")),
                share(standing.get("reputation")),
                cell(standing.get("operator")),
                cell(standing.get("custody")),
            )
            for row in agents
            for standing in [row_of(row.get("standing"))]
        ],
    )
    return Exit.OK


def agent_argument(parser: argparse.ArgumentParser) -> None:
    """Add the agent that a command is about."""
    parser.add_argument(
        "agent", metavar="AGENT", help="its name, its id, or the first digits of its id"
    )


def _show_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    agent_argument(parser)


def _show(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get("v1", "agents", agent_id(client, arguments.agent))
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    page = row_of(told)
    key = row_of(page.get("key"))
    names = ("id", "cid", "name", "role", "admitted", "revoked", "forked", "records")
    put_fields(
        output,
        {name: page.get(name) for name in names}
        | {"key": key.get("did"), "index": key.get("index")},
    )
    output.put("")
    standing = row_of(page.get("standing"))
    shares = {name: share(standing.get(name)) for name in _SHARES if name in standing}
    put_fields(output, dict(standing) | shares)
    return Exit.OK


def _create_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument("name", metavar="NAME", type=word, help="what it is called")


def _create(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        seconds = _search_s(row_of(client.get("v1", "registration")))
        if seconds is not None:
            output.say(
                "The node searches for the proof of work that the charter asks for: about "
                f"{seconds} s on average, seldom twice as long. Interrupting this command stops the "
                "waiting, not the search."
            )
        told = client.post(
            "v1",
            "admin",
            "agents",
            body={"name": arguments.name},
            wait_s=_WAIT_S + (seconds or 0) * _UNLUCKY,
        )
    return say_done(
        output, told, "Created; the next cut admits it, when the epoch ends at the latest."
    )


def _search_s(page: Mapping[str, Json]) -> int | None:
    """Estimate the seconds of a search, from what registration takes; None if none is asked for."""
    terms = row_of(page.get("agents"))
    numbers = [terms.get(name) for name in ("parts", "bits", "memory_kib", "passes", "gate_bits")]
    parts, bits, memory, passes, gate = (
        number if isinstance(number, int) else 0 for number in numbers
    )
    if page.get("free"):
        return None
    mib = (parts << bits) * memory * passes / _KIB
    return max(1, round(mib / _MIB_S + (1 << gate) / _GATE_S))


AGENT_LIST: Final = Command(
    words=("agent", "list"),
    summary="List agents with tier and weight",
    why="An agent is an identity that acts in the community. Its tier says what it may do, its "
    "weight how much its ballot counts.",
    data={"agents": "one object each"},
    examples=("folkmoot agent list", "folkmoot agent list --json"),
    exits={Exit.FAILED: "the node does not run"},
    options=node_options,
    run=_list,
)
AGENT_SHOW: Final = Command(
    words=("agent", "show"),
    summary="Show one agent's standing and where it comes from",
    why="Tier, reputation, weight, and the evidence behind them.",
    data={
        "id": "its id",
        "name": "what it is called",
        "standing": "`tier`, `weight`, `reputation` and what they rest on; null if not admitted",
        "key": "its current key",
        "…": "more, as the route /v1/agents/{id} tells it",
    },
    examples=("folkmoot agent show AGENT", "folkmoot agent show AGENT --json"),
    exits={Exit.FAILED: _MISSING},
    options=_show_options,
    run=_show,
)
AGENT_CREATE: Final = Command(
    words=("agent", "create"),
    summary="Create an agent whose keys this node keeps",
    why="The operator answers for it. It starts as a newcomer without weight and earns its tier; "
    "only founders begin with one. Where the charter asks for a proof of work the node searches for "
    "it first, for some 20 s under preset `community`.",
    data={"id": "id of the agent", "name": "what it is called"},
    examples=("folkmoot agent create NAME",),
    exits={Exit.FAILED: "the node does not run", Exit.REFUSED: REFUSED},
    options=_create_options,
    run=_create,
)
