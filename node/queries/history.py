"""The story of an artifact: proposed, judged, disputed, hidden, retracted, back, superseded.

Every step says who, in which cut and tick, why, by which record and certificate, and which rows of
the lifecycle's table it took. What an author claims about time stands beside it and decides nothing.
The order is that of the cuts; what no cut contains yet comes last.
"""

from collections.abc import Iterator, Sequence

import msgspec

from federation.artifacts import Artifact
from federation.core import ArtifactId, short
from federation.protocol import Fate, World, judge
from federation.protocol.state import Step
from federation.records import Propose, Record, Revise
from federation.trust import Decision
from node.queries.happenings import (
    Event,
    Happened,
    Move,
    called,
    move_of,
    moved,
    of_record,
)
from node.queries.names import Thing, cid_of, unknown, who
from node.queries.story import told
from node.queries.story_acts import acts_of

__all__ = ["Event", "Happened", "History", "Move", "history"]


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The story of one artifact, in order."""

    id: str
    """Id of the artifact, in hex."""
    cid: str
    """The same as a CIDv1."""
    events: tuple[Happened, ...]
    """What happened, oldest first."""


def history(world: World, artifact_id: ArtifactId) -> History:
    """Tell the story of an artifact or a proposal; raises RequestError NOT_FOUND.

    Looks through certified positions for the cut of each step: meant for one artifact at a time.
    """
    record = world.log.get(artifact_id)
    if record is None or not isinstance(record.body, Propose):
        raise unknown(artifact_id, {Thing.ARTIFACT})
    artifact = world.state.artifacts.get(artifact_id)
    events = _proposal(world, record) if artifact is None else _story(world, record, artifact)
    return History(id=artifact_id.hex(), cid=cid_of(artifact_id), events=tuple(events))


def _proposal(world: World, record: Record) -> Iterator[Happened]:
    """Tell of a proposal that no cut has made an artifact."""
    yield _proposed(world, record, None, ())
    judged = judge(world, record)
    if judged.fate is Fate.VOID:
        yield Happened(
            event=Event.REFUSED,
            who=(),
            cut=None,
            tick=None,
            why=f"The proposal does not count ({judged.code}): {judged.why}.",
        )


def _story(world: World, record: Record, artifact: Artifact) -> Iterator[Happened]:
    steps = world.state.steps.get(artifact.id, ())
    first = _proposed(world, record, artifact.cut, steps)
    placed: list[tuple[float, Happened]] = [(artifact.cut, first)]
    opened_by = set()
    for name in world.state.rounds_of.get(artifact.id, ()):
        found = world.rounds.get(name)
        if found is None:
            continue
        if found.pin.cause is not None:
            opened_by.add(found.pin.cause)
        placed += _in_order(told(world, found, steps), last=found.pin.cut)
    placed += _in_order(acts_of(world, artifact, steps, opened_by), last=None)
    placed += _left_over(world, steps, [one for _, one in placed])
    # Sorting is stable: what one cut contains stays in the order in which it was told.
    placed.sort(key=lambda pair: pair[0])
    yield from _with_returns(one for _, one in placed)


def _in_order(events: Iterator[Happened], *, last: int | None) -> Iterator[tuple[float, Happened]]:
    """Give each event its place: its cut, not before that of the one before it in a round."""
    place: float = -1 if last is None else last
    for one in events:
        if last is None:
            place = float("inf") if one.cut is None else one.cut
        else:
            place = max(place, float("inf") if one.cut is None else one.cut)
        yield place, one


def _left_over(
    world: World, steps: Sequence[Step], events: Sequence[Happened]
) -> Iterator[tuple[float, Happened]]:
    """Tell of rows of the table that no event has told: the story must be complete."""
    shown = [move for event in events for move in event.moves]
    for step in steps:
        move = move_of(step)
        if move in shown:
            continue
        cause = world.log.get(step.cause) if step.cause else None
        yield (
            step.cut,
            Happened(
                event=Event.MOVED,
                who=(who(world, cause.author),) if cause else (),
                cut=step.cut,
                tick=step.tick,
                why=f"It went from {step.origin or 'nothing'} to {step.to} by {step.action}.",
                record=cause.id.hex() if cause else None,
                cid=cid_of(cause.id) if cause else None,
                round=step.round.hex() if step.round else None,
                moves=(move,),
            ),
        )


def _with_returns(events: Iterator[Happened]) -> Iterator[Happened]:
    """Tell after a verdict by which something hidden stands that it is shown again."""
    hidden = False
    for one in events:
        yield one
        if one.event in {Event.HIDDEN, Event.SHOWN}:
            hidden = one.event is Event.HIDDEN
        verdict = one.verdict
        if hidden and verdict is not None and verdict.decision is Decision.ACCEPT:
            hidden = False
            yield Happened(
                event=Event.SHOWN,
                who=one.who,
                cut=one.cut,
                tick=one.tick,
                why="It stands, so it is hidden no more.",
                round=one.round,
            )


def _proposed(world: World, record: Record, cut: int | None, steps: Sequence[Step]) -> Happened:
    name = called(who(world, record.author))
    body = record.body
    what = f", a revision of {short(body.revises)}," if isinstance(body, Revise) else ""
    taken = (step for step in steps if step.cause == record.id and step.origin is None)
    return of_record(
        world,
        record,
        Event.PROPOSED,
        cut,
        f"{name} proposed it{what} as record {record.seq} of its chain.",
        moves=moved(taken),
    )
