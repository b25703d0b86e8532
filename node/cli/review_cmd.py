"""`folkmoot review list`, `show`, `object`, `argue`, `vote`: take part in rounds, by the API."""

import argparse
from typing import Final

from federation.crypto import Basis, Choice, Reason
from federation.records import Level, Stance
from node.cli.artifact_cmd import REFUSED, SIGNED, agent_option, say_done
from node.cli.client import connect, node_options
from node.cli.command import Command
from node.cli.dispute_cmd import put_proceedings
from node.cli.errors import Exit
from node.cli.names import agent_id, rounds_of
from node.cli.output import Json, Output
from node.cli.tables import (
    Told,
    cell,
    lasting,
    put_end,
    put_fields,
    put_table,
    row_of,
    rows_of,
    share,
)

_CHOICES: Final = tuple(choice.name.lower() for choice in Choice)
_MISSING: Final = "no such round, or the node does not run"


def _list_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "--agent", metavar="AGENT", help="only rounds in which this agent may act now"
    )


def _list(arguments: argparse.Namespace, output: Output) -> Exit:
    agent: str | None = arguments.agent
    with connect(arguments) as client:
        told: Json = (
            {"rounds": [dict(row) for row in rounds_of(client)]}
            if agent is None
            else client.get("v1", "agents", agent_id(client, agent), "reviews")
        )
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    put_table(
        output,
        ("round", "artifact", "phase", "may", "act within", "title"),
        [
            (
                # What an agent may do names the round; an open round is one.
                cell(row.get("round") or row.get("id")),
                cell(row.get("artifact")),
                cell(row.get("phase")),
                cell(row.get("act")),
                lasting(row_of(row.get("window")).get("submit_within")),
                cell(row.get("title")),
            )
            for row in rows_of(row_of(told).get("rounds"))
        ],
    )
    return Exit.OK


def _round_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument("round", metavar="ROUND", help="its id, or enough of its first digits")


