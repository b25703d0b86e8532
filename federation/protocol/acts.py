"""Acts of the operators together: another charter, and decisions about one artifact or sanction.

An act is a record of an operator's own chain, and so is each word for it (`act.cosign`): it comes
into force at the cut in which its author and those who cosigned are a quorum of the member
operators (ADR 38). It counts once, and lapses 72 ticks after its cut. One operator has one vote,
however many instances it has.

A charter that is adopted names the one that it follows, so that of two which were written for the
same one only the first counts. It is in force from the first tick on that is at least its
`from_tick`. It comes last in its tick: evidence, trust and tiers of that tick are still counted by
the rules before, and rounds keep the charter that they opened under.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias, assert_never

import msgspec
from msgspec import Meta

from federation.artifacts import State as ArtifactState
from federation.charter import (
    Charter,
    amended,
    charter_hash,
    faults_of,
    quorum_of,
    read_rules,
)
from federation.core import ArtifactId, Code, Digest, OperatorId, PeerError, RecordId, short
from federation.records import ActCosign, AdminReview, Body, CharterAdopt, Decree, Record
from federation.replication import Log

if TYPE_CHECKING:
    # The state holds the acts; at run time nothing of it is needed here.
    from federation.protocol.state import State

EXPIRY: Final = 72
"""Ticks after its cut within which an act can find its quorum (design: membership)."""
OPEN_MOST: Final = 8
"""Open acts of one operator: each costs every node memory until it lapses."""

Place: TypeAlias = Annotated[int, Meta(ge=0)]
OnArtifact: Final = frozenset({Decree.KEEP, Decree.RETRACT, Decree.HIDE, Decree.SHOW})
"""What operators can decide about an artifact outside a round: to keep it answers every flag that
asks for a look at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAct:
    """An act that has no quorum yet."""

    record: Record
    tick: int
    """Of the cut that contains it."""
    by: tuple[OperatorId, ...]
    """Its author, then who cosigned, as they came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coming:
    """A charter that is adopted and waits for its tick."""

    act: RecordId
    charter: Charter
    hash: Digest
    from_tick: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reign:
    """A charter that is in force, or was."""

    act: RecordId | None
    """None for the charter of the genesis."""
    charter: Charter
    hash: Digest
    tick: int
    """First tick under it."""
    cut: int
    """Number of that tick's cut: the first whose rounds it governs."""


