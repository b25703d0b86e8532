"""The tables of a store, as numbered steps that only go forward.

Step n brings a database from `user_version` n-1 to n. A step that was released is never edited:
what has to change is a further step. The rules that must hold whatever code writes here stand in
the schema itself: types (STRICT), lengths (CHECK), one content per counter (UNIQUE), and how much
of what ages is kept (triggers).

A table whose rows are large keeps its rowid and has its key in an index beside it: rows are then
appended in the order in which they came, and a random key touches only the slim index. A table of
slim rows is WITHOUT ROWID: its key is its only tree.
"""

from typing import Final

APPLICATION: Final = 0x464D4F54
"""`application_id` of every store: "FMOT". A file with another one is not ours to touch."""

EVENTS_KEPT: Final = 100_000
"""Newest events that stay."""
CONTENTS_KEPT: Final = 8
"""Newest snapshots that keep their content; the digests of all stay."""
NOTICES_KEPT: Final = 256
"""Newest notices of one agent and kind that stay: a flood of one kind pushes out no other."""

# Nothing asks for the records of one author or kind yet, and every further index would cost each
# record one more random page; author, seq, kind and prev are columns for people and the audit.
_RECORDS: Final = """
CREATE TABLE records (
    arrival INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 32),
    author BLOB NOT NULL CHECK (length(author) = 32),
    seq INTEGER NOT NULL CHECK (seq >= 0),
    kind TEXT NOT NULL,
    prev BLOB CHECK (length(prev) = 32),
    raw BLOB NOT NULL
) STRICT
"""
# Apart from the records, so that a takedown removes words and touches nothing that is signed.
_TEXTS: Final = """
CREATE TABLE texts (
    number INTEGER PRIMARY KEY,
    record BLOB NOT NULL UNIQUE CHECK (length(record) = 32),
    content BLOB NOT NULL
) STRICT
"""
_BLOBS: Final = """
CREATE TABLE blobs (
    number INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    content BLOB NOT NULL
) STRICT
"""
# `hash` names the entry, so that writing it again changes nothing; `number` is the order in which
# entries were written, which is the order in which a restart must read them.
_JOURNAL: Final = """
CREATE TABLE journal (
    number INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    slot BLOB NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('signed', 'lock', 'certificate')),
    counter INTEGER CHECK ((counter IS NULL) = (kind != 'signed')),
    raw BLOB NOT NULL
) STRICT
"""
# The last guard against signing two things under one counter, which the others would rightly take
# for a lie: such a write fails, and nothing that was to follow it leaves the node.
_COUNTERS: Final = "CREATE UNIQUE INDEX journal_counter ON journal (counter)"
_STARTS: Final = """
CREATE TABLE starts (
    slot BLOB PRIMARY KEY,
    at INTEGER NOT NULL CHECK (at >= 0)
) STRICT, WITHOUT ROWID
"""
_SNAPSHOTS: Final = """
CREATE TABLE snapshots (
    cut INTEGER PRIMARY KEY CHECK (cut >= 0),
    tick INTEGER NOT NULL CHECK (tick >= 0),
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    world_digest BLOB NOT NULL CHECK (length(world_digest) = 32)
) STRICT
"""
_CONTENTS: Final = """
CREATE TABLE snapshot_contents (
    cut INTEGER PRIMARY KEY,
    content BLOB NOT NULL
) STRICT
"""
_KEEP_CONTENTS: Final = f"""
CREATE TRIGGER snapshot_contents_kept AFTER INSERT ON snapshot_contents BEGIN
    DELETE FROM snapshot_contents WHERE cut <= (
        SELECT cut FROM snapshot_contents ORDER BY cut DESC LIMIT 1 OFFSET {CONTENTS_KEPT}
    );
END
"""  # noqa: S608 # a constant of ours
_EVENTS: Final = """
CREATE TABLE events (
    cursor INTEGER PRIMARY KEY CHECK (cursor >= 0),
    at INTEGER NOT NULL,
    event TEXT NOT NULL,
    subject BLOB NOT NULL,
    phase TEXT
) STRICT
"""
_KEEP_EVENTS: Final = f"""
CREATE TRIGGER events_kept AFTER INSERT ON events BEGIN
    DELETE FROM events WHERE cursor <= new.cursor - {EVENTS_KEPT};
END
"""  # noqa: S608 # a constant of ours
_META: Final = """
CREATE TABLE meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    realm BLOB NOT NULL CHECK (length(realm) = 32),
    silent_until INTEGER NOT NULL DEFAULT -1,
    boot_id TEXT,
    clock_offset INTEGER,
    clock_last INTEGER
) STRICT
"""

