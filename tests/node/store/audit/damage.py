"""A store as a node leaves it, and ways to damage it."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from pathlib import Path

import msgspec
import trio

from federation.certificates import (
    Certificate,
    CertificateEntry,
    CutSlot,
    CutValue,
    Endorsement,
    JournalEntry,
    SignedEntry,
    Value,
    entry_from_bytes,
    message_for,
    signing_payload,
    value_digest,
)
from federation.certificates.messages import Seal
from federation.core import InstanceId
from federation.crypto import KeySigner
from federation.protocol import effects as fx
from federation.protocol import snapshot
from federation.protocol.finality import slot_in
from federation.records import CertificateFinal, Kind
from node.store import SaveSnapshot, Write, open_store
from node.store.writes import journal_row
from tests.federation.protocol.town import keys
from tests.federation.protocol.trial import Trial
from tests.node.store.ledger import query


@dataclass
class Photographed(Trial):
    """A town whose instances keep a snapshot at each cut."""

    photos: dict[InstanceId, list[SaveSnapshot]] = field(default_factory=dict)
    written: dict[InstanceId, list[list[Write]]] = field(default_factory=dict)
    """What each step asked an instance to store, its snapshot included."""

    def _perform(self, me: InstanceId, effects: Iterable[fx.Effect]) -> None:
        done = list(effects)
        before = len(self.stored.get(me, []))
        super()._perform(me, done)
        writes: list[Write] = list(self.stored.get(me, [])[before:])  # type: ignore[arg-type]
        self.written.setdefault(me, []).append(writes)
        world = self.worlds[me]
        if any(isinstance(one, fx.Tell) and one.event is fx.Happening.CUT for one in done):
            newest = SaveSnapshot(
                cut=world.state.cut,
                tick=world.state.tick,
                digest=world.state.digest,
                world_digest=world.digest,
                content=snapshot.take(world),
            )
            self.photos.setdefault(me, []).append(newest)
            writes.append(newest)


@cache
def town() -> Photographed:
    """Three instances that have decided one artifact and are in the middle of another.

    Whose turn it is to file the newest certificate follows from its digest, so that each change of
    a format decides it anew: the first of some towns is taken where nobody has filed it yet.
    """
    return next(made for number in count() if _is_unfiled(made := _town(f"audit-{number}")))


def _is_unfiled(made: Photographed) -> bool:
    world = made.world()
    filed = [
        slot_in(record.body)
        for record in world.log.by_kind(Kind.CERTIFICATE)
        if isinstance(record.body, CertificateFinal)
    ]
    newest = world.state.cut
    return all(not isinstance(slot, CutSlot) or slot.number != newest for slot in filed)


def _town(seed: str) -> Photographed:
    made = Photographed.of(3, 4, seed=seed, operators=4)
    made.vote(made.propose(1), {2: 1, 3: 1, 0: 1})
    made.settled()
    # No further than its first cut has the other one: that certificate is filed a moment later.
    another = made.propose(2, "Another").id  # type: ignore[attr-defined]
    made.until(lambda _: another in made.world().state.artifacts)
    return made  # type: ignore[return-value]


def make(path: Path) -> None:
    """Make the store of instance 0."""

    async def write() -> None:
        place = town().founding
        name = place.instances[0]
        with trio.fail_after(20):
            async with open_store(path, realm=place.realm) as store:
                await store.write([one for step in town().written[name] for one in step])

    trio.run(write)


def flip(path: Path, column: str, where: str, at: int) -> None:
    """Flip one bit of the byte at a place of a column, in the first row that fits."""
    table, _, name = column.partition(".")
    ((row, value), *_) = query(
        path,
        f"SELECT rowid, {name} FROM {table} WHERE {where} ORDER BY rowid",  # noqa: S608 # a test's
    )
    assert isinstance(value, bytes)
    changed = bytearray(value)
    changed[at] ^= 1
    put(path, column, row, bytes(changed))  # type: ignore[arg-type]


def put(path: Path, column: str, row: int, value: bytes) -> None:
    """Put a value into a column of one row."""
    table, _, name = column.partition(".")
    query(path, f"UPDATE {table} SET {name} = ? WHERE rowid = ?", value, row)  # noqa: S608 # a test's


def entries(path: Path) -> list[tuple[int, JournalEntry]]:
    """Read the journal."""
    rows = query(path, "SELECT number, raw FROM journal ORDER BY number")
    return [(row[0], entry_from_bytes(row[1])) for row in rows]  # type: ignore[misc, arg-type]


def add(path: Path, entry: JournalEntry) -> None:
    """Write a further entry, whose row is in order."""
    query(
        path,
        "INSERT INTO journal (hash, slot, kind, counter, raw) VALUES (?, ?, ?, ?, ?)",
        *journal_row(entry),
    )


def rewrite(path: Path, number: int, entry: JournalEntry) -> None:
    """Put another entry into a row, which is in order."""
    query(
        path,
        "UPDATE journal SET hash = ?, slot = ?, kind = ?, counter = ?, raw = ? WHERE number = ?",
        *journal_row(entry),
        number,
    )


def signer(index: int) -> KeySigner:
    """Give the key of an instance."""
    return KeySigner(keys(town().seed, "instance", index).current)


def signed(entry: SignedEntry, fence: int, counter: int) -> SignedEntry:
    """Let instance 0 sign something else in a slot."""
    place = town()
    pinned = place.world().pinned(entry.slot)
    assert pinned is not None
    body = Seal(fence=fence, digest=bytes(32))
    raw = message_for(pinned, place.founding.instances[0], counter, body)
    return replace(entry, raw=raw, signature=signer(0).sign(signing_payload(raw)), parts=())


def rival(entry: CertificateEntry) -> CertificateEntry:
    """Make a second certificate of a cut, of another value, as only all operators together can."""
    place = town()
    slot = entry.certificate.slot
    pinned = place.world().pinned(slot)
    assert pinned is not None
    value = replace_tick(entry.certificate.value)
    body = Seal(fence=9, digest=value_digest(slot, value))
    seals = []
    for member in pinned.members:
        index = place.founding.instances.index(member.voice)
        raw = message_for(pinned, member.voice, 9_999, body)
        signature = signer(index).sign(signing_payload(raw))
        seals.append(Endorsement(voice=member.voice, counter=9_999, signature=signature))
    certificate = Certificate(
        slot=slot,
        value=value,
        fence=9,
        seals=tuple(sorted(seals, key=lambda one: one.voice)),
    )
    return replace(entry, certificate=certificate)


def replace_tick(value: Value) -> CutValue:
    """Give the value of a cut with its tick the other way."""
    assert isinstance(value, CutValue)
    return msgspec.structs.replace(value, tick=not value.tick)
