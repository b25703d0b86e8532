"""What this instance answers a peer on its sync stream.

Nothing leaves that is not durable here: an answer is read from the world and sent once the disk
has caught up with it. Otherwise a killed instance would sign a second record for a place that its
peers have already seen filled. Answers are bounded by frames and by the peer's budget.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final, assert_never

from federation.core import IdentityId, RecordId
from federation.protocol import World
from federation.records import Record, wire
from federation.replication import Log, read_heads_page
from node.network.heads import HeadsCache
from node.network.messages import (
    MOST_RECORDS,
    ROOM,
    Answer,
    BlobPart,
    Compare,
    Lack,
    Meet,
    Meeting,
    Question,
    Records,
    Same,
    Want,
    WantBlob,
)

DEPTH: Final = 32
"""Predecessors that are sent along with a record that was asked for by id."""
MOST_SENT: Final = 1_024
"""Records in the answer to one `Want`."""
MOST_BYTES: Final = 2 * 1024 * 1024
"""Bytes in that answer, before the last record: it stays in memory until the peer has read it."""


class Serving:
    """Answers questions from one world."""

    def __init__(
        self, world: Callable[[], World], heads: HeadsCache, flushed: Callable[[], Awaitable[None]]
    ) -> None:
        """`flushed` returns once everything that the world holds now is durable."""
        self._world = world
        self._heads = heads
        self._flushed = flushed

    async def answer(self, question: Question, peer: IdentityId) -> list[Answer]:
        """Answer a question of an instance; raises PeerError for a page that is malformed."""
        found = self._read(question, peer)
        await self._flushed()
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
            case _:
                assert_never(question)


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
