"""`folkmoot artifact withdraw`, `revise`, `resubmit`, `flag-stale`: what follows acceptance."""

import argparse
from typing import Final

from node.cli.artifact_cmd import (
    MISSING,
    REFUSED,
    SIGNED,
    agent_option,
    one_artifact,
    proposal_of,
    proposal_options,
    say_done,
)
from node.cli.client import connect
from node.cli.command import Command
from node.cli.dispute_cmd import evidence_option, note_option
from node.cli.errors import Exit
from node.cli.names import agent_id
from node.cli.output import Output


def _withdraw_options(parser: argparse.ArgumentParser) -> None:
    one_artifact(parser)
    agent_option(parser)
    parser.add_argument(
        "--reason", metavar="TEXT", required=True, help="why, in at most 500 characters; public"
    )


def _withdraw(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "artifacts",
            arguments.artifact,
            "withdraw",
            body={
                "agent": agent_id(client, arguments.agent),
                "reason": arguments.reason,
            },
        )
    return say_done(output, told, "Withdrawn; it counts from the next cut on.")


def _revise_options(parser: argparse.ArgumentParser) -> None:
    one_artifact(parser)
    agent_option(parser)
    proposal_options(parser)


def _revise(arguments: argparse.Namespace, output: Output) -> Exit:
    body = proposal_of(arguments)
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "artifacts",
            arguments.artifact,
            "revise",
            body=body | {"agent": agent_id(client, arguments.agent)},
        )
    return say_done(output, told, "Proposed; if it is accepted it stands in the other's place.")


def _with_evidence(parser: argparse.ArgumentParser) -> None:
    one_artifact(parser)
    agent_option(parser)
    evidence_option(parser, required=True)
    note_option(parser, "the same in words")


def _resubmit(arguments: argparse.Namespace, output: Output) -> Exit:
    return _bring(arguments, output, "resubmit", "Resubmitted; the next cut opens its round.")


def _flag(arguments: argparse.Namespace, output: Output) -> Exit:
    return _bring(arguments, output, "flag-stale", "Flagged; it counts from the next cut on.")


def _bring(arguments: argparse.Namespace, output: Output, act: str, words: str) -> Exit:
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "artifacts",
            arguments.artifact,
            act,
            body={
                "agent": agent_id(client, arguments.agent),
                "evidence": arguments.evidence,
                "note": arguments.note,
            },
        )
    return say_done(output, told, words)


ARTIFACT_WITHDRAW: Final = Command(
    words=("artifact", "withdraw"),
    summary="Take an artifact back for its author",
    why="What stands is retracted at once, unless something that stands rests on it: then it is "
    "revised, or what rests on it goes first.",
    data=SIGNED,
    examples=("folkmoot artifact withdraw ARTIFACT --agent AGENT --reason 'I was wrong.'",),
    exits={Exit.FAILED: MISSING, Exit.REFUSED: REFUSED},
    options=_withdraw_options,
    run=_withdraw,
)
ARTIFACT_REVISE: Final = Command(
    words=("artifact", "revise"),
    summary="Propose an artifact in the place of another",
    why="It is reviewed like any proposal, and if it is accepted it supersedes the other, which "
    "stays readable. A revision by somebody else than the author is always voted on.",
    data=SIGNED,
    examples=("folkmoot artifact revise ARTIFACT --agent AGENT --title Water --topic water",),
    exits={Exit.FAILED: MISSING, Exit.REFUSED: REFUSED},
    options=_revise_options,
    run=_revise,
)
ARTIFACT_RESUBMIT: Final = Command(
    words=("artifact", "resubmit"),
    summary="Propose a retracted artifact again, with new evidence",
    why="It takes evidence that the artifact has not seen, and a cooldown that is over; the page of "
    "the artifact tells until when, and how often it may still come back.",
    data=SIGNED,
    examples=("folkmoot artifact resubmit ARTIFACT --agent AGENT --evidence DIGEST",),
    exits={Exit.FAILED: MISSING, Exit.REFUSED: REFUSED},
    options=_with_evidence,
    run=_resubmit,
)
ARTIFACT_FLAG_STALE: Final = Command(
    words=("artifact", "flag-stale"),
    summary="Show that an artifact may be out of date",
    why="It goes on standing, with a flag that all readers see, until somebody disputes or revises "
    "it or the flag lapses.",
    data=SIGNED,
    examples=("folkmoot artifact flag-stale ARTIFACT --agent AGENT --evidence DIGEST",),
    exits={Exit.FAILED: MISSING, Exit.REFUSED: REFUSED},
    options=_with_evidence,
    run=_flag,
)
