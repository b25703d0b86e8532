"""The part of an artifact's story that no round tells: what its author and the operators did.

Withdrawals, stale flags, decrees, supersession; and whatever was filed about it that waits for a
cut or does not count.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from federation.artifacts import Action, Artifact
from federation.core import RecordId, short
from federation.protocol import Fate, World, judge
from federation.protocol.progress import is_contained
from federation.protocol.state import Step
from federation.records import (
    ActCosign,
    AdminReview,
    Decree,
    DisputeFile,
    DisputeReport,
    FlagStale,
    Kind,
    Record,
    Resubmit,
    Withdraw,
)
from node.queries.happenings import Event, Happened, called, moved, of_record
from node.queries.names import who
from node.queries.proceedings import note_of
from node.queries.timeline import cuts_of, tick_of

_FILED: Final = (Kind.WITHDRAW, Kind.FLAG_STALE, Kind.RESUBMIT, Kind.DISPUTE, Kind.REPORT)
_DECREED: Final = {
    Decree.HIDE: (Event.HIDDEN, "hid it"),
    Decree.SHOW: (Event.SHOWN, "showed it again"),
    Decree.RETRACT: (Event.RETRACTED, "retracted it"),
    Decree.KEEP: (Event.BY_HAND, "kept it"),
}


def acts_of(
    world: World, artifact: Artifact, steps: Sequence[Step], told: Collection[RecordId]
) -> Iterator[Happened]:
    """Tell of what no round tells; `told` are the records that opened rounds."""
    filed = [record for record in _about(world, artifact) if record.id not in told]
    decrees = [
        record
        for record in world.log.by_kind(Kind.ADMIN)
        if isinstance(record.body, AdminReview)
        and record.body.round is None
        and record.body.subject == artifact.id
    ]
    contained = [one.id for one in (*filed, *decrees) if is_contained(world, one)]
    cuts = cuts_of(world, contained, first=artifact.cut) if contained else {}
    for record in filed:
        yield _filed(world, record, cuts.get(record.id), steps)
    for record in decrees:
        yield _decree(world, artifact, record, cuts.get(record.id), steps)
    yield from _superseded(world, steps)


def _about(world: World, artifact: Artifact) -> Iterator[Record]:
    for kind in _FILED:
        for record in world.log.by_kind(kind):
            match record.body:
                case (
                    Withdraw(artifact=name)
                    | FlagStale(artifact=name)
                    | Resubmit(artifact=name)
                    | DisputeFile(artifact=name)
                    | DisputeReport(artifact=name)
                ) if name == artifact.id:
                    yield record
                case _:
                    pass


def _filed(world: World, record: Record, cut: int | None, steps: Sequence[Step]) -> Happened:
    name = called(who(world, record.author))
    judged = judge(world, record)
    note = note_of(world, record)
    if judged.fate is Fate.VOID:
        why = f"The {record.kind} of {name} does not count ({judged.code}): {judged.why}."
        return of_record(world, record, Event.REFUSED, cut, why, note=note)
    if judged.fate is Fate.WAITS or cut is None:
        why = f"The {record.kind} of {name} waits: {judged.why or 'no cut contains it'}."
        return of_record(world, record, Event.WAITS, cut, why, note=note)
    taken = moved(step for step in steps if step.cause == record.id)
    match record.body:
        case Withdraw() as body:
            why = f"{name} took it back: {body.reason}"
            return of_record(world, record, Event.WITHDRAWN, cut, why, moves=taken)
        case FlagStale() as body:
            why = f"{name} showed with {len(body.evidence)} digests that it may be out of date."
            return of_record(world, record, Event.FLAGGED, cut, why, note=note)
        case _:
            why = f"The {record.kind} of {name} counts; its round is not in memory here."
            return of_record(world, record, Event.MOVED, cut, why, note=note, moves=taken)


def _decree(
    world: World, artifact: Artifact, record: Record, cut: int | None, steps: Sequence[Step]
) -> Happened:
    body = record.body
    assert isinstance(body, AdminReview), "the caller has looked"  # noqa: S101 # our own invariant
    name, acts = called(who(world, record.author)), world.state.acts
    judged = judge(world, record)
    if judged.fate is Fate.VOID:
        why = f"The word of {name} to {body.decision} does not count ({judged.code}): {judged.why}."
        return of_record(world, record, Event.REFUSED, cut, why, note=body.reason)
    cosigned = [
        one
        for one in world.log.by_kind(Kind.COSIGN)
        if isinstance(one.body, ActCosign) and one.body.act == record.id
    ]
    passed = acts.passed.get(record.id)
    if passed is None:
        why = f"{name} asks the operators to {body.decision}; {len(cosigned)} have cosigned so far."
        return of_record(world, record, Event.BY_HAND, cut, why, note=body.reason)
    event, did = _DECREED.get(body.decision, (Event.BY_HAND, str(body.decision)))
    taken = [step for step in steps if step.cause == record.id]
    since = taken[-1].cut if taken else _passed_in(world, artifact, [record, *cosigned], passed)
    told = of_record(
        world,
        record,
        event,
        since,
        f"A quorum of operators {did} by hand, as {name} asked: {body.reason}",
        note=body.reason,
        moves=moved(taken),
    )
    by = sorted({record.author, *(one.author for one in cosigned)})
    return replace(told, who=tuple(who(world, one) for one in by))


def _passed_in(
    world: World, artifact: Artifact, records: Sequence[Record], tick: int
) -> int | None:
    """Find the cut in which an act found its quorum: the last of its words up to that tick."""
    cuts = cuts_of(world, [one.id for one in records], first=artifact.cut)
    upto = [cut for cut in cuts.values() if (at := tick_of(world, cut)) is not None and at <= tick]
    return max(upto, default=None)


def _superseded(world: World, steps: Sequence[Step]) -> Iterator[Happened]:
    for step in steps:
        revision = world.log.get(step.cause) if step.cause else None
        if step.action is Action.SUPERSEDE and revision is not None:
            why = f"The revision {short(revision.id)} was accepted and stands in its place."
            yield of_record(world, revision, Event.SUPERSEDED, step.cut, why, moves=moved([step]))
