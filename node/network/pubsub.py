"""GossipSub of libp2p 0.8.1, with the settings that work, and proof against any packet.

    3, 4      garbage keys, raising checks       `GuardedPubsub.push_msg`; there are no validators
    7         numbers repeat after a restart     `GuardedPubsub.__init__`
    8         an old record silences its peer    `continuously_read_stream`
    9-11, 17  settings                           `router`
    12        full queues drop silently          `notify_subscriptions`, `GuardedRouter.dropped`
    13-16     order, bans, ids, signing          no asynchronous checks; `hears`; the defaults
    23        repeated checks, endless caches    `RecentIds`; cheap checks come first

The numbers are those of ADR 23. Beyond its table the library starts a task for each message of a
packet, remembers the time of each delivery and whatever topics a peer invents, and forgets what a
peer subscribed to when the peer calls again before its old connection is known to be dead.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Final

import trio
from libp2p.abc import INetStream
from libp2p.network.stream.exceptions import StreamEOF
from libp2p.peer.id import ID
from libp2p.pubsub.gossipsub import PROTOCOL_ID_V11, GossipSub
from libp2p.pubsub.pb import rpc_pb2
from libp2p.pubsub.pubsub import Pubsub
from libp2p.tools.timed_cache.last_seen_cache import LastSeenCache

from federation.core import Millis
from node.base.clock import SteadyClock
from node.network.budgets import Allowance, Budgets
from node.network.hardening import HardenedHost
from node.network.identity import PeerKey, key_of
from node.network.limits import GOSSIP, HostLimits
from node.network.muxer import BoundedYamux
from node.telemetry import log

_PACKET: Final = 1024 * 1024
"""Bytes of the largest packet, as all implementations have it."""
_MESSAGE: Final = GOSSIP + 1024
"""Bytes of a payload with its signature, ids and topic."""
_TOPIC: Final = 128
_TOPICS_OF_A_PEER: Final = 16
_SUBSCRIPTIONS: Final = 64
_CONTROLS: Final = 64
_IDS: Final = 2_000
_REMEMBERED: Final = 65_536
_REMEMBERED_S: Final = 120
_READERS: Final = 2


class RecentIds(LastSeenCache):
    """Ids of messages seen in the last two minutes; bounded by count, without a thread.

    Fault 23: the library's grows without bound, and a thread sweeps it by the wall clock.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._seen: OrderedDict[bytes, float] = OrderedDict()

    def has(self, key: bytes) -> bool:
        """Tell whether a message was seen."""
        seen_at = self._seen.get(key)
        return seen_at is not None and seen_at + _REMEMBERED_S > trio.current_time()

    def add(self, key: bytes) -> bool:
        """Remember a message; tell whether it is new."""
        new = not self.has(key)
        self._seen[key] = trio.current_time()
        self._seen.move_to_end(key)
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return new

    def length(self) -> int:
        """Count what is remembered."""
        return len(self._seen)

    def stop(self) -> None:
        """Do nothing: there is no thread."""


def router() -> "GuardedRouter":
    """Make the router with settings that were measured; numbers are faults of ADR 23."""
    made = GuardedRouter(
        protocols=[PROTOCOL_ID_V11],  # 17: version 1.2 floods its own queues.
        degree=8,
        degree_low=6,
        degree_high=64,  # 11: above it peers are pruned, barred for 60 s, and isolated.
        heartbeat_interval=1,  # 10: the default is two minutes.
        heartbeat_initial_delay=0.1,
        spam_protection_enabled=False,  # 9: it drops our own publications.
        adaptive_gossip_enabled=False,  # 10: it moves the heartbeat to a minute.
        eclipse_protection_enabled=False,
        do_px=False,
    )
    # The library appends the time of each delivery here and trims it only in adaptive mode.
    made.recent_message_deliveries = defaultdict(_Nothing)
    return made


class GuardedRouter(GossipSub):
    """The router; an error in one heartbeat does not end all of them."""

    dropped = 0
    """Payloads that found a neighbour's queue full (fault 12)."""

    async def heartbeat(self) -> None:
        """Beat for ever."""
        while True:
            try:
                await super().heartbeat()
            except Exception as error:  # noqa: BLE001 # whatever it is, the next beat comes
                log.warning("gossip.heartbeat_failed", error=type(error).__name__)
                await trio.sleep(self.heartbeat_interval)

    def _handle_dropped_rpc(self, peer_id: ID, rpc: rpc_pb2.RPC, reason: str) -> None:
        self.dropped += len(rpc.publish)
        super()._handle_dropped_rpc(peer_id, rpc, reason)


