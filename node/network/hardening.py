"""libp2p 0.8.1, wrapped: what its faults need, each named by its number in ADR 23.

Out of the box any peer can end the process, and a node stops accepting after 250 connections in
its lifetime. Where the library can be subclassed it is; `apply` patches the rest, once a process.
All of it leans on internals, so one exact version is accepted. `muxer`, `listener` and `pubsub`
hold the defences of those layers.

    1, 2, 5   a handler that raises ends everything     `HardenedSwarm.set_stream_handler`, `apply`
    6         a slot is held for ever                   `HardenedSwarm.upgrade_inbound_raw_conn`
    18, 20    windows, floods, frozen peers             `muxer`
    21        silent sockets take all places            `listener`, `upgrade_s`
    22        two dials, two connections                `HardenedSwarm.add_conn`
    3, 4, 7-17, 23                                      `pubsub`, `gossip`

Beyond that table the library dials known peers by itself until it has half of its most
connections, refuses to dial a peer for a minute after one failure, keeps the addresses that peers
tell about themselves, and runs identify as tasks that nobody owns; none of that happens here.
"""

import importlib.metadata
import logging
from contextlib import suppress
from typing import Final

import trio
from libp2p.abc import IHost, IMuxedConn, INetStream, IRawConnection
from libp2p.crypto.ed25519 import create_new_key_pair
from libp2p.crypto.x25519 import create_new_key_pair as create_noise_key_pair
from libp2p.custom_types import StreamHandlerFn, TProtocol
from libp2p.host.basic_host import BasicHost
from libp2p.identity.identify_push.identify_push import ID_PUSH as IDENTIFY_PUSH
from libp2p.network.auto_connector import AutoConnector
from libp2p.network.config import ConnectionConfig, RetryConfig
from libp2p.network.connection.raw_connection import RawConnection
from libp2p.network.connection.swarm_connection import SwarmConn
from libp2p.network.exceptions import SwarmException
from libp2p.network.stream.net_stream import NetStream
from libp2p.network.swarm import Swarm
from libp2p.peer.id import ID
from libp2p.peer.peerstore import PeerStore, env_to_send_in_RPC
from libp2p.pubsub import gossipsub, pubsub
from libp2p.security.noise.transport import PROTOCOL_ID as NOISE
from libp2p.security.noise.transport import Transport as Noise
from libp2p.stream_muxer.yamux.yamux import PROTOCOL_ID as YAMUX
from libp2p.stream_muxer.yamux.yamux import Yamux
from libp2p.transport.upgrader import TransportUpgrader
from multiaddr import Multiaddr  # type: ignore[import-untyped] # it ships no types

from federation.core import Seed
from node.base.errors import NodeCode
from node.network.faults import network_error
from node.network.identity import key_of
from node.network.limits import HostLimits
from node.network.listener import AcceptedStream, BoundTCP
from node.network.muxer import BoundedYamux, OnlyBoundedYamux
from node.network.streams import finish
from node.telemetry import log

LIBP2P: Final = "0.8.1"
"""The only version whose faults are known."""


def check_version(found: str) -> None:
    """Raise NetworkError WRONG_LIBP2P unless this is the version that was studied."""
    if found != LIBP2P:
        raise network_error(f"libp2p {found} instead of {LIBP2P}", NodeCode.WRONG_LIBP2P)


check_version(importlib.metadata.version("libp2p"))


