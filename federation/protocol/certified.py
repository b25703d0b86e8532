"""The certified world as plain rows: what two nodes at one cut write alike.

A row names a record by its id wherever the log holds it: keys, delegations and lists are found
there again (`revival`), so rows grow with what was decided and not with what was said. Agents as
rounds saw them are written once however many rounds pinned them.
"""

from collections.abc import Mapping
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from federation.admission import MOST_BITS
from federation.artifacts import Artifact, Flag
from federation.certificates import Member, Phase
from federation.charter import Sensitivity
from federation.core import (
    AgentId,
    ArtifactId,
    Code,
    Digest,
    InstanceId,
    OperatorId,
    RecordId,
    RoundId,
)
from federation.protocol import rows
from federation.protocol.acts import ActsRow
from federation.protocol.discipline_rows import DisciplineRow
from federation.protocol.joining import Joining
from federation.protocol.rounds import Round
from federation.protocol.state import Agent, Due, Era, Operator, State, Step
from federation.review import AgentView, RoundKind
from federation.trust import Checked, Evidence, Withdrawal
from federation.trust.eigentrust import HEAVIEST
from federation.trust.outcomes import Reversal, UnfoundedReport

Place: TypeAlias = Annotated[int, Meta(ge=0)]
"""Place in a table of the same rows."""


