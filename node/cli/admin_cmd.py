"""`folkmoot admin queue`, `review`, `cosign`, `agent health`: what operators decide by hand."""

import argparse
from typing import Final

from federation.records import Decree, Health
from node.cli.agent_cmd import agent_argument
from node.cli.artifact_cmd import REFUSED, SIGNED, say_done
from node.cli.charter_act_cmd import act_argument, open_act, put_acts, reason_option
from node.cli.client import connect, node_options
from node.cli.command import Command
from node.cli.errors import Exit
from node.cli.names import agent_id
from node.cli.output import Output
from node.cli.tables import Told, cell, lasting, put_table, row_of, rows_of

_NO_NODE: Final = "the node does not run, or it does not keep its operator's key"


def _queue(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        page = row_of(client.get("v1", "admin", "queue"))
    if output.quiet:
        output.put_json(dict(page))
        return Exit.OK
    output.say("Rounds that have come to the operators:")
    put_table(
        output,
        ("round", "kind", "of", "decide", "said", "needed", "left", "else", "mine", "title"),
        [
            (
                cell(row.get("round")),
                cell(row.get("kind")),
                cell(row.get("subject")),
                cell(row.get("decisions")),
                _said(row),
                cell(row.get("needed")),
                lasting(row_of(row.get("window")).get("remaining")),
                cell(row.get("otherwise")),
                cell(row.get("mine")),
                cell(row.get("title")),
            )
            for row in rows_of(page.get("rounds"))
        ],
    )
    output.say()
    output.say("Artifacts that only operators can still move:")
    put_table(
        output,
        ("artifact", "state", "flags", "title"),
        [
            (
                cell(row.get("artifact")),
                cell(row.get("state")),
                cell(row.get("flags")),
                cell(row.get("title")),
            )
            for row in rows_of(page.get("artifacts"))
        ],
    )
    output.say()
    output.say("Acts that can be cosigned:")
    put_acts(output, page.get("acts"))
    return Exit.OK


def _said(row: Told) -> str:
    voices = [
        f"{cell(one.get('operator'))} {cell(one.get('decision'))}"
        for one in rows_of(row.get("voices"))
    ]
    return ", ".join(voices) or "-"


def _review_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "subject",
        metavar="SUBJECT",
        help="id of the artifact, or of the violation that a sanction rests on; the first six digits "
        "or more do",
    )
    parser.add_argument(
        "--decision",
        choices=[one.value for one in Decree],
        required=True,
        help="in a round: keep or retract, of a sanction uphold or reclassify; as an act: keep, retract, "
        "hide, show, reclassify",
    )
    parser.add_argument(
        "--round",
        metavar="ROUND",
        help="the round in its phase admin in which this is one voice; without it, it is an act that "
        "others cosign",
    )
    reason_option(parser)


def _review(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "admin",
            "reviews",
            body={
                "subject": arguments.subject,
                "decision": arguments.decision,
                "reason": arguments.reason,
                "round": arguments.round,
            },
        )
    words = (
        "Said. It counts in that round as soon as a quorum of operators agrees."
        if arguments.round
        else "Signed. It takes effect once a quorum of operators has said the same: `folkmoot admin "
        "queue` shows from the next cut on how many are missing."
    )
    return say_done(output, told, words)


def _cosign_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    act_argument(parser)


def _cosign(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        act = open_act(client, arguments.act, kind="admin.review")
        told = client.post("v1", "acts", str(act.get("act")), "cosign")
    return say_done(
        output, told, f"Cosigned: {cell(act.get('decision'))} {cell(act.get('subject'))}."
    )


def _health_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    agent_argument(parser)
    parser.add_argument(
        "--state", choices=[one.value for one in Health], required=True, help="how it is"
    )
    parser.add_argument(
        "--note",
        metavar="TEXT",
        default="",
        help="what is known, in at most 500 characters; public",
    )


def _health(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "agents",
            agent_id(client, arguments.agent),
            "health",
            body={"state": arguments.state, "note": arguments.note},
        )
    return say_done(output, told, "Said. It counts from the next tick on.")


ADMIN_QUEUE: Final = Command(
    words=("admin", "queue"),
    summary="List what waits for the operators' hand",
    why="Some rounds come to the operators: no arbiter could rule, or a ruling was appealed against. "
    "Each has a deadline, and a rule for what happens if too few agree in time. Frozen artifacts and "
    "those whose disputes are spent can be moved by operators only, and acts of others can be "
    "cosigned.",
    data={
        "rounds": "rounds in the phase `admin`, with their deadline and what has been said",
        "artifacts": "artifacts that are frozen, or whose disputes are spent",
        "acts": "open acts, as `charter acts` tells them",
    },
    examples=("folkmoot admin queue", "folkmoot admin queue --json"),
    exits={Exit.FAILED: "the node does not run"},
    options=node_options,
    run=_queue,
)
ADMIN_REVIEW: Final = Command(
    words=("admin", "review"),
    summary="Decide by hand about an artifact or a sanction",
    why="With --round it is this operator's own voice in a round that has come to the operators. "
    "Without, it is an act that takes effect once a quorum of operators has cosigned: to retract an "
    "artifact, to hide it from all reads or show it again, or to take a sanction back with "
    "everything that it took.",
    data=SIGNED,
    examples=(
        "folkmoot admin review ARTIFACT --decision hide --reason 'It names a person.'",
        "folkmoot admin review ARTIFACT --round ROUND --decision keep --reason 'It is sound.'",
    ),
    exits={Exit.FAILED: f"no such thing; or {_NO_NODE}", Exit.REFUSED: REFUSED},
    options=_review_options,
    run=_review,
)
ADMIN_COSIGN: Final = Command(
    words=("admin", "cosign"),
    summary="Cosign another operator's decision by hand",
    why="Each operator has one word for it, and cannot take it back. It takes effect in the cut in "
    "which a quorum has said the same.",
    data=SIGNED,
    examples=("folkmoot admin cosign ACT",),
    exits={Exit.FAILED: f"no such act is open; or {_NO_NODE}", Exit.REFUSED: REFUSED},
    options=_cosign_options,
    run=_cosign,
)
AGENT_HEALTH: Final = Command(
    words=("agent", "health"),
    summary="Say of an own agent that it is broken, or repaired",
    why="Broken is not malicious: an agent whose operator says that it is broken is put into "
    "quarantine from the next tick on, where its ballots are practice and nothing counts against "
    "it. Its operator ends that by saying that it is repaired.",
    data=SIGNED,
    examples=("folkmoot agent health AGENT --state broken --note 'It answers at random.'",),
    exits={Exit.FAILED: f"no such agent; or {_NO_NODE}", Exit.REFUSED: REFUSED},
    options=_health_options,
    run=_health,
)
