"""Rounds as a node lives them: the pin of the cut that opened one, and the lists final so far.

A list can be final here before any cut contains its certificate: it applies to its own round at
once (design: time, 6). What a cut contains of it is told by `contained`, which brings the
closure: the lists of all earlier phases of the round.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Final

from federation.artifacts import Artifact, RoundKind, Verdict, watches
from federation.certificates import ListValue, Member, Phase, VoidValue
from federation.certificates.fresh_lists import Looked
from federation.core import AgentId, Digest, Millis, RecordId
from federation.protocol.state import State, members_of
from federation.records import Appeal, Kind, Record, Reveal
from federation.replication import Log, round_of
from federation.review import (
    FinalList,
    Finals,
    RoundPin,
    course,
    final_list,
    listed,
    look,
    phase_of,
    round_id,
)
from federation.trust import has_ticket

_KINDS: Final = (
    Kind.OBJECT,
    Kind.SEAL,
    Kind.ARGUE,
    Kind.COMMIT,
    Kind.REVEAL,
    Kind.CONTEST,
    Kind.RULE,
    Kind.ASSESS,
    Kind.ADMIN,
)
"""Kinds of records that belong to a round."""


@dataclass(slots=True, kw_only=True)
class Round:
    """One round on this node."""

    pin: RoundPin
    seats: tuple[Member, ...]
    """Members of its slots, with the voices and keys of the opening cut."""
    charter_hash: Digest
    opened_at: Millis
    """When this node stored the certificate of the opening cut, on its own clock."""
    finals: dict[Phase, FinalList] = field(default_factory=dict)
    """Certified lists whose records are all held."""
    certified: dict[Phase, tuple[ListValue | VoidValue, Digest]] = field(default_factory=dict)
    """All certified values, also those whose records are still being fetched."""
    phase: Phase | None = None
    """The phase that is open here; None when the round has ended."""
    verdict: Verdict | None = None
    """Its verdict, as soon as the lists decide it."""
    closed: bool = False
    """A cut contains its end."""
    looked: dict[tuple[Phase, RecordId], Looked] = field(default_factory=dict)
    """What each phase's agreement knows of a record, kept while the round is open because it
    never changes."""

    def contained(self, upto: Phase) -> Finals | None:
        """Give the lists up to a phase, in the order of the plan; None while one is missing."""
        found: dict[Phase, FinalList] = {}
        for phase in course(self.pin, self.finals).after:
            if phase not in self.finals:
                return None
            found[phase] = self.finals[phase]
            if phase is upto:
                return found
        return None

    def missing(self, log: Log) -> tuple[RecordId, ...]:
        """List records of certified lists that are not held."""
        return tuple(
            name
            for value, _ in self.certified.values()
            if isinstance(value, ListValue)
            for name in value.records
            if name not in log
        )

    def settle(self, log: Log) -> None:
        """Join certified values with their records where all of them are held."""
        for phase, (value, digest) in self.certified.items():
            names = value.records if isinstance(value, ListValue) else ()
            if phase not in self.finals and all(name in log for name in names):
                held = {name: record for name in names if (record := log.get(name)) is not None}
                self.finals[phase] = final_list(value, digest, held)

    def qualified(self, log: Log) -> list[Record]:
        """List the held records that count in the open phase, by id."""
        phase = self.phase
        if phase is None:
            return []
        wanted = course(self.pin, self.finals).after.get(phase)
        return sorted(
            (
                record
                for records in log.by_round(self.pin.round).values()
                for record in records
                if getattr(record.body, "after", None) == wanted
                and (seen := self.look(log, record.id, phase)) is not None
                and seen.qualifies
            ),
            key=lambda record: record.id,
        )

    def look(self, log: Log, name: RecordId, phase: Phase) -> Looked | None:
        """Say of a record what the agreement on a phase needs to know; None if it is not held.

        A record of another phase does not qualify, however well it does in its own.
        """
        known = self.looked.get((phase, name))
        record = log.get(name)
        if known is not None or record is None:
            return known
        seen = look(self.pin, self.finals, record, earlier(log, record))
        if phase_of(self.pin, self.finals, record) is not phase:
            seen = replace(seen, qualifies=False)
        self.looked[phase, name] = seen
        return seen


def earlier(log: Log, record: Record) -> list[Record]:
    """List the author's records of the same round before this one on its own branch."""
    name = round_of(record)
    if name is None:
        return []
    found = [one for kind in _KINDS for one in log.earlier(record, kind, name)]
    return sorted(found, key=lambda one: one.seq)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a round is opened for."""

    kind: RoundKind
    disputer: AgentId | None = None
    """Who filed the dispute or the report, or resubmitted another's work; None if the rules open
    it, or the author did."""
    cause: RecordId | None = None
    rerun: bool = False
    assess_only: bool = False
    formal: bool = False


def open_round(state: State, artifact: Artifact, asked: Asked) -> Round:
    """Open a round of an artifact in the world of the cut that is being folded."""
    author = state.agents[artifact.author]
    disputer = state.agents.get(asked.disputer) if asked.disputer else None
    pin = RoundPin(
        round=round_id(state.realm, artifact.id, asked.kind, artifact.rounds, state.digest),
        realm=state.realm,
        artifact=artifact.id,
        author=artifact.author,
        author_operator=artifact.author_operator,
        home=artifact.home,
        home_operator=state.instances[artifact.home],
        cut=state.cut,
        sensitivity=artifact.sensitivity,
        # A vouch alone gives a newcomer a ticket, and does not take it out of the sandbox.
        author_has_ticket=author.tier > 0
        and has_ticket(state.charter.trust, author.trust)
        and not state.views[author.agent].probation,
        watchers=frozenset(
            agent.agent
            for agent in state.agents.values()
            if agent.offer is not None and watches(agent.offer, artifact.topics)
        ),
        flags=artifact.flags,
        kind=asked.kind,
        disputer=asked.disputer,
        disputer_operator=disputer.operator if disputer else None,
        cause=asked.cause,
        voted=frozenset(artifact.voters),
        rerun=asked.rerun,
        assess_only=asked.assess_only,
        formal=asked.formal,
        charter=state.charter,
        agents=state.views,
        member_operators=len(set(state.instances.values())),
        members=frozenset(state.instances.values()),
    )
    return Round(
        pin=pin,
        seats=members_of(state, artifact.home),
        charter_hash=state.charter_hash,
        opened_at=0,
    )


def open_appeal(state: State, record: Record, body: Appeal) -> Round:
    """Open the round in which arbiters hear an appeal against a sanction."""
    author = state.agents[record.author]
    ordinal = len(state.rounds_of.get(body.sanction, ()))
    pin = RoundPin(
        round=round_id(state.realm, body.sanction, "appeal", ordinal, state.digest),
        realm=state.realm,
        artifact=body.sanction,
        author=author.agent,
        author_operator=author.operator,
        home=author.instance,
        home_operator=state.instances[author.instance],
        cut=state.cut,
        # An identity is at stake: as many arbiters as the most sensitive artifact has.
        sensitivity="high",
        author_has_ticket=False,
        watchers=frozenset(),
        kind="appeal",
        cause=record.id,
        charter=state.charter,
        agents=state.views,
        member_operators=len(set(state.instances.values())),
        members=frozenset(state.instances.values()),
    )
    return Round(
        pin=pin,
        seats=members_of(state, author.instance),
        charter_hash=state.charter_hash,
        opened_at=0,
    )


def with_beacon(pin: RoundPin, beacon: Digest) -> RoundPin:
    """Give a pin that knows its beacon; who may vote was worked out when it was made."""
    known = copy(pin)
    object.__setattr__(known, "beacon", beacon)
    return known


def opened_nonces(finals: Finals) -> Iterator[bytes]:
    """Give the nonces that a round's `decide` list opened, by voter."""
    reveals = listed(finals, Phase.DECIDE)
    for record in sorted(reveals, key=lambda one: one.author):
        if isinstance(record.body, Reveal):
            yield record.body.nonce
