"""What can be written, and the rows that become of it.

A write is turned into rows by its caller, before it is queued: what cannot be a row fails there
and troubles nobody else. Every statement is idempotent, so a caller that was cancelled and does
not know the outcome may simply write again.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from federation.certificates import (
    JournalEntry,
    LockEntry,
    SignedEntry,
    blob_hash,
    entry_bytes,
    peek_slot,
    slot_key,
)
from federation.codec import encode
from federation.core import Digest, Millis
from federation.crypto import plain_hash
from federation.protocol import effects as fx
from node.base.clock import ClockState
from node.store.indexed import DropText, EmptyIndex, Hidden, Indexed, IndexText, ShowAgain
from node.store.invites import DropInvite, Invite, Invited
from node.store.notice_rows import NoticeWrite, notice_rows
from node.store.statements import Row, Statement
from node.store.words import words_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveSnapshot:
    """Keep the world at a cut; a later one of the same cut replaces it."""

    cut: int
    tick: int
    digest: Digest
    """Of the cut."""
    world_digest: Digest
    content: bytes | None
    """None where only the digests of this cut are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveEvent:
    """Keep what was told, for those who read on from a cursor."""

    cursor: int
    at: Millis
    """Unix time in ms, for people."""
    event: str
    subject: bytes
    phase: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveClock:
    """Keep how this instance's clock counts."""

    state: ClockState


Write: TypeAlias = (
    fx.StoreRecord
    | fx.StoreBlob
    | fx.StoreJournal
    | fx.StoreStart
    | fx.StoreSilence
    | SaveSnapshot
    | SaveEvent
    | SaveClock
    | Invite
    | Invited
    | DropInvite
    | IndexText
    | EmptyIndex
    | Indexed
    | DropText
    | Hidden
    | ShowAgain
    | NoticeWrite
)

RECORDS: Final = Statement(
    "INSERT INTO records (id, author, seq, kind, prev, raw)", 6, "ON CONFLICT (id) DO NOTHING"
)
TEXTS: Final = Statement(
    "INSERT INTO texts (record, content)", 2, "ON CONFLICT (record) DO NOTHING"
)
BLOBS: Final = Statement("INSERT INTO blobs (hash, content)", 2, "ON CONFLICT (hash) DO NOTHING")
JOURNAL: Final = Statement(
    "INSERT INTO journal (hash, slot, kind, counter, raw)", 5, "ON CONFLICT (hash) DO NOTHING"
)
STARTS: Final = Statement(
    "INSERT INTO starts (slot, at)", 2, "ON CONFLICT (slot) DO UPDATE SET at = excluded.at"
)
# Never shorter than it was, in whatever order retries arrive: silence protects from lying.
SILENCE: Final = Statement("UPDATE meta SET silent_until = max(silent_until, ?)")
SNAPSHOTS: Final = Statement(
    "INSERT INTO snapshots (cut, tick, digest, world_digest)",
    4,
    "ON CONFLICT (cut) DO UPDATE SET tick = excluded.tick, digest = excluded.digest,"
    " world_digest = excluded.world_digest",
)
CONTENTS: Final = Statement(
    "INSERT INTO snapshot_contents (cut, content)",
    2,
    "ON CONFLICT (cut) DO UPDATE SET content = excluded.content",
)
EVENTS: Final = Statement(
    "INSERT INTO events (cursor, at, event, subject, phase)", 5, "ON CONFLICT (cursor) DO NOTHING"
)
CLOCK: Final = Statement("UPDATE meta SET boot_id = ?, clock_offset = ?, clock_last = ?")
TICK: Final = Statement("UPDATE meta SET clock_last = ?1 WHERE clock_last < ?1")
INVITES: Final = Statement(
    "INSERT INTO invites (id, inviter, sha256, weight, uses, created, until, deadline, revoked)",
    9,
    "ON CONFLICT (id) DO UPDATE SET revoked = coalesce(revoked, excluded.revoked)",
)
# Given back too by this one statement: writes of one group keep their order only within one.
INVITED: Final = Statement(
    "INSERT INTO invited (agent, invite, place, at, settled, record, code, why)",
    8,
    "ON CONFLICT (agent) DO UPDATE SET invite = excluded.invite, place = excluded.place,"
    " at = excluded.at, settled = excluded.settled, record = excluded.record,"
    " code = excluded.code, why = excluded.why",
)
DROPPED: Final = Statement("DELETE FROM invites WHERE id = ?")
# Such a table takes no ON CONFLICT; `words_docsize` is the slim one of its own tables, by number.
# A row a statement: the number is known to the database only, and few records are proposals.
WORDS: Final = Statement(
    "INSERT INTO words (rowid, title, claims, prose) SELECT number, ?2, ?3, ?4 FROM texts"
    " WHERE record = ?1"
    " AND NOT EXISTS (SELECT 1 FROM words_docsize AS held WHERE held.id = number)"
)
EMPTIED: Final = Statement("DELETE FROM words")
INDEXED: Final = Statement(
    "INSERT INTO indexed (one, format, upto)",
    3,
    "ON CONFLICT (one) DO UPDATE SET format = excluded.format, upto = excluded.upto",
)
UNWORDED: Final = Statement(
    "DELETE FROM words WHERE rowid = (SELECT number FROM texts WHERE record = ?)"
)
UNTEXTED: Final = Statement("DELETE FROM texts WHERE record = ?")
HIDDEN: Final = Statement(
    "INSERT INTO hidden (artifact, reason, at)",
    3,
    "ON CONFLICT (artifact) DO UPDATE SET reason = excluded.reason, at = excluded.at",
)
SHOWN: Final = Statement("DELETE FROM hidden WHERE artifact = ?")

