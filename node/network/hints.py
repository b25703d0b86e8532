"""Records as hints over gossip: packed, paced, lossy by design.

What the core relays goes into one batch, which is published when it is full or a moment old. No
decision depends on it: urgent records are pushed on streams as well, and reconciliation brings
whatever gossip lost. What comes in is records like from any other peer, credited to whoever
signed the gossip, if that is a member.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

import trio

from federation.core import Code, Digest, InstanceId, PeerError
from node.network.book import PeerBook
from node.network.costs import cost_of
from node.network.gossip import Topic
from node.network.identity import PeerKey
from node.network.link import Intake
from node.network.messages import MOST_RECORDS, Records, frame, read_pushed

ROOM: Final = 60 * 1024
"""Bytes of records in one batch."""
GATHER_S: Final = 0.05
"""How long a batch may gather: at most 20 batches a second."""
MOST_QUEUED: Final = 4_096
MOST_QUEUED_BYTES: Final = 4 * 1024 * 1024


def topic_of(realm: Digest) -> str:
    """Name the topic of a realm."""
    return f"/folkmoot/records/1/{realm.hex()}"


class Hints:
    """The gossip of one instance."""

    def __init__(self) -> None:
        """Start with nothing to say."""
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0
        self._filled = trio.Event()
        self.dropped = 0
        """Records that gave way because too many waited."""

    def put(self, wire: bytes) -> None:
        """Queue a record; the oldest gives way when too many wait.

        One that no batch has room for is left to streams and reconciliation.
        """
        if len(wire) > ROOM:
            return
        self._queue.append(wire)
        self._queued_bytes += len(wire)
        while len(self._queue) > MOST_QUEUED or self._queued_bytes > MOST_QUEUED_BYTES:
            self._take()
            self.dropped += 1
        self._filled.set()

    async def publish(self, topic: Topic) -> None:
        """Publish batches for ever."""
        while True:
            while not self._queue:
                self._filled = trio.Event()
                await self._filled.wait()
            await trio.sleep(GATHER_S)
            await topic.publish(frame(Records(records=self._batch())))

    def _batch(self) -> tuple[bytes, ...]:
        chosen: list[bytes] = []
        size = 0
        while self._queue and len(chosen) < MOST_RECORDS:
            size += len(self._queue[0]) + 5
            if chosen and size > ROOM:
                break
            chosen.append(self._take())
        return tuple(chosen)

    def _take(self) -> bytes:
        wire = self._queue.popleft()
        self._queued_bytes -= len(wire)
        return wire


async def listen(
    topic: Topic,
    *,
    instance_of: Callable[[PeerKey], InstanceId | None],
    intake: Intake,
    book: PeerBook,
) -> None:
    """Take in what others hint at, for ever."""
    async for sender, raw in topic:
        peer = instance_of(sender)
        if peer is None:
            continue
        try:
            message = _read(raw)
        except PeerError as error:
            book.fault(sender, error.code, error.why, cost_of(error.code))
            continue
        await intake.records(message.records, peer, wait=False)


def _read(raw: bytes) -> Records:
    message = read_pushed(raw)
    if isinstance(message, Records):
        return message
    raise PeerError(
        "gossip refused",
        why="it holds no records",
        fix="push packets on streams",
        code=Code.NOT_CANONICAL,
    )