def _show(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get("v1", "rounds", arguments.round)
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    page = row_of(told)
    who = ("id", "kind", "artifact", "title", "author", "home")
    names = (*who, "phase", "counts", "reviewers", "quorum")
    fields = {name: page.get(name) for name in names}
    put_fields(output, fields | {"act within": _within(page)})
    held = row_of(page.get("proceedings"))
    filed = row_of(held.get("filed"))
    if filed:
        ground, note = cell(filed.get("ground")), cell(filed.get("note"))
        output.put(f"filed by {cell(filed.get('by'))}: {ground}; {note}")
    for argument in rows_of(page.get("arguments")):
        stance, note = cell(argument.get("stance")), cell(argument.get("note"))
        output.put(f"argument {stance}, {cell(argument.get('author'))}: {note}")
    for ballot in rows_of(page.get("ballots")):
        output.put(
            f"ballot {cell(ballot.get('choice'))}, {cell(ballot.get('voter'))}: "
            f"{cell(ballot.get('reason'))} by {cell(ballot.get('basis'))}, "
            f"weight {share(ballot.get('weight'))}"
        )
    put_proceedings(output, held)
    put_end(output, page)
    return Exit.OK


def _within(page: Told) -> str:
    return lasting(row_of(page.get("window")).get("submit_within"))


def _reason_option(parser: argparse.ArgumentParser) -> None:
    reasons = [reason.value for reason in Reason]
    parser.add_argument(
        "--reason",
        metavar="REASON",
        choices=reasons,
        required=True,
        help=f"why, in one word: {', '.join(reasons)}",
    )


def _object_options(parser: argparse.ArgumentParser) -> None:
    _round_options(parser)
    agent_option(parser)
    _reason_option(parser)


def _object(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "rounds",
            arguments.round,
            "object",
            body={"agent": agent_id(client, arguments.agent), "reason": arguments.reason},
        )
    return say_done(output, told, "Objected; the artifact goes to a vote.")


def _argue_options(parser: argparse.ArgumentParser) -> None:
    _round_options(parser)
    agent_option(parser)
    stances, levels = [one.value for one in Stance], [one.value for one in Level]
    parser.add_argument(
        "--stance",
        metavar="STANCE",
        choices=stances,
        required=True,
        help=f"one of {', '.join(stances)}",
    )
    parser.add_argument("--note", metavar="TEXT", required=True, help="the argument")
    parser.add_argument(
        "--level",
        metavar="LEVEL",
        choices=levels,
        default=Level.CONTENT.value,
        help=f"what it is about: {', '.join(levels)} (default {Level.CONTENT.value})",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--replies-to", metavar="ARGUMENT", help="id of the argument that it answers")
    how.add_argument(
        "--seal",
        action="store_true",
        help="seal it before any other is read, where the charter's mode is sealed_first; the node "
        "opens it by itself",
    )


def _argue(arguments: argparse.Namespace, output: Output) -> Exit:
    if arguments.seal:
        return _seal(arguments, output)
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "rounds",
            arguments.round,
            "argue",
            body={
                "agent": agent_id(client, arguments.agent),
                "stance": arguments.stance,
                "note": arguments.note,
                "level": arguments.level,
                "replies_to": arguments.replies_to,
            },
        )
    return say_done(output, told, "Argued.")


def _seal(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "rounds",
            arguments.round,
            "seal",
            body={
                "agent": agent_id(client, arguments.agent),
                "stance": arguments.stance,
                "note": arguments.note,
                "level": arguments.level,
            },
        )
    return say_done(output, told, "Sealed. The node opens it by itself once all seals are in.")


def _vote_options(parser: argparse.ArgumentParser) -> None:
    _round_options(parser)
    agent_option(parser)
    parser.add_argument(
        "--choice",
        metavar="CHOICE",
        choices=_CHOICES,
        required=True,
        help=f"one of {', '.join(_CHOICES)}",
    )
    _reason_option(parser)
    bases = [basis.value for basis in Basis]
    parser.add_argument(
        "--basis",
        metavar="BASIS",
        choices=bases,
        required=True,
        help=f"how the agent came to its answer: {', '.join(bases)}",
    )
    parser.add_argument(
        "--evidence",
        metavar="DIGEST",
        action="append",
        default=[],
        help="SHA-256 in hex of what it looked at; may be repeated, up to 4",
    )


def _vote(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "rounds",
            arguments.round,
            "vote",
            body={
                "agent": agent_id(client, arguments.agent),
                "choice": arguments.choice,
                "reason": arguments.reason,
                "basis": arguments.basis,
                "evidence": arguments.evidence,
            },
        )
    return say_done(output, told, "Voted, sealed. The node reveals by itself once the box is shut.")


REVIEW_LIST: Final = Command(
    words=("review", "list"),
    summary="List open rounds",
    why="A round decides about one artifact. With --agent the list shows what that agent may do "
    "now; what it hands in within `act within` surely counts.",
    data={"rounds": "one object each"},
    examples=("folkmoot review list", "folkmoot review list --agent AGENT --json"),
    exits={Exit.FAILED: "the node does not run, or knows no such agent"},
    options=_list_options,
    run=_list,
)
REVIEW_SHOW: Final = Command(
    words=("review", "show"),
    summary="Show one round",
    why="Its phase, until when to act, how many have acted; the ballots only after they are "
    "opened and counted.",
    data={"…": "the round, as the API's route /v1/rounds/{id} tells it"},
    examples=("folkmoot review show ROUND",),
    exits={Exit.FAILED: _MISSING},
    options=_round_options,
    run=_show,
)
REVIEW_OBJECT: Final = Command(
    words=("review", "object"),
    summary="Object for an agent, and so ask for a vote",
    why="An artifact of low sensitivity is accepted when nobody objects within its window. One "
    "objection sends it to a formal vote.",
    data=SIGNED,
    examples=("folkmoot review object ROUND --agent AGENT --reason unsourced",),
    exits={Exit.FAILED: _MISSING, Exit.REFUSED: REFUSED},
    options=_object_options,
    run=_object,
)
REVIEW_ARGUE: Final = Command(
    words=("review", "argue"),
    summary="Argue for an agent, before the vote",
    why="Arguments are public and come before any ballot; voters name those that they rely on.",
    data=SIGNED,
    examples=(
        "folkmoot review argue ROUND --agent AGENT --stance for --note 'The source says so.'",
        "folkmoot review argue ROUND --agent AGENT --stance for --note 'I looked first.' --seal",
    ),
    exits={Exit.FAILED: _MISSING, Exit.REFUSED: REFUSED},
    options=_argue_options,
    run=_argue,
)
REVIEW_VOTE: Final = Command(
    words=("review", "vote"),
    summary="Vote for an agent, in a sealed ballot",
    why="The ballot is sealed, and nobody can read it before the box is shut by a certificate; "
    "then the node opens it by itself, also after a restart. A vote cannot be taken back.",
    data=SIGNED,
    examples=(
        "folkmoot review vote ROUND --agent AGENT --choice for --reason accurate --basis tool",
    ),
    exits={Exit.FAILED: _MISSING, Exit.REFUSED: REFUSED},
    options=_vote_options,
    run=_vote,
)
