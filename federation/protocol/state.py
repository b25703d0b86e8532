"""The certified world: everything that the records of a cut imply (design: time, genesis).

`State` owns maps of frozen aggregates. Only `fold` changes it, one cut at a time, and it replaces
only what the cut touched. Between cuts it stands still: what is final but not yet in a cut is
kept by `rounds`, beside it.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Final

from federation.artifacts import Action, Artifact, Verdict
from federation.artifacts import State as ArtifactState
from federation.certificates import Member
from federation.charter import Charter, Founder, beacon0, charter_hash, cut0_digest, realm_of
from federation.core import (
    AgentId,
    ArtifactId,
    Code,
    Digest,
    IdentityId,
    InstanceId,
    OperatorId,
    Ppm,
    RecordId,
    RoundId,
    Weight,
)
from federation.identity import KeyState
from federation.protocol.acts import Acts
from federation.protocol.digest import Tables
from federation.protocol.discipline_rows import Discipline
from federation.protocol.joining import Joining
from federation.records import AgentDeclare, AgentSubscribe, Custody, Delegate
from federation.review import AgentView
from federation.trust import Agreement, Audited, Graph, Ledger, RoundOutcome
from federation.trust.outcomes import Reversal, UnfoundedReport

NO_KEY: Final = bytes(32)
"""A key of small order: no signature verifies under it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """An identity as of the last cut."""

    keys: KeyState
    seq: int
    """Position of its chain in the cut."""
    head: RecordId
    forked_in: int | None = None
    """Cut that contains a proof of its fork which no rotation has settled."""
    key_ticks: tuple[int, ...]
    """Per key_index the tick at which a cut first contained that key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An admitted agent as of the last cut; reputation and weight move at ticks only."""

    agent: AgentId
    operator: OperatorId
    instance: InstanceId
    """The instance that admitted it."""
    custody: Custody
    """Who keeps its keys, by its admission."""
    scope: frozenset[str]
    """Kinds that its operator delegated; empty means all an agent may author."""
    admitted_tick: int
    founder: Founder | None
    tier: int
    r: Ppm
    trust: int
    """Of the 2^60 of a realm, as of the last tick."""
    ways: int = 0
    """Operators through whose ticket holders that trust comes."""
    competence: Ppm
    weight: Weight
    """Before caps."""
    interactions: int = 0
    declared: AgentDeclare | None = None
    offer: AgentSubscribe | None = None
    proposed: tuple[int, int] = (0, 0)
    """Tick, and how many of its proposals counted in that tick's epoch."""
    vouched: tuple[int, int] = (0, 0)
    """Tick, and how many of its vouches counted in that tick's epoch."""
    disputes: tuple[int, ...] = ()
    """Ticks at which its disputes of the window counted, ascending."""
    reports: tuple[int, int] = (0, 0)
    """Tick, and how many of its reports counted in that tick's epoch."""
    flags: tuple[int, int] = (0, 0)
    """Tick, and how many of its stale flags counted in that tick's epoch."""
    found_bad: int | None = None
    """Newest tick at which its own negative evidence brought it below what an author needs: then
    those who vouched for it paid (ADR 35)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An admitted operator: who answers for agents."""

    operator: OperatorId
    instance: InstanceId
    """The instance that admitted it."""
    admitted_tick: int
    domain: str | None
    """Where that instance says it has seen the operator's id; anybody can look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """An operator's word for an agent."""

    operator: OperatorId
    seq: int
    """Where it stands in the operator's chain."""
    body: Delegate


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One row of the lifecycle's table that an artifact has taken."""

    cut: int
    tick: int
    origin: ArtifactState | None
    action: Action
    to: ArtifactState
    round: RoundId | None = None
    """The round that brought it, if one did."""
    cause: RecordId | None = None
    """The record that brought it: a proposal, a dispute, an act; None if the rules did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A round that the rules themselves will open, as soon as a cut has room for it."""

    artifact: ArtifactId
    ground: str
    """`support_lost`, `author_banned` or `reported`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Era:
    """A run of cuts on which the same members agreed."""

    first: int
    """Number of the first of them."""
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What trust depends on beside the charter; equal inputs give equal trust."""

    version: int
    """Of this node's graph."""
    silent: frozenset[AgentId]
    """Agents that pass nothing on: revoked, banned or forked."""