# A code is known by its hash only. Nothing here is replicated.
_INVITES: Final = """
CREATE TABLE invites (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (length(id) = 8),
    inviter BLOB NOT NULL CHECK (length(inviter) = 32),
    sha256 BLOB NOT NULL UNIQUE CHECK (length(sha256) = 32),
    weight INTEGER NOT NULL CHECK (weight BETWEEN 1 AND 255),
    uses INTEGER NOT NULL CHECK (uses BETWEEN 1 AND 255),
    created INTEGER NOT NULL,
    until INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    revoked INTEGER
) STRICT
"""
_INVITED: Final = """
CREATE TABLE invited (
    number INTEGER PRIMARY KEY,
    agent BLOB NOT NULL UNIQUE CHECK (length(agent) = 32),
    invite TEXT NOT NULL,
    place INTEGER CHECK (place >= 0),
    at INTEGER NOT NULL,
    settled INTEGER NOT NULL CHECK (settled IN (0, 1)),
    record BLOB CHECK (length(record) = 32),
    code TEXT,
    why TEXT NOT NULL CHECK (length(why) <= 1000)
) STRICT
"""
# The last guard against two agents on one place of an invite.
_PLACES: Final = "CREATE UNIQUE INDEX invited_place ON invited (invite, place)"
_CHECK_PLACE: Final = """
CREATE TRIGGER invited_has_room BEFORE INSERT ON invited
WHEN new.place IS NOT NULL AND new.place >= coalesce(
    (SELECT uses FROM invites WHERE id = new.invite), 0
)
BEGIN
    SELECT RAISE(ABORT, 'the invite has no such place');
END
"""
_FORGET_INVITED: Final = """
CREATE TRIGGER invited_forgotten AFTER DELETE ON invites BEGIN
    DELETE FROM invited WHERE invite = old.id;
END
"""

# The words of proposals, so that people can search them. It holds a copy of each text, because the
# oldest SQLite that we run on cannot delete from an index that holds none. `rowid` is the number of
# the text. No trigger keeps it: SQLite lets none touch such a table where schemas are not trusted.
_WORDS: Final = """
CREATE VIRTUAL TABLE words USING fts5(
    title, claims, prose, tokenize = "unicode61 remove_diacritics 2"
)
"""
# Texts up to `upto` are known to be indexed in the way that `format` names; a start looks at those
# above it, and at all of them after an upgrade.
_INDEXED: Final = """
CREATE TABLE indexed (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    format INTEGER NOT NULL,
    upto INTEGER NOT NULL
) STRICT
"""
# What this instance's operator does not want to serve. Nothing here is replicated.
_HIDDEN: Final = """
CREATE TABLE hidden (
    artifact BLOB PRIMARY KEY CHECK (length(artifact) = 32),
    reason TEXT NOT NULL CHECK (length(reason) <= 500),
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID
"""
# AUTOINCREMENT: an agent keeps the cursor that it has read up to, so none may come twice.
_NOTICES: Final = """
CREATE TABLE notices (
    cursor INTEGER PRIMARY KEY AUTOINCREMENT,
    agent BLOB NOT NULL CHECK (length(agent) = 32),
    kind TEXT NOT NULL,
    subject BLOB NOT NULL,
    body BLOB NOT NULL,
    at INTEGER NOT NULL,
    acked INTEGER NOT NULL DEFAULT 0 CHECK (acked IN (0, 1))
) STRICT
"""
_NOTICES_OF: Final = "CREATE INDEX notices_agent ON notices (agent, cursor)"
_WEBHOOKS: Final = """
CREATE TABLE webhooks (
    id BLOB PRIMARY KEY,
    agent BLOB NOT NULL CHECK (length(agent) = 32),
    url TEXT NOT NULL,
    secret_key BLOB NOT NULL,
    created INTEGER NOT NULL,
    on_ INTEGER NOT NULL CHECK (on_ IN (0, 1))
) STRICT, WITHOUT ROWID
"""
_WEBHOOKS_OF: Final = "CREATE INDEX webhooks_agent ON webhooks (agent)"
_DELIVERIES: Final = """
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook BLOB NOT NULL,
    cursor INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    due INTEGER NOT NULL,
    state TEXT NOT NULL,
    last TEXT
) STRICT
"""
_DELIVERIES_OF: Final = "CREATE INDEX deliveries_webhook ON deliveries (webhook, cursor)"
_DELIVERIES_DUE: Final = "CREATE INDEX deliveries_due ON deliveries (state, due)"

