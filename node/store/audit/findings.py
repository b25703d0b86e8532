"""What an audit can find, as data: a stable code, what it is, why it is known, what to do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

FINDINGS_MOST: Final = 1_000
"""Findings that are kept; further ones are counted."""


class Damage(StrEnum):
    """Stable names of what can be wrong with a store."""

    NO_STORE = "NO_STORE"
    SQLITE_DAMAGED = "SQLITE_DAMAGED"
    SCHEMA_UNKNOWN = "SCHEMA_UNKNOWN"
    WRONG_REALM = "WRONG_REALM"
    RECORD_UNREADABLE = "RECORD_UNREADABLE"
    RECORD_WRONG_ID = "RECORD_WRONG_ID"
    RECORD_MISFILED = "RECORD_MISFILED"
    RECORD_MISSING = "RECORD_MISSING"
    RECORD_REFUSED = "RECORD_REFUSED"
    BAD_SIGNATURE = "BAD_SIGNATURE"
    TEXT_MISMATCH = "TEXT_MISMATCH"
    BLOB_MISMATCH = "BLOB_MISMATCH"
    JOURNAL_UNREADABLE = "JOURNAL_UNREADABLE"
    JOURNAL_UNVERIFIED = "JOURNAL_UNVERIFIED"
    COUNTER_REUSED = "COUNTER_REUSED"
    CERTIFICATE_CONFLICT = "CERTIFICATE_CONFLICT"
    CUTS_LOST = "CUTS_LOST"
    SNAPSHOT_DIFFERS = "SNAPSHOT_DIFFERS"


_BACKUP: Final = "stop the node and put back the database from a backup"
_FETCH: Final = (
    "stop the node, move store.db away and start it: it fetches all records from its peers"
)
_LOST_JOURNAL: Final = (
    "put back a backup if it is newer than the damage; otherwise start the node as it is: it stays "
    "silent where it may have signed before"
)
_REPORT: Final = "keep a copy of the data directory and report it: this should not happen"

FIXES: Final[Mapping[Damage, str]] = {
    Damage.NO_STORE: "name the right data directory, or look at its rights; a node makes its store "
    "when it starts for the first time",
    Damage.SQLITE_DAMAGED: f"check the disk; then {_BACKUP}",
    Damage.SCHEMA_UNKNOWN: "run the version of folkmoot that wrote it, or put back a backup",
    Damage.WRONG_REALM: "put back the files that belong together",
    Damage.RECORD_UNREADABLE: _FETCH,
    Damage.RECORD_WRONG_ID: _FETCH,
    Damage.RECORD_MISFILED: _FETCH,
    Damage.RECORD_MISSING: _FETCH,
    Damage.RECORD_REFUSED: _FETCH,
    Damage.BAD_SIGNATURE: _FETCH,
    Damage.TEXT_MISMATCH: "nothing: the record stands without its text, which a peer may still have",
    Damage.BLOB_MISMATCH: _FETCH,
    Damage.JOURNAL_UNREADABLE: _LOST_JOURNAL,
    Damage.JOURNAL_UNVERIFIED: _LOST_JOURNAL,
    Damage.COUNTER_REUSED: f"stop the node, so that it contradicts itself no further; {_REPORT}",
    Damage.CERTIFICATE_CONFLICT: f"the operators of the realm must talk; {_REPORT}",
    Damage.CUTS_LOST: _FETCH,
    Damage.SNAPSHOT_DIFFERS: f"compare the cut's world digest with other instances; {_REPORT}",
}
"""What to do about each. A store that is fetched anew has lost its signing journal with the rest;
that is safe, because the node then stays silent where it may have signed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong."""

    code: Damage
    what: str
    why: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What an audit has looked at, and what it has found."""

    findings: tuple[Finding, ...]
    more: int
    """Findings beyond those that are listed."""
    records: int
    signatures: int
    """Signatures of records that were verified."""
    blobs: int
    journal: int
    snapshots: int
    cut: int
    """The last cut to which the records lead."""
    world_digest: bytes
    """Of the world at that cut; empty if the log was not folded."""


@dataclass(slots=True)
class Report:
    """An audit in progress."""

    findings: list[Finding] = field(default_factory=list)
    more: int = 0

    def add(self, code: Damage, what: str, why: str) -> None:
        """Note one thing that is wrong."""
        if len(self.findings) < FINDINGS_MOST:
            self.findings.append(Finding(code=code, what=what, why=why, fix=FIXES[code]))
        else:
            self.more += 1