@dataclass(slots=True, kw_only=True)
class State:
    """The world at one cut."""

    charter: Charter
    realm: Digest
    charter_hash: Digest
    cut: int = 0
    digest: Digest
    """Digest of the cut's value."""
    tick: int = 0
    ticked: int = 0
    """Number of the cut of the last tick; 0 before the first."""
    cuts: list[Digest] = field(default_factory=list)
    """Digests of all cuts before this one, by number."""
    eras: list[Era] = field(default_factory=list)
    """Who agreed on the cuts up to this one."""
    beacon: Digest
    next_hashes: dict[OperatorId, Digest] = field(default_factory=dict)
    """Per member the hash of its beacon secret of the next cut."""
    identities: dict[IdentityId, Identity] = field(default_factory=dict)
    instances: dict[InstanceId, OperatorId] = field(default_factory=dict)
    """Member instances and who answers for them."""
    operators: dict[OperatorId, Operator] = field(default_factory=dict)
    """Admitted operators."""
    joining: Joining
    """What joining costs in this epoch."""
    acts: Acts
    """Charters so far, and what operators decide together."""
    discipline: Discipline
    """Violations, and what they take."""
    delegations: dict[RecordId, Delegation] = field(default_factory=dict)
    agents: dict[AgentId, Agent] = field(default_factory=dict)
    answers_for: dict[OperatorId, list[AgentId]] = field(default_factory=dict)
    """Agents of each operator, as they were admitted: its quota must not cost a look at all."""
    artifacts: dict[ArtifactId, Artifact] = field(default_factory=dict)
    moved: dict[ArtifactId, Artifact | None] = field(default_factory=dict)
    """What the cut that is being folded has changed, as it was before."""
    texts: dict[Digest, ArtifactId] = field(default_factory=dict)
    """First artifact of each `text_id`."""
    cited: dict[ArtifactId, list[ArtifactId]] = field(default_factory=dict)
    """Per artifact those that rest on it, as they were proposed."""
    rounds_of: dict[ArtifactId, list[RoundId]] = field(default_factory=dict)
    """Per artifact, or appealed sanction, its rounds in the order in which they opened."""
    steps: dict[ArtifactId, list[Step]] = field(default_factory=dict)
    """Per artifact the rows of the lifecycle's table that it has taken, in order: for its story."""
    newest: list[RoundId] = field(default_factory=list)
    """Rounds that the last cut opened: the next brings the beacon of their lots."""
    due: list[Due] = field(default_factory=list)
    """Rounds that the rules will open, first come first."""
    reversals: list[Reversal] = field(default_factory=list)
    """Acceptances undone since the last tick, whose evidence counts at the next."""
    unfounded: list[UnfoundedReport] = field(default_factory=list)
    """Unfounded reports since the last tick."""
    found: dict[InstanceId, tuple[int, int]] = field(default_factory=dict)
    """Per member instance a tick, and how many of its findings counted in that tick's epoch."""
    refused: dict[RecordId, Code] = field(default_factory=dict)
    """Contained records whose guard failed, with the reason."""
    decided: dict[RoundId, tuple[Digest, ...]] = field(default_factory=dict)
    """Per round the digests of its phases that the cut contains, in order."""
    pending: list[tuple[RoundOutcome, Verdict, Charter]] = field(default_factory=list)
    """Rounds ended since the last tick, whose evidence counts at the next, with their charters."""
    ledger: Ledger
    agreement: Agreement
    audits: Audited
    graph: Graph
    """Acts of judgement: the edges along which trust flows at the next tick."""
    unvouched: dict[tuple[AgentId, AgentId], int] = field(default_factory=dict)
    """Vouches taken back, by voucher and vouchee, with the tick: a voucher stays liable for a
    window (`trust.window`), or an unvouch in time would be a way out."""
    reckoned: Inputs | None = None
    """What the trust of the last tick, or of genesis, depended on; None if that is not known."""
    cut_members: tuple[Member, ...] = ()
    """Who agrees on the next cut: members and keys of the last tick."""
    views: dict[AgentId, AgentView] = field(default_factory=dict)
    """What rounds opened by this cut pin; replaced whole, never changed."""
    tables: Tables = field(default_factory=Tables)

    @property
    def founders(self) -> dict[AgentId, Founder]:
        """Founders by id."""
        return {founder.agent: founder for founder in self.charter.genesis.founders}

    def members_at(self, number: int, previous: Digest) -> tuple[Member, ...] | None:
        """Give who agrees on cut `number` after `previous`; None if there is no such slot here.

        Also for cuts long folded: a late copy of a certificate is judged by the members that it
        was made by, on every node alike.
        """
        if number == self.cut + 1:
            return self.cut_members if previous == self.digest else None
        if not 0 < number <= len(self.cuts) or self.cuts[number - 1] != previous:
            return None
        return self.eras[bisect_right(self.eras, number, key=lambda era: era.first) - 1].members

    def admit(self, agent: Agent) -> None:
        """Take in an agent that is not admitted yet."""
        self.agents[agent.agent] = agent
        self.answers_for.setdefault(agent.operator, []).append(agent.agent)

    def put(self, artifact: Artifact) -> None:
        """Take in what a cut has made of an artifact, or a new one."""
        self.moved.setdefault(artifact.id, self.artifacts.get(artifact.id))
        self.artifacts[artifact.id] = artifact

    def turn_to(self, number: int, digest: Digest) -> None:
        """Go on to the next cut, and remember who agreed on it."""
        if number:
            if not self.eras or self.eras[-1].members != self.cut_members:
                self.eras.append(Era(first=number, members=self.cut_members))
            self.cuts.append(self.digest)
        self.cut, self.digest = number, digest


