"""The log: all records a node holds, one hash chain per author (design: records, the log).

Whether a record joins depends on the record and its ancestors alone, so every node that saw the
same records holds the same log, whatever came first. Three answers: it joins (and may bring
waiting successors with it), it waits for its predecessor, or it is refused and the sender pays.
What a stored record *counts for* is decided elsewhere, by cuts and certificates.

The one exception is `room`: of an author that is not admitted only the first few are stored, and
whoever holds the author's certified position fetches the rest later.

A `Log` is changed in place and belongs to one world; it is not for use from several threads.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from federation.core import Code, IdentityId, PeerError, PublicKey, Realm, RecordId, RoundId, short
from federation.core.ids import NOBODY
from federation.crypto import Verify, is_signed_by
from federation.identity import (
    Fork,
    KeyState,
    advanced,
    incepted,
    signing_key,
    statement_key,
)
from federation.records import Record, Statement, record_id, verify_record
from federation.replication.chains import Branch, Chain, Heads
from federation.replication.rounds import RoundIndex
from federation.replication.waiting import WaitingArea

EVERYBODY = (bytes(32), b"\xff" * 32)
"""The range of all authors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A stored record and its author's keys after it, on its branch."""

    record: Record
    keys: KeyState
    branch: Branch = field(repr=False, compare=False)
    """Where it stands in its author's tree; for this package."""


@dataclass(frozen=True, slots=True)
class Added:
    """The record joined the log."""

    records: tuple[Record, ...]
    """It and the waiting records that could follow, each after its predecessor."""


@dataclass(frozen=True, slots=True)
class Known:
    """A record of this id was stored before."""

    text: bool = False
    """The copy brought the record's text, which was missing here."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The record was not stored."""

    code: Code
    """WAITS_FOR_PREV: kept aside. OVER_QUOTA: dropped; fetch it again when there is room."""
    missing: RecordId
    """The id to fetch: the first unknown ancestor, or the record itself if over quota."""


