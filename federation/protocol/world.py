"""The world of one node: its log, the certified state, and what is live beside it.

`World` is a container that `step` owns. Three parts of different standing lie side by side:
`state`, the same on every node at the same cut; `rounds` and `slots`, what is live here; and what
this instance itself has signed, which its journal keeps durable.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from federation.admission import Prove, prove
from federation.certificates import (
    Certificate,
    CutSlot,
    Heard,
    JournalEntry,
    Member,
    Pinned,
    Position,
    Positions,
    Slot,
    SlotState,
    pin,
    slot_key,
)
from federation.charter import Charter
from federation.core import (
    Digest,
    IdentityId,
    InstanceId,
    Millis,
    ParameterError,
    PeerError,
    PublicKey,
    RecordId,
    RoundId,
)
from federation.crypto import Signer, Verify, is_signed_by
from federation.protocol import effects, epochs
from federation.protocol.early import Early
from federation.protocol.fold import Contained, fold, positions_of
from federation.protocol.rounds import Round
from federation.protocol.rows import world_digest
from federation.protocol.shelf import Shelf
from federation.protocol.state import State, empty_state, members_of
from federation.records import AgentAdmit, Delegate, Kind, OperatorAdmit, Record
from federation.replication import Added, BlobStore, Log
from federation.trust import Solve, reckon

LAST_COUNTER: Final = 2**53 - 2**10
"""An instance whose next counter is this or higher stays silent: no message holds one beyond 2^53.

Only a thief of its key can bring it there, by a signature that the instance is shown.
"""


@dataclass(slots=True, kw_only=True)
class LiveSlot:
    """One agreement that this node takes part in, or watches."""

    pinned: Pinned
    state: SlotState
    started: Millis
    """When its window began on this node's clock."""
    ended: bool = False
    """The window has ended here and the machine was told."""

    @property
    def slot(self) -> Slot:
        """Name the slot."""
        return self.pinned.slot


