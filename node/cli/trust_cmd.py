"""`folkmoot trust show`: where an agent's trust, tier and weight come from, by the node's API."""

import argparse
from typing import Final

from federation.core import MILLION
from node.cli.agent_cmd import agent_argument
from node.cli.client import connect, node_options
from node.cli.command import Command
from node.cli.errors import Exit
from node.cli.names import agent_id
from node.cli.output import Json, Output
from node.cli.tables import Told, cell, put_fields, put_more, put_table, row_of, rows_of, share

_MISSING: Final = "no such agent, or the node does not run"
_ARROW: Final = " → "


def _show_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    agent_argument(parser)


def _show(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get("v1", "agents", agent_id(client, arguments.agent), "trust")
    if output.quiet:
        output.put_json(told)
    else:
        _tell(output, row_of(told))
    return Exit.OK


def _tell(output: Output, page: Told) -> None:
    why = page.get("why")
    for sentence in why if isinstance(why, list) else ():
        output.put(cell(sentence))
    output.put("")
    _put_terms(output, page)
    _put_tiers(output, page)
    _put_caps(output, page)
    _put_flows(output, page)
    _put_vouches(output, page)
    _put_evidence(output, page)


def _put_terms(output: Output, page: Told) -> None:
    score, ticket = row_of(page.get("score")), row_of(page.get("ticket"))
    weight, counted = row_of(page.get("weight")), row_of(page.get("counted"))
    put_fields(
        output,
        {
            "agent": row_of(page.get("agent")).get("id"),
            "name": row_of(page.get("agent")).get("name"),
            "operator": page.get("operator"),
            "instance": page.get("instance"),
            "as of tick": page.get("tick"),
            "trust in seats": share(score.get("seats")),
            "a ticket costs": share(ticket.get("needs")),
            "tier": row_of(page.get("tier")).get("tier"),
            "competence": share(weight.get("competence")),
            "reputation": share(weight.get("reputation")),
            "weight": share(weight.get("weight")),
            "counts in a full vote": _percent(counted.get("share")),
            "badges": [
                f"{cell(one.get('badge'))} ({cell(one.get('reason'))})"
                for one in rows_of(page.get("badges"))
            ],
            "vouches left": page.get("vouches_left"),
        },
    )


def _put_tiers(output: Output, page: Told) -> None:
    _heading(output, "What each tier asks, and what it shows")
    put_table(
        output,
        ("tier", "asks for", "needs", "shows", "enough"),
        [
            (
                cell(row.get("tier")),
                cell(need.get("condition")),
                _amount(need, "needs"),
                _amount(need, "shows"),
                "founder" if need.get("exempt") else cell(need.get("met")),
            )
            for row in rows_of(row_of(page.get("tier")).get("rows"))
            for need in rows_of(row.get("needs"))
        ],
    )


def _amount(need: Told, name: str) -> str:
    """Show a share with three places, and a count as it is."""
    is_share = need.get("condition") in {"ticket", "reputation"}
    return share(need.get(name)) if is_share else cell(need.get(name))


def _put_caps(output: Output, page: Told) -> None:
    _heading(output, "What bounds it in a vote by all reviewers")
    put_table(
        output,
        ("together with", "group", "reviewers", "before", "after", "bounds"),
        [
            (
                cell(row.get("grouping")),
                cell(row.get("group")),
                cell(row.get("reviewers")),
                _percent(row.get("before")),
                _percent(row.get("after")),
                cell(row.get("bounds")),
            )
            for row in rows_of(row_of(page.get("counted")).get("caps"))
        ],
    )


def _put_flows(output: Output, page: Told) -> None:
    _heading(output, "Who passes trust to it")
    put_table(
        output,
        ("agent", "operator", "approvals", "vouch", "seats", "capped"),
        [
            (
                cell(row.get("by")),
                cell(row.get("operator")),
                cell(row.get("approvals")),
                cell(row.get("vouch")),
                share(row.get("flow")),
                cell(row.get("capped")),
            )
            for row in rows_of(page.get("inflows"))
        ],
    )
    put_more(output, page.get("inflows_left_out"), "agents")
    _heading(output, "Along which paths")
    put_table(
        output,
        ("seats", "path"),
        [
            (
                share(row.get("flow")),
                _ARROW.join(cell(dict(one)) for one in rows_of(row.get("agents"))),
            )
            for row in rows_of(page.get("paths"))
        ],
    )


def _put_vouches(output: Output, page: Told) -> None:
    _heading(output, "Vouches")
    put_table(
        output,
        ("by", "for", "weight", "reason"),
        [
            (
                cell(row.get("by")),
                cell(row.get("agent")),
                cell(row.get("weight")),
                cell(row.get("reason")),
            )
            for name in ("vouches_received", "vouches_given")
            for row in rows_of(page.get(name))
        ],
    )
    put_more(output, page.get("vouches_left_out"), "vouches")


def _put_evidence(output: Output, page: Told) -> None:
    evidence = row_of(page.get("evidence"))
    _heading(output, "Evidence, newest first: as priced, and what is left of it now")
    put_table(
        output,
        ("tick", "kind", "for", "against", "left for", "left against", "source", "about"),
        [
            (
                cell(row.get("tick")),
                cell(row.get("kind")),
                share(row.get("positive")),
                share(row.get("negative")),
                share(row.get("counts_positive")),
                share(row.get("counts_negative")),
                cell(row.get("source")),
                cell(row.get("title") or row.get("artifact") or row.get("bad")),
            )
            for row in rows_of(evidence.get("rows"))
        ],
    )
    put_more(output, evidence.get("left_out"), "rows")
    _heading(output, "Reputation by topic")
    put_table(
        output,
        ("topic", "reputation", "interactions"),
        [
            (cell(row.get("topic")), share(row.get("reputation")), cell(row.get("interactions")))
            for row in rows_of(evidence.get("topics"))
        ],
    )


def _heading(output: Output, words: str) -> None:
    output.say()
    output.say(words)


def _percent(value: Json) -> str:
    return f"{value / MILLION:.1%}" if isinstance(value, int) else cell(None)


TRUST_SHOW: Final = Command(
    words=("trust", "show"),
    summary="Show where an agent's trust, tier and weight come from",
    why="How much trust it holds and who passes it on, whether that is a ticket, what each tier "
    "asks and what is missing, how its weight comes about and which caps bound it, and the "
    "evidence behind its reputation. All of it is as of the last tick. Trust is told in seats: 1 "
    "is what an average member of a realm of the charter's size would hold.",
    data={
        "why": "the page in sentences",
        "score": "trust in ppm of a seat, and of all trust",
        "ticket": "whether that is enough for a weight, and what is missing",
        "tier": "the tier, and what each tier asks and the agent shows",
        "weight": "the weight with the terms of its formula",
        "counted": "what it would count in a vote by all reviewers, and the caps that bound it",
        "evidence": "the newest rows, totals by kind, reputation by topic",
        "inflows": "who passes trust on to it, the most first",
        "paths": "the ways from where trust starts to it",
        "…": "more, as the route /v1/agents/{id}/trust tells it",
    },
    examples=("folkmoot trust show AGENT", "folkmoot trust show AGENT --json"),
    exits={Exit.FAILED: _MISSING, Exit.REFUSED: "it is no agent that a cut has admitted"},
    options=_show_options,
    run=_show,
)
