"""`folkmoot charter propose`, `adopt`, `acts`: other rules for a realm, by its operators together."""

import argparse
from pathlib import Path
from typing import Final

import msgspec

from node.base.errors import NodeCode, RequestError
from node.cli.artifact_cmd import REFUSED, SIGNED, say_done
from node.cli.charter_rules import rules_from
from node.cli.client import Client, connect, node_options
from node.cli.command import Command, between
from node.cli.errors import CommandError, Exit
from node.cli.output import Json, Output, clean
from node.cli.tables import Told, cell, put_table, row_of, rows_of

_LAST_TICK: Final = 2**53 - 1
_LEAST_DIGITS: Final = 6
_NO_NODE: Final = "the node does not run, or it does not keep its operator's key"


def act_argument(parser: argparse.ArgumentParser) -> None:
    """Add the act that a command is about."""
    parser.add_argument("act", metavar="ACT", help="its id, or the first six digits or more")


def reason_option(parser: argparse.ArgumentParser) -> None:
    """Add why an operator says so."""
    parser.add_argument(
        "--reason", metavar="TEXT", required=True, help="why, in at most 500 characters; public"
    )


def _propose_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        type=Path,
        help="rules as `charter show --json` prints them, whole or in part; or a charter in its "
        "canonical bytes",
    )
    parser.add_argument(
        "--set",
        dest="changes",
        metavar="FIELD=VALUE",
        action="append",
        default=[],
        help="one value, such as review.k=9 or review.contest=2h; may be given several times",
    )
    parser.add_argument(
        "--from-tick",
        metavar="N",
        type=between(0, _LAST_TICK),
        default=0,
        help="first tick at which they can be in force (default: the next after they are adopted)",
    )
    reason_option(parser)


