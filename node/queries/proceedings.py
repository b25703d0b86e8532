"""What a round holds beside arguments and ballots: who filed it, arbiters, rulings, contests.

All of it is public as soon as it is held here; `certified` tells whether a certificate lists it
already. Ballots are shown elsewhere, and only once they count.
"""

import msgspec

from federation.certificates import Phase
from federation.core import Digest, RecordId
from federation.crypto import Reason
from federation.protocol import Round, World
from federation.records import (
    AdminReview,
    Appeal,
    Assess,
    Contest,
    Decree,
    DisputeFile,
    DisputeReport,
    Note,
    ObjectTo,
    Record,
    Resubmit,
    Rule,
    Ruled,
)
from federation.review import course, drawn_arbiters, heard, lot, may_rule
from node.queries.live_rounds import held_in
from node.queries.names import Who, cid_of, who
from node.queries.texts import text_of


class Filed(msgspec.Struct, frozen=True, kw_only=True):
    """The record that opened a round: a dispute, a report, an appeal, a resubmission."""

    record: str
    """Its id, in hex."""
    cid: str
    """The same as a CIDv1."""
    kind: str
    """Its kind."""
    by: Who
    """Who filed it."""
    ground: str | None
    """What it says is wrong, in one word; nil for what names none."""
    claim: int | None
    """Number of the claim that it is about; nil for the whole."""
    evidence: tuple[str, ...]
    """Digests that it brings, in hex."""
    note: str | None
    """Its words; nil if it has none, or they are not held here."""


class Objected(msgspec.Struct, frozen=True, kw_only=True):
    """One objection in the fast track."""

    record: str
    """Id of its record, in hex."""
    by: Who
    """Who objects."""
    reason: Reason
    """Why, in one word."""
    note: str | None
    """Its words; nil if it has none, or they are not held here."""
    certified: bool
    """A certificate lists it."""


class Arbiter(msgspec.Struct, frozen=True, kw_only=True):
    """One drawn arbiter."""

    agent: Who
    """Who was drawn."""
    place: int
    """Its place in lot order, from 1: of those who rule the first counts."""
    lot: str
    """SHA-256 of beacon, round and agent, in hex: anybody can draw again."""
    ruled: bool
    """Its ruling is held here."""


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """One ruling."""

    record: str
    """Id of its record, in hex."""
    cid: str
    """The same as a CIDv1."""
    arbiter: Who
    """Who rules."""
    ruling: Ruled
    """The ruling."""
    ground: str
    """Why, in one word."""
    note: str | None
    """Its words; nil if it has none, or they are not held here."""
    certified: bool
    """A certificate lists it."""
    counts: bool
    """It is the one that decides: the first in lot order, of those that a certificate lists."""


class Contested(msgspec.Struct, frozen=True, kw_only=True):
    """One word against the process of a result, or against a ruling."""

    record: str
    """Id of its record, in hex."""
    cid: str
    """The same as a CIDv1."""
    by: Who
    """Who contests."""
    against: str
    """`result` or `ruling`."""
    ground: str
    """Why, in one word."""
    note: str | None
    """Its words; nil if it has none, or they are not held here."""
    certified: bool
    """A certificate lists it."""


class Assessment(msgspec.Struct, frozen=True, kw_only=True):
    """What a moderator said of a report."""

    record: str
    """Id of its record, in hex."""
    cid: str
    """The same as a CIDv1."""
    moderator: Who
    """Who looked."""
    credible: bool
    """The report is credible."""
    note: str | None
    """Its words; nil if it has none, or they are not held here."""
    certified: bool
    """A certificate lists it."""


class ByHand(msgspec.Struct, frozen=True, kw_only=True):
    """What one operator has decided by hand."""

    record: str
    """Id of its record, in hex."""
    cid: str
    """The same as a CIDv1."""
    operator: Who
    """Who decides."""
    decision: Decree
    """What it says."""
    reason: str
    """Why, in words."""
    certified: bool
    """A certificate lists it."""


class Proceedings(msgspec.Struct, frozen=True, kw_only=True):
    """What a round holds beside arguments and ballots."""

    filed: Filed | None
    """What opened it, where that is not the proposal; nil also if the rules opened it themselves."""
    disputer: Who | None
    """Who filed the dispute or the report; nil if nobody did."""
    disputer_operator: Who | None
    """Who answers for the disputer."""
    rerun: bool
    """An arbiter asked for it: a fresh panel votes again."""
    assess_only: bool
    """Of a report: it ends with the assessment, because another round runs or nothing stands."""
    formal: bool
    """It is voted on in any case: a revision by somebody else than the first author."""
    excluded: int
    """Agents that may not vote because they have voted on the artifact before."""
    beacon: str | None
    """The first beacon after it opened, in hex, which draws its arbiters; nil until then."""
    arbiters: tuple[Arbiter, ...]
    """Drawn arbiters, in lot order; none before there is something to rule."""
    rulings_allowed: tuple[Ruled, ...]
    """Rulings that this round takes."""
    operators: tuple[Who, ...]
    """Operators of member instances, who decide by hand where it comes to that."""
    objections: tuple[Objected, ...]
    """Objections in the fast track."""
    rulings: tuple[Ruling, ...]
    """Rulings, by lot."""
    contests: tuple[Contested, ...]
    """Words against the result, then against the ruling."""
    assessments: tuple[Assessment, ...]
    """What moderators said of the report."""
    by_hand: tuple[ByHand, ...]
    """What operators have decided by hand."""


