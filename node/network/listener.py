"""Listening on TCP: bound before anything starts, to a port of its own, with places per origin.

libp2p 0.8.1 binds with SO_REUSEPORT, so that a second node silently shares the port of the first,
hides a failed bind, and counts connections only when their handshake is done, so that silent
sockets take all places (fault 21 of ADR 23). Here the sockets are bound first and a failure is an
error; each accepted connection takes a place of its origin and gives it back at its end.
"""

import ipaddress
import socket
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

import trio
from libp2p.abc import IListener
from libp2p.custom_types import THandler
from libp2p.io.trio import TrioTCPStream
from libp2p.transport.tcp.tcp import TCP
from libp2p.utils.multiaddr_utils import multiaddr_from_socket
from multiaddr import Multiaddr  # type: ignore[import-untyped] # it ships no types

from node.base.errors import NodeCode
from node.network.faults import network_error
from node.network.identity import read_listen_address
from node.network.limits import HostLimits

_BACKLOG: Final = 128
_SITE: Final = 64


def origin_of(host: str) -> str:
    """Name what counts as one origin: an IPv4 address, or the /64 of an IPv6 address."""
    address = ipaddress.ip_address(host.partition("%")[0])
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, _SITE), strict=False))


class Places:
    """How many accepted connections there are, all together and by origin."""

    def __init__(self, limits: HostLimits) -> None:
        """Start empty."""
        self._limits = limits
        self._pending: Counter[str] = Counter()
        self._all: Counter[str] = Counter()
        self.refused = 0
        """Connections closed at once because there was no place."""

    def take(self, origin: str) -> bool:
        """Take a place for a connection whose handshake begins, if there is one."""
        limits = self._limits
        free = (
            self._all.total() < limits.inbound_total
            and self._all[origin] < limits.inbound_per_ip
            and self._pending.total() < limits.pending_total
            and self._pending[origin] < limits.pending_per_ip
        )
        if not free:
            self.refused += 1
            return False
        self._all[origin] += 1
        self._pending[origin] += 1
        return True

    def settle(self, origin: str) -> None:
        """Note that the handshake of a connection ended."""
        _less(self._pending, origin)

    def leave(self, origin: str) -> None:
        """Give a place back."""
        _less(self._all, origin)

    def total(self) -> int:
        """Count the accepted connections."""
        return self._all.total()

    def pending(self) -> int:
        """Count those whose handshake is not finished."""
        return self._pending.total()


def _less(counts: Counter[str], origin: str) -> None:
    counts[origin] -= 1
    if not counts[origin]:
        # Else every origin that ever called would stay in memory.
        del counts[origin]


class AcceptedStream(TrioTCPStream):
    """An accepted connection that knows when its handshake is over."""

    def __init__(self, stream: trio.SocketStream, settled: Callable[[], None]) -> None:
        """Wrap a socket; `settled` is called once."""
        super().__init__(stream)
        self._settled: Callable[[], None] | None = settled

    def settle(self) -> None:
        """Give back the place among the unfinished."""
        if self._settled is not None:
            self._settled()
            self._settled = None


async def bind(addresses: tuple[str, ...]) -> list[trio.SocketListener]:
    """Bind all addresses, or none; raises NetworkError NOT_BOUND, BAD_ADDRESS."""
    bound: list[trio.SocketListener] = []
    try:
        for address in addresses:
            host, port = read_listen_address(address)
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            opened = trio.socket.socket(family, socket.SOCK_STREAM)
            try:
                # Without SO_REUSEPORT: a port belongs to one node. REUSEADDR lets a restarted node
                # have its port although old connections linger.
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                await opened.bind((host, port))
                opened.listen(_BACKLOG)
            except OSError as error:
                opened.close()
                raise network_error(
                    f"{address} not bound", NodeCode.NOT_BOUND, why=error.strerror or str(error)
                ) from error
            bound.append(trio.SocketListener(opened))
    except BaseException:
        for listener in bound:
            listener.socket.close()
        raise
    return bound


class BoundListener(IListener):
    """Serves one socket that was bound before."""

    background_nursery: trio.Nursery | None = None
    """Set by the swarm: its own nursery, so nothing outlives it."""

    def __init__(self, listener: trio.SocketListener, places: Places, handler: THandler) -> None:
        """Keep what is needed; `handler` runs for as long as a connection lives."""
        self._listener = listener
        self._places = places
        self._handler: Callable[[TrioTCPStream], Awaitable[None]] = handler
        self._scope = trio.CancelScope()
        self._ended = trio.Event()
        self._ended.set()
        self._addrs = (multiaddr_from_socket(listener.socket),)

    async def listen(self, maddr: Multiaddr) -> None:
        """Begin to accept."""
        del maddr
        assert self.background_nursery is not None, "the swarm sets its nursery first"  # noqa: S101 # our own invariant
        self._ended = trio.Event()
        self.background_nursery.start_soon(self._accept)

    def get_addrs(self) -> tuple[Multiaddr, ...]:
        """Give the address as it was bound: port 0 has become a number."""
        return self._addrs

    async def close(self) -> None:
        """Stop accepting and end what was accepted; the port is free when this returns."""
        self._scope.cancel()
        await self._listener.aclose()
        await self._ended.wait()

    async def _accept(self) -> None:
        try:
            with self._scope:
                # It survives being out of file descriptors: it pauses and tries again.
                await trio.serve_listeners(self._serve, [self._listener])
        finally:
            self._ended.set()

    async def _serve(self, stream: trio.SocketStream) -> None:
        async with stream:
            try:
                origin = origin_of(stream.socket.getpeername()[0])
            except (OSError, ValueError):
                return  # It is gone already.
            if not self._places.take(origin):
                return
            accepted = AcceptedStream(stream, lambda: self._places.settle(origin))
            try:
                await self._handler(accepted)
            except Exception:  # noqa: BLE001, S110 # the swarm has logged it; the socket closes here
                pass
            finally:
                accepted.settle()
                self._places.leave(origin)


class BoundTCP(TCP):
    """TCP of libp2p for dialling, and our own listening."""

    def __init__(self, bound: list[trio.SocketListener], places: Places) -> None:
        """Listen on these sockets."""
        super().__init__()
        self._bound = list(bound)
        self._places = places

    def create_listener(self, handler_function: THandler) -> IListener:  # type: ignore[override] # the library promises its own class and uses the interface
        """Serve the next of the bound sockets; the swarm asks once for each address."""
        return BoundListener(self._bound.pop(0), self._places, handler_function)
