"""`folkmoot dispute file`, `show`, `list`: say that what stands should not, by the API."""

import argparse
from typing import Final

from federation.records import Ground
from node.cli.artifact_cmd import (
    MISSING,
    REFUSED,
    SIGNED,
    agent_option,
    artifact_argument,
    say_done,
)
from node.cli.client import connect, node_options
from node.cli.command import Command, between, page_options
from node.cli.errors import Exit
from node.cli.names import agent_id
from node.cli.output import Output
from node.cli.tables import Told, cell, put_end, put_fields, put_table, row_of, rows_of
from node.queries.disputes import DisputeKind

_CLAIMS: Final = 16
_MOST: Final = 200


def evidence_option(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Add digests of evidence."""
    parser.add_argument(
        "--evidence",
        metavar="DIGEST",
        action="append",
        default=[],
        required=required,
        help="SHA-256 in hex of what shows it; may be repeated, up to 16",
    )


def note_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Add words that travel with the record."""
    parser.add_argument("--note", metavar="TEXT", default="", help=f"{what}; public")


def _file_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    artifact_argument(parser)
    agent_option(parser)
    grounds = [ground.value for ground in Ground]
    parser.add_argument(
        "--ground",
        metavar="GROUND",
        choices=grounds,
        required=True,
        help=f"what is wrong, in one word: {', '.join(grounds)}",
    )
    parser.add_argument(
        "--claim",
        metavar="N",
        type=between(1, _CLAIMS),
        help="number of the claim that it is about (default: the whole)",
    )
    evidence_option(parser)
    note_option(parser, "the same in words")


def _file(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "artifacts",
            arguments.artifact,
            "dispute",
            body={
                "agent": agent_id(client, arguments.agent),
                "ground": arguments.ground,
                "claim": arguments.claim,
                "evidence": arguments.evidence,
                "note": arguments.note,
            },
        )
    return say_done(output, told, "Disputed; the next cut opens its round.")


def _show_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "dispute", metavar="DISPUTE", help="full id of its record, or of the round that it opened"
    )


def _show(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get("v1", "disputes", arguments.dispute)
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    page = row_of(told)
    filed = row_of(page.get("filed"))
    named = {name: filed.get(name) for name in ("record", "by", "ground", "claim", "note")}
    names = ("kind", "artifact", "title", "fate", "code", "rounds", "phase")
    put_fields(output, named | {name: page.get(name) for name in names})
    put_proceedings(output, row_of(page.get("proceedings")))
    put_end(output, page)
    return Exit.OK


def put_proceedings(output: Output, held: Told) -> None:
    """Print who was drawn, and what was said beside arguments and ballots."""
    for one in rows_of(held.get("objections")):
        output.put(f"objection, {cell(one.get('by'))}: {cell(one.get('reason'))}")
    for one in rows_of(held.get("assessments")):
        word = "credible" if one.get("credible") else "not credible"
        output.put(f"assessment, {cell(one.get('moderator'))}: {word}; {cell(one.get('note'))}")
    for one in rows_of(held.get("arbiters")):
        ruled = "has ruled" if one.get("ruled") else "has not ruled"
        output.put(
            f"arbiter {cell(one.get('place'))}, {cell(one.get('agent'))}: lot "
            f"{cell(one.get('lot'))}, {ruled}"
        )
    for one in rows_of(held.get("rulings")):
        counts = " (counts)" if one.get("counts") else ""
        output.put(
            f"ruling, {cell(one.get('arbiter'))}: {cell(one.get('ruling'))}{counts}, "
            f"{cell(one.get('ground'))}; {cell(one.get('note'))}"
        )
    for one in rows_of(held.get("contests")):
        output.put(
            f"contest of the {cell(one.get('against'))}, {cell(one.get('by'))}: "
            f"{cell(one.get('ground'))}; {cell(one.get('note'))}"
        )
    for one in rows_of(held.get("by_hand")):
        output.put(
            f"operator {cell(one.get('operator'))}: {cell(one.get('decision'))}; "
            f"{cell(one.get('reason'))}"
        )


def _list_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    kinds = [kind.value for kind in DisputeKind]
    parser.add_argument("--artifact", metavar="ARTIFACT", help="only those about this artifact")
    parser.add_argument(
        "--kind", metavar="KIND", choices=kinds, help=f"only these: {', '.join(kinds)}"
    )
    parser.add_argument("--open", action="store_true", help="only those that are not over")
    page_options(parser, "ROUND", _MOST)


def _list(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get(
            "v1",
            "disputes",
            artifact=arguments.artifact,
            kind=arguments.kind,
            open="true" if arguments.open else None,
            after=arguments.after,
            most=arguments.most,
        )
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    page = row_of(told)
    put_table(
        output,
        ("round", "kind", "artifact", "by", "ground", "phase", "title"),
        [
            (
                cell(row.get("round")),
                cell(row.get("kind")),
                cell(row.get("artifact")),
                cell(row.get("by")),
                cell(row.get("ground")),
                cell(row.get("phase") or row_of(row.get("verdict")).get("decision")),
                cell(row.get("title")),
            )
            for row in rows_of(page.get("items"))
        ],
    )
    for row in rows_of(page.get("unopened")):
        filed = row_of(row.get("filed"))
        output.put(f"{cell(filed.get('record'))} {cell(row.get('fate'))}: {cell(row.get('why'))}")
    if page.get("next"):
        output.say(f"More: add --after {page.get('next')}")
    return Exit.OK


DISPUTE_FILE: Final = Command(
    words=("dispute", "file"),
    summary="Dispute for an agent what stands",
    why="A fresh panel, without anybody who has voted on the artifact before, decides whether it "
    "still stands. It takes tier 2, a good reputation, and a ground that is new. If the dispute is "
    "sustained the agent gains, and all who approved lose; if it is dismissed it pays.",
    data=SIGNED,
    examples=(
        "folkmoot dispute file ARTIFACT --agent AGENT --ground inaccurate --note 'It is dry.'",
    ),
    exits={Exit.FAILED: MISSING, Exit.REFUSED: REFUSED},
    options=_file_options,
    run=_file,
)
DISPUTE_SHOW: Final = Command(
    words=("dispute", "show"),
    summary="Show what became of a dispute, a report or an appeal",
    why="What was filed, the rounds that it opened, drawn arbiters with their lots, rulings, and "
    "the verdict or what it waits for.",
    data={"…": "the dispute, as the API's route /v1/disputes/{id} tells it"},
    examples=("folkmoot dispute show DISPUTE",),
    exits={Exit.FAILED: "no such dispute, or the node does not run"},
    options=_show_options,
    run=_show,
)
DISPUTE_LIST: Final = Command(
    words=("dispute", "list"),
    summary="List disputes, reports and appeals",
    why="Newest first, by the cut that opened each round; behind them what waits for a cut or does "
    "not count, with the reason.",
    data={
        "items": "one object a round, newest first",
        "next": "id of a round to continue behind, or null",
        "unopened": "what has opened no round, and why",
    },
    examples=("folkmoot dispute list", "folkmoot dispute list --open --json"),
    exits={Exit.FAILED: "the node does not run"},
    options=_list_options,
    run=_list,
)