# The same notice is told once, whoever derives it again after a crash.
_NOTICES_ABOUT: Final = "ALTER TABLE notices ADD COLUMN about TEXT NOT NULL DEFAULT ''"
_NOTICES_ONCE: Final = "CREATE UNIQUE INDEX notices_once ON notices (agent, kind, subject, about)"
_NOTICES_KIND: Final = "CREATE INDEX notices_kind ON notices (agent, kind, cursor)"
_WEBHOOKS_WHY: Final = "ALTER TABLE webhooks ADD COLUMN why TEXT NOT NULL DEFAULT ''"
_DELIVERIES_OF_NOTICE: Final = "CREATE INDEX deliveries_cursor ON deliveries (cursor)"
_NOTED: Final = """
CREATE TABLE noted (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    event INTEGER NOT NULL CHECK (event >= 0),
    tick INTEGER NOT NULL CHECK (tick >= 0)
) STRICT
"""
_CONDITIONS: Final = """
CREATE TABLE conditions (
    artifact BLOB PRIMARY KEY CHECK (length(artifact) = 32),
    state TEXT NOT NULL,
    flags TEXT NOT NULL
) STRICT, WITHOUT ROWID
"""
# Up to which cursor something that nobody has acknowledged was dropped: its agent is told so.
_DROPPED: Final = """
CREATE TABLE dropped (
    agent BLOB PRIMARY KEY CHECK (length(agent) = 32),
    upto INTEGER NOT NULL
) STRICT, WITHOUT ROWID
"""
_SEND_NOTICES: Final = """
CREATE TRIGGER notices_sent AFTER INSERT ON notices BEGIN
    INSERT INTO deliveries (webhook, cursor, tries, due, state, last)
    SELECT id, new.cursor, 0, 0, 'waiting', '' FROM webhooks WHERE agent = new.agent AND on_ = 1;
END
"""
_KEEP_NOTICES: Final = f"""
CREATE TRIGGER notices_kept AFTER INSERT ON notices BEGIN
    INSERT INTO dropped (agent, upto)
    SELECT new.agent, cursor FROM notices WHERE agent = new.agent AND kind = new.kind
        AND acked = 0 AND cursor = (
            SELECT cursor FROM notices WHERE agent = new.agent AND kind = new.kind
            ORDER BY cursor DESC LIMIT 1 OFFSET {NOTICES_KEPT}
        )
    ON CONFLICT (agent) DO UPDATE SET upto = max(upto, excluded.upto);
    DELETE FROM notices WHERE agent = new.agent AND kind = new.kind AND cursor <= (
        SELECT cursor FROM notices WHERE agent = new.agent AND kind = new.kind
        ORDER BY cursor DESC LIMIT 1 OFFSET {NOTICES_KEPT}
    );
END
"""  # noqa: S608 # a constant of ours
_FORGET_DELIVERIES: Final = """
CREATE TRIGGER notices_forgotten AFTER DELETE ON notices BEGIN
    DELETE FROM deliveries WHERE cursor = old.cursor;
END
"""
_FORGET_SENDING: Final = """
CREATE TRIGGER webhooks_forgotten AFTER DELETE ON webhooks BEGIN
    DELETE FROM deliveries WHERE webhook = old.id;
END
"""

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        _RECORDS,
        _TEXTS,
        _BLOBS,
        _JOURNAL,
        _COUNTERS,
        _STARTS,
        _SNAPSHOTS,
        _CONTENTS,
        _KEEP_CONTENTS,
        _EVENTS,
        _KEEP_EVENTS,
        _META,
    ),
    (_INVITES, _INVITED, _PLACES, _CHECK_PLACE, _FORGET_INVITED),
    (
        _WORDS,
        _INDEXED,
        _HIDDEN,
        _NOTICES,
        _NOTICES_OF,
        _WEBHOOKS,
        _WEBHOOKS_OF,
        _DELIVERIES,
        _DELIVERIES_OF,
        _DELIVERIES_DUE,
    ),
    (
        _NOTICES_ABOUT,
        _NOTICES_ONCE,
        _NOTICES_KIND,
        _WEBHOOKS_WHY,
        _DELIVERIES_OF_NOTICE,
        _NOTED,
        _CONDITIONS,
        _DROPPED,
        _SEND_NOTICES,
        _KEEP_NOTICES,
        _FORGET_DELIVERIES,
        _FORGET_SENDING,
    ),
)
"""Step n stands at place n-1."""

VERSION: Final = len(MIGRATIONS)
"""The version that this code reads and writes."""