def empty_state(charter: Charter) -> State:
    """Give the state before cut 0 is folded."""
    realm = realm_of(charter)
    genesis_hash = charter_hash(charter)
    return State(
        charter=charter,
        realm=realm,
        charter_hash=genesis_hash,
        digest=cut0_digest(realm, genesis_hash),
        beacon=beacon0(realm),
        ledger=Ledger(charter.trust),
        agreement=Agreement(charter.trust),
        audits=Audited(charter.trust),
        graph=Graph(charter.trust.approval),
        acts=Acts.of(charter),
        discipline=Discipline(),
        joining=Joining(
            rules=charter.admission, bits=charter.admission.agent_bits, beacon=beacon0(realm)
        ),
    )


def members_of(state: State, home: InstanceId | None) -> tuple[Member, ...]:
    """List who agrees in a slot: one voice per operator, the home if it is its own.

    A revoked instance is nobody's voice while its operator has another. An operator without any
    still counts in n, under a key that verifies nothing: a stolen key must not shrink a quorum.
    """
    voices: dict[OperatorId, InstanceId] = {}
    for instance in sorted(state.instances, key=lambda name: (name != home, name)):
        operator = state.instances[instance]
        known = voices.get(operator)
        if known is None or (_is_revoked(state, known) and not _is_revoked(state, instance)):
            voices[operator] = instance
    return tuple(
        Member(
            operator=operator,
            voice=voice,
            key=NO_KEY if _is_revoked(state, voice) else state.identities[voice].keys.key,
        )
        for operator, voice in sorted(voices.items())
    )


def _is_revoked(state: State, instance: InstanceId) -> bool:
    return state.identities[instance].keys.revoked