class _Nothing(list[float]):
    def append(self, value: float) -> None:
        """Forget."""
        del value


class GuardedPubsub(Pubsub):
    """Pubsub that survives any packet and checks what is cheap before what is not."""

    def __init__(
        self,
        host: HardenedHost,
        router: GossipSub,
        *,
        limits: HostLimits,
        deliver: Callable[[str, PeerKey, bytes], None],
    ) -> None:
        """Sign and check everything; `deliver` gets each new payload with its signer."""
        super().__init__(
            host,
            router,
            strict_signing=True,  # 16: without it nothing works with other implementations.
            max_subscriptions_per_rpc=_SUBSCRIPTIONS,
            max_subscriptions_per_peer=_TOPICS_OF_A_PEER,
            max_inbound_rpc_size=_PACKET,
        )
        self.seen_messages.stop()
        self.seen_messages = RecentIds()
        # Fault 7: the library starts from the second, so what a restarted node says was seen.
        self.counter = SteadyClock(None).wall() * 1_000_000
        self._limits = limits
        self._deliver = deliver
        self._readers: dict[ID, int] = {}
        self._budgets = Budgets(
            Allowance(
                messages_per_s=limits.gossip_in_per_s,
                messages_at_once=10 * limits.gossip_in_per_s,
                bytes_per_s=limits.gossip_in_bytes_per_s,
                bytes_at_once=10 * limits.gossip_in_bytes_per_s,
            )
        )
        self.hears: Callable[[PeerKey], bool] = lambda _: True
        """Who may take part in gossip at all; must not raise. Others get no packet and none of
        theirs is read. It is asked when a peer connects and again for each of its packets."""
        self.refused = 0
        """Messages that were malformed, unsigned, unwanted or beyond the sender's budget."""

    async def stream_handler(self, stream: INetStream) -> None:
        """Read a neighbour's packets, whatever they hold (fault 2).

        An error ends the stream; the swarm's guard resets it, and the neighbour may open another.
        """
        peer = stream.muxed_conn.peer_id
        if self._readers.get(peer, 0) >= _READERS or not self._is_heard(peer):
            return
        self._readers[peer] = self._readers.get(peer, 0) + 1
        try:
            await self.continuously_read_stream(stream)
        except StreamEOF:
            pass
        except Exception:  # noqa: BLE001 # a peer's bytes make the library raise anything
            self.refused += 1
        finally:
            self._readers[peer] -= 1
            if not self._readers[peer]:
                del self._readers[peer]

    async def continuously_read_stream(self, stream: INetStream) -> None:
        """Handle packets one after the other: the neighbour waits, no task is made for it.

        Fault 8: a neighbour whose clock was set back sends a signed record of its addresses that is
        older than the one before, and the library then ignores all it says. Nobody here reads
        those records, so they are not looked at.
        """
        peer = stream.muxed_conn.peer_id
        buffer = bytearray()
        while True:
            packet = rpc_pb2.RPC()
            packet.ParseFromString(await _read_packet(stream, buffer, self._limits.frame_s))
            if not self._is_heard(peer):
                return
            for message in packet.publish:
                if self._is_subscribed_to_msg(message):
                    await self.push_msg(peer, message)
            if len(packet.subscriptions) <= _SUBSCRIPTIONS:
                for subscription in packet.subscriptions:
                    if len(subscription.topicid) <= _TOPIC and self._affords(peer, 0):
                        self.handle_subscription(peer, subscription)
            control = self._ours(packet.control)
            if control.ByteSize():
                await self.router.handle_rpc(rpc_pb2.RPC(control=control), peer)

    async def _handle_new_peer(self, peer_id: ID) -> None:
        # Whoever is in the library's list of peers is sent what is said.
        if self._is_heard(peer_id):
            await super()._handle_new_peer(peer_id)

    def _is_heard(self, peer: ID) -> bool:
        key = key_of(peer.to_bytes())
        return key is not None and self.hears(key)

    async def push_msg(self, msg_forwarder: ID, msg: rpc_pb2.Message) -> None:
        """Take a message in, if it is ours to take; never raises (faults 3, 4)."""
        signer = key_of(msg.from_id)
        own = msg_forwarder == self.my_id
        wanted = (
            signer is not None  # 3: only keys that stand in their id; the others are parsed badly.
            and len(msg.topicIDs) == 1
            and msg.ByteSize() <= _MESSAGE
            and (own or self._affords(msg_forwarder, msg.ByteSize()))
            and (own or (msg.from_id != self.my_id.to_bytes() and self.hears(signer)))
        )
        if not wanted:
            self.refused += 1
            return
        try:
            await super().push_msg(msg_forwarder, msg)
        except Exception:  # noqa: BLE001 # as above
            self.refused += 1

    async def validate_msg(self, msg_forwarder: ID, msg: rpc_pb2.Message) -> None:
        """Accept: there are no validators (4, 13), and the library's cache of them is slow."""
        del msg_forwarder, msg

    async def write_msg(self, stream: INetStream, rpc_msg: rpc_pb2.RPC) -> bool:
        """Write a packet to a neighbour; one that does not read loses the stream."""
        written = False
        with trio.move_on_after(self._limits.frame_s) as bound:
            written = await super().write_msg(stream, rpc_msg)
        if bound.cancelled_caught:
            await stream.reset()
            self._handle_dead_peer(stream.muxed_conn.peer_id)
        return written

    def notify_subscriptions(self, publish_message: rpc_pb2.Message) -> None:
        """Hand a new message over at once: the library's channel of 32 drops silently (12)."""
        signer = key_of(publish_message.from_id)
        if signer is not None and publish_message.from_id != self.my_id.to_bytes():
            self._deliver(publish_message.topicIDs[0], signer, publish_message.data)

    async def handle_dead_peer_queue(self) -> None:
        """Let go of peers whose connection ended, also if another one is up already.

        The library leaves the dead stream in place then, and the peer hears nothing.
        """
        async with self.dead_peer_receive_channel as ended:
            self.event_handle_dead_peer_queue_started.set()
            async for peer in ended:
                stream = self.peers.get(peer)
                stale = stream is not None and _is_closed(stream)
                if stale or not self._peer_is_connected(peer):
                    self._handle_dead_peer(peer)

    def _handle_dead_peer(self, peer_id: ID) -> None:
        topics = [topic for topic, peers in self.peer_topics.items() if peer_id in peers]
        super()._handle_dead_peer(peer_id)
        if self._peer_is_connected(peer_id):
            # It has told us so on its newer connection, and will not say it again.
            for topic in topics:
                self.peer_topics.setdefault(topic, set()).add(peer_id)
            self._peer_subscription_count[peer_id] = len(topics)

    def _affords(self, peer: ID, size: int) -> bool:
        return self._budgets.spend(peer.to_bytes(), size, _now())

    def _ours(self, control: rpc_pb2.ControlMessage) -> rpc_pb2.ControlMessage:
        """Keep what concerns our topics: the library remembers whatever topic a peer invents."""
        kept = rpc_pb2.ControlMessage()
        parts = (control.ihave, control.iwant, control.graft, control.prune)
        named = sum(len(one.messageIDs) for one in control.ihave) + sum(
            len(one.messageIDs) for one in control.iwant
        )
        if sum(len(part) for part in parts) > _CONTROLS or named > _IDS:
            return kept
        kept.ihave.extend(one for one in control.ihave if one.topicID in self.topic_ids)
        kept.graft.extend(one for one in control.graft if one.topicID in self.topic_ids)
        for one in control.prune:
            if one.topicID in self.topic_ids:
                # Without the peers it suggests: we dial whom the operator named.
                kept.prune.add(topicID=one.topicID, backoff=one.backoff)
        kept.iwant.extend(control.iwant)
        return kept


async def _read_packet(stream: INetStream, buffer: bytearray, within: float) -> bytes:
    """Read one packet: a varint length and so many bytes, in `within` seconds once it began."""
    if not buffer:
        buffer += await stream.read(_MESSAGE)
    with trio.fail_after(within):
        while True:
            size, start = _varint(buffer)
            if size > _PACKET:
                raise ValueError("packet too large")
            if start and len(buffer) >= start + size:
                packet = bytes(buffer[start : start + size])
                del buffer[: start + size]
                return packet
            buffer += await stream.read(_MESSAGE)


def _varint(buffer: bytearray) -> tuple[int, int]:
    """Read a varint at the front: its value, and where it ends; (0, 0) while it is incomplete."""
    value = 0
    for place, byte in enumerate(buffer[:4]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:  # noqa: PLR2004 # the top bit says that another byte follows
            return value, place + 1
    if len(buffer) >= 4:  # noqa: PLR2004 # four bytes hold more than the largest packet
        raise ValueError("length too large")
    return 0, 0


def _is_closed(stream: INetStream) -> bool:
    muxed = stream.muxed_conn
    return isinstance(muxed, BoundedYamux) and muxed.is_closed


def _now() -> Millis:
    return int(trio.current_time() * 1_000)
