"""Find where a peer's certified world differs from ours: roots, then buckets, then rows.

Two nodes at one cut hold the same tables, by construction. Where they do not, this walk brings the
rows that differ, over the live conversation with the peer. Nothing that the peer says is believed:
its roots must amount to the digest that it claims, its bucket hashes to the root, its rows to the
hash of their bucket. At different cuts the tables differ rightly, so the two compare what they hold
of the older cut, and go down to the rows only if that differs.

What is read of a peer is bounded in rows and bytes. What became of it is told as it is:
`node.queries.differences` explains it.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from federation.codec import decode_plain
from federation.core import Digest, PeerError
from federation.crypto import plain_hash
from federation.protocol import World
from federation.protocol.digest import BUCKETS, Table, TableName, bucket_of, digest_of
from node.network.faults import busy
from node.network.messages import (
    MOST_BUCKETS,
    AskBuckets,
    AskRows,
    AskWorld,
    Buckets,
    Elsewhere,
    Finding,
    Former,
    Inquiry,
    Rows,
    WorldAt,
)
from node.network.serving import FormerAt, world_at

MOST_SHOWN: Final = 256
"""Differing rows after which the walk ends."""
MOST_READ: Final = 8 * 1024 * 1024
"""Bytes of rows that one walk reads of a peer."""
TRIES: Final = 4
"""Walks that are begun, before it is said that the two do not stand still for long enough."""
_HASH: Final = 32

Ask: TypeAlias = Callable[[Inquiry], Awaitable[Finding]]
"""Asks the peer, and gives its answer, which is of the right kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPair:
    """A row that the two hold differently."""

    table: TableName
    id: bytes
    ours: bytes | None
    """As it is hashed; None if there is none here."""
    theirs: bytes | None
    """Verified against the digest that the peer claims; None if it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What the two say of a cut that both have come past or stand at."""

    cut: int
    ours: Former
    theirs: Former

    @property
    def is_equal(self) -> bool:
        """Tell whether cut and world were the same for both."""
        return self.ours == self.theirs


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What one comparison with a peer has found."""

    ours: WorldAt
    theirs: WorldAt
    common: Common | None
    """At one cut it is that one; None if either does not hold the digests of the older cut."""
    buckets: Mapping[TableName, int] = field(default_factory=dict)
    """How many buckets of each table differ; only of tables that do."""
    rows: tuple[RowPair, ...] = ()
    unread: int = 0
    """Buckets that differ and were not looked into: what was found before is enough."""
    omitted: int = 0
    """Rows that were found to differ beyond those in `rows`."""
    deceit: str = ""
    """How what the peer sent contradicts the digest that it claims; empty if it does not."""

    @property
    def is_level(self) -> bool:
        """Tell whether both stand at one cut."""
        return self.ours.cut == self.theirs.cut

    @property
    def is_same(self) -> bool:
        """Tell whether nothing is to be explained."""
        return not self.deceit and self.common is not None and self.common.is_equal


async def compare(
    world: Callable[[], World], ask: Ask, *, former: FormerAt, version: str
) -> Difference:
    """Compare our world with a peer's; `former` gives what a cut of ours amounted to.

    Raises NetworkError: what `ask` raises, and BUSY if cuts follow each other too quickly.
    """
    for _ in range(TRIES):
        try:
            return await _compare(world, ask, former=former, version=version)
        except _MovedError:
            continue
    raise busy(
        "not compared",
        why=f"a new cut came in the middle, {TRIES} times in a row",
    )


class _MovedError(Exception):
    """One of the two has gone on to another cut: begin anew."""


class _DeceitError(Exception):
    """What the peer sent does not fit together; the text says how."""


async def _compare(
    world: Callable[[], World], ask: Ask, *, former: FormerAt, version: str
) -> Difference:
    asked = world_at(world(), version)
    theirs = await ask(AskWorld(cut=asked.cut))
    assert isinstance(theirs, WorldAt)  # noqa: S101 # who asks has checked it
    # A cut may have come meanwhile, perhaps the one that the peer is at already. What the peer tells
    # of a former cut is of the one that was named, so only then may the newer world take its place.
    now = world_at(world(), version)
    ours = now if asked.cut < theirs.cut <= now.cut else asked
    found = Difference(ours=ours, theirs=theirs, common=await _common(ours, theirs, former))
    claimed = digest_of(
        theirs.cut, theirs.charter_hash, theirs.beacon, theirs.joining, roots_of(theirs)
    )
    if claimed != theirs.world_digest:
        return replace(found, deceit="its five tables do not amount to its world digest")
    if found.common is None or found.common.is_equal:
        return found
    return await _Walk(world, ask, found).run()


def roots_of(world: WorldAt) -> dict[TableName, Digest]:
    """Give the roots of a world's tables."""
    return {name: getattr(world, name.value) for name in TableName}


async def _common(ours: WorldAt, theirs: WorldAt, former: FormerAt) -> Common | None:
    """Find what both hold of the older of the two cuts."""
    cut = min(ours.cut, theirs.cut)
    one = _at(ours) if ours.cut == cut else await former(cut)
    two = _at(theirs) if theirs.cut == cut else theirs.former
    return None if one is None or two is None else Common(cut=cut, ours=one, theirs=two)