Rows: TypeAlias = dict[Statement, list[Row]]


def rows_of(writes: Iterable[Write]) -> tuple[Rows, int]:
    """Turn writes into rows by statement, in order; also give about how many bytes they hold.

    Raises PeerError if a journal entry is not one.
    """
    rows: Rows = {}
    size = 0
    for write in writes:
        match write:
            case fx.StoreRecord(record=record):
                raw = encode([record.statement_raw, record.body_raw, None, record.signature])
                size += len(raw)
                rows.setdefault(RECORDS, []).append(
                    (record.id, record.author, record.seq, record.kind, record.prev, raw)
                )
                if record.text_raw is not None:
                    size += len(record.text_raw)
                    rows.setdefault(TEXTS, []).append((record.id, record.text_raw))
                    words = words_of(record)
                    if words is not None:
                        size += len(record.text_raw)
                        rows.setdefault(WORDS, []).append((record.id, *words))
            case fx.StoreBlob(content=content):
                size += len(content)
                rows.setdefault(BLOBS, []).append((blob_hash(content), content))
            case fx.StoreJournal(entry=entry):
                row = journal_row(entry)
                size += len(row[-1])
                rows.setdefault(JOURNAL, []).append(row)
            case fx.StoreStart(slot=slot, at=at):
                rows.setdefault(STARTS, []).append((slot, at))
            case fx.StoreSilence(until=until):
                rows.setdefault(SILENCE, []).append((until,))
            case SaveSnapshot():
                size += len(write.content or b"")
                rows.setdefault(SNAPSHOTS, []).append(
                    (write.cut, write.tick, write.digest, write.world_digest)
                )
                if write.content is not None:
                    rows.setdefault(CONTENTS, []).append((write.cut, write.content))
            case SaveEvent():
                rows.setdefault(EVENTS, []).append(
                    (write.cursor, write.at, write.event, write.subject, write.phase)
                )
            case SaveClock(state=state):
                rows.setdefault(CLOCK, []).append((state.boot_id, state.offset, state.last))
            case Invite() as one:
                rows.setdefault(INVITES, []).append(_invite_row(one))
            case Invited() as one:
                rows.setdefault(INVITED, []).append(_invited_row(one))
            case DropInvite(id=name):
                rows.setdefault(DROPPED, []).append((name,))
            case IndexText() | EmptyIndex() | Indexed() | DropText() | Hidden() | ShowAgain():
                for statement, cells in _index_rows(write):
                    size += sum(len(cell) for cell in cells if isinstance(cell, str))
                    rows.setdefault(statement, []).append(cells)
            case _:
                told, more = notice_rows(write)
                size += more
                for statement, cells in told:
                    rows.setdefault(statement, []).append(cells)
    return rows, size


def journal_row(entry: JournalEntry) -> tuple[bytes, bytes, str, int | None, bytes]:
    """Give the row of an entry: hash, slot, kind, counter, bytes; raises PeerError if it is none."""
    counter: int | None = None
    match entry:
        case SignedEntry():
            kind, counter = "signed", peek_slot(entry.raw)[4]
        case LockEntry():
            kind = "lock"
        case _:
            kind = "certificate"
    raw = entry_bytes(entry)
    return plain_hash(raw), slot_key(entry.slot), kind, counter, raw


def _index_rows(
    write: IndexText | EmptyIndex | Indexed | DropText | Hidden | ShowAgain,
) -> tuple[tuple[Statement, Row], ...]:
    match write:
        case IndexText(record=name, words=words):
            return ((WORDS, (name, *words)),)
        case EmptyIndex():
            return ((EMPTIED, ()),)
        case Indexed(format=form, upto=upto):
            return ((INDEXED, (1, form, upto)),)
        case DropText(record=name):
            # The words first: their number is known by the text.
            return (UNWORDED, (name,)), (UNTEXTED, (name,))
        case Hidden(artifact=name, reason=reason, at=at):
            return ((HIDDEN, (name, reason, at)),)
        case ShowAgain(artifact=name):
            return ((SHOWN, (name,)),)


def _invite_row(one: Invite) -> Row:
    return (
        one.id,
        one.inviter,
        one.sha256,
        one.weight,
        one.uses,
        one.created,
        one.until,
        one.deadline,
        one.revoked,
    )


def _invited_row(one: Invited) -> Row:
    return (
        one.agent,
        one.invite,
        one.place,
        one.at,
        int(one.is_settled),
        one.record,
        one.code,
        one.why,
    )
