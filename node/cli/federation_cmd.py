"""`folkmoot federation policy`, `seeds`, `disagreement`: what I think of other instances."""

import argparse
from typing import Final

from node.cli.artifact_cmd import REFUSED
from node.cli.client import Client, connect, node_options
from node.cli.command import Command, between
from node.cli.errors import Exit, UsageError
from node.cli.names import agent_id, chosen
from node.cli.output import Json, Output
from node.cli.tables import NOTHING, Told, cell, put_table, row_of, rows_of, share

_WORDS: Final = ("allow", "observe")
_MOST_ROUNDS: Final = 1_000
_DENIED: Final = "the token is not the operator's, or the node refused and says why"
_POLICY: Final = {
    "neutral": "true where nothing differs from the charter",
    "from_charter": "true where trust starts at the charter's seeds",
    "seeds": "list of those from whom trust starts for this node",
    "instances": "list of `instance`, `operator`, `policy`, `ours`, `agents`",
    "links": "how many realms are linked",
}


def _policy_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "instance",
        metavar="INSTANCE",
        nargs="?",
        help="its name, its id, or the first digits of its id; left out, all are listed",
    )
    parser.add_argument(
        "word",
        metavar="POLICY",
        nargs="?",
        choices=_WORDS,
        help="allow, or observe: its agents weigh nothing in this node's own verdicts",
    )


def _policy(arguments: argparse.Namespace, output: Output) -> Exit:
    instance: str | None = arguments.instance
    word: str | None = arguments.word
    if instance is not None and word is None:
        raise UsageError(
            "federation policy not understood",
            why="it names an instance, and not what to think of it",
            fix=f"add {' or '.join(_WORDS)}; without an instance it lists all of them",
        )
    with connect(arguments) as client:
        told = client.get("v1", "federation", "policy")
        if instance is not None:
            told = client.post(
                "v1",
                "federation",
                "instances",
                _instance_id(told, instance),
                body={"policy": word},
            )
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    put_table(
        output,
        ("instance", "name", "operator", "policy", "agents"),
        [
            (
                cell(row_of(row.get("instance")).get("id")),
                cell(row.get("instance")) + (" (this one)" if row.get("ours") else ""),
                cell(row.get("operator")),
                cell(row.get("policy")),
                cell(row.get("agents")),
            )
            for row in rows_of(row_of(told).get("instances"))
        ],
    )
    output.say(_neutral(row_of(told)))
    return Exit.OK


def _instance_id(told: Json, said: str) -> str:
    """Give the id of the instance that is meant, of those that a policy names."""
    instances = [row_of(row.get("instance")) for row in rows_of(row_of(told).get("instances"))]
    return chosen(instances, said, what="instance")


def _neutral(policy: Told) -> str:
    if policy.get("neutral"):
        return "Nothing differs from the charter, so no verdict of this node does either."
    return "`folkmoot federation disagreement` shows what comes of it."


def _seeds_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "agents",
        metavar="AGENT",
        nargs="*",
        help="from whom trust starts for this node, by name or id; left out, they are listed",
    )
    parser.add_argument(
        "--charter", action="store_true", help="let trust start where the charter says, again"
    )


def _seeds(arguments: argparse.Namespace, output: Output) -> Exit:
    agents: list[str] = arguments.agents
    if agents and arguments.charter:
        raise UsageError(
            "federation seeds not understood",
            why="it names agents and the charter's seeds at once",
            fix="name agents, or give --charter",
        )
    with connect(arguments) as client:
        told = _told_seeds(client, agents, by_charter=arguments.charter)
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    policy = row_of(told)
    put_table(
        output,
        ("agent", "name"),
        [(cell(row.get("id")), cell(row.get("name"))) for row in rows_of(policy.get("seeds"))],
    )
    own = "These are the charter's." if policy.get("from_charter") else "These are this node's own."
    output.say(f"{own} {_neutral(policy)}")
    return Exit.OK


def _told_seeds(client: Client, agents: list[str], *, by_charter: bool) -> Json:
    if by_charter:
        return client.post("v1", "federation", "seeds", body={"charter": True})
    if agents:
        named = [agent_id(client, said) for said in agents]
        return client.post("v1", "federation", "seeds", body={"agents": named})
    return client.get("v1", "federation", "policy")


