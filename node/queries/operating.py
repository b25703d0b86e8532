"""What operators decide together: open acts, charters so far, and what waits for their hand.

An act is open until a quorum of operators has said the same, or until it lapses. All of it stands
in the log; only the queue is made for the operator of this instance.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from federation.artifacts import Artifact, Flag
from federation.certificates import Phase, RoundSlot, slot_key
from federation.charter import amended, quorum_of, read_rules, rules_of
from federation.core import Digest, InstanceId, Millis, OperatorId
from federation.protocol import Round, World
from federation.protocol.acts import EXPIRY, OpenAct, members_in, needed
from federation.records import AdminReview, CharterAdopt, Decree
from node.base.errors import NodeCode, RequestError
from node.queries.names import LEAST_DIGITS, Who, cid_of, who
from node.queries.texts import article
from node.queries.windows import Window, window_of

MOST_ROWS: Final = 200
"""Rounds, and artifacts, that the queue lists."""
_FLAGS: Final = frozenset({Flag.FROZEN, Flag.DISPUTES_SPENT})


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One number that a charter changes."""

    field: str
    """Where, such as `review.k`."""
    old: str
    """What the charter before says, as JSON."""
    new: str
    """What this one says, as JSON."""


class ActRow(msgspec.Struct, frozen=True, kw_only=True):
    """An act without a quorum."""

    act: str
    """Id of its record, in hex."""
    cid: str
    """The same as a CIDv1."""
    kind: str
    """`charter.adopt` or `admin.review`."""
    reason: str
    """Why, in the words of its author."""
    by: tuple[Who, ...]
    """Operators that have said it: its author, then who cosigned."""
    missing: int
    """How many more operators it needs."""
    lapses_at_tick: int
    """Last tick at which it can find its quorum."""
    mine: bool | None
    """Whether the operator of this instance has said it; nil if it has no vote."""
    number: int | None
    """Of a charter: its number."""
    from_tick: int | None
    """Of a charter: first tick at which it can be in force."""
    changes: tuple[Change, ...]
    """Of a charter: what it changes of the one that it follows."""
    subject: str | None
    """Of a decision: id of the artifact or the violation, in hex."""
    decision: Decree | None
    """Of a decision: what is decided."""


class CharterRow(msgspec.Struct, frozen=True, kw_only=True):
    """A charter that is or was in force, or is adopted."""

    number: int
    """0 at genesis."""
    hash: str
    """Its hash, in hex."""
    act: str | None
    """The act that adopted it, in hex; nil for the charter of the genesis."""
    from_tick: int
    """First tick under it; of one that waits, first tick at which it can be in force."""
    cut: int | None
    """First cut whose rounds it governs; nil while it waits."""
    changes: tuple[Change, ...]
    """What it changes of the one before it in this list."""


class ActsPage(msgspec.Struct, frozen=True, kw_only=True):
    """Charters so far, and acts under way."""

    tick: int
    """Epochs so far."""
    operators: int
    """Operators of member instances: one vote each."""
    needed: int
    """How many of them an act needs."""
    charters: tuple[CharterRow, ...]
    """Charters that are or were in force, in order; the last is in force."""
    coming: tuple[CharterRow, ...]
    """Charters that are adopted and wait for their tick, each written for the one before."""
    open: tuple[ActRow, ...]
    """Acts without a quorum, oldest first."""


class Voice(msgspec.Struct, frozen=True, kw_only=True):
    """What one operator has said in a round."""

    operator: Who
    """Who."""
    decision: Decree
    """What."""
    reason: str
    """Why, in its words."""


class RoundByHand(msgspec.Struct, frozen=True, kw_only=True):
    """A round that has come to the operators."""

    round: str
    """Its id, in hex."""
    kind: str
    """`review`, `dispute`, `report` or `appeal`."""
    subject: str
    """Id of the artifact, in hex; of an appeal, of the violation."""
    title: str | None
    """Title of the artifact; nil for an appeal, or if its text is not readable here."""
    decisions: tuple[Decree, ...]
    """What can be decided."""
    voices: tuple[Voice, ...]
    """What has been said so far, as far as it is known here."""
    needed: int
    """Operators that must agree."""
    otherwise: str
    """What happens if so many do not agree in time."""
    window: Window | None
    """How long it still lasts on this instance's clock; nil if this instance does not know."""
    mine: bool | None
    """Whether the operator of this instance has spoken; nil if it has no voice in it."""