def _propose(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        base = row_of(row_of(client.get("v1", "charter", "rules")).get("rules"))
        rules = rules_from(base, arguments.file, arguments.changes)
        told: Json = msgspec.to_builtins(rules)
        if rules == rules_from(base, None, ()):
            raise CommandError(
                "nothing proposed",
                why="these are the rules of the newest charter",
                fix="name a file with other rules, or say --set section.field=value",
                code=NodeCode.BAD_REQUEST,
                leaves=Exit.USAGE,
            )
        checked = row_of(client.post("v1", "charter", "check", body={"rules": told}))
        explain(checked, output)
        if checked.get("errors"):
            raise CommandError(
                "nothing proposed",
                why=_errors(checked),
                fix="correct what it names; no node lets such a charter be adopted",
                code="BAD_CHARTER",
                leaves=Exit.REFUSED,
            )
        signed = client.post(
            "v1",
            "charter",
            "adopt",
            body={
                "rules": told,
                "from_tick": arguments.from_tick,
                "reason": arguments.reason,
            },
        )
    return say_done(
        output,
        signed,
        f"Proposed as charter {checked.get('number')}. `folkmoot charter acts` shows from the next "
        "cut on how many operators it still needs.",
    )


def explain(checked: Told, output: Output) -> None:
    """Tell people what rules imply, errors first; what only informs is told in one line each."""
    for finding in rows_of(checked.get("findings")):
        output.say(
            f"{cell(finding.get('severity')):<8} {cell(finding.get('what'))} "
            f"[{cell(finding.get('code'))}]"
        )
        if finding.get("severity") != "info":
            output.say(f"    why: {cell(finding.get('why'))}")
            output.say(f"    fix: {cell(finding.get('fix'))}")
    output.say(
        "Reputation is counted anew by the rules in force, so a change of the section on trust moves "
        "it without any new outcome."
    )


def _errors(checked: Told) -> str:
    errors = [
        str(one.get("what"))
        for one in rows_of(checked.get("findings"))
        if one.get("severity") == "error"
    ]
    return "; ".join(errors)


def _adopt_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    act_argument(parser)


def _adopt(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        act = open_act(client, arguments.act, kind="charter.adopt")
        told = client.post("v1", "acts", str(act.get("act")), "cosign")
    missing = act.get("missing")
    left = missing - 1 if isinstance(missing, int) else 0
    words = (
        f"Cosigned. It needs {left} more operators."
        if left > 0
        else "Cosigned. With this word it has its quorum: the next cut adopts it."
    )
    return say_done(output, told, words)


def open_act(client: Client, said: str, *, kind: str) -> Told:
    """Give the open act of a kind whose id begins so; raises RequestError NOT_FOUND, AMBIGUOUS."""
    rows = rows_of(row_of(client.get("v1", "acts")).get("open"))
    typed = said.strip().lower()
    found = [
        row
        for row in rows
        if len(typed) >= _LEAST_DIGITS
        and (str(row.get("act")).startswith(typed) or row.get("cid") == typed)
    ]
    fitting = [row for row in found if row.get("kind") == kind]
    if len(fitting) == 1:
        return fitting[0]
    other = ", ".join(cell(row.get("kind")) for row in found)
    raise RequestError(
        f"act {clean(said[:64])!r} not chosen",
        why=f"{len(fitting)} open acts of the kind {kind} have an id that begins so"
        + (f"; there is one of {other}" if other and not fitting else "")
        + f"; it needs {_LEAST_DIGITS} digits",
        fix="`folkmoot charter acts` lists them; an act is open from the cut on that contains it",
        code=NodeCode.AMBIGUOUS if fitting else NodeCode.NOT_FOUND,
    )


def _acts(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        page = row_of(client.get("v1", "acts"))
    if output.quiet:
        output.put_json(dict(page))
        return Exit.OK
    output.say(
        f"Tick {page.get('tick')}. An act needs {page.get('needed')} of {page.get('operators')} "
        "operators."
    )
    charters = (
        (*rows_of(page.get("charters")), *rows_of(page.get("coming")))
        if page.get("charters")
        else ()
    )
    put_table(
        output,
        ("charter", "hash", "from tick", "cut", "act", "changes"),
        [
            (
                cell(row.get("number")),
                cell(row.get("hash")),
                cell(row.get("from_tick")),
                cell(row.get("cut")) if row.get("cut") is not None else "waits",
                cell(row.get("act")),
                changes_of(row),
            )
            for row in charters
        ],
    )
    output.say()
    put_acts(output, page.get("open"))
    return Exit.OK


def put_acts(output: Output, acts: Json) -> None:
    """Print open acts as a table."""
    put_table(
        output,
        ("act", "what", "of", "by", "missing", "lapses", "mine", "reason"),
        [
            (
                cell(row.get("act")),
                cell(row.get("decision") or row.get("kind")),
                cell(row.get("subject")) if row.get("subject") else changes_of(row),
                cell(row.get("by")),
                cell(row.get("missing")),
                f"after tick {row.get('lapses_at_tick')}",
                cell(row.get("mine")),
                cell(row.get("reason")),
            )
            for row in rows_of(acts)
        ],
    )


def changes_of(row: Told) -> str:
    """Spell what a charter changes, in few words."""
    changes = [
        f"{cell(one.get('field'))} {cell(one.get('old'))} -> {cell(one.get('new'))}"
        for one in rows_of(row.get("changes"))
    ]
    return "; ".join(changes) or "-"


CHARTER_PROPOSE: Final = Command(
    words=("charter", "propose"),
    summary="Propose other rules to the operators of the realm",
    why="A charter changes once a quorum of the operators of member instances says so. This signs an "
    "act with the key of this instance's operator; others cosign it. First it prints what "
    "the rules would imply, and it proposes nothing in which `charter check` finds an error. Rounds "
    "keep the charter that they opened under. Founders and members cannot be changed.",
    data=SIGNED,
    examples=(
        "folkmoot charter propose --set review.k=9 --reason 'More of us vote now.'",
        "folkmoot charter propose rules.json --from-tick 9000 --reason 'As agreed in May.'",
    ),
    exits={Exit.FAILED: _NO_NODE, Exit.REFUSED: f"{REFUSED}; or `charter check` finds errors"},
    options=_propose_options,
    run=_propose,
)
CHARTER_ADOPT: Final = Command(
    words=("charter", "adopt"),
    summary="Cosign a charter that another operator has proposed",
    why="Each operator has one word for it, and cannot take it back. With a quorum the charter is "
    "adopted, and in force from the first tick on that it names. Read first what it changes: "
    "`folkmoot charter acts`.",
    data=SIGNED,
    examples=("folkmoot charter adopt ACT",),
    exits={Exit.FAILED: f"no such act is open; or {_NO_NODE}", Exit.REFUSED: REFUSED},
    options=_adopt_options,
    run=_adopt,
)
CHARTER_ACTS: Final = Command(
    words=("charter", "acts"),
    summary="List charters so far, and acts that operators can cosign",
    why="An act is open from the cut on that contains it, until a quorum has said the same or 72 "
    "ticks have passed. For each it tells who has said it, how many are missing, and what a charter "
    "would change.",
    data={
        "tick": "epochs so far",
        "operators": "operators of member instances: one vote each",
        "needed": "how many of them an act needs",
        "charters": "charters that are or were in force, the last is in force",
        "coming": "charters that are adopted and wait for their tick",
        "open": "acts without a quorum",
    },
    examples=("folkmoot charter acts", "folkmoot charter acts --json"),
    exits={Exit.FAILED: "the node does not run"},
    options=node_options,
    run=_acts,
)
