"""The log folded afresh, and the world digest at each cut on the way."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from federation.certificates import (
    CertificateEntry,
    CertificatePacket,
    JournalEntry,
    packet_bytes,
    slot_key,
)
from federation.charter import Charter
from federation.core import Digest
from federation.crypto import Verify
from federation.protocol import World, begin, inputs, start, step
from federation.protocol import effects as fx
from federation.protocol.digest import Tables
from federation.records import Record


class _Recording(Tables):
    """Tables of a world that remember each digest that the fold asks them for."""

    def __init__(self, tables: Tables, digests: dict[int, Digest]) -> None:
        """Go on from the tables of cut 0."""
        self.artifacts = tables.artifacts
        self.agents = tables.agents
        self.identities = tables.identities
        self.members = tables.members
        self.rounds = tables.rounds
        self.digests = digests

    def world_digest(self, cut: int, charter: Digest, beacon: Digest, joining: Digest) -> Digest:
        """Give the world digest, and remember it."""
        self.digests[cut] = super().world_digest(cut, charter, beacon, joining)
        return self.digests[cut]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a fresh fold of the log gives."""

    world: World
    digests: Mapping[int, Digest]
    """World digest by cut."""
    cuts: Mapping[int, Digest]
    """Digest of the cut by its number."""


def replay(
    charter: Charter,
    genesis: Iterable[Record],
    records: Iterable[Record],
    blobs: Iterable[bytes],
    journal: Iterable[JournalEntry],
    *,
    verify: Verify,
) -> Replay:
    """Fold everything that is held, the way an observer does that gets it all at once.

    The newest certificates may stand in the journal only: those are taken from there, and proven
    like any other. Raises ParameterError if `genesis` is not that of the charter.
    """
    world = begin(charter, genesis, verify=verify)
    digests = {0: world.digest}
    world.state.tables = _Recording(world.state.tables, digests)
    for blob in blobs:
        world.blobs.keep(world.blobs.put(blob))
    # By seq, so that none waits for the one before; asked for, so that none lacks room.
    ordered = tuple(sorted(records, key=lambda one: (one.seq, one.id)))
    world.asked.update(record.id for record in ordered)
    cuts = {0: world.state.digest}
    told = [
        *start(world, 0),
        *step(world, inputs.Arrived(records=ordered, peer=None), 0),
    ]
    for entry in journal:
        if isinstance(entry, CertificateEntry) and slot_key(entry.slot) not in world.certificates:
            told += _offer(world, entry)
    for effect in told:
        if isinstance(effect, fx.Tell) and effect.event is fx.Happening.CUT:
            cuts[len(cuts)] = effect.subject
    return Replay(world=world, digests=digests, cuts=cuts)


def _offer(world: World, entry: CertificateEntry) -> list[fx.Effect]:
    """Show the world a certificate as if a peer had sent it."""
    pinned = world.pinned(entry.slot)
    if pinned is None or not entry.certificate.seals:
        return []
    packet = CertificatePacket(certificate=entry.certificate, parts=entry.parts)
    sender = entry.certificate.seals[0].voice
    return step(world, inputs.Packet(packet=packet_bytes(pinned, packet), peer=sender), 0)
