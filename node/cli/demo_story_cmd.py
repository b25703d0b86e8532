"""`folkmoot demo story`: one artifact through the whole lifecycle, on three processes."""

import argparse
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import trio

from node.cli import story_text
from node.cli.command import Command
from node.cli.demo_cmd import first_reason
from node.cli.errors import Exit
from node.cli.output import Output
from node.demo.story import Told, tell


class Transition(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the lifecycle's table that was taken."""

    origin: str | None
    """Where the artifact stood; nil at first."""
    action: str
    to: str
    guard: str
    """What had to hold."""
    actor: tuple[str, ...]
    """Who brought it about, by name."""
    cut: int
    tick: int | None
    round: str | None
    record: str | None
    """The record that did it, or whose list contains it."""
    certificate: str | None
    """The record that holds the certificate, where a list did it."""
    digest: str | None
    """What that certificate has made final."""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What `--json` prints."""

    artifact: str
    transitions: tuple[Transition, ...]
    digests: tuple[str, ...]
    cut: int
    agrees: bool
    instances: int
    seconds: float
    transport: str = "libp2p"


def summary(told: Told, *, seconds: float) -> Summary:
    """Give the transitions of a story with who, what and by which certificate."""
    found = []
    certificate = digest = None
    for event in told.events:
        if event.certificate or event.digest:
            certificate, digest = event.certificate, event.digest
        for move in event.moves:
            by_list = event.round is not None and event.event not in {"proposed", "resubmitted"}
            found.append(
                Transition(
                    origin=None if move.origin is None else move.origin.value,
                    action=move.action.value,
                    to=move.to.value,
                    guard=move.guard,
                    actor=tuple(one.name or one.id for one in event.who),
                    cut=move.cut,
                    tick=event.tick,
                    round=event.round,
                    record=event.record,
                    certificate=event.certificate or (certificate if by_list else None),
                    digest=event.digest or (digest if by_list else None),
                )
            )
    return Summary(
        artifact=told.artifact,
        transitions=tuple(found),
        digests=told.digests,
        cut=told.cut,
        agrees=told.holds,
        instances=len(told.digests),
        seconds=round(seconds, 1),
    )


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--keep",
        action="store_true",
        help="keep the directories of the three instances, and say where they are",
    )


def _run(arguments: argparse.Namespace, output: Output) -> Exit:
    root = Path(tempfile.mkdtemp(prefix="folkmoot-story-"))
    began = time.monotonic()
    try:
        told = trio.run(partial(tell, root, say=output.say))
    except BaseExceptionGroup as group:
        raise first_reason(group) from group
    finally:
        if arguments.keep:
            output.say(f"The three instances are kept in {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
    seconds = time.monotonic() - began
    if output.quiet:
        output.put_json(summary(told, seconds=seconds))
        return Exit.OK if told.holds else Exit.FAILED
    output.say()
    output.say("What the three disks tell of it:")
    output.say()
    story_text.tell(output, msgspec.to_builtins(told.events))
    output.say()
    alike = "agree on every step" if told.holds else "DO NOT AGREE"
    output.say(f"The three instances {alike}; world digest {told.digests[0]}, {seconds:.0f} s.")
    return Exit.OK if told.holds else Exit.FAILED


DEMO_STORY: Final = Command(
    words=("demo", "story"),
    summary="Take one artifact through the whole lifecycle on three processes",
    why="One artifact is proposed, objected to, argued about; too few vote, so the box is widened; "
    "the result is not clear, so a drawn arbiter rules; it stands, is reported and hidden, a fresh "
    "panel retracts it, it comes back with evidence, and a revision supersedes it. Ten agents of ten "
    "operators act by the API of three instances with real sockets and databases. What is told is "
    "read from the three disks afterwards.",
    data={
        "artifact": "id of the artifact",
        "transitions": "each row of the lifecycle's table that was taken: origin, action, to, guard, "
        "actor, cut, tick, round, record, certificate, digest",
        "digests": "world digest of each instance at one cut",
        "cut": "number of the cut that all have come to",
        "agrees": "whether the three disks tell the same story and all processes ended well",
        "instances": "how many nodes took part",
        "seconds": "how long it took here",
        "transport": "`libp2p`",
    },
    examples=("folkmoot demo story", "folkmoot demo story --json"),
    exits={
        Exit.OK: "the instances tell the same story and agree on the world",
        Exit.FAILED: "they do not, or an instance failed",
    },
    options=_options,
    run=_run,
)
