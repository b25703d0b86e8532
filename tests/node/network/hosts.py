"""Hosts on loopback, honest and evil, for the tests of the network.

All run in the test's own trio loop: what would end a node ends `open_host` there, and the test
fails. A host is evil when the test writes to its sockets and streams below our framing.
"""

import struct
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import trio
from libp2p.abc import INetStream
from libp2p.custom_types import TProtocol
from libp2p.pubsub.gossipsub import PROTOCOL_ID_V11
from libp2p.pubsub.pb import rpc_pb2
from libp2p.stream_muxer.yamux import yamux

from node.base.errors import NetworkError, NodeCode
from node.network.faults import StreamEnded
from node.network.gossip import Topic
from node.network.host import Host, open_host
from node.network.identity import PeerKey, id_of
from node.network.limits import FRAME, HostLimits
from node.network.muxer import BoundedYamux
from node.network.streams import Stream, Tap

ECHO = "/test/echo/1"
HOLD = "/test/hold/1"
TOPIC = "/test/topic"
LOOPBACK = ("/ip4/127.0.0.1/tcp/0",)
WITHIN = 60.0
"""Seconds for anything that happens at once on an idle machine; tests may share one with others."""

DATA, WINDOW, PING, AWAY = range(4)
SYN, ACK, FIN, RST = 1, 2, 4, 8


def seed(number: int) -> bytes:
    return struct.pack(">I", number) * 8


async def echo(stream: Stream) -> None:
    """Send back what comes."""
    try:
        while True:
            await stream.send(await stream.receive(deadline_s=60))
    except StreamEnded:
        pass


async def hold(stream: Stream) -> None:
    """Read nothing, for ever."""
    del stream
    await trio.sleep_forever()


@asynccontextmanager
async def host(
    number: int,
    *,
    limits: HostLimits | None = None,
    tap: Tap | None = None,
    listen: tuple[str, ...] = LOOPBACK,
) -> AsyncIterator[Host]:
    """Open a host that echoes and holds streams."""
    async with open_host(seed(number), listen=listen, limits=limits, tap=tap) as opened:
        opened.serve(ECHO, echo)
        opened.serve(HOLD, hold)
        yield opened


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A victim and an evil host that is connected with it."""

    victim: Host
    evil: Host
    topic: Topic
    """The victim's topic."""

    async def still_lives(self) -> None:
        """Fail unless somebody honest can talk with the victim on a new connection."""
        async with host(99) as honest:
            await reach(honest, self.victim)

    async def is_cut_off(self) -> None:
        """Wait until the evil host has lost its connection."""
        while self.victim.key in (now := self.evil.connected()):
            await self.evil.changed(now)

    async def is_heard(self) -> None:
        """Fail unless the victim answers the evil host on the connection that is there."""
        assert await ask(self.evil, self.victim.key, b"still there") == b"still there"


@asynccontextmanager
async def scene(limits: HostLimits | None = None) -> AsyncIterator[Scene]:
    """Open a victim, and an evil host connected with it."""
    with trio.fail_after(2 * WITHIN):
        async with host(1, limits=limits) as victim, host(2) as evil:
            topic = await victim.join(TOPIC)
            await evil.connect(victim.addresses[0])
            yield Scene(victim=victim, evil=evil, topic=topic)


@asynccontextmanager
async def crowd(count: int, limits: HostLimits | None = None) -> AsyncIterator[list[Host]]:
    """Open so many honest hosts."""
    with trio.fail_after(2 * WITHIN):
        async with AsyncExitStack() as stack:
            yield [
                await stack.enter_async_context(host(number + 1, limits=limits))
                for number in range(count)
            ]


async def ask(asker: Host, peer: PeerKey, frame: bytes) -> bytes:
    """Open a stream, say one frame, and give what comes back."""
    stream = await asker.open(peer, ECHO)
    try:
        await stream.send(frame)
        return await stream.receive(deadline_s=WITHIN)
    finally:
        await stream.close()


async def reach(honest: Host, victim: Host) -> None:
    """Talk with a host, on a new connection; it may be busy or out of places for a moment."""
    while True:
        try:
            await honest.connect(victim.addresses[0])
            assert await ask(honest, victim.key, b"alive") == b"alive"
        except NetworkError:
            await trio.sleep(0.05)
        else:
            return


async def until(holds: Callable[[], bool]) -> None:
    """Let the other tasks run until something holds; where there is no event to wait for."""
    with trio.fail_after(WITHIN):
        while not holds():  # noqa: ASYNC110 # the library gives no event
            await trio.sleep(0.005)


def muxer(one: Host, peer: PeerKey) -> BoundedYamux:
    """Reach below a host: its connection with a peer."""
    found = one._swarm.get_connections(id_of(peer))[0].muxed_conn
    assert isinstance(found, BoundedYamux)
    return found


async def write_frames(one: Host, peer: PeerKey, *frames: bytes) -> None:
    """Write frames of Yamux as they are; the peer may hang up meanwhile."""
    connection = muxer(one, peer)
    for frame in frames:
        async with connection._write_lock:
            try:
                await connection.secured_conn.write(frame)
            except Exception:  # noqa: BLE001 # the victim has hung up, which the test looks at
                return


def frame(
    kind: int, flags: int, number: int, length: int, body: bytes = b"", *, version: int = 0
) -> bytes:
    return struct.pack(yamux.YAMUX_HEADER_FORMAT, version, kind, flags, number, length) + body


async def raw_stream(one: Host, peer: PeerKey, protocol: str) -> INetStream:
    """Open a stream of libp2p, without our framing."""
    return await one._host.new_stream(id_of(peer), [TProtocol(protocol)])


async def gossip_stream(one: Host, peer: PeerKey) -> INetStream:
    return await raw_stream(one, peer, PROTOCOL_ID_V11)


def packet(content: bytes) -> bytes:
    """Put a length before a packet of gossip."""
    length, size = b"", len(content)
    while size >= 0x80:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return length + bytes([size]) + content


def signed(
    one: Host,
    data: bytes,
    *,
    number: int = 1,
    signer: bytes | None = None,
    key: bytes | None = None,
    topics: tuple[str, ...] = (TOPIC,),
    signature: bytes | None = None,
) -> rpc_pb2.Message:
    """Make a gossip message by hand."""
    message = rpc_pb2.Message(
        data=data,
        topicIDs=topics,
        from_id=one._host.get_id().to_bytes() if signer is None else signer,
        seqno=number.to_bytes(8, "big"),
    )
    content = b"libp2p-pubsub:" + message.SerializeToString()
    message.signature = (
        one._host.get_private_key().sign(content) if signature is None else signature
    )
    if key is not None:
        message.key = key
    return message


def published(*messages: rpc_pb2.Message) -> bytes:
    return packet(rpc_pb2.RPC(publish=messages).SerializeToString())


async def hears(topic: Topic, data: bytes) -> None:
    """Wait for a payload."""
    async for _, heard in topic:
        if heard == data:
            return


async def fill(stream: Stream) -> None:
    """Send until it fails."""
    while True:
        await stream.send(bytes(FRAME))


def code_of(error: BaseException) -> NodeCode:
    assert isinstance(error, NetworkError)
    return error.code
