"""The host: one instance on the network, known by its key.

`open_host` binds, listens, and gives a `Host`; when its block ends, connections, sockets and tasks
are gone. What peers do never ends it; what libp2p raises never leaves it: callers see NetworkError
and PeerFault. Anybody with a key of the right kind may connect, so that it can be told why it is
refused: who is heard is decided above, by hello, `Links` (which also ends the conversations of
whoever is banned) and what gossip asks (`GuardedPubsub.hears`).
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final, TypeAlias

import trio
from libp2p.abc import INetConn, INetStream, INetwork, INotifee
from libp2p.custom_types import TProtocol
from libp2p.network.connection.swarm_connection import SwarmConn
from libp2p.peer.id import ID
from libp2p.peer.peerstore import PeerStoreError
from libp2p.protocol_muxer.exceptions import MultiselectClientError
from libp2p.rcmgr import Direction
from libp2p.security.noise.exceptions import PeerIDMismatchesPubkey
from libp2p.utils.multiaddr_utils import multiaddr_from_socket
from multiaddr import Multiaddr  # type: ignore[import-untyped] # it ships no types

from federation.core import Seed
from node.base.errors import NetworkError, NodeCode
from node.network import hardening
from node.network.faults import causes, network_error, translated
from node.network.gossip import Gossip, Topic
from node.network.hardening import HardenedHost, HardenedSwarm
from node.network.identity import PeerKey, id_of, key_of, peer_id_of, read_address
from node.network.limits import HostLimits
from node.network.listener import BoundTCP, Places, bind
from node.network.muxer import BoundedYamux
from node.network.streams import Stream, Tap
from node.telemetry import log

__all__ = ["Handler", "Host", "Tap", "open_host"]

_CLOSING_S: Final = 1.5
"""Of the whole host. A farewell takes half a second, so this is long for a busy machine, and short
enough for a node that has 5 s to end; what is not closed by then, the end of the process closes."""

Handler: TypeAlias = Callable[[Stream], Awaitable[None]]


class Host:
    """This instance on the network; made by `open_host`."""

    def __init__(
        self, seed: Seed, bound: list[trio.SocketListener], limits: HostLimits, tap: Tap | None
    ) -> None:
        """Assemble; nothing runs before `open_host` runs it."""
        self._limits = limits
        self._tap = tap
        self.places = Places(limits)
        self._swarm = HardenedSwarm(seed, transport=BoundTCP(bound, self.places), limits=limits)
        self._host = HardenedHost(self._swarm)
        key = key_of(self._host.get_id().to_bytes())
        assert key is not None, "our own key is Ed25519"  # noqa: S101 # our own invariant
        self.key: PeerKey = key
        """This instance's public key."""
        self.peer_id = peer_id_of(key)
        self.addresses: tuple[str, ...] = ()
        """Where it listens, as peers write it into their settings: `…/p2p/…`."""
        self.gossip = Gossip(self._host, key=key, limits=limits, tap=tap)
        # As they were bound: each address differs, and port 0 has become a number.
        self._listen = [multiaddr_from_socket(one.socket) for one in bound]
        self._dialling: dict[PeerKey, trio.Lock] = {}
        self._changed = trio.lowlevel.ParkingLot()
        self.started = trio.Event()
        self.stop = trio.Event()
        self._swarm.register_notifee(_Watch(self))

    # Peers

    def connected(self) -> frozenset[PeerKey]:
        """Give the peers we are connected with."""
        keys = (
            key_of(peer.to_bytes())
            for peer, connections in self._swarm.connections.items()
            if any(not one.is_closed for one in connections)
        )
        return frozenset(key for key in keys if key is not None)

    async def changed(self, known: frozenset[PeerKey]) -> frozenset[PeerKey]:
        """Wait until `connected()` differs from `known`, and give it."""
        while (now := self.connected()) == known:
            await self._changed.park()
        return now

    async def connect(self, address: str) -> PeerKey:
        """Connect to `/ip4/…/tcp/…/p2p/…`, unless connected already; give the peer's key.

        Raises NetworkError BAD_ADDRESS, BUSY, UNREACHABLE, WRONG_PEER, TIMED_OUT.
        """
        where, peer = read_address(address)
        if peer == self.key:
            raise network_error(f"{address} not dialled", NodeCode.BAD_ADDRESS, why="it is our own")
        # Two callers that want the same peer make one connection.
        turn = self._dialling.setdefault(peer, trio.Lock())
        try:
            async with turn:
                if peer not in self.connected():
                    await self._dial(where, peer)
        finally:
            if not turn.locked():
                self._dialling.pop(peer, None)
        return peer

    async def _dial(self, where: Multiaddr, peer: PeerKey) -> None:
        outbound = sum(
            one.direction == Direction.OUTBOUND
            for one in self._swarm.get_connections()
            if isinstance(one, SwarmConn)
        )
        if outbound >= self._limits.outbound_total:
            raise network_error(f"{where} not dialled", NodeCode.BUSY)
        what = f"no connection to {where}"
        with translated(what, within=self._limits.dial_s, code=NodeCode.UNREACHABLE):
            try:
                await self._swarm.dial_addr(where, id_of(peer))
            except Exception as error:
                if any(isinstance(one, PeerIDMismatchesPubkey) for one in causes(error)):
                    raise network_error(what, NodeCode.WRONG_PEER) from error
                raise

    async def disconnect(self, peer: PeerKey) -> None:
        """Close all connections with a peer; never raises."""
        for connection in self._swarm.get_connections(id_of(peer)):
            await self._disconnect(connection)

    async def _disconnect(self, connection: INetConn) -> None:
        with trio.move_on_after(self._limits.close_s), suppress(Exception):
            await connection.close()

    # Streams

    def serve(self, protocol: str, handler: Handler) -> None:
        """Let `handler` answer streams of a protocol; its stream is closed when it returns.

        An error of the network or of a peer ends the stream quietly; any other is our bug, is
        logged, and ends the stream too.
        """

        async def serve(raw: INetStream) -> None:
            peer = key_of(raw.muxed_conn.peer_id.to_bytes())
            assert peer is not None, "the swarm admits Ed25519 keys only"  # noqa: S101 # our own invariant
            stream = self._wrap(raw, peer, protocol)
            try:
                await handler(stream)
            except NetworkError:
                await stream.reset()
            except Exception as error:  # noqa: BLE001 # our bug must not end the node
                log.warning("stream.handler_failed", protocol=protocol, error=type(error).__name__)
                await stream.reset()
            finally:
                await stream.close()

        self._host.set_stream_handler(TProtocol(protocol), serve)

    async def open(self, peer: PeerKey, protocol: str) -> Stream:
        """Open a stream with a connected peer; whoever opens it closes it.

        Raises NetworkError UNREACHABLE when there is no connection, TOO_MANY_STREAMS,
        WRONG_PROTOCOL when the peer does not speak it, TIMED_OUT, STREAM_LOST.
        """
        what = f"no stream {protocol} with {peer_id_of(peer)}"
        if peer not in self.connected():
            raise network_error(what, NodeCode.UNREACHABLE, why="there is no connection")
        if self._streams_with(peer) >= self._limits.streams_out:
            raise network_error(what, NodeCode.TOO_MANY_STREAMS)
        with translated(what, within=self._limits.open_s, code=NodeCode.STREAM_LOST):
            try:
                raw = await self._host.new_stream(id_of(peer), [TProtocol(protocol)])
            except Exception as error:
                if any(_not_spoken(one) for one in causes(error)):
                    raise network_error(what, NodeCode.WRONG_PROTOCOL) from error
                raise
        return self._wrap(raw, peer, protocol)

    def _streams_with(self, peer: PeerKey) -> int:
        muxers = [one.muxed_conn for one in self._swarm.get_connections(id_of(peer))]
        return sum(one.ours() for one in muxers if isinstance(one, BoundedYamux))

    def _wrap(self, raw: INetStream, peer: PeerKey, protocol: str) -> Stream:
        return Stream(raw, peer=peer, protocol=protocol, limits=self._limits, tap=self._tap)

    # Gossip

    async def join(self, topic: str) -> Topic:
        """Take part in a topic; joining twice gives the same. Raises NetworkError."""
        what = f"topic {topic} not joined"
        with translated(what, within=self._limits.open_s, code=NodeCode.NETWORK_FAILED):
            return await self.gossip.join(topic)

    # Life

    def wake(self, gone: ID | None = None) -> None:
        """Note that connections came or went; the host's own notifee calls it."""
        self._changed.unpark_all()
        if gone is not None and not self._swarm.get_connections(gone):
            # The library keeps what it knows of a peer for ever.
            with suppress(PeerStoreError):
                self._host.get_peerstore().clear_peerdata(gone)

    async def live(self) -> None:
        """Run everything until `stop`, then close everything, in bounded time.

        Cancellation does not reach libp2p: a close that is cancelled half way leaves sockets open.
        Whoever cancels this sets `stop` and waits.
        """
        with trio.CancelScope(shield=True) as scope:
            async with self._host.run(self._listen), self.gossip.run():
                self.addresses = tuple(str(address) for address in self._host.get_addrs())
                self.started.set()
                await self.stop.wait()
                scope.deadline = trio.current_time() + _CLOSING_S
                # The library would close one after the other, and each takes its time.
                async with trio.open_nursery() as nursery:
                    for connection in self._swarm.get_connections():
                        nursery.start_soon(self._disconnect, connection)
                # Inside the block: outside it the library leaves sockets open.
                await self._host.close()


