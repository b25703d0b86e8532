"""Records whose predecessor has not arrived, in bounded room (design: records, the log).

Nothing here is verified yet: the author and the id of a waiting record are claims. So one id may
wait in several copies (a forged copy that came first must not keep the true one out), an author
has only a share of the room, and the oldest give way. What was dropped can be fetched again.
"""

from federation.core import IdentityId, RecordId, Signature
from federation.records import Record

_Copy = tuple[RecordId, Signature]
_OVERHEAD = 512
"""Bytes counted for a waiting record besides its content."""


class WaitingArea:
    """Unverified records by the id they wait for."""

    def __init__(self, *, most: int, most_bytes: int) -> None:
        """Start empty; at most `most` records and `most_bytes` bytes, an eighth per author."""
        self._most = most
        self._most_bytes = most_bytes
        self._share = max(1, most // 8)
        self._bytes = 0
        self._records: dict[_Copy, Record] = {}
        self._after: dict[RecordId, dict[_Copy, None]] = {}
        self._by_author: dict[IdentityId, dict[_Copy, None]] = {}
        self._copies: dict[RecordId, dict[_Copy, None]] = {}

    def __len__(self) -> int:
        """Count the waiting copies."""
        return len(self._records)

    @property
    def held_bytes(self) -> int:
        """Bytes counted against the bound."""
        return self._bytes

    def put(self, record: Record, prev: RecordId) -> None:
        """Keep a copy until `prev` arrives; may drop the author's oldest, or the oldest of all."""
        copy = (record.id, record.signature)
        held = self._records.get(copy)
        if held is not None:
            if held.text_raw is None and record.text_raw is not None:
                self._records[copy] = held.with_text(record.text_raw)
                self._bytes += len(record.text_raw)
                self._shrink()
            return
        self._records[copy] = record
        self._bytes += _size(record)
        self._after.setdefault(prev, {})[copy] = None
        self._by_author.setdefault(record.author, {})[copy] = None
        self._copies.setdefault(record.id, {})[copy] = None
        own = self._by_author[record.author]
        if len(own) > self._share:
            self._remove(next(iter(own)))
        self._shrink()

    def release(self, prev: RecordId) -> list[Record]:
        """Take out all copies that waited for `prev`, in the order they came."""
        return [self._remove(copy) for copy in tuple(self._after.get(prev, ()))]

    def missing(self, prev: RecordId) -> RecordId:
        """Follow `prev` through waiting copies to the first id that is not even waiting."""
        # An id fixes its statement, so even an unverified copy names its true predecessor. A
        # hash chain has no cycles, so the walk ends.
        while prev in self._copies:
            record = self._records[next(iter(self._copies[prev]))]
            assert record.prev is not None, "an inception never waits"  # noqa: S101
            prev = record.prev
        return prev

    def _shrink(self) -> None:
        while len(self._records) > self._most or self._bytes > self._most_bytes:
            self._remove(next(iter(self._records)))

    def _remove(self, copy: _Copy) -> Record:
        record = self._records.pop(copy)
        self._bytes -= _size(record)
        assert record.prev is not None, "an inception never waits"  # noqa: S101
        for index, name in (
            (self._after, record.prev),
            (self._by_author, record.author),
            (self._copies, record.id),
        ):
            copies = index[name]
            del copies[copy]
            if not copies:
                del index[name]
        return record


def _size(record: Record) -> int:
    text = record.text_raw or b""
    return len(record.statement_raw) + len(record.body_raw) + len(text) + _OVERHEAD