def _at(world: WorldAt) -> Former:
    return Former(digest=world.digest, world_digest=world.world_digest)


class _Walk:
    """One way down, from roots that differ."""

    def __init__(self, world: Callable[[], World], ask: Ask, found: Difference) -> None:
        self._world = world
        self._put = ask
        self._found = found
        self._buckets: dict[TableName, int] = {}
        self._pairs: list[RowPair] = []
        self._unread = 0
        self._read = 0

    async def run(self) -> Difference:
        deceit = ""
        try:
            mine, other = roots_of(self._found.ours), roots_of(self._found.theirs)
            for name in TableName:
                if mine[name] != other[name]:
                    await self._table(name, other[name])
        except _DeceitError as error:
            deceit = str(error)
        return replace(
            self._found,
            buckets=self._buckets,
            rows=tuple(self._pairs[:MOST_SHOWN]),
            unread=self._unread,
            omitted=max(len(self._pairs) - MOST_SHOWN, 0),
            deceit=deceit,
        )

    def _ours(self, name: TableName) -> Table:
        """Give a table of ours, as long as it is the one of this walk."""
        state = self._world().state
        if state.cut != self._found.ours.cut:
            raise _MovedError
        return state.tables.named(name)

    async def _ask(self, inquiry: Inquiry) -> Finding:
        answer = await self._put(inquiry)
        if isinstance(answer, Elsewhere):
            raise _MovedError
        return answer

    async def _table(self, name: TableName, root: Digest) -> None:
        answer = await self._ask(AskBuckets(cut=self._found.theirs.cut, table=name))
        assert isinstance(answer, Buckets)  # noqa: S101 # who asks has checked it
        if plain_hash(answer.hashes) != root:
            raise _DeceitError(f"the bucket hashes of its {name} do not amount to the table's root")
        mine = self._ours(name).hashes()
        differing = {
            number: theirs
            for number, (ours, theirs) in enumerate(
                zip(_split(mine), _split(answer.hashes), strict=True)
            )
            if ours != theirs
        }
        self._buckets[name] = len(differing)
        numbers = sorted(differing)
        for start in range(0, len(numbers), MOST_BUCKETS):
            group = numbers[start : start + MOST_BUCKETS]
            read = await self._group(name, {number: differing[number] for number in group})
            if read < len(group):
                self._unread += len(numbers) - start - read
                return

    async def _group(self, name: TableName, hashes: Mapping[int, Digest]) -> int:
        """Read buckets of the peer in turn; give how many, fewer than all if it is enough."""
        waiting = sorted(hashes)
        rows: dict[int, dict[bytes, bytes]] = {number: {} for number in waiting}
        after: bytes | None = None
        while not self._is_enough():
            question = AskRows(
                cut=self._found.theirs.cut, table=name, buckets=tuple(sorted(hashes)), after=after
            )
            answer = await self._ask(question)
            assert isinstance(answer, Rows)  # noqa: S101 # who asks has checked it
            if answer.more and not answer.rows:
                raise _DeceitError(f"it says that more rows of its {name} follow, and sends none")
            for raw in answer.rows:
                row_id = _id_of(raw, name)
                bucket = rows.get(bucket_of(row_id))
                if bucket is None or (after is not None and row_id <= after):
                    raise _DeceitError(f"it sends rows of its {name} that it was not asked for")
                after = row_id
                bucket[row_id] = raw
                self._read += len(raw)
            # The last bucket that was begun is whole only when nothing follows.
            open_at = BUCKETS if not answer.more or after is None else bucket_of(after)
            while waiting and waiting[0] < open_at and len(self._pairs) < MOST_SHOWN:
                number = waiting.pop(0)
                self._bucket(name, number, rows.pop(number), hashes[number])
            if not answer.more:
                break
        return len(hashes) - len(waiting)

    def _is_enough(self) -> bool:
        return len(self._pairs) >= MOST_SHOWN or self._read >= MOST_READ

    def _bucket(
        self, name: TableName, number: int, rows: Mapping[bytes, bytes], claimed: Digest
    ) -> None:
        """Verify the rows of one bucket of the peer, and note those that differ."""
        if plain_hash(b"".join(rows.values())) != claimed:
            raise _DeceitError(f"rows of its {name} do not amount to the digest that it claims")
        mine = self._ours(name).bucket(number)
        for row_id in sorted({*mine, *rows}):
            if mine.get(row_id) != rows.get(row_id):
                self._pairs.append(
                    RowPair(table=name, id=row_id, ours=mine.get(row_id), theirs=rows.get(row_id))
                )


def _split(hashes: bytes) -> Iterator[Digest]:
    return (hashes[start : start + _HASH] for start in range(0, len(hashes), _HASH))


def _id_of(raw: bytes, name: TableName) -> bytes:
    """Read the id that a row begins with."""
    try:
        plain = decode_plain(raw, what="row")
    except PeerError as error:
        raise _DeceitError(f"it sends rows of its {name} that are none") from error
    match plain:
        case [bytes() as row_id, _] if len(row_id) == _HASH:
            return row_id
    raise _DeceitError(f"it sends rows of its {name} that are none")
