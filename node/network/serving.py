"""What this instance answers a peer on its sync stream.

Nothing leaves that is not durable here: an answer is read from the world and sent once the disk
has caught up with it. Otherwise a killed instance would sign a second record for a place that its
peers have already seen filled. Answers are bounded by frames and by the peer's budget.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final, TypeAlias, assert_never

from msgspec import structs

from federation.core import Code, IdentityId, PeerError, RecordId
from federation.protocol import World
from federation.protocol.digest import Table, bucket_of
from federation.protocol.rows import joining_digest, world_digest
from federation.records import Record, wire
from federation.replication import Log, read_heads_page
from node.network.heads import HeadsCache
from node.network.messages import (
    MOST_RECORDS,
    MOST_ROWS,
    ROOM,
    Answer,
    AskBuckets,
    AskRows,
    AskWorld,
    BlobPart,
    Buckets,
    Compare,
    Elsewhere,
    Former,
    Lack,
    Meet,
    Meeting,
    Question,
    Records,
    Rows,
    Same,
    Want,
    WantBlob,
    WorldAt,
)

DEPTH: Final = 32
"""Predecessors that are sent along with a record that was asked for by id."""
MOST_SENT: Final = 1_024
"""Records in the answer to one `Want`."""
MOST_BYTES: Final = 2 * 1024 * 1024
"""Bytes in that answer, before the last record: it stays in memory until the peer has read it."""

FormerAt: TypeAlias = Callable[[int], Awaitable[Former | None]]
"""Gives what a cut of the past amounted to; None if that is not held."""


async def no_former(cut: int) -> None:
    """Remember no cut of the past."""
    del cut


class Serving:
    """Answers questions from one world."""

    def __init__(
        self,
        world: Callable[[], World],
        heads: HeadsCache,
        flushed: Callable[[], Awaitable[None]],
        *,
        former: FormerAt = no_former,
        version: str = "unknown",
    ) -> None:
        """`flushed` returns once everything that the world holds now is durable.

        `version` is what peers are told of the program.
        """
        self._world = world
        self._heads = heads
        self._flushed = flushed
        self._former = former
        self._version = version

    async def answer(self, question: Question, peer: IdentityId) -> list[Answer]:
        """Answer a question of an instance; raises PeerError for one that is malformed."""
        found = self._read(question, peer)
        await self._flushed()
        match question, found:
            case AskWorld(cut=cut), [WorldAt() as told] if cut < told.cut:
                return [structs.replace(told, former=await self._former(cut))]
        return found

    def _read(self, question: Question, peer: IdentityId) -> list[Answer]:
        world = self._world()
        match question:
            case Compare(digest=digest):
                return [Same(same=digest == self._heads.digest(world.log))]
            case Lack(page=raw, start=start, seen=seen):
                return [_lacking(world.log, raw, start, seen)]
            case Want(records=names):
                return list(_wanted(world, names))
            case WantBlob(blob=name):
                return list(_parts(world.blobs.get(name) or b""))
            case Meet():
                heard = world.heard.get(peer)
                last = None if heard is None else (heard.raw, heard.signature)
                return [Meeting(cut=world.state.cut, seen=last)]
            case AskWorld():
                return [world_at(world, self._version)]
            case AskBuckets(cut=cut) | AskRows(cut=cut) if cut != world.state.cut:
                return [Elsewhere(cut=world.state.cut)]
            case AskBuckets(table=name):
                return [Buckets(hashes=world.state.tables.named(name).hashes())]
            case AskRows(table=name):
                return [_rows(world.state.tables.named(name), question)]
            case _:
                assert_never(question)


def world_at(world: World, version: str) -> WorldAt:
    """Tell what a world's newest cut amounts to, and from what; of none before.

    The digest is that of the tables as they stand, so that damage since the cut is found too.
    """
    state = world.state
    return WorldAt(
        cut=state.cut,
        digest=state.digest,
        world_digest=world_digest(state),
        charter_hash=state.charter_hash,
        beacon=state.beacon,
        joining=joining_digest(state),
        **{name.value: root for name, root in state.tables.roots().items()},
        version=version,
        former=None,
    )


def _rows(table: Table, question: AskRows) -> Rows:
    """Give rows of the buckets asked for, until the frame is full."""
    buckets, after = question.buckets, question.after
    if any(low >= high for low, high in pairwise(buckets)):
        raise PeerError(
            "question refused",
            why="its buckets do not ascend",
            fix="name each bucket once, in order",
            code=Code.NOT_CANONICAL,
        )
    found: list[bytes] = []
    size = 0
    for number in buckets:
        if after is not None and number < bucket_of(after):
            continue
        for name, row in table.bucket(number).items():
            if after is not None and name <= after:
                continue
            size += len(row) + 5
            if found and (size > ROOM or len(found) == MOST_ROWS):
                return Rows(rows=tuple(found), more=True)
            found.append(row)
    return Rows(rows=tuple(found), more=False)


def _lacking(log: Log, raw: bytes, start: IdentityId, seen: int) -> Records:
    page = read_heads_page(raw)
    low = max(page.low, start)
    if low > page.high:
        return Records(records=())
    heads = page.heads
    if seen:
        # After a fork neither side knows the other's heads, so all of the chain is missing; what
        # it has been sent of it counts as held, else no answer would ever reach the split.
        passed = [(seen - 1, one) for one in log.ids_at(start, seen - 1)]
        passed += [head for head in log.heads_of(start) if head[0] < seen]
        heads = {**heads, start: (*heads.get(start, ()), *passed)}
    found = log.missing_from(heads, most=MOST_RECORDS, within=(low, page.high))
    fitting = _fitting(found)
    if not fitting or (len(fitting) == len(found) < MOST_RECORDS):
        return Records(records=tuple(fitting))
    last = found[len(fitting) - 1]
    is_whole = log.ids_at(last.author, last.seq)[-1] == last.id
    return Records(
        records=tuple(fitting), resume=last.author, reached=last.seq + 1 if is_whole else last.seq
    )


def _fitting(records: Sequence[Record]) -> list[bytes]:
    chosen: list[bytes] = []
    size = 0
    for record in records:
        raw = wire(record)
        size += len(raw) + 5
        if chosen and size > ROOM:
            break
        chosen.append(raw)
    return chosen


def _wanted(world: World, names: Sequence[RecordId]) -> Iterator[Records]:
    """Give frames of the records asked for, each record after those before it."""
    found: dict[RecordId, Record] = {}
    size = 0
    for name in dict.fromkeys(names):
        record = world.log.get(name)
        if record is None or name in found:
            continue
        for one in world.log.path(name, record.seq - DEPTH - 1):
            if one.id not in found:
                found[one.id] = one
                size += len(one.body_raw) + len(one.text_raw or b"")
        if len(found) >= MOST_SENT or size >= MOST_BYTES:
            # The asker misses the rest, and asks again.
            break
    left = list(found.values())
    while True:
        frame = _fitting(left[:MOST_RECORDS])
        left = left[len(frame) :]
        yield Records(records=tuple(frame), more=bool(left))
        if not left:
            return


def _parts(content: bytes) -> Iterator[BlobPart]:
    for start in range(0, max(len(content), 1), ROOM):
        part = content[start : start + ROOM]
        yield BlobPart(more=start + ROOM < len(content), content=part)