def apply() -> None:
    """Patch what cannot be subclassed; a second call changes nothing."""
    # What the library logs is written for its authors, names peers' bytes and fills disks: any
    # stranger can make it log an error. What matters is raised, or counted, or logged by us.
    for name in ("libp2p", "libp2p.network.auto_connector"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if SwarmConn.start is _guarded_start:
        return
    # Fault 1: a connection's task that raises ends the swarm.
    SwarmConn.start = _guarded_start  # type: ignore[method-assign,assignment] # this is the patch
    # A caller that gives up at the wrong moment would leave a stream open that nobody knows.
    SwarmConn.new_stream = _whole_new_stream  # type: ignore[method-assign,assignment] # this is the patch
    # The library makes, signs and compares a record of our addresses for each message (10 to 28 %
    # of the CPU); once a host is enough. What peers send of that kind nobody looks at (fault 8).
    gossipsub.env_to_send_in_RPC = _signed_record_once  # type: ignore[attr-defined] # this is the patch
    pubsub.env_to_send_in_RPC = _signed_record_once  # type: ignore[attr-defined] # as above


_start = SwarmConn.start


async def _guarded_start(connection: SwarmConn) -> None:
    try:
        await _start(connection)
    except Exception as error:  # noqa: BLE001 # whatever it is, it is one connection's
        log.warning("peer.connection_failed", error=type(error).__name__)
        with suppress(Exception):
            await connection.close()


async def _whole_new_stream(connection: SwarmConn) -> NetStream:
    muxed = await connection.muxed_conn.open_stream()
    try:
        return await connection._add_stream(muxed)  # noqa: SLF001 # as the library's own
    except BaseException:
        with trio.CancelScope(shield=True):
            await muxed.reset()
        raise


def _signed_record_once(host: IHost) -> tuple[bytes, bool]:
    if not isinstance(host, HardenedHost):
        return env_to_send_in_RPC(host)
    if host.signed_record is None:
        host.signed_record, _ = env_to_send_in_RPC(host)
    return host.signed_record, False


class _NoAutoConnector(AutoConnector):
    """Dials nobody: the library would call any peer it has heard of, banned ones too."""

    async def maybe_connect(self) -> None:
        """Do nothing."""

    def record_disconnect(self, peer_id: ID) -> None:
        """Remember nothing: the list would grow with every stranger."""
        del peer_id


class HardenedSwarm(Swarm):
    """The swarm: TCP, Noise and Yamux only; nothing that a peer does ends it."""

    def __init__(
        self,
        seed: Seed,
        *,
        transport: BoundTCP,
        limits: HostLimits,
    ) -> None:
        """Make a swarm for one identity; whoever shows another Ed25519 key is admitted."""
        pair = create_new_key_pair(seed=bytes(seed))
        # The library's own default also speaks plaintext.
        noise = Noise(pair, noise_privkey=create_noise_key_pair().private_key)
        upgrader = TransportUpgrader(
            {TProtocol(NOISE): noise}, {TProtocol(YAMUX): Yamux}, int(limits.dial_s)
        )
        upgrader.muxer_multistream = OnlyBoundedYamux(limits)
        store = PeerStore()
        own = ID.from_pubkey(pair.public_key)
        store.add_key_pair(own, pair)
        self._limits = limits
        most = limits.inbound_total + limits.outbound_total
        super().__init__(
            own,
            store,
            upgrader,
            transports=[transport],
            # Who reconnects when is the node's business.
            retry_config=RetryConfig(max_retries=0),
            connection_config=ConnectionConfig(
                max_connections=most,
                min_connections=0,
                low_watermark=0,
                high_watermark=most,
                # One more than we keep: `add_conn` closes the oldest, the library the idlest.
                max_connections_per_peer=limits.per_peer + 1,
                inbound_upgrade_timeout=limits.upgrade_s,
                outbound_upgrade_timeout=limits.dial_s,
                outbound_stream_protocol_negotiation_timeout=limits.open_s,
                inbound_stream_protocol_negotiation_timeout=limits.open_s,
            ),
        )
        self.auto_connector = _NoAutoConnector(self)
        # The store of tags would remember each stranger.
        self.notifees.clear()

    def set_stream_handler(self, stream_handler: StreamHandlerFn) -> None:
        """Let a handler run, whatever it raises (faults 1, 2, 5), and end its stream after it."""

        async def guarded(stream: INetStream) -> None:
            clean = False
            try:
                await stream_handler(stream)
                clean = True
            except Exception:  # noqa: BLE001, S110 # a peer's bytes make the library raise anything
                pass
            finally:
                await finish(stream, clean=clean, within=self._limits.close_s)

        super().set_stream_handler(guarded)

    async def upgrade_inbound_raw_conn(
        self, raw_conn: IRawConnection, maddr: Multiaddr
    ) -> IMuxedConn:
        """Accept a connection and return when it has ended.

        Fault 6: the library waits for the end of the swarm here, and holds a task, a socket and
        one of its 250 places until then.
        """
        accepted = raw_conn.stream if isinstance(raw_conn, RawConnection) else None
        muxed = await super().upgrade_inbound_raw_conn(raw_conn, maddr)
        if isinstance(accepted, AcceptedStream):
            accepted.settle()
        if isinstance(muxed, BoundedYamux):
            await muxed.event_closed.wait()
        raise SwarmException("the connection has ended")

    async def add_conn(self, muxed_conn: IMuxedConn, direction: str = "unknown") -> SwarmConn:
        """Take a connection in, unless its key is of another kind or is our own.

        Fault 22: two that dial each other at once have two connections, which does no harm. Of
        more the oldest goes: the peer may have restarted and the old ones be dead.
        """
        peer = muxed_conn.peer_id
        if key_of(peer.to_bytes()) is None or peer == self.get_peer_id():
            await muxed_conn.close()
            raise SwarmException("the peer is not admitted")
        added = await super().add_conn(muxed_conn, direction)
        for old in self.get_connections(peer)[: -self._limits.per_peer]:
            self.manager.run_task(self._close_connection_async, old)
        return added


class HardenedHost(BasicHost):
    """The host: protocols on top of the swarm, and no errands of its own."""

    def __init__(self, swarm: HardenedSwarm) -> None:
        """Answer pings and identify, nothing else."""
        self.signed_record: bytes | None = None
        super().__init__(swarm, disable_identify_address_discovery=True)
        # Whoever pushes its addresses here wants us to remember them, or to dial them.
        self.remove_stream_handler(TProtocol(IDENTIFY_PUSH))
        # Without its notifee the host asks nobody who they are: the answers are a peer's claims.
        swarm.notifees.clear()

    def _schedule_identify(self, peer_id: ID, *, reason: str) -> None:
        # The library runs it as a task of the whole program, where an error is fatal.
        del peer_id, reason
