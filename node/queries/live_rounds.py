"""How far a round has come on this instance: its slot, its records so far, what it waits for.

What is final here acts at once on its own round and artifact; a cut settles it later. A round may be
about no artifact at all: an appeal is about a sanction.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from federation.artifacts import Artifact, State
from federation.certificates import CutSlot, Phase, RoundSlot, slot_key
from federation.core import Millis, RoundId
from federation.protocol import LiveSlot, Round, World
from federation.protocol.custody import TURNS
from federation.records import Record
from federation.review import advance, course, listed
from node.queries.texts import article
from node.queries.verdicts import verdict_of
from node.queries.waits import Wait, WaitCode, wait_of

DEBATE: Final = (Phase.UNSEAL, *TURNS)
"""Phases whose lists hold arguments, in their order."""
_MOVING: Final = frozenset({State.PROPOSED, State.UNDER_REVIEW, State.DISPUTED})


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How many records count so far: certified ones, and in the open phase those held here."""

    objections: int
    """Objections in the fast track."""
    seals: int
    """Arguments that were sealed before any was read."""
    arguments: int
    """Arguments, of all turns."""
    commitments: int
    """Commitments: sealed ballots, in the box or on their way."""
    contests: int
    """Process grounds against the result."""
    rulings: int
    """Rulings of drawn arbiters."""
    appeals: int
    """Process grounds against the ruling."""
    assessments: int
    """What moderators said of a report."""
    operators: int
    """Operators who have decided by hand."""


def live_slot(world: World, found: Round) -> LiveSlot | None:
    """Give the agreement on a round's open phase; None when it has ended here, or waits for a lot."""
    if found.phase is None:
        return None
    return world.slots.get(slot_key(RoundSlot(round_id=found.pin.round, phase=found.phase)))


def round_waits(world: World, found: Round, now: Millis) -> Wait:
    """Tell what a round waits for: its open phase, a lot, the cut that settles it, or nothing."""
    live = live_slot(world, found)
    if live is not None:
        return wait_of(world, live, now)
    verdict = found.verdict
    if verdict is None and found.phase is None:
        return settling(
            world, "Arbiters rule next; the beacon of the next cut draws them by lot.", now
        )
    told = verdict_of(verdict, found.pin.charter).why if verdict else ""
    if is_settled(found):
        return Wait(code=WaitCode.NOTHING, what="the verdict", sentence=told)
    return settling(world, f"{told} The cut that contains its certificates settles it.", now)


def settling(world: World, told: str, now: Millis) -> Wait:
    """Wait for the next cut; `told` says what for, as sentences."""
    cut = next_cut(world, now)
    return Wait(
        code=WaitCode.NEXT_CUT,
        what=cut.what,
        sentence=f"{told} {cut.sentence}",
        until=cut.until,
        remaining=cut.remaining,
        missing=cut.missing,
        needed=cut.needed,
        records=cut.records,
    )


def next_cut(world: World, now: Millis) -> Wait:
    """Tell what the next cut waits for."""
    slot = CutSlot(number=world.state.cut + 1, previous=world.state.digest)
    live = world.slots.get(slot_key(slot))
    if live is None:
        return Wait(
            code=WaitCode.NEXT_CUT,
            what=f"cut {slot.number}",
            sentence=f"Cut {slot.number} is not open here: this instance has not started yet.",
        )
    return wait_of(world, live, now)


def unsettled(world: World) -> Iterator[Round]:
    """Go through the rounds that no cut has ended; costs as much as there are open slots."""
    seen: set[RoundId] = set()
    for live in world.slots.values():
        slot = live.slot
        if isinstance(slot, RoundSlot) and slot.round_id not in seen:
            # The cut that settles a round closes its slots.
            seen.add(slot.round_id)
            yield world.rounds[slot.round_id]
    for name in sorted(world.lots - seen):
        yield world.rounds[name]


def is_settled(found: Round) -> bool:
    """Tell whether a cut contains all that ended a round."""
    if found.closed or found.verdict is None:
        return found.closed
    # The cut that opened it has ended it, where nobody could take part.
    return not course(found.pin, found.finals).after


def may_move(artifact: Artifact) -> bool:
    """Tell whether a round may still move an artifact: else there is nothing to look for."""
    return artifact.state in _MOVING or artifact.reports > 0


def artifact_now(world: World, artifact: Artifact) -> Artifact:
    """Bring an artifact to where its rounds stand here: final lists act before a cut has them."""
    if not may_move(artifact):
        return artifact
    for name in world.state.rounds_of.get(artifact.id, ()):
        found = world.rounds.get(name)
        if found is not None and not found.closed:
            artifact = advance(artifact, found.pin, found.finals)
    return artifact


def round_now(world: World, artifact: Artifact) -> Round | None:
    """Give the round that decides about an artifact: the newest that runs, else its newest.

    Of a report that is being assessed the artifact itself knows nothing yet.
    """
    for name in reversed(world.state.rounds_of.get(artifact.id, ())):
        found = world.rounds.get(name)
        if found is not None and not found.closed:
            return found
    return world.rounds.get(artifact.round) if artifact.round else None


def artifact_of(world: World, found: Round) -> Artifact | None:
    """Give the artifact that a round is about, as of the last cut; None for an appeal."""
    return world.state.artifacts.get(found.pin.artifact)


def title_of(world: World, found: Round) -> str | None:
    """Give the title of what a round is about; None where there is none to be read."""
    artifact = artifact_of(world, found)
    if artifact is None:
        return None
    _, text = article(world, artifact_now(world, artifact))
    return text.title if text else None


def held_in(world: World, found: Round, phase: Phase) -> tuple[Record, ...]:
    """List what a phase's certificate names; while it is open here, what would count.

    Not to be asked of `decide`, whose records stay unseen until their list is final.
    """
    if phase in found.finals:
        return listed(found.finals, phase)
    return tuple(found.qualified(world.log)) if found.phase is phase else ()


def counts_of(world: World, found: Round) -> Counts:
    """Count what the lists hold, and what qualifies here for the open phase but reveals."""

    def number(*phases: Phase) -> int:
        return sum(len(held_in(world, found, phase)) for phase in phases)

    return Counts(
        objections=number(Phase.FAST),
        seals=number(Phase.SEAL),
        arguments=number(*DEBATE),
        commitments=number(Phase.COMMIT, Phase.COMMIT2),
        contests=number(Phase.CONTEST),
        rulings=number(Phase.RULE),
        appeals=number(Phase.APPEAL),
        assessments=number(Phase.ASSESS),
        operators=number(Phase.ADMIN),
    )