class Log:
    """Records by id, author, round and kind."""

    def __init__(
        self,
        realm: Realm,
        *,
        verify: Verify = is_signed_by,
        waiting_most: int = 4_096,
        waiting_bytes: int = 16 * 1024 * 1024,
    ) -> None:
        """Start empty; at most `waiting_most` records and `waiting_bytes` bytes wait."""
        self.realm = realm
        self._verify = verify
        self._waiting = WaitingArea(most=waiting_most, most_bytes=waiting_bytes)
        self._entries: dict[RecordId, Entry] = {}
        self._chains: dict[IdentityId, Chain] = {}
        self._authors: list[IdentityId] = []
        self._in_order = True
        self._rounds = RoundIndex()
        self._dropped: set[RecordId] = set()

    # Adding -----------------------------------------------------------------------------------

    def add(
        self, record: Record, *, room: int | None = None, vouched: bool = False
    ) -> Added | Known | Waiting:
        """Store a record that `parse_record` gave, or say why not yet.

        `room` bounds how many records of its author are stored; None means no bound. `vouched`
        says that its signature was verified when this node's own store took it in: it is not
        verified again, and everything else is. Raises PeerError BAD_SIGNATURE, BAD_CHAIN or
        WRONG_ROLE if it can never be stored.
        """
        known = self._entries.get(record.id)
        if known is not None:
            return self._take_text(known, record)
        if record_id(self.realm, record.statement_raw) != record.id:
            raise PeerError(
                f"record {short(record.id)} refused",
                why="its id belongs to another realm",
                fix="parse it in this realm",
                code=Code.BAD_SIGNATURE,
            )
        if record.prev is not None and record.prev not in self._entries:
            self._waiting.put(record, record.prev)
            return Waiting(Code.WAITS_FOR_PREV, self._waiting.missing(record.prev))
        if not self._has_room(record, room):
            return Waiting(Code.OVER_QUOTA, record.id)
        added = [self._store(record, vouched=vouched)]
        self._follow(added, room)
        return Added(tuple(added))

    def _follow(self, added: list[Record], room: int | None) -> None:
        """Store what waited for the records of `added`, and what waited for those in turn."""
        if not self._waiting:
            return
        grown = deque(added)
        while grown:
            for waiting in self._waiting.release(grown.popleft().id):
                # Copies of one id wait side by side: once one is stored the others are known.
                if waiting.id in self._entries or not self._has_room(waiting, room):
                    continue
                try:
                    stored = self._store(waiting)
                except PeerError:
                    # Its sender is not known any more; a true copy may still come.
                    continue
                added.append(stored)
                grown.append(stored)

    def _has_room(self, record: Record, room: int | None) -> bool:
        if room is None:
            return True
        chain = self._chains.get(record.author)
        return (chain.count if chain else 0) < room

    def _store(self, record: Record, *, vouched: bool = False) -> Record:
        """Check a record whose predecessor is stored, and store it; raises PeerError."""
        if record.id in self._dropped:
            record = record.with_text(None)
        if record.prev is None:
            keys = incepted(record)
            if not vouched:
                verify_record(record, keys.key, self._verify)
            chain = self._chains[record.id] = Chain()
            self._authors.append(record.id)
            self._in_order = False
            branch = chain.grow(record.id, 0, None, None)
        else:
            before = self._entries[record.prev]
            _check_place(record, before.record)
            key = signing_key(before.keys, record)
            if not vouched:
                verify_record(record, key, self._verify)
            keys = advanced(before.keys, record)
            chain = self._chains[record.author]
            branch = chain.grow(record.id, record.seq, record.prev, before.branch)
        self._entries[record.id] = Entry(record=record, keys=keys, branch=branch)
        self._rounds.add(record)
        return record

    def _take_text(self, known: Entry, copy: Record) -> Known:
        """Take the text of a copy if it is missing here; a relay may have dropped it before us."""
        held = known.record
        if held.text_raw is not None or copy.text_raw is None or held.id in self._dropped:
            return Known()
        filled = held.with_text(copy.text_raw)
        self._entries[held.id] = replace(known, record=filled)
        return Known(text=True)

    def drop_text(self, name: RecordId) -> bool:
        """Drop a record's text for good (takedown); tell whether one was held.

        The record stands and its id, body and successors do not change. A later copy with the
        text does not bring it back, also if the record itself is not known yet.
        """
        self._dropped.add(name)
        known = self._entries.get(name)
        if known is None or known.record.text_raw is None:
            return False
        self._entries[name] = replace(known, record=known.record.with_text(None))
        return True

    # By id ------------------------------------------------------------------------------------

    def entry(self, name: RecordId) -> Entry | None:
        """Give a stored record with its author's keys after it."""
        return self._entries.get(name)

    def get(self, name: RecordId) -> Record | None:
        """Give a stored record."""
        known = self._entries.get(name)
        return known.record if known else None

    def has_all(self, name: RecordId, text: bool) -> bool:
        """Tell whether a copy of this id can bring nothing new; `text` tells if it has a text."""
        known = self._entries.get(name)
        if known is None:
            return False
        return not text or known.record.text_raw is not None or name in self._dropped

    def __contains__(self, name: RecordId) -> bool:
        """Tell whether a record is stored."""
        return name in self._entries

    def __len__(self) -> int:
        """Count the stored records."""
        return len(self._entries)

    @property
    def waiting(self) -> int:
        """Count the copies that wait for their predecessor."""
        return len(self._waiting)

    # By author --------------------------------------------------------------------------------

    def authors(self) -> tuple[IdentityId, ...]:
        """List all authors, ascending."""
        return tuple(self._sorted())

    def _sorted(self) -> list[IdentityId]:
        if not self._in_order:
            # All but the newest are in order already, which is what this sort is fast at.
            self._authors.sort()
            self._in_order = True
        return self._authors

    def authors_since(self, size: int) -> set[IdentityId]:
        """Give the authors of what was stored since the log had `size` records."""
        newest = islice(reversed(self._entries.values()), len(self._entries) - size)
        return {entry.record.author for entry in newest}

    def author_heads(self) -> Heads:
        """Give the heads of every author, authors ascending; several where one forked."""
        return {author: self._chains[author].head_list() for author in self.authors()}

    def heads_of(self, author: IdentityId) -> tuple[tuple[int, RecordId], ...]:
        """Give the heads of one author; empty if it is unknown."""
        chain = self._chains.get(author)
        return chain.head_list() if chain else ()

    def ids_at(self, author: IdentityId, seq: int) -> tuple[RecordId, ...]:
        """Give the ids that stand at `seq` of an author's chain, ascending."""
        chain = self._chains.get(author)
        return chain.by_seq[seq] if chain and 0 <= seq < len(chain.by_seq) else ()

    def above(
        self, author: IdentityId, seq: int, *, head: RecordId | None = None
    ) -> tuple[tuple[RecordId, ...], ...]:
        """Give the ids at seq + 1, seq + 2, … of an author, each group ascending.

        With `head`, the author's stored record at `seq`, only what descends from it: a branch
        that an earlier cut left behind must not end the run of every later one.
        """
        chain = self._chains.get(author)
        if chain is None:
            return ()
        groups = tuple(chain.by_seq[seq + 1 :])
        if head is None or not chain.is_forked:
            return groups
        kept = (tuple(one for one in ids if self.is_ancestor(head, one)) for ids in groups)
        return tuple(ids for ids in kept if ids)

    def count_of(self, author: IdentityId) -> int:
        """Count the stored records of an author, all branches."""
        chain = self._chains.get(author)
        return chain.count if chain else 0

    def is_forked(self, author: IdentityId) -> bool:
        """Tell whether two stored records of an author share one predecessor."""
        chain = self._chains.get(author)
        return chain is not None and chain.is_forked

    def forks(self) -> list[Fork]:
        """List all forks, ascending: at each split the lowest id with each of its siblings."""
        return [fork for author in self.authors() for fork in self._chains[author].forks(author)]

    def path(self, head: RecordId, down_to_seq: int) -> list[Record]:
        """List the records with seq > `down_to_seq` on the way to `head`, ascending.

        `head` must be stored; it is the last of them.
        """
        found = []
        record = self._entries[head].record
        while record.seq > down_to_seq:
            found.append(record)
            if record.prev is None:
                break
            record = self._entries[record.prev].record
        found.reverse()
        return found

    def is_ancestor(self, old: RecordId, new: RecordId) -> bool:
        """Tell whether stored `new` is `old` or follows it on its own branch."""
        older, newer = self._entries.get(old), self._entries.get(new)
        if older is None or newer is None or older.record.author != newer.record.author:
            return False
        seq = older.record.seq
        return seq <= newer.record.seq and newer.branch.at(seq) == old

    def key_of(
        self,
        author: IdentityId,
        statement: Statement,
        revealed: PublicKey | None = None,
        *,
        below: RecordId | None = None,
    ) -> PublicKey | None:
        """Give the key that must have signed a bare statement, for `verify_fork`.

        `revealed` is the key that its body is said to reveal. None if its predecessor is not
        stored, it cannot follow it, or the chain did not commit to the revealed key. With
        `below`, the author's certified head, the predecessor must stand on the way to that head:
        then all nodes of one cut give the same answer.
        """
        before = self._entries.get(statement.prev) if statement.prev else None
        if before is None or before.record.author != author:
            return None
        if statement.seq != before.record.seq + 1:
            return None
        if below is not None and not self.is_ancestor(before.record.id, below):
            return None
        return statement_key(before.keys, statement, revealed)

    # By round and kind ------------------------------------------------------------------------

    def earlier(self, record: Record, kind: str, round_id: RoundId) -> list[Record]:
        """List the author's records of `kind` in a round that stand before `record`, ascending.

        Only on the record's own branch; its predecessor must be stored, itself need not be.
        """
        ids = self._rounds.of_author(record.author, round_id, kind)
        prev = record.prev
        before = [one for one in ids if prev is not None and self.is_ancestor(one, prev)]
        return sorted(self._records(before), key=lambda one: one.seq)

    def by_round(self, round_id: RoundId) -> Mapping[str, list[Record]]:
        """Give all stored records whose body names a round, by kind, each list by id."""
        kinds = self._rounds.of_round(round_id)
        return {kind: self._records(ids) for kind, ids in kinds.items()}

    def by_kind(self, kind: str) -> list[Record]:
        """List all stored records of a kind, by id."""
        return self._records(self._rounds.of_kind(kind))

    def _records(self, ids: Iterable[RecordId]) -> list[Record]:
        return [self._entries[one].record for one in ids]

    # For another node -------------------------------------------------------------------------

    def missing_from(
        self,
        heads: Heads,
        *,
        most: int = 512,
        start: IdentityId = NOBODY,
        within: tuple[IdentityId, IdentityId] = EVERYBODY,
    ) -> list[Record]:
        """List at most `most` records for a node that has `heads`, each after its predecessor.

        Authors are visited in ascending order from `start`, then from the beginning; a caller
        that starts each batch after the last author of the one before lets no author that the
        peer will not store hold up the others. `within` is the range of authors, both ends
        included, that `heads` tells everything about.
        """
        low, high = within
        everybody = self._sorted()
        authors = everybody[bisect_left(everybody, low) : bisect_right(everybody, high)]
        first = bisect_left(authors, start)
        turn = authors[first:] + authors[:first]
        found: list[Record] = []
        for author in turn:
            if len(found) >= most:
                break
            theirs = heads.get(author, ())
            # Most authors have said nothing new since the last time.
            if theirs != self._chains[author].head_list():
                found += self._missing_of(author, theirs, most - len(found))
        return found

    def _missing_of(
        self, author: IdentityId, theirs: tuple[tuple[int, RecordId], ...], most: int
    ) -> list[Record]:
        chain = self._chains[author]
        known = [self._entries[head] for _, head in theirs if head in self._entries]
        unknown = [seq for seq, head in theirs if head not in self._entries]
        # The peer is ahead: it sees my heads, sends what I lack, and then names heads that I
        # know. Of two nodes one has the higher head or both have the same, so after a fork
        # they never both hold back.
        if unknown and max(unknown) >= len(chain.by_seq):
            return []
        held = [(one.record.seq, one.branch) for one in known if one.record.author == author]
        return self._records(chain.unheld(held, most))


def _check_place(record: Record, before: Record) -> None:
    if record.author != before.author or record.seq != before.seq + 1:
        raise PeerError(
            f"{record.kind} {short(record.id)} refused",
            why="the record it names before it is not its author's record one seq below",
            fix="name the author's own last record and the next seq",
            code=Code.BAD_CHAIN,
        )
