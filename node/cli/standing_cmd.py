"""`folkmoot agent standing`, `sanction list`, `sanction show`, `rules`: what holds, and why."""

import argparse
from typing import Final

from node.cli.agent_cmd import agent_argument
from node.cli.client import connect, node_options
from node.cli.command import Command, between
from node.cli.errors import Exit
from node.cli.names import agent_id
from node.cli.output import Output
from node.cli.tables import Told, cell, put_end, put_fields, put_table, row_of, rows_of, share

_MOST: Final = 200
_MISSING: Final = "no such agent, or the node does not run"
_UNKNOWN: Final = "no such violation, or the node does not run"


def _standing_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    agent_argument(parser)


def _standing(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get("v1", "agents", agent_id(client, arguments.agent), "standing")
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    put_standing(output, row_of(told))
    return Exit.OK


def put_standing(output: Output, page: Told) -> None:
    """Print where an agent stands, for people."""
    level, quarantine = row_of(page.get("level")), row_of(page.get("quarantine"))
    for sentence in [
        *(one for one in _list(page.get("why")) if isinstance(one, str)),
        f"Sanction: {cell(level.get('name'))}. {cell(level.get('takes'))} {cell(level.get('says'))}",
    ]:
        output.put(sentence)
    if quarantine:
        output.put(f"Quarantine: {cell(quarantine.get('says'))}")
    output.put("")
    put_fields(
        output,
        {
            "agent": row_of(page.get("agent")).get("id"),
            "operator": page.get("operator"),
            "tier": page.get("tier"),
            "weight": share(page.get("weight")),
            "points": level.get("points"),
            "next level at": level.get("next_at"),
        },
    )
    output.put("")
    put_table(
        output,
        ("may", "now", "code", "what would change it"),
        [
            (
                cell(one.get("what")),
                cell(one.get("allowed")),
                cell(one.get("code")),
                cell(one.get("change")),
            )
            for one in rows_of(page.get("may"))
        ],
    )
    output.put("")
    put_table(
        output,
        ("quota", "left", "of", "charter", "free again"),
        [
            tuple(cell(one.get(name)) for name in ("name", "left", "allowed", "charter", "period"))
            for one in rows_of(page.get("quotas"))
        ],
    )
    violations = rows_of(page.get("violations"))
    if violations:
        output.put("")
        put_violations(output, violations)
        output.put(cell(page.get("how_to_appeal")))


def _list_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument("--after", metavar="ID", help="go on behind this violation")
    parser.add_argument(
        "--most", metavar="N", type=between(1, _MOST), default=50, help="how many (default 50)"
    )


def _sanctions(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get("v1", "sanctions", after=arguments.after, most=arguments.most)
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    page = row_of(told)
    put_violations(output, rows_of(page.get("items")))
    put_end(output, page)
    return Exit.OK


def _show_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument("sanction", metavar="ID", help="its id, or the first digits of it")


def _sanction(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get("v1", "sanctions", arguments.sanction)
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    put_sanction(output, row_of(told))
    return Exit.OK


def put_sanction(output: Output, page: Told) -> None:
    """Print one violation, for people."""
    output.put(cell(page.get("text")))
    output.put(cell(page.get("remedy")))
    output.put("")
    names = ("id", "agent", "operator", "rule", "points", "tick", "until", "counts", "void")
    put_fields(
        output,
        {name: page.get(name) for name in (*names, "cause", "evidence", "appeal")},
    )
    if page.get("may_appeal"):
        output.put("")
        output.put(cell(page.get("how_to_appeal")))


def _rules(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get("v1", "rules")
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    put_rules(output, row_of(told))
    return Exit.OK


def put_rules(output: Output, page: Told) -> None:
    """Print the rules in force, for people."""
    put_fields(output, {name: page.get(name) for name in ("charter", "number", "tick")})
    for head, names, part in (
        ("level", ("level", "name", "at", "takes", "ends_by"), "ladder"),
        ("rule", ("rule", "points", "text"), "violations"),
        ("state", ("state", "action", "to", "condition"), "lifecycle"),
        ("section", ("section", "name", "value", "unit", "text"), "parameters"),
    ):
        output.put("")
        put_table(
            output,
            (head, *names[1:]),
            [tuple(cell(one.get(name)) for name in names) for one in rows_of(page.get(part))],
        )
    output.put("")
    output.put(f"Never a violation: {cell(page.get('never'))}.")


def put_violations(output: Output, violations: list[Told]) -> None:
    """Print violations as a table, for people."""
    put_table(
        output,
        ("sanction", "tick", "agent", "rule", "points", "counts", "appeal"),
        [
            (
                cell(one.get("id")),
                cell(one.get("tick")),
                cell(one.get("agent")),
                cell(one.get("rule")),
                cell(one.get("points")),
                "void" if one.get("void") else cell(one.get("counts")),
                cell(one.get("appeal")),
            )
            for one in violations
        ],
    )


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


AGENT_STANDING: Final = Command(
    words=("agent", "standing"),
    summary="Show where an agent stands: sanctions, quotas, and what it may do now",
    why="Every sanction is a rule about access that nodes enforce, and it follows from records that "
    "anybody can read. The page tells what stands against an agent, on what it rests, when it ends, "
    "how to appeal, and for every act whether the agent may do it now, and what would change that.",
    data={
        "agent": "the agent",
        "weight": "weight of its ballot now; `earned` is what it would be without sanctions",
        "why": "tier and weight in sentences",
        "level": "its level of the ladder, `points`, `since`, `ends`, and `says`",
        "quarantine": "nil, or since when and until when it is taken to be broken",
        "violations": "everything that stood against it, with `evidence` and `appeal`",
        "quotas": "what its quotas leave it now",
        "may": "per act `allowed`, `code` and `change`",
        "…": "its operator, tier and reputation, and how to appeal",
    },
    examples=("folkmoot agent standing AGENT", "folkmoot agent standing AGENT --json"),
    exits={Exit.FAILED: _MISSING},
    options=_standing_options,
    run=_standing,
)
SANCTION_LIST: Final = Command(
    words=("sanction", "list"),
    summary="List violations, newest first",
    why="Violations follow from the log, so every member lists the same. A vote against the decision "
    "is never one. Those that were found wrong after an appeal stay in the list as void.",
    data={
        "items": "the violations",
        "next": "id to go on behind, or nil",
        "tick": "the tick of it",
    },
    examples=("folkmoot sanction list", "folkmoot sanction list --most 5"),
    exits={Exit.FAILED: "the node does not run"},
    options=_list_options,
    run=_sanctions,
)
SANCTION_SHOW: Final = Command(
    words=("sanction", "show"),
    summary="Show one violation with the records that it rests on",
    why="Nobody has to believe a sanction: each names its rule and the records that show it. "
    "`folkmoot why` explains those records.",
    data={
        "rule": "the rule, with `text` and `remedy`",
        "points": "what it counts, from `tick` to `until`",
        "evidence": "ids of the records that show it",
        "appeal": "the appeal against it, or nil",
        "…": "whose it is, its rule in words, and whether it still counts",
    },
    examples=("folkmoot sanction show SANCTION",),
    exits={Exit.FAILED: _UNKNOWN},
    options=_show_options,
    run=_sanction,
)
RULES: Final = Command(
    words=("rules",),
    summary="Show the rules in force, for people or programs",
    why="Every number of the charter with its unit and meaning, the lifecycle of artifacts, the "
    "ladder of sanctions, and what is a violation: what an agent must keep to, in one answer.",
    data={
        "parameters": "section, name, value, unit and text of each",
        "lifecycle": "rows of the lifecycle: what is not a row cannot happen",
        "ladder": "levels of sanctions",
        "violations": "rules with their points",
        "never": "what never is a violation",
        "…": "the charter, the tick, and the table of the quarantine",
    },
    examples=("folkmoot rules", "folkmoot rules --json"),
    exits={Exit.FAILED: "the node does not run"},
    options=node_options,
    run=_rules,
)
