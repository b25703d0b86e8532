"""Bring a world back: from what a node stored before it stopped, or from records in any order.

After a crash the log, the certificates and what follows from them are folded again. Signatures
are not made again: a signature that is derived a second time could contradict one already sent.
So the signing journal decides what this instance has said, and after every restart it stays
silent until a quorum of peers has told what they have seen of it (`Met`; design: amnesia).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from federation.certificates import JournalEntry, SignedEntry, peek_slot, slot_key
from federation.charter import Charter
from federation.core import InstanceId, Millis, PeerError
from federation.crypto import Signer, Verify, is_signed_by
from federation.protocol.effects import Effect
from federation.protocol.intake import show
from federation.protocol.judge import Fate, judge
from federation.protocol.progress import begin_cuts, settle
from federation.protocol.turn import Turn
from federation.protocol.world import World, begin
from federation.records import Kind, Record
from federation.replication import Added


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
    former: Iterable[Signer] = (),
    verify: Verify = is_signed_by,
) -> tuple[World, list[Effect]]:
    """Bring a node back after it stopped at any point; also give the effects to go on with.

    `now` is on the same clock as the stored starts; `former` are the instance's keys from before
    rotations, with which slots may still have to be signed. The instance signs nothing before it is
    settled again, except where it is the only member.
    """
    world = begin(charter, genesis, instance=instance, signer=signer, verify=verify)
    if world.me is not None:
        members = world.state.cut_members
        alone = len(members) == 1 and members[0].voice == world.me.instance
        world.me.settled = alone
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
    for entry in durable.journal:
        world.journal.setdefault(slot_key(entry.slot), []).append(entry)
    _put_blobs(world, durable.blobs)
    turn = Turn(world=world, now=now)
    _refill(turn, durable.records)
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
    _refill(Turn(world=world, now=0), records)
    return world


def _put_blobs(world: World, blobs: Iterable[bytes]) -> None:
    """Put stored blobs back, for ever: old cuts need theirs before any cut could say so.

    Without this the oldest gave way to the newest, and a member with nobody to ask stood still.
    """
    for blob in blobs:
        world.blobs.keep(world.blobs.put(blob))


def _refill(turn: Turn, records: Iterable[Record]) -> None:
    """Put stored records back and let everything follow from them again.

    By seq, so that nothing waits for its predecessor and the bounded room of waiting records is
    not needed; without the bound on strangers, because most were admitted by a later cut.
    """
    world = turn.world
    added: list[Record] = []
    for record in sorted(records, key=lambda one: (one.seq, one.id)):
        try:
            result = world.log.add(record)
        except PeerError as error:
            turn.refuse(None, error)
            continue
        if isinstance(result, Added):
            added += result.records
    # The records come first: a lone member must find its stored cuts before it could sign others.
    show(turn, added)
    begin_cuts(turn)
    settle(turn)
    # Only now it is known whom the cuts have admitted, and which proposals still wait for one.
    world.triggers.update(
        record.id
        for record in world.log.by_kind(Kind.PROPOSE)
        if judge(world, record).fate is Fate.WAITS
    )