class ActsRow(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """All of it by the ids of its records: part of snapshots and of the world digest."""

    reigns: tuple[tuple[RecordId, Place, Place], ...]
    """Act, tick and cut of each charter that came into force after genesis, in order."""
    coming: tuple[RecordId, ...]
    """Acts of the charters that wait for their tick, in order."""
    open: tuple[tuple[RecordId, Place, tuple[OperatorId, ...]], ...]
    """Act, tick and operators of each open act, in the order of their cuts."""
    passed: tuple[tuple[RecordId, Place], ...]
    """Each act that found its quorum, with the tick, in order."""


@dataclass(slots=True, kw_only=True)
class Acts:
    """Charters so far, and acts under way."""

    reigns: list[Reign]
    """Charters that are or were in force, in order; the last is in force."""
    coming: list[Coming] = field(default_factory=list)
    """Adopted charters that wait for their tick, each written for the one before it."""
    open: dict[RecordId, OpenAct] = field(default_factory=dict)
    """Acts without a quorum, in the order of their cuts."""
    passed: dict[RecordId, int] = field(default_factory=dict)
    """Acts that found their quorum, with the tick."""

    @classmethod
    def of(cls, genesis: Charter) -> "Acts":
        """Begin with the charter of the genesis."""
        first = Reign(act=None, charter=genesis, hash=charter_hash(genesis), tick=0, cut=0)
        return cls(reigns=[first])

    @property
    def genesis(self) -> Charter:
        """The charter that the realm was founded on: what hello and snapshots compare."""
        return self.reigns[0].charter

    @property
    def charters(self) -> dict[Digest, Charter]:
        """All charters that are or were in force, by hash."""
        return {reign.hash: reign.charter for reign in self.reigns}

    @property
    def newest(self) -> Reign | Coming:
        """The charter that a further one must be written for: the last one adopted."""
        return self.coming[-1] if self.coming else self.reigns[-1]

    def charter_of(self, name: Digest) -> Charter | None:
        """Give a charter that is or was in force by its hash; None if there is none."""
        return self.charters.get(name)

    def reign_at(self, cut: int) -> Reign:
        """Give the charter in force in the world of a cut, 0 or later.

        Rounds opened by that cut and the slot of the cut after it pinned this one.
        """
        return self.reigns[bisect_right(self.reigns, cut, key=lambda reign: reign.cut) - 1]

    def replaced_at(self, tick: int) -> Charter | None:
        """Give the charter that another one has replaced at a tick; None if none did.

        In the epoch that the tick began it still says what proofs of the epoch before are held to.
        """
        reigns = self.reigns
        found = (old for old, new in pairwise(reigns) if new.tick == tick)
        return next((old.charter for old in found), None)

    # A cut ------------------------------------------------------------------------------------

    def take(self, state: "State", fresh: Sequence[Record]) -> tuple[Record, ...]:
        """Take in the acts of a cut; give those that come into force in it, in order.

        `fresh` are all its records by (author, seq). What does not count is put into
        `state.refused`. To be called before the cut's tick, after its keys.
        """
        for name in [one for one, act in self.open.items() if _has_lapsed(state, act)]:
            del self.open[name]
        # Acts first: a word for one may stand in the chain of an author that sorts before.
        for record in fresh:
            if isinstance(record.body, CharterAdopt | AdminReview) and is_act(record.body):
                code = self.refusal(state, record, record.body)
                if code is None:
                    self.open[record.id] = OpenAct(
                        record=record, tick=state.tick, by=(record.author,)
                    )
                else:
                    state.refused[record.id] = code
        for record in fresh:
            if isinstance(record.body, ActCosign):
                code = self.refusal(state, record, record.body)
                if code is None:
                    act = self.open[record.body.act]
                    self.open[record.body.act] = replace(act, by=(*act.by, record.author))
                else:
                    state.refused[record.id] = code
        return tuple(self._pass(state))

    def _pass(self, state: "State") -> Iterator[Record]:
        """Let come into force what has its quorum now."""
        members, quorum = members_in(state), needed(state)
        for name, act in list(self.open.items()):
            if name not in self.open or len(members.intersection(act.by)) < quorum:
                # Another that passed before it may have made it void.
                continue
            del self.open[name]
            self.passed[name] = state.tick
            if isinstance(act.record.body, CharterAdopt):
                self.coming.append(_coming(self.genesis, act.record, act.record.body))
                self._drop_stale(state)
            yield act.record

    def _drop_stale(self, state: "State") -> None:
        """Refuse the open charters that were written for another than the newest one."""
        base = self.newest.hash
        for name, act in list(self.open.items()):
            if isinstance(act.record.body, CharterAdopt) and act.record.body.base != base:
                del self.open[name]
                state.refused[name] = Code.STALE_BASE

    def refusal(self, state: "State", record: Record, body: Body) -> Code | None:
        """Tell why an act, or a word for one, does not count in this world; also asked by the door.

        None also for every other body, and for a voice in a round, which the round judges.
        """
        if not isinstance(body, ActCosign | CharterAdopt | AdminReview):
            return None
        code = _author_refusal(state, record)
        if code is not None:
            return code
        match body:
            case ActCosign():
                return self._cosign_refusal(record, body)
            case _ if not is_act(body):
                return None
            case CharterAdopt():
                code = self._charter_refusal(body)
            case AdminReview():
                code = _subject_refusal(state, body)
            case _:
                assert_never(body)
        if code is None and self._open_of(record.author) >= OPEN_MOST:
            return Code.OVER_QUOTA
        return code

    def _cosign_refusal(self, record: Record, body: ActCosign) -> Code | None:
        act = self.open.get(body.act)
        if act is None:
            return Code.DUPLICATE if body.act in self.passed else Code.UNKNOWN_ACT
        return Code.DUPLICATE if record.author in act.by else None

    def _charter_refusal(self, body: CharterAdopt) -> Code | None:
        newest = self.newest
        if body.base != newest.hash:
            return Code.STALE_BASE
        if body.number != newest.charter.number + 1:
            return Code.BAD_CHARTER
        try:
            written = amended(self.genesis, read_rules(body.rules), body.number)
        except PeerError:
            return Code.BAD_CHARTER
        return Code.BAD_CHARTER if faults_of(written) else None

    def _open_of(self, author: OperatorId) -> int:
        return sum(act.record.author == author for act in self.open.values())

    # A tick -----------------------------------------------------------------------------------

    def turn(self, state: "State") -> bool:
        """Put the newest charter in force that is due at the tick that has begun; tell if one is.

        To be called last in a tick, before admissions begin their epoch. Those adopted before it that were due later, or at the same
        tick, never are in force: the operators have thought better of them.
        """
        due = [place for place, one in enumerate(self.coming) if one.from_tick <= state.tick]
        if not due:
            return False
        one = self.coming[due[-1]]
        del self.coming[: due[-1] + 1]
        self.reigns.append(
            Reign(act=one.act, charter=one.charter, hash=one.hash, tick=state.tick, cut=state.cut)
        )
        state.charter, state.charter_hash = one.charter, one.hash
        trust = one.charter.trust
        state.ledger.under(trust)
        state.agreement.under(trust)
        state.audits.under(trust)
        state.graph.under(trust.approval)
        state.joining.under(one.charter.admission)
        # Seats and kappa may have moved: the trust of this tick is no answer at the next.
        state.reckoned = None
        return True

    # Snapshots --------------------------------------------------------------------------------

    def row(self) -> ActsRow:
        """Give all of it as one row."""
        return ActsRow(
            reigns=tuple(
                (reign.act, reign.tick, reign.cut) for reign in self.reigns if reign.act is not None
            ),
            coming=tuple(one.act for one in self.coming),
            open=tuple((name, act.tick, act.by) for name, act in self.open.items()),
            passed=tuple(self.passed.items()),
        )

    @classmethod
    def revived(cls, row: ActsRow, genesis: Charter, log: Log) -> "Acts":
        """Bring it back over a log that holds its records.

        Raises PeerError NOT_CANONICAL if the log lacks one, or if one is no such act.
        """
        acts = cls.of(genesis)
        for name, tick, cut in row.reigns:
            one = _coming(genesis, *_charter_in(log, name))
            acts.reigns.append(
                Reign(act=name, charter=one.charter, hash=one.hash, tick=tick, cut=cut)
            )
        acts.coming = [_coming(genesis, *_charter_in(log, name)) for name in row.coming]
        for name, tick, by in row.open:
            record = _record_in(log, name)
            if not isinstance(record.body, CharterAdopt | AdminReview) or not is_act(record.body):
                raise _unfit(f"record {short(name)}, which it names as an act, is none")
            acts.open[name] = OpenAct(record=record, tick=tick, by=by)
        acts.passed = dict(row.passed)
        return acts


def is_act(body: CharterAdopt | AdminReview) -> bool:
    """Tell whether a body is an act, and not an operator's voice in a round."""
    return isinstance(body, CharterAdopt) or body.round is None


def members_in(state: "State") -> frozenset[OperatorId]:
    """Give the operators of member instances: one vote each."""
    return frozenset(state.instances.values())


def needed(state: "State") -> int:
    """Count the operators that an act needs, its author among them."""
    return quorum_of(len(members_in(state)), three=state.charter.timing.three).q


def _has_lapsed(state: "State", act: OpenAct) -> bool:
    return state.tick - act.tick > EXPIRY


def _author_refusal(state: "State", record: Record) -> Code | None:
    """Tell why nothing that this operator says counts."""
    if record.author not in members_in(state):
        return Code.NOT_MEMBER
    identity = state.identities.get(record.author)
    if identity is None:
        return Code.NOT_ADMITTED
    if identity.keys.revoked or identity.keys.is_disowned(record.seq):
        return Code.REVOKED
    return Code.FORK if identity.forked_in is not None else None


def _subject_refusal(state: "State", body: AdminReview) -> Code | None:
    """Tell why a decision has nothing to decide about."""
    subject: ArtifactId = body.subject
    if body.decision is Decree.RECLASSIFY:
        found = state.discipline.find(subject)
        return None if found is not None else Code.UNKNOWN_SANCTION
    if body.decision not in OnArtifact:
        return Code.GUARD_FAILED
    artifact = state.artifacts.get(subject)
    if artifact is None:
        return Code.UNKNOWN_ARTIFACT
    # Whether it still stands once there is a quorum its cut finds out.
    about_standing = body.decision in (Decree.KEEP, Decree.RETRACT)
    return (
        Code.GUARD_FAILED if about_standing and artifact.state is not ArtifactState.ACTIVE else None
    )


def _coming(genesis: Charter, record: Record, body: CharterAdopt) -> Coming:
    """Make the charter of an act that was found sound."""
    charter = amended(genesis, read_rules(body.rules), body.number)
    return Coming(
        act=record.id, charter=charter, hash=charter_hash(charter), from_tick=body.from_tick
    )


def _charter_in(log: Log, name: RecordId) -> tuple[Record, CharterAdopt]:
    record = _record_in(log, name)
    if not isinstance(record.body, CharterAdopt):
        raise _unfit(f"record {short(name)}, which it names as a charter, is none")
    return record, record.body


def _record_in(log: Log, name: RecordId) -> Record:
    record = log.get(name)
    if record is None:
        raise _unfit(f"the log does not hold record {short(name)}, which it names")
    return record


def _unfit(why: str) -> PeerError:
    return PeerError(
        "snapshot refused",
        why=why,
        fix="fold the log from genesis, and take a new snapshot",
        code=Code.NOT_CANONICAL,
    )
