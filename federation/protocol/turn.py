"""One call of `step` in progress: the world, the time, and the effects so far.

Everything the modules of this package do to a world goes through a `Turn`, so that the order of
effects is the order in which things were decided: what is stored comes before what is sent.
"""

from collections import deque
from dataclasses import dataclass, field

from federation.certificates import Certificate, Event, Part, blob_hash
from federation.core import InstanceId, Millis, PeerError, RecordId
from federation.protocol.effects import (
    Effect,
    FetchRecords,
    Refused,
    Relay,
    StoreBlob,
    StoreRecord,
    WakeAt,
)
from federation.protocol.world import World
from federation.records import Body, Record, sign_record
from federation.replication import Added


@dataclass(slots=True, kw_only=True)
class Turn:
    """A step in progress."""

    world: World
    now: Millis
    effects: list[Effect] = field(default_factory=list)
    events: deque[tuple[bytes, Event]] = field(default_factory=deque)
    """Events for slots that this turn has caused itself, by slot."""
    finals: deque[tuple[Certificate, tuple[Part, ...]]] = field(default_factory=deque)
    """Certificates that became final in this turn, with the blobs of their values."""

    def wake_at(self, at: Millis) -> None:
        """Ask to be called again at a time."""
        self.effects.append(WakeAt(at=at))

    def refuse(self, peer: InstanceId | None, error: PeerError) -> None:
        """Report what a peer did wrong."""
        self.effects.append(Refused(peer=peer, code=error.code, why=str(error)))

    def keep_blob(self, content: bytes) -> None:
        """Keep a blob durably."""
        if blob_hash(content) not in self.world.blobs:
            self.world.blobs.put(content)
            self.effects.append(StoreBlob(content=content))

    def keep(self, records: tuple[Record, ...]) -> None:
        """Store new records and relay them at once."""
        self.effects += [StoreRecord(record=record) for record in records]
        self.effects.append(Relay(records=records))

    def fetch(self, records: tuple[RecordId, ...], voices: tuple[InstanceId, ...]) -> None:
        """Ask for records that certificates or a quorum's witnesses name.

        They are stored when they come, even if their author has no room left: a stranger that
        shows each member another branch could otherwise keep one of them from ever going on.
        """
        self.world.asked.update(records)
        self.effects.append(FetchRecords(records=records, voices=voices))

    def say(self, body: Body) -> Record | None:
        """Append a record of this instance to its own chain; None where it may not sign.

        An instance that may have forgotten part of its chain, or whose chain is forked, stays
        silent: its next record would be a fork.
        """
        world = self.world
        me = world.me
        if me is None or not me.settled:
            return None
        heads = world.log.heads_of(me.instance)
        if len(heads) != 1:
            return None
        seq, head = heads[0]
        entry = world.log.entry(head)
        assert entry is not None, "a head is stored"  # noqa: S101 # our own invariant
        signer = me.signer_of(entry.keys.key)
        if signer is None or entry.keys.revoked:
            return None
        record = sign_record(
            body,
            realm=world.realm,
            signer=signer,
            author=me.instance,
            key_index=entry.keys.key_index,
            seq=seq + 1,
            prev=head,
            at=max(0, me.epoch + self.now),
        )
        added = world.log.add(record)
        assert isinstance(added, Added), "our own record follows our own head"  # noqa: S101 # ours
        self.keep(added.records)
        return record
