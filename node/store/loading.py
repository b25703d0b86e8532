"""What is read back, and how rows become values again.

Rows are read in pages, each a query of its own. Whatever does not read as it was written raises
StoreError STORE_DAMAGED: a node that would go on without a record, or without an entry of its
signing journal, could contradict what it has said.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from federation.certificates import JournalEntry, entry_from_bytes
from federation.core import Digest, Millis, PeerError, Realm, RecordId, short
from federation.protocol import Durable
from federation.records import Record, parse_record, wire
from node.base.clock import ClockState
from node.store.failures import damaged
from node.store.invites import Invite, Invited, KeptInvites
from node.store.readers import Found
from node.store.statements import Cell, Row
from node.store.writes import SaveEvent, SaveSnapshot

Fetch: TypeAlias = Callable[[str, Sequence[Cell]], Awaitable[Found]]

T = TypeVar("T")

PAGE: Final = 1_000
"""Rows of one page; a page is turned into values without a pause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Everything a restart needs."""

    durable: Durable
    clock: ClockState | None
    """None: no clock was stored yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotHead:
    """A snapshot without its content."""

    cut: int
    tick: int
    digest: Digest
    """Of the cut."""
    world_digest: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much is held."""

    records: int
    texts: int
    blobs: int
    journal: int
    starts: int
    snapshots: int
    events: int
    bytes: int
    """Of the database file."""


async def load(fetch: Fetch, realm: Realm) -> Loaded:
    """Give everything that a restart needs."""
    ((silent, boot_id, offset, last),) = await fetch(
        "SELECT silent_until, boot_id, clock_offset, clock_last FROM meta", ()
    )
    durable = Durable(
        records=await read_all(fetch, RECORDS, lambda row: read_record(realm, row)),
        blobs=await read_all(fetch, BLOBS, lambda row: as_bytes(row[2])),
        journal=await read_all(fetch, JOURNAL, read_entry),
        starts={
            as_bytes(slot): as_int(at)
            for slot, at in await fetch("SELECT slot, at FROM starts", ())
        },
        silent_until=as_int(silent),
    )
    clock = None
    if isinstance(boot_id, str):
        clock = ClockState(boot_id=boot_id, offset=as_int(offset), last=as_int(last))
    return Loaded(durable=durable, clock=clock)


RECORDS: Final = (
    "SELECT arrival, id, raw, content FROM records LEFT JOIN texts ON record = id"
    " WHERE arrival > ?1"
)
BLOBS: Final = "SELECT number, hash, content FROM blobs WHERE number > ?1"
JOURNAL: Final = "SELECT number, raw FROM journal WHERE number > ?1"


async def read_all(
    fetch: Fetch, query: str, read: Callable[[Row], T], upto: int | None = None
) -> list[T]:
    """Read the rows of a query page by page; its first column is the number it goes on from.

    `upto` is the last number that is read.
    """
    values: list[T] = []
    after = -1
    while True:
        page = await fetch(f"{query} ORDER BY 1 LIMIT {PAGE}", (after,))
        for row in page:
            after = as_int(row[0])
            if upto is not None and after > upto:
                return values
            values.append(read(row))
        if len(page) < PAGE:
            return values


def read_record(realm: Realm, row: Row) -> Record:
    """Put a record and its text together again; raises StoreError STORE_DAMAGED."""
    name, raw, text = as_bytes(row[1]), as_bytes(row[2]), row[3]
    try:
        record = parse_record(realm, raw)
        if isinstance(text, bytes):
            # Parsed again, because only that tells whether these are the words it was signed with.
            record = parse_record(realm, wire(record.with_text(text)))
    except PeerError as error:
        raise damaged(f"record {short(name)} cannot be read", error.why) from error
    if record.id != name:
        raise damaged(f"record {short(name)} cannot be read", f"it is {short(record.id)}")
    return record


def read_entry(row: Row) -> JournalEntry:
    """Read an entry of the signing journal; raises StoreError STORE_DAMAGED."""
    number, raw = as_int(row[0]), as_bytes(row[1])
    try:
        return entry_from_bytes(raw)
    except PeerError as error:
        raise damaged(f"entry {number} of the signing journal cannot be read", error.why) from error


async def record(fetch: Fetch, realm: Realm, name: RecordId) -> bytes | None:
    """Give the wire bytes of a record, with its text if that is held."""
    rows = await fetch(
        "SELECT arrival, id, raw, content FROM records LEFT JOIN texts ON record = id WHERE id = ?",
        (name,),
    )
    return wire(read_record(realm, rows[0])) if rows else None


async def snapshots(fetch: Fetch, after: int, most: int) -> list[SnapshotHead]:
    """List snapshots of cuts above `after`."""
    rows = await fetch(
        "SELECT cut, tick, digest, world_digest FROM snapshots WHERE cut > ? ORDER BY cut LIMIT ?",
        (after, most),
    )
    return [
        SnapshotHead(
            cut=as_int(cut),
            tick=as_int(tick),
            digest=as_bytes(digest),
            world_digest=as_bytes(world),
        )
        for cut, tick, digest, world in rows
    ]


async def latest_snapshot(fetch: Fetch) -> SaveSnapshot | None:
    """Give the snapshot of the highest cut whose content is kept."""
    rows = await fetch(
        "SELECT cut, tick, digest, world_digest, content"
        " FROM snapshots JOIN snapshot_contents USING (cut) ORDER BY cut DESC LIMIT 1",
        (),
    )
    if not rows:
        return None
    ((cut, tick, digest, world, content),) = rows
    return SaveSnapshot(
        cut=as_int(cut),
        tick=as_int(tick),
        digest=as_bytes(digest),
        world_digest=as_bytes(world),
        content=as_bytes(content),
    )


async def events(fetch: Fetch, after: int, most: int) -> list[SaveEvent]:
    """List events above a cursor."""
    rows = await fetch(
        "SELECT cursor, at, event, subject, phase FROM events"
        " WHERE cursor > ? ORDER BY cursor LIMIT ?",
        (after, most),
    )
    return [
        SaveEvent(
            cursor=as_int(cursor),
            at=Millis(as_int(at)),
            event=str(event),
            subject=as_bytes(subject),
            phase=None if phase is None else str(phase),
        )
        for cursor, at, event, subject, phase in rows
    ]


_INVITES: Final = (
    "SELECT number, id, inviter, sha256, weight, uses, created, until, deadline, revoked"
    " FROM invites WHERE number > ?1"
)
_INVITED: Final = (
    "SELECT number, agent, invite, place, at, settled, record, code, why"
    " FROM invited WHERE number > ?1 AND place IS NOT NULL"
    " AND invite IN (SELECT id FROM invites)"
)


async def invites(fetch: Fetch) -> KeptInvites:
    """Give all invites, and those who hold a place of one."""
    return KeptInvites(
        invites=tuple(await read_all(fetch, _INVITES, _read_invite)),
        invited=tuple(await read_all(fetch, _INVITED, _read_invited)),
    )


def _read_invite(row: Row) -> Invite:
    _, name, inviter, sha256, weight, uses, created, until, deadline, revoked = row
    return Invite(
        id=str(name),
        inviter=as_bytes(inviter),
        sha256=as_bytes(sha256),
        weight=as_int(weight),
        uses=as_int(uses),
        created=as_int(created),
        until=as_int(until),
        deadline=as_int(deadline),
        revoked=None if revoked is None else as_int(revoked),
    )


def _read_invited(row: Row) -> Invited:
    _, agent, invite, place, at, settled, record, code, why = row
    return Invited(
        agent=as_bytes(agent),
        invite=str(invite),
        place=as_int(place),
        at=as_int(at),
        is_settled=bool(settled),
        record=None if record is None else as_bytes(record),
        code=None if code is None else str(code),
        why=str(why),
    )


async def last_cursor(fetch: Fetch) -> int:
    """Give the cursor of the newest event, 0 if there is none."""
    ((cursor,),) = await fetch("SELECT coalesce(max(cursor), 0) FROM events", ())
    return as_int(cursor)


_COUNTS: Final = """
SELECT
    (SELECT count(*) FROM records),
    (SELECT count(*) FROM texts),
    (SELECT count(*) FROM blobs),
    (SELECT count(*) FROM journal),
    (SELECT count(*) FROM starts),
    (SELECT count(*) FROM snapshots),
    (SELECT count(*) FROM events),
    page_count * page_size
FROM pragma_page_count, pragma_page_size
"""


async def counts(fetch: Fetch) -> Counts:
    """Count what is held."""
    (row,) = await fetch(_COUNTS, ())
    found = [as_int(cell) for cell in row]
    return Counts(
        records=found[0],
        texts=found[1],
        blobs=found[2],
        journal=found[3],
        starts=found[4],
        snapshots=found[5],
        events=found[6],
        bytes=found[7],
    )


def as_bytes(cell: Cell) -> bytes:
    """Narrow a cell that the schema makes bytes; raises StoreError STORE_DAMAGED otherwise."""
    if isinstance(cell, bytes):
        return cell
    raise damaged("a row cannot be read", "bytes were expected")


def as_int(cell: Cell) -> int:
    """Narrow a cell that the schema makes a number; raises StoreError STORE_DAMAGED otherwise."""
    if isinstance(cell, int):
        return cell
    raise damaged("a row cannot be read", "a number was expected")