@dataclass(slots=True, kw_only=True)
class Me:
    """The instance that this node is, and what it must not forget."""

    instance: InstanceId
    signer: Signer
    """Its current key."""
    former: dict[PublicKey, Signer] = field(default_factory=dict)
    """Keys from before rotations: a slot is signed with the key that it pinned."""
    epoch: Millis = 0
    """Unix time in ms at which this node's clock stood at 0: what its records claim, and nothing
    else, is measured by it."""
    counter: int = 0
    """Counter of the next message."""
    settled: bool = True
    """False after a restart, until a quorum has told what it has seen of us: no signature before."""
    met: dict[InstanceId, int] = field(default_factory=dict)
    """Peers heard since the restart, with the cut that each has reached."""
    amnesia: bool = False
    """A peer showed a signature of ours that we do not remember."""
    silent_until: int = -1
    """After lost state: signs nothing in rounds opened by cuts up to this, nor in the cut after."""

    def rotate(self, signer: Signer) -> None:
        """Sign with another key from now on; slots that are open keep the one they pinned."""
        self.former[self.signer.public] = self.signer
        self.signer = signer

    def signer_of(self, key: PublicKey) -> Signer | None:
        """Give the signer of one of this instance's keys; None if it is not held."""
        return self.signer if key == self.signer.public else self.former.get(key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filing:
    """When this instance files a certificate, and the cut at which it became final here."""

    due: Millis
    cut: int


@dataclass(slots=True, kw_only=True)
class World:
    """Everything one node knows."""

    state: State
    log: Log
    blobs: BlobStore
    me: Me | None
    """None for an observer."""
    verify: Verify
    positions: Positions
    """Of the last cut."""
    digest: Digest
    """World digest at the last cut."""
    ticked_at: Millis = 0
    """When this node stored the certificate of the last tick, on its own clock."""
    rounds: dict[RoundId, Round] = field(default_factory=dict)
    solve: Solve = reckon
    """Reckons trust; None from it means that the shell is to be asked, and will answer."""
    reckoned: tuple[Digest, epochs.Reckoning] | None = None
    """Digest of a tick's cut that is not folded yet, and trust as reckoned for it."""
    asked_trust: Digest | None = None
    """Digest of the tick's cut for which the shell was asked."""
    prove: Prove = prove
    """Verifies the work of an admission proof; None from it means as for `solve`."""
    proven: dict[Digest, bool] = field(default_factory=dict)
    """Verdicts for the next cut, by the hash of the proof's bytes."""
    asked_work: effects.Prove | None = None
    """What the shell was asked about proofs and has not answered yet."""
    vetted: Digest | None = None
    """Digest of the cut for whose fold `proven` holds all that it will ask."""
    incomplete: set[RoundId] = field(default_factory=set)
    """Rounds with a certified list whose records are not all held."""
    slots: dict[bytes, LiveSlot] = field(default_factory=dict)
    """By the slot's canonical bytes."""
    certificates: Shelf
    """All verified certificates, by slot."""
    proofs: dict[RecordId, Certificate] = field(default_factory=dict)
    """Verified certificates of `certificate.final` records that no cut contains yet."""
    unproven: dict[bytes, list[RecordId]] = field(default_factory=dict)
    """`certificate.final` records whose slot is not known here yet, by slot."""
    filed: dict[bytes, RecordId] = field(default_factory=dict)
    """Slots whose verified certificate stands in a record that no cut contains yet."""
    to_file: dict[bytes, Filing] = field(default_factory=dict)
    """Slots whose certificate this instance files unless others do."""
    asked: set[RecordId] = field(default_factory=set)
    """Records that a certificate or a quorum's witnesses name and that were asked for: they are
    stored whatever room their author has."""
    strangers: set[IdentityId] = field(default_factory=set)
    """Authors of stored records that no cut has admitted; kept so that nobody has to scan."""
    awaited: set[IdentityId] = field(default_factory=set)
    """Newcomers that an admitted author has named and of whom nothing is stored yet."""
    triggers: set[RecordId] = field(default_factory=set)
    """Records that no cut contains yet and that wait to open a round."""
    lots: set[RoundId] = field(default_factory=set)
    """Rounds that wait for the beacon of the next cut, which draws their arbiters."""
    early: Early = field(default_factory=Early)
    """Packets for slots that are not open here yet."""
    heard: dict[InstanceId, Heard] = field(default_factory=dict)
    """Per voice the message with the highest counter: what it must not have forgotten."""
    starts: dict[bytes, Millis] = field(default_factory=dict)
    """When windows began, by slot; kept across restarts."""
    journal: dict[bytes, list[JournalEntry]] = field(default_factory=dict)
    """Entries of the signing journal from before a restart, for slots not yet open again."""
    sound_proofs: dict[IdentityId, dict[RecordId, int]] = field(default_factory=dict)
    """Per author the `log.fork` records found sound here, and the place that each proves."""
    denounced: set[InstanceId] = field(default_factory=set)
    """Voices whose fault this node has seen proven."""

    @property
    def realm(self) -> Digest:
        """Name the realm."""
        return self.state.realm

    @property
    def charter(self) -> Charter:
        """Give the charter in force."""
        return self.state.charter

    def is_admitted(self, author: IdentityId) -> bool:
        """Tell whether a cut has admitted this identity."""
        state = self.state
        return author in state.agents or author in state.operators or author in state.instances

    def note_author(self, author: IdentityId) -> None:
        """Note that a record of an author was stored."""
        self.awaited.discard(author)
        if not self.is_admitted(author):
            self.strangers.add(author)

    def note_named(self, record: Record) -> None:
        """Note the newcomer that a stored record of an admitted author names, if it names one."""
        match record.body:
            case Delegate(agent=newcomer) | AgentAdmit(agent=newcomer):
                pass
            case OperatorAdmit(operator=newcomer):
                pass
            case _:
                return
        if newcomer not in self.log and self.is_admitted(record.author):
            self.awaited.add(newcomer)

    def find_strangers(self) -> None:
        """Find strangers and awaited newcomers anew; looks at every author and admission."""
        self.strangers = {one for one in self.log.authors() if not self.is_admitted(one)}
        self.awaited.clear()
        for kind in (Kind.DELEGATE, Kind.AGENT_ADMIT, Kind.OPERATOR_ADMIT):
            for record in self.log.by_kind(kind):
                self.note_named(record)

    def pinned(self, slot: Slot) -> Pinned | None:
        """Give the pinned world of a slot, also of one long decided; None if it is unknown here.

        It follows from the cut before, or from the round: nothing of it is kept for old slots.
        """
        live = self.slots.get(slot_key(slot))
        if live is not None:
            return live.pinned
        match slot:
            case CutSlot():
                members = self.state.members_at(slot.number, slot.previous)
                if members is None:
                    return None
                reign = self.state.acts.reign_at(slot.number - 1)
                return self._pin(slot, members, None, reign.charter, reign.hash)
            case _:
                one = self.rounds.get(slot.round_id)
                if one is None:
                    return None
                return self._pin(slot, one.seats, one.pin.home, one.pin.charter, one.charter_hash)

    def signer_in(self, pinned: Pinned) -> Signer | None:
        """Give the key that this node signs a slot with; None where it is no voice."""
        member = pinned.member(self.me.instance) if self.me else None
        return self.me.signer_of(member.key) if self.me and member else None

    def is_silent(self, slot: Slot) -> bool:
        """Tell whether this node may sign nothing in a slot: it may have forgotten that it did."""
        if self.me is None or not self.me.settled or self.me.counter >= LAST_COUNTER:
            return True
        match slot:
            case CutSlot():
                return slot.number <= self.me.silent_until + 1
            case _:
                return self.rounds[slot.round_id].pin.cut <= self.me.silent_until

    def _pin(
        self,
        slot: Slot,
        members: tuple[Member, ...],
        home: InstanceId | None,
        charter: Charter,
        charter_hash: Digest,
    ) -> Pinned:
        return pin(
            realm=self.realm,
            charter_hash=charter_hash,
            slot=slot,
            members=members,
            home=home,
            three_available=charter.timing.three == "available",
        )


def begin(
    charter: Charter,
    genesis: Iterable[Record],
    *,
    instance: InstanceId | None = None,
    signer: Signer | None = None,
    verify: Verify = is_signed_by,
) -> World:
    """Give the world at cut 0, which is the charter and the records that it lists.

    Without `instance` and `signer` the node observes. Raises ParameterError if the records are
    not exactly those of the charter, or do not stand in their chains.
    """
    state = empty_state(charter)
    log = Log(state.realm, verify=verify)
    records = sorted(genesis, key=lambda one: (one.author, one.seq))
    if sorted(one.id for one in records) != sorted(charter.genesis.records):
        raise _bad_genesis("the records are not those that the charter lists")
    for record in records:
        try:
            added = log.add(record)
        except PeerError as error:
            raise _bad_genesis(f"a record of it is refused: {error.why}") from error
        if not isinstance(added, Added):
            raise _bad_genesis("a record does not follow its author's record before it")
    state.instances = {row.instance: row.operator for row in charter.genesis.instances}
    first = epochs.reckoning(state, reckon)
    assert isinstance(first, epochs.Reckoning), "it is reckoned here"  # noqa: S101 # our own
    heads = log.author_heads()
    if any(len(ends) != 1 for ends in heads.values()):
        raise _bad_genesis("an author's records among them are forked")
    fold(
        state,
        log,
        Contained(
            number=0,
            digest=state.digest,
            tick=False,
            positions={
                author: Position(seq=seq, head=head) for author, ((seq, head),) in heads.items()
            },
            secrets=(),
            next_hashes={},
            finals={},
            certified=frozenset(),
            reckoned=first,
        ),
        {},
    )
    admitted = set(state.agents)
    if (
        state.refused
        or set(state.founders) - admitted
        or epochs.charter_seeds(state.charter) - admitted
    ):
        raise _bad_genesis("an admission among the records does not count")
    state.cut_members = members_of(state, None)
    # Nothing that trust depends on has moved since: the first tick need not reckon it again.
    state.reckoned = first.inputs
    me = Me(instance=instance, signer=signer) if instance and signer else None
    world = World(
        state=state,
        log=log,
        blobs=BlobStore(),
        me=me,
        verify=verify,
        certificates=Shelf(log),
        positions=positions_of(state),
        digest=world_digest(state),
    )
    world.find_strangers()
    return world


def _bad_genesis(why: str) -> ParameterError:
    return ParameterError(
        "genesis refused", why=why, fix="take charter and records from one founding"
    )