def _disagreement_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "--rounds",
        metavar="N",
        type=between(1, _MOST_ROUNDS),
        default=200,
        help=f"ended rounds to compare, the newest, 1 to {_MOST_ROUNDS} (default 200)",
    )
    parser.add_argument(
        "--most",
        metavar="N",
        type=between(1, 100),
        default=50,
        help="rounds to show of those where we part, 1 to 100 (default 50)",
    )


def _disagreement(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get(
            "v1",
            "federation",
            "disagreement",
            rounds=arguments.rounds,
            most=arguments.most,
        )
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    page = row_of(told)
    output.say(
        f"{cell(page.get('compared'))} rounds compared: {cell(page.get('agreed'))} decided alike, "
        f"{cell(page.get('parted'))} otherwise."
    )
    for row in rows_of(page.get("rounds")):
        output.put(
            f"{cell(row.get('round'))}  cut {cell(row.get('cut'))}  "
            f"{cell(row.get('canonical'))} {_v(row.get('canonical_v'))} -> "
            f"{cell(row.get('local'))} {_v(row.get('local_v'))} by {cell(row.get('local_by'))}  "
            f"{cell(row.get('title'))}"
        )
        for shift in rows_of(row.get("shifts")):
            output.put(
                f"    {cell(shift.get('voter'))} of {cell(shift.get('instance'))}, "
                f"{cell(shift.get('choice'))}: {share(shift.get('canonical'))} -> "
                f"{share(shift.get('local'))}  {cell(shift.get('why'))}"
            )
    if page.get("more"):
        output.say("Older rounds were not compared: --rounds takes in more of them.")
    return Exit.OK


def _v(value: Json) -> str:
    return NOTHING if value is None else f"V {share(value)}"


FEDERATION_POLICY: Final = Command(
    words=("federation", "policy"),
    summary="Show what this node thinks of each instance, or decide it",
    why="An observed instance is replicated like every other, and its agents vote like all others; "
    "in this node's own verdicts they weigh nothing. What is certified stays what it is.",
    data=_POLICY,
    examples=("folkmoot federation policy", "folkmoot federation policy INSTANCE observe"),
    exits={Exit.FAILED: "no such instance, or the node does not run", Exit.REFUSED: _DENIED},
    options=_policy_options,
    run=_policy,
)
FEDERATION_SEEDS: Final = Command(
    words=("federation", "seeds"),
    summary="Show from whom trust starts for this node, or decide it",
    why="Everybody's trust comes from the seeds, along vouches and approved work. With seeds of "
    "your own this node shows how rounds would have ended if your word were where it starts.",
    data=_POLICY,
    examples=(
        "folkmoot federation seeds",
        "folkmoot federation seeds AGENT OTHER_AGENT",
        "folkmoot federation seeds --charter",
    ),
    exits={Exit.FAILED: "no such agent, or the node does not run", Exit.REFUSED: _DENIED},
    options=_seeds_options,
    run=_seeds,
)
FEDERATION_DISAGREEMENT: Final = Command(
    words=("federation", "disagreement"),
    summary="Show where this node would decide otherwise, and which weights do it",
    why="It counts the opened ballots of ended rounds again, with weights by your own seeds and "
    "policy, and lists the rounds that end otherwise. The canonical verdict stands: this is for "
    "you, to see whether a partner or a seed decides what you would not.",
    data={
        "cut": "cut whose world the weights are of",
        "compared": "ended rounds with opened ballots that were compared",
        "agreed": "of these, decided alike",
        "parted": "of these, decided otherwise",
        "more": "true where older rounds were not compared",
        "rounds": "list of rounds decided otherwise: both decisions, both V, `shifts`, `why`",
    },
    examples=("folkmoot federation disagreement", "folkmoot federation disagreement --json"),
    exits={Exit.FAILED: "the node does not run", Exit.REFUSED: REFUSED},
    options=_disagreement_options,
    run=_disagreement,
)