class IdentityRow(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """An identity; its keys stand in the log, at its head."""

    seq: int
    head: RecordId
    forked_in: int | None
    key_ticks: tuple[int, ...]


class ListRow(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """One certified list of a round that the cut contains; `records` nil if it is void."""

    phase: Phase
    digest: Digest
    records: tuple[RecordId, ...] | None


class JoiningRow(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """What joining costs, and who has admitted how many in this epoch; all by id."""

    bits: Annotated[int, Meta(ge=0, le=MOST_BITS)]
    beacon: Digest
    before: tuple[Annotated[int, Meta(ge=0, le=MOST_BITS)], Digest] | None
    agents: tuple[tuple[InstanceId, Place], ...]
    operators: tuple[tuple[InstanceId, Place], ...]
    false: tuple[InstanceId, ...]
    spent: tuple[tuple[Digest, Place], ...]
    waiting: tuple[tuple[RecordId, InstanceId, Place], ...]


class RoundRow(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """A round: what it pinned, and how far the cut has brought it."""

    round: RoundId
    artifact: ArtifactId
    author: AgentId
    author_operator: OperatorId
    home: InstanceId
    home_operator: OperatorId
    cut: int
    sensitivity: Sensitivity
    author_has_ticket: bool
    watchers: tuple[AgentId, ...]
    flags: tuple[Flag, ...]
    kind: RoundKind
    disputer: AgentId | None
    disputer_operator: OperatorId | None
    cause: RecordId | None
    voted: tuple[AgentId, ...]
    rerun: bool
    assess_only: bool
    formal: bool
    beacon: Digest | None
    member_operators: int
    agents: Place
    """Which of `worlds`."""
    seats: Place
    """Which of `seats`."""
    lists: tuple[ListRow, ...]
    closed: bool


class Rows(msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True):
    """Everything that is certified at a cut. Tables keep the order in which cuts filled them."""

    realm: Digest
    charter_hash: Digest
    """Of the genesis."""
    cut: int
    digest: Digest
    tick: int
    ticked: int
    beacon: Digest
    world: Digest
    """The world digest."""
    next_hashes: tuple[tuple[OperatorId, Digest], ...]
    cuts: bytes
    """Digests of all cuts before, one after the other."""
    eras: tuple[Era, ...]
    cut_members: tuple[Member, ...]
    identities: tuple[IdentityRow, ...]
    instances: tuple[tuple[InstanceId, OperatorId], ...]
    operators: tuple[Operator, ...]
    joining: JoiningRow
    delegations: tuple[RecordId, ...]
    agents: tuple[Agent, ...]
    artifacts: tuple[Artifact, ...]
    rounds_of: tuple[tuple[ArtifactId, tuple[RoundId, ...]], ...]
    steps: tuple[tuple[ArtifactId, tuple[Step, ...]], ...]
    due: tuple[Due, ...]
    reversals: tuple[Reversal, ...]
    unfounded: tuple[UnfoundedReport, ...]
    found: tuple[tuple[InstanceId, tuple[int, int]], ...]
    """Findings of instances: a tick, and how many counted in its epoch; by id."""
    acts: ActsRow
    discipline: DisciplineRow
    refused: tuple[tuple[RecordId, Code], ...]
    evidence: tuple[Evidence, ...]
    withdrawn: tuple[Withdrawal, ...]
    audits: tuple[Checked, ...]
    vouches: tuple[tuple[AgentId, AgentId, Annotated[int, Meta(ge=1, le=HEAVIEST)]], ...]
    """Who vouches for whom, and how much; the other acts of judgement follow from the artifacts."""
    unvouched: tuple[tuple[AgentId, AgentId, Place], ...]
    """Vouches taken back, by voucher and vouchee, with the tick."""
    pending: tuple[RoundId, ...]
    certificates: tuple[RecordId, ...]
    """For each slot the first contained record that proves its certificate, by slot."""
    views: tuple[AgentView, ...]
    """Agents as rounds pinned them, each once."""
    worlds: tuple[tuple[Place, ...], ...]
    """Which of `views` a round pinned, each set of them once."""
    seats: tuple[tuple[Member, ...], ...]
    rounds: tuple[RoundRow, ...]


class _Table:
    """Rows that are written once and named by their place."""

    def __init__(self) -> None:
        self.rows: dict[object, int] = {}
        self._seen: dict[int, tuple[object, int]] = {}

    def place(self, row: object) -> int:
        # Most rows are the very objects of the round before; to hash them costs more. Each object
        # is kept, or another could be made at its address and be taken for it.
        known = self._seen.get(id(row))
        if known is None:
            known = self._seen[id(row)] = (row, self.rows.setdefault(row, len(self.rows)))
        return known[1]


def rows_of(
    state: State, rounds: Mapping[RoundId, Round], contained: Mapping[bytes, RecordId]
) -> Rows:
    """Write the certified world; of rounds only what the cut contains."""
    views, worlds, seats = _Table(), _Table(), _Table()
    seen: dict[int, int] = {}
    written = []
    for name, digests in state.decided.items():
        one = rounds[name]
        # Rounds of one cut share the very map of agents, which is never changed.
        known = id(one.pin.agents)
        if known not in seen:
            seen[known] = worlds.place(tuple(map(views.place, one.pin.agents.values())))
        written.append(_round_row(one, digests, seen[known], seats.place(one.seats)))
    return Rows(
        realm=state.realm,
        charter_hash=state.acts.reigns[0].hash,
        cut=state.cut,
        digest=state.digest,
        tick=state.tick,
        ticked=state.ticked,
        beacon=state.beacon,
        world=rows.world_digest(state),
        next_hashes=tuple(state.next_hashes.items()),
        cuts=b"".join(state.cuts),
        eras=tuple(state.eras),
        cut_members=state.cut_members,
        identities=tuple(
            IdentityRow(
                seq=one.seq, head=one.head, forked_in=one.forked_in, key_ticks=one.key_ticks
            )
            for one in state.identities.values()
        ),
        instances=tuple(state.instances.items()),
        operators=tuple(state.operators[name] for name in sorted(state.operators)),
        joining=_joining_row(state.joining),
        delegations=tuple(state.delegations),
        agents=tuple(state.agents.values()),
        artifacts=tuple(state.artifacts.values()),
        rounds_of=tuple((name, tuple(own)) for name, own in state.rounds_of.items()),
        steps=tuple((name, tuple(own)) for name, own in state.steps.items()),
        due=tuple(state.due),
        reversals=tuple(state.reversals),
        unfounded=tuple(state.unfounded),
        found=tuple(sorted(state.found.items())),
        acts=state.acts.row(),
        discipline=state.discipline.row(),
        refused=tuple(sorted(state.refused.items())),
        evidence=tuple(row for name in sorted(state.agents) for row in state.ledger.rows(name)),
        withdrawn=state.ledger.withdrawn(),
        audits=tuple(state.audits.rows()),
        vouches=tuple(state.graph.vouches()),
        unvouched=tuple((*pair, state.unvouched[pair]) for pair in sorted(state.unvouched)),
        pending=tuple(outcome.round_id for outcome, _, _ in state.pending),
        certificates=tuple(contained[key] for key in sorted(contained)),
        views=tuple(views.rows),  # type: ignore[arg-type] # the table holds nothing else
        worlds=tuple(worlds.rows),  # type: ignore[arg-type] # the same
        seats=tuple(seats.rows),  # type: ignore[arg-type] # the same
        rounds=tuple(written),
    )


def _joining_row(joining: Joining) -> JoiningRow:
    return JoiningRow(
        bits=joining.bits,
        beacon=joining.beacon,
        before=joining.before,
        agents=tuple(sorted(joining.agents.items())),
        operators=tuple(sorted(joining.operators.items())),
        false=tuple(sorted(joining.false)),
        spent=tuple(sorted(joining.spent.items())),
        waiting=tuple(sorted((name, *since) for name, since in joining.waiting.items())),
    )


def _round_row(one: Round, digests: tuple[Digest, ...], agents: int, seats: int) -> RoundRow:
    pin = one.pin
    return RoundRow(
        round=pin.round,
        artifact=pin.artifact,
        author=pin.author,
        author_operator=pin.author_operator,
        home=pin.home,
        home_operator=pin.home_operator,
        cut=pin.cut,
        sensitivity=pin.sensitivity,
        author_has_ticket=pin.author_has_ticket,
        watchers=tuple(sorted(pin.watchers)),
        flags=tuple(sorted(pin.flags)),
        kind=pin.kind,
        disputer=pin.disputer,
        disputer_operator=pin.disputer_operator,
        cause=pin.cause,
        voted=tuple(sorted(pin.voted)),
        rerun=pin.rerun,
        assess_only=pin.assess_only,
        formal=pin.formal,
        beacon=pin.beacon,
        member_operators=pin.member_operators,
        agents=agents,
        seats=seats,
        lists=tuple(_list_row(one, digest) for digest in digests),
        closed=one.closed,
    )


def _list_row(one: Round, digest: Digest) -> ListRow:
    phase, final = next(
        (phase, final) for phase, final in one.finals.items() if final.digest == digest
    )
    names = None if final.void else tuple(record.id for record in final.records)
    return ListRow(phase=phase, digest=digest, records=names)
