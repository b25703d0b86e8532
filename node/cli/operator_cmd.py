"""`folkmoot operator list`, `show`: who answers for whom, by the node's API."""

import argparse
from collections.abc import Iterator
from typing import Final

from federation.core import MILLION
from node.cli.client import connect, node_options
from node.cli.command import Command
from node.cli.errors import Exit
from node.cli.names import chosen, operators_of
from node.cli.output import Json, Output
from node.cli.tables import (
    NOTHING,
    Told,
    cell,
    put_fields,
    put_more,
    put_table,
    row_of,
    rows_of,
    share,
)

_MISSING: Final = "no such operator, or the node does not run"


def _list(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        operators = list(operators_of(client))
    if output.quiet:
        output.put_json({"operators": [dict(one) for one in operators]})
        return Exit.OK
    put_table(
        output,
        ("operator", "name", "domain", "instances", "agents", "vote", "found bad", "refused"),
        [
            (
                cell(row_of(row.get("operator")).get("id")),
                cell(row.get("operator")) + (" (revoked)" if row.get("revoked") else ""),
                cell(row.get("domain")),
                cell(row.get("instances")),
                f"{cell(quota.get('used'))} of {cell(quota.get('most'))}",
                _percent(row_of(row.get("weight")).get("after")),
                cell(row.get("found_bad")),
                cell(row.get("void")),
            )
            for row in operators
            for quota in [row_of(row.get("quota"))]
        ],
    )
    return Exit.OK


def _show_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "operator", metavar="OPERATOR", help="its name, its id, or the first digits of its id"
    )


def _show(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        rows = (row_of(one.get("operator")) for one in operators_of(client))
        told = client.get("v1", "operators", chosen(rows, arguments.operator, what="operator"))
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    page = row_of(told)
    for sentence in sentences_of(page):
        output.put(sentence)
    output.put("")
    put_fields(
        output,
        {
            "operator": row_of(page.get("operator")).get("id"),
            "name": row_of(page.get("operator")).get("name"),
            "key": row_of(page.get("key")).get("did"),
            "instances": page.get("instances"),
        }
        | {
            name: page.get(name)
            for name in ("admitted_by", "admitted_tick", "domain", "revoked", "forked")
        },
    )
    _put_agents(output, page)
    _put_vouches(output, page)
    put_void(output, row_of(page.get("void")))
    return Exit.OK


def _put_agents(output: Output, page: Told) -> None:
    output.say("\nIts agents:")
    put_table(
        output,
        ("agent", "name", "tier", "weight", "reputation", "admitted by", "at tick", "found bad"),
        [
            (
                cell(row_of(row.get("agent")).get("id")),
                cell(row.get("agent")) + (" (revoked)" if row.get("revoked") else ""),
                cell(row.get("tier")),
                share(row.get("weight")),
                share(row.get("reputation")),
                cell(row.get("instance")),
                cell(row.get("admitted_tick")),
                cell(row.get("found_bad")),
            )
            for row in rows_of(page.get("agents"))
        ],
    )
    put_more(output, page.get("agents_left_out"), "agents")


def _put_vouches(output: Output, page: Told) -> None:
    output.say("\nVouches by its agents:")
    put_table(
        output,
        ("by", "for", "weight", "found bad"),
        [
            (
                cell(row.get("by")),
                cell(row.get("agent")),
                cell(row.get("weight")),
                cell(row.get("found_bad")),
            )
            for row in rows_of(page.get("vouches"))
        ],
    )
    put_more(output, page.get("vouches_left_out"), "vouches")


def sentences_of(page: Told) -> Iterator[str]:
    """Go through the sentences of a page."""
    says = page.get("says")
    return map(cell, says if isinstance(says, list) else ())


def put_void(output: Output, void: Told) -> None:
    """Print admissions that do not count, the newest first."""
    rows = rows_of(void.get("newest"))
    if not rows:
        return
    output.say("\nAdmissions that do not count:")
    put_table(
        output,
        ("record", "by", "role", "newcomer", "operator", "code", "why"),
        [
            (
                # In full: `folkmoot why` takes no less.
                str(row.get("record")) if isinstance(row.get("record"), str) else NOTHING,
                _called(row.get("instance")),
                cell(row.get("role")),
                _called(row.get("newcomer")),
                _called(row.get("operator")),
                cell(row.get("code")),
                cell(row.get("says")),
            )
            for row in rows
        ],
    )
    count = void.get("count")
    put_more(output, count - len(rows) if isinstance(count, int) else 0, "admissions")


def _called(value: Json) -> str:
    """Call an identity by its name, or by its id where the name is not known."""
    found = row_of(value)
    return cell(found.get("name") or found.get("id"))


def _percent(value: Json) -> str:
    return f"{value * 100 / MILLION:.1f} %" if isinstance(value, int) else NOTHING


OPERATOR_LIST: Final = Command(
    words=("operator", "list"),
    summary="List operators with their agents and what they weigh",
    why="An operator answers for agents: caps and quotas bound what all of them hold together. The "
    "list tells how many agents each has and may have, its share of a vote by all reviewers, how "
    "many of its agents were found bad, and how many admissions for it were refused.",
    data={"operators": "one object each, as the route /v1/operators tells it"},
    examples=("folkmoot operator list", "folkmoot operator list --json"),
    exits={Exit.FAILED: "the node does not run"},
    options=node_options,
    run=_list,
)
OPERATOR_SHOW: Final = Command(
    words=("operator", "show"),
    summary="Show one operator: its agents, instances, quota and vouches",
    why="Who stands behind an agent: when and by whom the operator was admitted, which domain it "
    "gave, how many agents it may have and what makes room, for whom its agents vouch, and which "
    "admissions for it do not count. A domain is the word of the instance that admitted it; "
    "anybody can fetch the file and look.",
    data={
        "operator": "`id`, `cid` and `name`",
        "says": "the page in sentences",
        "quota": "`used`, `established`, `most`, `left`, `base`, `growth`: agents",
        "agents": "its agents: tier, weight, reputation, `found_bad`",
        "weight": "what they count in a vote by all reviewers now, before and after the cap",
        "vouches": "vouches by its agents that stand",
        "void": "`count`, `codes` and `newest` of admissions that do not count",
        "…": "more, as the route /v1/operators/{id} tells it",
    },
    examples=("folkmoot operator show OPERATOR", "folkmoot operator show OPERATOR --json"),
    exits={Exit.FAILED: _MISSING},
    options=_show_options,
    run=_show,
)