class StuckArtifact(msgspec.Struct, frozen=True, kw_only=True):
    """An artifact that only operators can still move."""

    artifact: str
    """Its id, in hex."""
    title: str | None
    """Its title; nil if its text is not readable here."""
    state: str
    """Its state."""
    flags: tuple[str, ...]
    """`frozen`: nothing happens before a ruling; `disputes_spent`: nobody can dispute it again."""


class AdminQueue(msgspec.Struct, frozen=True, kw_only=True):
    """What waits for the operators' hand."""

    rounds: tuple[RoundByHand, ...]
    """Rounds in the phase `admin`, oldest first; at most 200."""
    artifacts: tuple[StuckArtifact, ...]
    """Frozen ones, and those whose disputes are spent; at most 200."""
    acts: tuple[ActRow, ...]
    """Open acts."""


def acts_page(world: World, instance: InstanceId) -> ActsPage:
    """Show acts and charters, as the operator of `instance` sees them."""
    state, acts = world.state, world.state.acts
    rows: list[CharterRow] = []
    before = acts.genesis
    for reign in acts.reigns:
        rows.append(
            CharterRow(
                number=reign.charter.number,
                hash=reign.hash.hex(),
                act=reign.act.hex() if reign.act else None,
                from_tick=reign.tick,
                cut=reign.cut,
                changes=_changes(rules_of(before), rules_of(reign.charter)),
            )
        )
        before = reign.charter
    coming: list[CharterRow] = []
    for one in acts.coming:
        coming.append(
            CharterRow(
                number=one.charter.number,
                hash=one.hash.hex(),
                act=one.act.hex(),
                from_tick=one.from_tick,
                cut=None,
                changes=_changes(rules_of(before), rules_of(one.charter)),
            )
        )
        before = one.charter
    return ActsPage(
        tick=state.tick,
        operators=len(members_in(state)),
        needed=needed(state),
        charters=tuple(rows),
        coming=tuple(coming),
        open=_open(world, instance),
    )


def admin_queue(world: World, instance: InstanceId, now: Millis) -> AdminQueue:
    """Show what waits for the operators' hand, as the operator of `instance` sees it.

    `now` is on this instance's own clock.
    """
    waiting = [one for one in world.rounds.values() if one.phase is Phase.ADMIN]
    stuck = (one for one in world.state.artifacts.values() if one.flags & _FLAGS)
    return AdminQueue(
        rounds=tuple(_by_hand(world, one, instance, now) for one in waiting[:MOST_ROWS]),
        artifacts=tuple(
            _stuck(world, one) for one, _ in zip(stuck, range(MOST_ROWS), strict=False)
        ),
        acts=_open(world, instance),
    )


def open_act(world: World, said: str) -> Digest:
    """Give the id of an open act: in full, as a CID, or by its first six digits or more.

    Raises RequestError NOT_FOUND, or AMBIGUOUS. An act that is not open is found by its full id.
    """
    typed = said.strip().lower()
    names = world.state.acts.open
    found = [
        name
        for name in names
        if cid_of(name) == typed or (len(typed) >= LEAST_DIGITS and name.hex().startswith(typed))
    ]
    if not found and len(typed) == 2 * len(world.realm):
        try:
            return bytes.fromhex(typed)
        except ValueError:
            pass
    if len(found) != 1:
        raise RequestError(
            "no such act",
            why=f"{len(found)} open acts have an id that begins so, and it needs {LEAST_DIGITS} "
            "digits",
            fix="`folkmoot charter acts` lists open acts; an act is open from its first cut on",
            code=NodeCode.AMBIGUOUS if found else NodeCode.NOT_FOUND,
        )
    return found[0]


def subject_of(world: World, said: str) -> Digest | None:
    """Give the id of a violation that a name stands for; None if there is none, or several."""
    typed = said.strip().lower()
    names = world.state.discipline.violations
    found = [name for name in names if len(typed) >= LEAST_DIGITS and name.hex().startswith(typed)]
    return found[0] if len(found) == 1 else None


def _mine(world: World, instance: InstanceId) -> OperatorId | None:
    return world.state.instances.get(instance)


