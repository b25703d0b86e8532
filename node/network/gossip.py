"""Gossip: a fast hint to everybody on a topic, lossy by design.

No decision may depend on gossip; what must arrive goes over streams. Around GossipSub (`pubsub`)
stands what it lacks: our own publications are paced, because its queue of 32 drops silently (fault
12 of ADR 23); what arrives goes at once into a bounded queue of ours. What is lost on the way is
counted, and the operator sees it (`GET /v1/peers`).
Payloads have up to 64 KiB: batch, for a message costs its milliseconds whatever its size. The same
payload may come twice; whoever reads dedupes.
Design: federation, "Moving records".
"""

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import trio
from libp2p.tools.anyio_service import background_trio_service

from federation.core import Millis
from node.base.errors import NodeCode
from node.network.budgets import TokenBucket
from node.network.faults import network_error
from node.network.hardening import HardenedHost
from node.network.identity import PeerKey
from node.network.limits import GOSSIP, HostLimits
from node.network.pubsub import GuardedPubsub, router
from node.network.streams import Tap

_BURST: Final = 10


class Topic:
    """What everybody says on one topic: `async for sender, data in topic`."""

    def __init__(self, name: str, gossip: "Gossip", room: int) -> None:
        """Made by `Host.join`."""
        self.name = name
        self.dropped = 0
        """Payloads that were dropped because nobody read them in time: the oldest ones."""
        self._gossip = gossip
        self._room = room
        self._waiting: deque[tuple[PeerKey, bytes]] = deque()
        self._readers = trio.lowlevel.ParkingLot()

    async def publish(self, data: bytes) -> bool:
        """Say something of at most 64 KiB; False if too much waits already.

        Waits for its turn: at most `gossip_per_s`. Raises NetworkError FRAME_TOO_LARGE.
        """
        return await self._gossip.publish(self.name, data)

    def __aiter__(self) -> AsyncIterator[tuple[PeerKey, bytes]]:
        """Read what others say, each with the key that signed it."""
        return self

    async def __anext__(self) -> tuple[PeerKey, bytes]:
        """Wait for the next payload."""
        while not self._waiting:
            await self._readers.park()
        return self._waiting.popleft()

    def deliver(self, sender: PeerKey, data: bytes) -> None:
        """Queue a payload for the reader; never waits."""
        if len(self._waiting) >= self._room:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append((sender, data))
        self._readers.unpark()


class Gossip:
    """The gossip of one host: its topics and the pace of its own voice."""

    def __init__(
        self,
        host: HardenedHost,
        *,
        key: PeerKey,
        limits: HostLimits,
        tap: Tap | None,
    ) -> None:
        """Attach to a host before it runs."""
        self._key = key
        self._limits = limits
        self._tap = tap
        self._topics: dict[str, Topic] = {}
        self.router = router()
        self.pubsub = GuardedPubsub(host, self.router, limits=limits, deliver=self._deliver)
        self._pace = TokenBucket(rate=limits.gossip_per_s, burst=_BURST)
        self._turn = trio.Lock()
        self._queueing = 0

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Gossip while the block runs."""
        async with background_trio_service(self.pubsub), background_trio_service(self.router):
            await self.pubsub.wait_until_ready()
            yield

    async def join(self, name: str) -> Topic:
        """Take part in a topic; joining twice gives the same."""
        topic = self._topics.get(name)
        if topic is None:
            topic = self._topics[name] = Topic(name, self, self._limits.gossip_queue)
            await self.pubsub.subscribe(name)
        return topic

    async def publish(self, name: str, data: bytes) -> bool:
        """Publish when the pace allows it; see `Topic.publish`."""
        if len(data) > GOSSIP:
            raise network_error("gossip not published", NodeCode.FRAME_TOO_LARGE)
        if self._queueing >= self._limits.gossip_waiting:
            return False
        self._queueing += 1
        try:
            async with self._turn:
                await trio.sleep(self._pace.wait_ms(1, _now()) / 1_000)
                self._pace.take(1, _now())
                await self.pubsub.publish(name, data)
        finally:
            self._queueing -= 1
        if self._tap is not None:
            self._tap("out", self._key, name, data)
        return True

    def _deliver(self, name: str, sender: PeerKey, data: bytes) -> None:
        if self._tap is not None:
            self._tap("in", sender, name, data)
        topic = self._topics.get(name)
        if topic is not None:
            topic.deliver(sender, data)


def _now() -> Millis:
    return int(trio.current_time() * 1_000)
