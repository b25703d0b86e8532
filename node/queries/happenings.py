"""One step of an artifact's story, as a struct: what, who, when, why, by which record."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from federation.artifacts import TRANSITIONS, Action, State
from federation.certificates import Phase
from federation.core import Millis
from federation.protocol import World
from federation.protocol.state import Step
from federation.records import Record
from node.queries.names import Who, cid_of, who
from node.queries.timeline import tick_of
from node.queries.verdicts import Verdict


class Event(StrEnum):
    """What happened."""

    PROPOSED = "proposed"
    """Its author signed the proposal."""
    REFUSED = "refused"
    """Something that was filed does not count: its guard does not hold."""
    WAITS = "waits"
    """Something was filed, and no cut contains it yet."""
    OPENED = "opened"
    """A cut opened a round about it."""
    DISPUTED = "disputed"
    """Somebody says that it should not stand."""
    REPORTED = "reported"
    """Somebody says that it must be hidden at once."""
    RESUBMITTED = "resubmitted"
    """It comes back, with new evidence."""
    OBJECTED = "objected"
    """A reviewer asked for a vote."""
    ASSESSED = "assessed"
    """A moderator looked at a report."""
    CERTIFIED = "certified"
    """A phase ended: its list became final."""
    WIDENED = "widened"
    """The same of a box that lacked a quorum and was opened once more to voters."""
    CONTESTED = "contested"
    """Somebody contests the process of a result, or a ruling."""
    RULED = "ruled"
    """A drawn arbiter ruled."""
    BY_HAND = "by_hand"
    """An operator gave its word where operators decide."""
    VERDICT = "verdict"
    """The lists decided it."""
    HIDDEN = "hidden"
    """It is absent from reads, search and export."""
    SHOWN = "shown"
    """It is hidden no more."""
    WITHDRAWN = "withdrawn"
    """Its author took it back."""
    RETRACTED = "retracted"
    """A quorum of operators retracted it."""
    SUPERSEDED = "superseded"
    """An accepted revision stands in its place."""
    FLAGGED = "flagged_stale"
    """Somebody has shown that it may be out of date."""
    MOVED = "moved"
    """The lifecycle moved it by the rules themselves."""


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the lifecycle's table that was taken."""

    origin: State | None
    """Where it stood; nil for what was no artifact yet."""
    action: Action
    """The action."""
    to: State
    """Where it stands since."""
    guard: str
    """What had to hold, in a few words."""
    cut: int
    """Number of the cut in which it moved."""


class Happened(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the story."""

    event: Event
    """What happened."""
    who: tuple[Who, ...]
    """Who did it: the author, the home, the voices that sealed, whose ballots were counted."""
    cut: int | None
    """Number of the cut that first contained it; nil while none does."""
    tick: int | None
    """Ticks at that cut; nil while no cut contains it."""
    why: str
    """What it means, as a sentence."""
    record: str | None = None
    """Id of the record that holds it, in hex; nil if none does."""
    cid: str | None = None
    """The same as a CIDv1."""
    claimed_at: Millis | None = None
    """What the author claims of the time, Unix time in ms: decides nothing."""
    round: str | None = None
    """Id of the round, in hex."""
    phase: Phase | None = None
    """The phase that ended, or whose list holds the record."""
    certificate: str | None = None
    """Id of the record that holds the certificate, in hex; nil if none is held here."""
    digest: str | None = None
    """Digest that was certified, in hex."""
    fence: int | None = None
    """At which try the members agreed, from 0."""
    seals: int | None = None
    """Signatures under the certificate."""
    listed: int | None = None
    """Records that the certificate lists."""
    void: bool = False
    """The phase ended too late: nothing counts."""
    note: str | None = None
    """The words of the record; nil if it has none, or they are not held here."""
    moves: tuple[Move, ...] = ()
    """Rows of the lifecycle's table that it took."""
    verdict: Verdict | None = None
    """What was decided, with its narrow reasons."""


def move_of(step: Step) -> Move:
    """Show one row that was taken."""
    row = TRANSITIONS.get((step.origin, step.action))
    return Move(
        origin=step.origin,
        action=step.action,
        to=step.to,
        guard=row.condition if row else "by the rules",
        cut=step.cut,
    )


def moved(steps: Iterable[Step]) -> tuple[Move, ...]:
    """Show the rows that were taken, in their order."""
    return tuple(move_of(step) for step in steps)


def tick_at(world: World, cut: int | None) -> int | None:
    """Give the ticks at a cut; None without one."""
    return None if cut is None else tick_of(world, cut)


def of_record(
    world: World,
    record: Record,
    event: Event,
    cut: int | None,
    why: str,
    *,
    note: str | None = None,
    moves: tuple[Move, ...] = (),
    **more: object,
) -> Happened:
    """Tell of a record that its author signed."""
    return msgspec.structs.replace(
        Happened(
            event=event,
            who=(who(world, record.author),),
            cut=cut,
            tick=tick_at(world, cut),
            why=why,
            record=record.id.hex(),
            cid=cid_of(record.id),
            claimed_at=record.statement.at,
            note=note,
            moves=moves,
        ),
        **more,
    )


def called(one: Who) -> str:
    """Name somebody in a sentence: by its name, else by its first digits."""
    return one.name or one.id[:12]