class _Watch(INotifee):
    """Tells the host when a peer comes or goes, and makes the library forget who went."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def connected(self, network: INetwork, conn: INetConn) -> None:
        """Wake who waits for peers."""
        del network, conn
        self._host.wake()

    async def disconnected(self, network: INetwork, conn: INetConn) -> None:
        """Wake who waits for peers."""
        del network
        self._host.wake(gone=conn.muxed_conn.peer_id)

    async def opened_stream(self, network: INetwork, stream: INetStream) -> None:
        """Do nothing."""

    async def closed_stream(self, network: INetwork, stream: INetStream) -> None:
        """Do nothing."""

    async def listen(self, network: INetwork, multiaddr: Multiaddr) -> None:
        """Do nothing."""

    async def listen_close(self, network: INetwork, multiaddr: Multiaddr) -> None:
        """Do nothing."""


def _not_spoken(error: BaseException) -> bool:
    # The library knows the difference and keeps it in its text only.
    return isinstance(error, MultiselectClientError) and str(error).startswith("protocols not sup")


@asynccontextmanager
async def open_host(
    seed: Seed,
    *,
    listen: tuple[str, ...],
    limits: HostLimits | None = None,
    tap: Tap | None = None,
) -> AsyncIterator[Host]:
    """Run a host while the block runs; `listen` are `/ip4/…/tcp/…`, port 0 takes any free one.

    Raises NetworkError NOT_BOUND if it cannot have an address alone, BAD_ADDRESS, and
    NETWORK_FAILED if libp2p stops by itself. What the block raises passes as it is.
    """
    hardening.apply()
    bound = await bind(listen)
    host = Host(seed, bound, limits or HostLimits(), tap)
    raised: Exception | None = None
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(host.live)
            try:
                await host.started.wait()
                yield host
            except Exception as error:  # noqa: BLE001 # it passes below, outside libp2p's groups
                raised = error
            finally:
                host.stop.set()
    except Exception as error:
        # An error of closing is the lesser news when the block has raised one itself.
        if raised is None:
            raise network_error("the network stopped", NodeCode.NETWORK_FAILED) from error
    finally:
        for listener in bound:
            listener.socket.close()
    if raised is not None:
        raise raised
