"""The world digest: one hash that two nodes compare to know that they agree (design: time, 8).

Each table is 4,096 buckets by the first 12 bits of a row's id; a bucket is the hash of its rows
sorted by id, a root the hash of the bucket hashes. A cut rehashes only the buckets it touched.
Whoever finds two digests unequal follows the difference down: roots, buckets, rows.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from federation.codec import encode
from federation.core import Digest
from federation.crypto import Domain, digest, plain_hash

BUCKETS: Final = 4_096
_EMPTY: Final = plain_hash(b"")


class TableName(StrEnum):
    """The tables, in the order in which their roots stand in the world digest."""

    ARTIFACTS = "artifacts"
    AGENTS = "agents"
    IDENTITIES = "identities"
    MEMBERS = "members"
    ROUNDS = "rounds"


class Table:
    """Rows by id, with a root that costs what changed."""

    def __init__(self) -> None:
        """Start with no row."""
        self._rows: dict[int, dict[bytes, bytes]] = {}
        self._hashes: list[Digest] = [_EMPTY] * BUCKETS
        self._dirty: set[int] = set()
        self._root: Digest = plain_hash(_EMPTY * BUCKETS)

    def put(self, name: bytes, row: object) -> None:
        """Set the row of `name` (32 bytes); the row starts with the name, so rows never mix."""
        bucket = bucket_of(name)
        rows = self._rows.setdefault(bucket, {})
        row_raw = encode([name, row])
        # A cut writes the rows of all agents; only those that moved cost a bucket.
        if rows.get(name) != row_raw:
            rows[name] = row_raw
            self._dirty.add(bucket)

    def root(self) -> Digest:
        """Hash of the 4,096 bucket hashes."""
        if self._dirty:
            for bucket in self._dirty:
                rows = self._rows[bucket]
                self._hashes[bucket] = plain_hash(b"".join(rows[name] for name in sorted(rows)))
            self._dirty.clear()
            self._root = plain_hash(b"".join(self._hashes))
        return self._root

    def hashes(self) -> bytes:
        """Give the hashes of all buckets, one after the other: the root is the hash of this."""
        self.root()
        return b"".join(self._hashes)

    def bucket(self, number: int) -> dict[bytes, bytes]:
        """Give the rows of a bucket by id, in the order in which they are hashed."""
        rows = self._rows.get(number, {})
        return {name: rows[name] for name in sorted(rows)}

    def rows(self) -> dict[bytes, bytes]:
        """All rows by id: to tell where two worlds differ."""
        return {name: row for bucket in self._rows.values() for name, row in bucket.items()}


class Tables:
    """The five tables of the world."""

    def __init__(self) -> None:
        """Start empty."""
        self.artifacts = Table()
        self.agents = Table()
        self.identities = Table()
        self.members = Table()
        self.rounds = Table()

    def named(self, name: TableName) -> Table:
        """Give a table by its name."""
        match name:
            case TableName.ARTIFACTS:
                return self.artifacts
            case TableName.AGENTS:
                return self.agents
            case TableName.IDENTITIES:
                return self.identities
            case TableName.MEMBERS:
                return self.members
            case TableName.ROUNDS:
                return self.rounds

    def roots(self) -> dict[TableName, Digest]:
        """Give the root of every table, in the order of the digest."""
        return {name: self.named(name).root() for name in TableName}

    def world_digest(self, cut: int, charter: Digest, beacon: Digest, joining: Digest) -> Digest:
        """Hash the world that these tables are of."""
        return digest_of(cut, charter, beacon, joining, self.roots())


def bucket_of(name: bytes) -> int:
    """Tell in which bucket the row of `name` lies: by its first 12 bits."""
    return int.from_bytes(name[:2], "big") >> 4


def digest_of(
    cut: int, charter: Digest, beacon: Digest, joining: Digest, roots: Mapping[TableName, Digest]
) -> Digest:
    """SHA-256("folkmoot/1/world" ‖ canonical [E, charter hash, beacon, joining, roots…]).

    `joining` is the hash of what joining costs and who has admitted how many: one row, no table.
    """
    head = [cut, charter, beacon, joining]
    return digest(Domain.WORLD, encode([*head, *(roots[one] for one in TableName)]))