def proceedings(world: World, found: Round) -> Proceedings:
    """Tell what a round holds beside arguments and ballots."""
    pin = found.pin
    drawn = drawn_now(found)
    return Proceedings(
        filed=filed(world, pin.cause),
        disputer=who(world, pin.disputer) if pin.disputer else None,
        disputer_operator=who(world, pin.disputer_operator) if pin.disputer_operator else None,
        rerun=pin.rerun,
        assess_only=pin.assess_only,
        formal=pin.formal,
        excluded=len(pin.voted),
        beacon=pin.beacon.hex() if pin.beacon else None,
        arbiters=_arbiters(world, found, drawn),
        rulings_allowed=rulings_allowed(found),
        operators=tuple(who(world, name) for name in sorted(pin.members)),
        objections=tuple(_objections(world, found)),
        rulings=_rulings(world, found, drawn),
        contests=tuple(_contests(world, found)),
        assessments=tuple(_assessments(world, found)),
        by_hand=tuple(_by_hand(world, found)),
    )


def rulings_allowed(found: Round) -> tuple[Ruled, ...]:
    """List the rulings that a round takes."""
    return tuple(one for one in Ruled if may_rule(found.pin, one))


def drawn_now(found: Round) -> tuple[bytes, ...]:
    """Give the drawn arbiters in lot order; none before the round has come to them."""
    so_far = course(found.pin, found.finals)
    return drawn_arbiters(found.pin, so_far.lists) if Phase.RULE in so_far.after else ()


def filed(world: World, cause: RecordId | None) -> Filed | None:
    """Show the record that opened a round; None without one, or if it is not held here."""
    record = world.log.get(cause) if cause else None
    if record is None:
        return None
    ground: str | None = None
    claim: int | None = None
    evidence: tuple[Digest, ...] = ()
    match record.body:
        case DisputeFile() as body:
            ground, claim, evidence = body.ground.value, body.claim, body.evidence
        case DisputeReport() as body:
            ground = body.category.value
        case Resubmit() as body:
            evidence = body.evidence
        case Appeal() | _:
            pass
    return Filed(
        record=record.id.hex(),
        cid=cid_of(record.id),
        kind=record.kind,
        by=who(world, record.author),
        ground=ground,
        claim=claim,
        evidence=tuple(name.hex() for name in evidence),
        note=note_of(world, record),
    )


def note_of(world: World, record: Record) -> str | None:
    """Read the words of a record; None if it has none, or they are not held here."""
    # A final list keeps the record as it came: what was taken down since is gone from the log only.
    text = text_of(world.log.get(record.id), Note)
    return text.note if text else None


def _arbiters(world: World, found: Round, drawn: tuple[bytes, ...]) -> tuple[Arbiter, ...]:
    beacon = found.pin.beacon
    if beacon is None:
        return ()
    ruled = {record.author for record in held_in(world, found, Phase.RULE)}
    return tuple(
        Arbiter(
            agent=who(world, agent),
            place=place,
            lot=lot(beacon, found.pin.round, agent).hex(),
            ruled=agent in ruled,
        )
        for place, agent in enumerate(drawn, start=1)
    )


def _rulings(world: World, found: Round, drawn: tuple[bytes, ...]) -> tuple[Ruling, ...]:
    place = {agent: index for index, agent in enumerate(drawn)}
    records = sorted(
        held_in(world, found, Phase.RULE),
        key=lambda record: (place.get(record.author, len(place)), record.id),
    )
    certified = Phase.RULE in found.finals
    decides = heard(found.pin, found.finals)
    return tuple(
        Ruling(
            record=record.id.hex(),
            cid=cid_of(record.id),
            arbiter=who(world, record.author),
            ruling=record.body.ruling,
            ground=record.body.ground,
            note=note_of(world, record),
            certified=certified,
            counts=decides is not None and decides.arbiter == record.author,
        )
        for record in records
        if isinstance(record.body, Rule)
    )


def _objections(world: World, found: Round) -> list[Objected]:
    return [
        Objected(
            record=record.id.hex(),
            by=who(world, record.author),
            reason=record.body.reason,
            note=note_of(world, record),
            certified=Phase.FAST in found.finals,
        )
        for record in held_in(world, found, Phase.FAST)
        if isinstance(record.body, ObjectTo)
    ]


def _contests(world: World, found: Round) -> list[Contested]:
    return [
        Contested(
            record=record.id.hex(),
            cid=cid_of(record.id),
            by=who(world, record.author),
            against=against,
            ground=record.body.ground,
            note=note_of(world, record),
            certified=phase in found.finals,
        )
        for phase, against in ((Phase.CONTEST, "result"), (Phase.APPEAL, "ruling"))
        for record in held_in(world, found, phase)
        if isinstance(record.body, Contest)
    ]


def _assessments(world: World, found: Round) -> list[Assessment]:
    return [
        Assessment(
            record=record.id.hex(),
            cid=cid_of(record.id),
            moderator=who(world, record.author),
            credible=record.body.credible,
            note=note_of(world, record),
            certified=Phase.ASSESS in found.finals,
        )
        for record in held_in(world, found, Phase.ASSESS)
        if isinstance(record.body, Assess)
    ]


def _by_hand(world: World, found: Round) -> list[ByHand]:
    return [
        ByHand(
            record=record.id.hex(),
            cid=cid_of(record.id),
            operator=who(world, record.author),
            decision=record.body.decision,
            reason=record.body.reason,
            certified=Phase.ADMIN in found.finals,
        )
        for record in held_in(world, found, Phase.ADMIN)
        if isinstance(record.body, AdminReview)
    ]