def _open(world: World, instance: InstanceId) -> tuple[ActRow, ...]:
    return tuple(_row(world, one, instance) for one in world.state.acts.open.values())


def _row(world: World, act: OpenAct, instance: InstanceId) -> ActRow:
    body, state = act.record.body, world.state
    mine = _mine(world, instance)
    said = len(members_in(state).intersection(act.by))
    adopts = body if isinstance(body, CharterAdopt) else None
    decides = body if isinstance(body, AdminReview) else None
    assert adopts is not None or decides is not None, "there are two kinds of acts"  # noqa: S101 # ours
    return ActRow(
        act=act.record.id.hex(),
        cid=cid_of(act.record.id),
        kind=act.record.kind,
        reason=adopts.reason if adopts else decides.reason if decides else "",
        by=tuple(who(world, name) for name in act.by),
        missing=max(needed(state) - said, 0),
        lapses_at_tick=act.tick + EXPIRY,
        mine=None if mine is None else mine in act.by,
        number=adopts.number if adopts else None,
        from_tick=adopts.from_tick if adopts else None,
        changes=_proposed(world, adopts) if adopts else (),
        subject=decides.subject.hex() if decides else None,
        decision=decides.decision if decides else None,
    )


def _proposed(world: World, body: CharterAdopt) -> tuple[Change, ...]:
    """List what an open charter changes; it was found sound when it was taken in."""
    newest = world.state.acts.newest.charter
    new = amended(newest, read_rules(body.rules), body.number)
    return _changes(rules_of(newest), rules_of(new))


def _changes(old: msgspec.Struct, new: msgspec.Struct, path: str = "") -> tuple[Change, ...]:
    return tuple(_changed(old, new, path))


def _changed(old: msgspec.Struct, new: msgspec.Struct, path: str) -> Iterator[Change]:
    for field in msgspec.structs.fields(old):
        before, after = getattr(old, field.name), getattr(new, field.name)
        where = f"{path}{field.name}"
        if isinstance(before, msgspec.Struct):
            yield from _changed(before, after, f"{where}.")
        elif before != after:
            yield Change(
                field=where,
                old=msgspec.json.encode(before).decode(),
                new=msgspec.json.encode(after).decode(),
            )


def _title(world: World, artifact: Artifact | None) -> str | None:
    _, text = article(world, artifact) if artifact is not None else (None, None)
    return text.title if text is not None else None


def _stuck(world: World, artifact: Artifact) -> StuckArtifact:
    return StuckArtifact(
        artifact=artifact.id.hex(),
        title=_title(world, artifact),
        state=artifact.state.value,
        flags=tuple(sorted(flag.value for flag in artifact.flags)),
    )


def _by_hand(world: World, one: Round, instance: InstanceId, now: Millis) -> RoundByHand:
    pin = one.pin
    mine = _mine(world, instance)
    spoken = [
        (record.author, record.body)
        for record in one.qualified(world.log)
        if isinstance(record.body, AdminReview)
    ]
    live = world.slots.get(slot_key(RoundSlot(round_id=pin.round, phase=Phase.ADMIN)))
    appeal = pin.kind == "appeal"
    artifact = None if appeal else world.state.artifacts.get(pin.artifact)
    return RoundByHand(
        round=pin.round.hex(),
        kind=pin.kind,
        subject=pin.artifact.hex(),
        title=_title(world, artifact),
        decisions=((Decree.UPHOLD, Decree.RECLASSIFY) if appeal else (Decree.KEEP, Decree.RETRACT)),
        voices=tuple(
            Voice(operator=who(world, name), decision=body.decision, reason=body.reason)
            for name, body in spoken
        ),
        needed=quorum_of(len(pin.members), three=pin.charter.timing.three).q if pin.members else 0,
        otherwise=_otherwise(one),
        window=window_of(world, live, now) if live is not None else None,
        mine=None if mine not in pin.members else any(name == mine for name, _ in spoken),
    )


def _otherwise(one: Round) -> str:
    match one.pin.kind:
        case "appeal":
            return "the sanction stays"
        case "review":
            return "the artifact is rejected"
        case _:
            keeps = one.pin.charter.disputes.timeout == "keep"
            return "the artifact stands" if keeps else "the artifact is retracted"
