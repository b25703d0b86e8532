"""Bring a world back: from what a node stored before it stopped, or from records in any order.

After a crash the log, the certificates and what follows from them are folded again. Signatures
are not made again: a signature that is derived a second time could contradict one already sent.
So the signing journal decides what this instance has said, and after every restart it stays
silent until a quorum of peers has told what they have seen of it (`Met`; design: amnesia).

With a snapshot the fold begins at its cut: what the cut contains is taken from it, and only what
came later is folded. Everything live is derived exactly as without one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from federation.admission import Prove, prove
from federation.certificates import (
    Certificate,
    CutSlot,
    JournalEntry,
    RoundSlot,
    SignedEntry,
    Slot,
    peek_slot,
    slot_key,
)
from federation.charter import Charter
from federation.core import InstanceId, Millis, PeerError
from federation.crypto import Signer, Verify, is_signed_by, plain_hash
from federation.protocol.admittance import calls_a_cut
from federation.protocol.agreement import open_slot
from federation.protocol.effects import Effect, Happening, Tell
from federation.protocol.finality import schedule
from federation.protocol.fold import positions_of
from federation.protocol.intake import denounce_fork, show
from federation.protocol.judge import Fate, judge
from federation.protocol.progress import begin_cuts, is_contained, learn, settle
from federation.protocol.rows import world_digest
from federation.protocol.snapshot import Snapshot, read
from federation.protocol.turn import Turn
from federation.protocol.world import World, begin
from federation.records import AgentAdmit, Kind, OperatorAdmit, Record
from federation.replication import Added
from federation.review import course
from federation.trust import Solve, reckon


@dataclass(slots=True, kw_only=True)
class Durable:
    """What a node must find again after a crash, as its store effects wrote it."""

    records: list[Record] = field(default_factory=list)
    blobs: list[bytes] = field(default_factory=list)
    journal: list[JournalEntry] = field(default_factory=list)
    starts: dict[bytes, Millis] = field(default_factory=dict)
    silent_until: int = -1


def restore(
    charter: Charter,
    genesis: Iterable[Record],
    durable: Durable,
    *,
    instance: InstanceId | None,
    signer: Signer | None,
    now: Millis,
    epoch: Millis = 0,
    former: Iterable[Signer] = (),
    verify: Verify = is_signed_by,
    snapshot: bytes | None = None,
    trusted: bool = False,
    solve: Solve = reckon,
    prove: Prove = prove,
) -> tuple[World, list[Effect]]:
    """Bring a node back after it stopped at any point; also give the effects to go on with.

    `now` is on the same clock as the stored starts, and `epoch` is the Unix time in ms of its 0,
    for what the instance's own records claim. `former` are the instance's keys from before
    rotations, with which slots may still have to be signed. The instance signs nothing before it is
    settled again, except where it is the only member.

    `snapshot` is one that `snapshot.take` gave and that the same store holds; of the journal only
    entries written after it are needed then, and those of slots that were open. One that cannot be
    used is told of (`SNAPSHOT_REFUSED`), and the log is folded from genesis. `trusted` says that
    the store vouches for its records: their signatures were verified before they were stored.
    `solve` reckons the trust of the ticks that are folded here, and `prove` verifies admission
    proofs; both must answer.
    """
    world = begin(charter, genesis, instance=instance, signer=signer, verify=verify)
    world.solve = solve
    world.prove = prove
    if world.me is not None:
        members = world.state.cut_members
        alone = len(members) == 1 and members[0].voice == world.me.instance
        world.me.settled = alone
        world.me.epoch = epoch
        world.me.former = {key.public: key for key in former}
        world.me.silent_until = durable.silent_until
        world.me.counter = 1 + max(
            (
                peek_slot(entry.raw)[4]
                for entry in durable.journal
                if isinstance(entry, SignedEntry)
            ),
            default=-1,
        )
    world.starts.update(durable.starts)
    _put_blobs(world, durable.blobs)
    turn = Turn(world=world, now=now)
    added = _refill(turn, durable.records, vouched=trusted)
    taken = None if snapshot is None else _read(turn, snapshot)
    if taken is not None:
        _take_over(turn, taken)
    for entry in durable.journal:
        if not _is_over(world, entry.slot):
            world.journal.setdefault(slot_key(entry.slot), []).append(entry)
    if taken is None:
        _fold(turn, added)
    else:
        _go_on(turn, tuple(taken.certificates.values()))
    world.find_strangers()
    _find_triggers(world)
    return world, turn.effects


def rebuild(
    charter: Charter,
    genesis: Iterable[Record],
    records: Iterable[Record],
    blobs: Iterable[bytes],
    *,
    verify: Verify = is_signed_by,
) -> World:
    """Fold records in any order into the world of an observer: the same world for every order.

    Records that the log refuses, or whose predecessors are not among them, are left out.
    """
    world = begin(charter, genesis, verify=verify)
    _put_blobs(world, blobs)
    turn = Turn(world=world, now=0)
    _fold(turn, _refill(turn, records, vouched=False))
    world.find_strangers()
    _find_triggers(world)
    return world


def _put_blobs(world: World, blobs: Iterable[bytes]) -> None:
    """Put stored blobs back, for ever: old cuts need theirs before any cut could say so.

    Without this the oldest gave way to the newest, and a member with nobody to ask stood still.
    """
    for blob in blobs:
        world.blobs.keep(world.blobs.put(blob))


def _refill(turn: Turn, records: Iterable[Record], *, vouched: bool) -> list[Record]:
    """Put stored records back, and give those that the log has taken.

    By seq, so that nothing waits for its predecessor and the bounded room of waiting records is
    not needed; without the bound on strangers, because most were admitted by a later cut.
    """
    added: list[Record] = []
    for record in sorted(records, key=lambda one: (one.seq, one.id)):
        try:
            result = turn.world.log.add(record, vouched=vouched)
        except PeerError as error:
            turn.refuse(None, error)
            continue
        if isinstance(result, Added):
            added += result.records
    return added


def _fold(turn: Turn, added: list[Record]) -> None:
    """Let everything follow again from the records, from genesis on."""
    # The records come first: a lone member must find its stored cuts before it could sign others.
    show(turn, added)
    begin_cuts(turn)
    settle(turn)


_TRIGGERS: Final = (
    Kind.PROPOSE,
    Kind.REVISE,
    Kind.RESUBMIT,
    Kind.WITHDRAW,
    Kind.FLAG_STALE,
    Kind.DISPUTE,
    Kind.REPORT,
    Kind.APPEAL,
    Kind.ADMIN,
    Kind.ADOPT,
    Kind.COSIGN,
    Kind.AGENT_VOUCH,
    Kind.AGENT_UNVOUCH,
)
"""Kinds of which a record that waits calls a cut; voices in a round are judged by their round."""


def _find_triggers(world: World) -> None:
    """Find what still waits for a cut and may call it: only now it is known whom cuts admitted."""
    world.triggers.update(
        record.id
        for kind in _TRIGGERS
        for record in world.log.by_kind(kind)
        if getattr(record.body, "round", None) is None and judge(world, record).fate is Fate.WAITS
    )
    world.triggers.update(
        record.id
        for kind in (Kind.AGENT_ADMIT, Kind.OPERATOR_ADMIT)
        for record in world.log.by_kind(kind)
        if isinstance(record.body, AgentAdmit | OperatorAdmit)
        and not is_contained(world, record)
        and calls_a_cut(world, record, record.body)
    )


# From a snapshot ------------------------------------------------------------------------------


def _read(turn: Turn, content: bytes) -> Snapshot | None:
    """Read a snapshot, or say that it cannot be used."""
    try:
        return read(content, charter=turn.world.charter, log=turn.world.log)
    except PeerError as error:
        turn.refuse(None, error)
        told = Tell(event=Happening.SNAPSHOT_REFUSED, subject=plain_hash(content))
        turn.effects.append(told)
        return None


def _take_over(turn: Turn, taken: Snapshot) -> None:
    """Put what a snapshot holds in the place of the world at cut 0."""
    world = turn.world
    state = world.state = taken.certified.state
    world.positions = positions_of(state)
    world.digest = world_digest(state)
    if state.ticked:
        previous = state.cuts[state.ticked] if state.ticked < state.cut else state.digest
        after = CutSlot(number=state.ticked + 1, previous=previous)
        world.ticked_at = world.starts.get(slot_key(after), turn.now)
    for name, one in taken.certified.rounds.items():
        one.opened_at = world.starts.setdefault(name, turn.now)
        world.rounds[name] = one
    world.certificates.contained.update(taken.certified.contained)
    world.certificates.update(taken.certificates)
    if world.me is not None:
        # The store writes in order, so no entry that was signed before can be missing beside it.
        world.me.counter = max(world.me.counter, taken.counter)


def _is_over(world: World, slot: Slot) -> bool:
    """Tell whether a slot is long decided: no entry of the journal can matter there any more."""
    match slot:
        case CutSlot():
            return slot.number < world.state.cut
        case _:
            one = world.rounds.get(slot.round_id)
            return one is not None and one.closed


def _go_on(turn: Turn, certificates: tuple[Certificate, ...]) -> None:
    """Open again what was open at the cut, and let follow what came after it."""
    world = turn.world
    fresh = _uncontained(world)
    for record in fresh:
        learn(turn, record)
    # Before the slots open: a proposal that waits may call the next cut at once.
    _find_triggers(world)
    world.lots.update(
        name
        for name, one in world.rounds.items()
        if not one.closed and course(one.pin, one.finals).awaits_lot
    )
    state = world.state
    if state.cut:
        open_slot(turn, CutSlot(number=state.cut, previous=state.cuts[-1]))
    begin_cuts(turn)
    for name, one in world.rounds.items():
        if not one.closed:
            for phase in course(one.pin, one.finals).after:
                open_slot(turn, RoundSlot(round_id=name, phase=phase))
    for certificate in certificates:
        if _is_final(world, certificate.slot):
            schedule(turn, certificate.slot)
    settle(turn)
    for record in fresh:
        denounce_fork(turn, record)


def _is_final(world: World, slot: Slot) -> bool:
    """Tell whether a slot's certificate has had its effect here."""
    match slot:
        case CutSlot():
            return slot.number <= world.state.cut
        case _:
            return slot.phase in world.rounds[slot.round_id].finals


def _uncontained(world: World) -> list[Record]:
    """List the stored records that the cut does not contain, by author and seq."""
    found = []
    for author in world.log.authors():
        here = world.positions.get(author)
        start = here.seq if here and not world.log.is_forked(author) else -1
        for name in (name for ids in world.log.above(author, start) for name in ids):
            record = world.log.get(name)
            if record is not None and not is_contained(world, record):
                found.append(record)
    return found
