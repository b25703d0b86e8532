"""The world digest: one hash that two nodes compare to know that they agree (design: time, 8).

Each table is 4,096 buckets by the first 12 bits of a row's id; a bucket is the hash of its rows
sorted by id, a root the hash of the bucket hashes. A cut rehashes only the buckets it touched.
"""

from typing import Final

from federation.codec import encode
from federation.core import Digest
from federation.crypto import Domain, digest, plain_hash

BUCKETS: Final = 4_096
_EMPTY: Final = plain_hash(b"")


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
        bucket = int.from_bytes(name[:2], "big") >> 4
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

    def world_digest(self, cut: int, charter: Digest, beacon: Digest) -> Digest:
        """SHA-256("folkmoot/1/world" ‖ canonical [E, charter hash, beacon, roots…])."""
        roots = [
            self.artifacts.root(),
            self.agents.root(),
            self.identities.root(),
            self.members.root(),
            self.rounds.root(),
        ]
        return digest(Domain.WORLD, encode([cut, charter, beacon, *roots]))
