"""Binds the address and serves connections, one task each, by Hypercorn's trio worker.

Hypercorn's own `serve` has no place for what a node on a public address needs, so its loop is not
used, only what it does with a connection:

- a fault in one connection ends that connection. In the loop of Hypercorn it would end the node;
- the number of connections is bounded, in all and for one address, and the one too many is told so;
- a client that does not take its answer is cut off. Hypercorn shields its sending from being
  cancelled, so such a client could keep a node from ever stopping;
- nothing but HTTP/1.1 is spoken: a client may not upgrade to h2c or WebSockets;
- what is no HTTP is answered in the one shape of errors.

The head of a request must be whole within `idle_s`, whether its bytes come fast or slow.
"""

import errno
import socket
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Final

import h11
import msgspec
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ConnectionState
from hypercorn.utils import parse_socket_addr, repr_socket_addr
from starlette.types import ASGIApp

from node.api.app import build
from node.api.bans import Bans, banned
from node.api.errors import error_of, explain, known
from node.api.limits import Limits, Places, bucket_of
from node.base.clock import Clock
from node.base.errors import EXPLAINED, NetworkError, NodeCode, NodeError
from node.runtime import Node
from node.telemetry import log

_BACKLOG: Final = 128
_OURS: Final = Limits()


async def serve(
    node: Node,
    *,
    host: str,
    port: int,
    ready: Callable[[str], None],
    stop: trio.Event,
    limits: Limits = _OURS,
    names: frozenset[str] = frozenset(),
) -> None:
    """Serve a node until `stop` is set; then open requests get `limits.drain_s`.

    `port` 0 takes any free one. `ready` is called with the URL once connections are accepted.
    `names` are further host names that clients may use. Raises NetworkError NOT_BOUND.
    """
    listener = await _bind(host, port)
    bound = repr_socket_addr(listener.socket.family, listener.socket.getsockname())
    bans = Bans(limits)
    app = build(node, limits=limits, stop=stop, bans=bans, names=names | {host.lower()})
    try:
        await _Connections(app, limits, bans).run(
            _Door(listener, bans, node.clock), ready=lambda: ready(f"http://{bound}"), stop=stop
        )
    finally:
        listener.socket.close()


async def _bind(host: str, port: int) -> trio.SocketListener:
    try:
        # One address only: a name that has several would give a URL that means one of them.
        listeners = await trio.open_tcp_listeners(port, host=host, backlog=_BACKLOG)
    except (OSError, socket.gaierror) as error:
        why = "it is in use" if error.errno == errno.EADDRINUSE else str(error.strerror or error)
        raise NetworkError(
            f"HTTP does not listen on {host} port {port}",
            why=why,
            fix=EXPLAINED[NodeCode.NOT_BOUND][1],
            code=NodeCode.NOT_BOUND,
        ) from error
    for spare in listeners[1:]:
        spare.socket.close()
    return listeners[0]


class _Door(trio.abc.Listener[trio.SocketStream]):
    """Accepts connections, but for those of banned addresses: they cost one task nothing."""

    def __init__(self, listener: trio.SocketListener, bans: Bans, clock: Clock) -> None:
        """Accept from a listener; bans are counted in the node's own time."""
        self._listener = listener
        self._bans = bans
        self._clock = clock

    async def accept(self) -> trio.SocketStream:
        """Wait for the next connection that is to be served."""
        while True:
            stream = await self._listener.accept()
            now, is_let_in = self._clock.now(), False
            try:
                until = self._bans.until(_peer_of(stream)[0], now)
                is_let_in = not until
                if is_let_in:
                    return stream
                # So little always fits into a socket that was just opened: this waits for nobody.
                await stream.socket.send(_refusal(banned(self._clock.wall() + until - now)))
            except OSError:
                # The client is gone already.
                continue
            finally:
                if not is_let_in:
                    stream.socket.close()

    async def aclose(self) -> None:
        """Listen no more."""
        await self._listener.aclose()


class _Connections:
    """All connections of one server."""

    def __init__(self, app: ASGIApp, limits: Limits, bans: Bans) -> None:
        """Serve an application; whoever is banned is cut off."""
        self._app = ASGIWrapper(app)  # type: ignore[arg-type] # two libraries, one protocol
        self._limits = limits
        self._config = _config(limits)
        self._context = WorkerContext(None)
        self._open: set[_Line] = set()
        self._places = Places(limits)
        bans.listen(self._cut_off)
        self._last: trio.Event | None = None
        """Set when the last connection is gone, once somebody waits for that."""

    async def run(
        self,
        listener: trio.abc.Listener[trio.SocketStream],
        *,
        ready: Callable[[], None],
        stop: trio.Event,
    ) -> None:
        """Accept until `stop`, then let go: idle connections at once, others soon."""
        async with trio.open_nursery() as connections:
            try:
                async with trio.open_nursery() as accepting:
                    accepting.start_soon(
                        partial(
                            trio.serve_listeners,
                            self._serve,
                            [listener],
                            handler_nursery=connections,
                        )
                    )
                    ready()
                    await stop.wait()
                    accepting.cancel_scope.cancel()
                # Idle connections end now, and a request that is answered ends its connection.
                await self._context.terminated.set()
                if self._open:
                    self._last = trio.Event()
                    with trio.move_on_after(self._limits.drain_s):
                        await self._last.wait()
            finally:
                # Closing the socket is what ends a shielded send; cancelling would not.
                for line in tuple(self._open):
                    line.socket.close()
                connections.cancel_scope.cancel()

    def _cut_off(self, bucket: str, spare: int) -> None:
        """End the connections of a banned address; that which is answered just now ends itself."""
        for line in tuple(self._open):
            if bucket_of(line.address) == bucket and line.port != spare:
                line.socket.close()

    async def _serve(self, stream: trio.SocketStream) -> None:
        try:
            address, port = _peer_of(stream)
        except OSError:
            # The client went while it was let in.
            stream.socket.close()
            return
        line = _Line(stream, address=address, port=port, within_s=self._limits.send_s)
        try:
            if not self._places.take(address):
                await line.send_all(_refusal(error_of(NodeCode.BUSY, "connection refused")))
                return
            self._open.add(line)
            await _Connection(self._app, self._config, self._context, line).run()
        except* Exception as group:  # noqa: BLE001 # one connection's fault, whatever it is
            types = sorted({type(one).__name__ for one in _leaves(group)})
            log.warning("api.connection_failed", error=",".join(types))
        finally:
            if line in self._open:
                self._places.leave(address)
            self._open.discard(line)
            if self._last is not None and not self._open:
                self._last.set()
            line.socket.close()


class _Line:
    """One TCP connection on which sending has a deadline."""

    def __init__(
        self, stream: trio.SocketStream, *, address: str, port: int, within_s: float
    ) -> None:
        """Send on `stream`, which comes from there, each part within so many seconds."""
        self._stream = stream
        self._within_s = within_s
        self.address: Final = address
        self.port: Final = port
        self.socket: Final = stream.socket

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send, or find the client gone."""
        with trio.move_on_after(self._within_s) as patience:
            await self._stream.send_all(bytes(data))
        if patience.cancelled_caught:
            self.socket.close()
            raise trio.BrokenResourceError("the client takes nothing")

    async def send_eof(self) -> None:
        """Say that nothing more comes."""
        await self._stream.send_eof()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Give what has arrived."""
        return await self._stream.receive_some(max_bytes)

    async def aclose(self) -> None:
        """Close."""
        await self._stream.aclose()


class _Connection(TCPServer):
    """Hypercorn's connection, without its other protocols."""

    def __init__(
        self, app: ASGIWrapper, config: Config, context: WorkerContext, line: _Line
    ) -> None:
        """Speak HTTP on a line."""
        super().__init__(app, config, context, ConnectionState({}), line)  # type: ignore[arg-type] # it asks for TLS

    async def run(self) -> None:
        """Speak until either side has enough."""
        family = self.stream.socket.family  # type: ignore[attr-defined] # it asks for TLS
        try:
            client = parse_socket_addr(family, self.stream.socket.getpeername())  # type: ignore[attr-defined] # the same
            server = parse_socket_addr(family, self.stream.socket.getsockname())  # type: ignore[attr-defined] # the same
            async with TaskGroup() as group:
                self._task_group = group
                self.protocol = _Http(  # type: ignore[assignment] # it asks for the one that upgrades
                    self.app,
                    self.config,
                    self.context,
                    group,
                    ConnectionState({}),
                    False,  # no TLS; the parameter has no name to be called by
                    client,
                    server,
                    self.protocol_send,
                )
                await self.idle_task.restart(group, self._idle_timeout)
                await self._read_data()
                # Else a connection that is closed would be counted until its idle time is over.
                await self.idle_task.stop()
        except OSError:
            # The client went while it was looked at.
            pass
        finally:
            await self._close()


class _Http(H11Protocol):
    """HTTP/1.1 and nothing else."""

    async def _check_protocol(self, event: h11.Request) -> None:
        """Upgrade to nothing."""

    async def _create_stream(self, request: h11.Request) -> None:
        """Treat a wish for WebSockets as what it also is, a request."""
        await super()._create_stream(
            h11.Request(
                method=request.method,
                target=request.target,
                headers=[(name, value) for name, value in request.headers if name != b"upgrade"],
                http_version=request.http_version,
            )
        )

    async def _send_error_response(self, status_code: int) -> None:
        """Answer what is no HTTP."""
        _, problem = known(NodeCode.BAD_REQUEST, "request refused")
        problem = msgspec.structs.replace(
            problem,
            why="it is not HTTP/1.1, or its head is too large",
            fix="send a well-formed request of HTTP/1.1 with a small head",
        )
        body = msgspec.json.encode(problem)
        headers = [*_head(len(body)), *self.config.response_headers("h11")]
        await self._send_h11_event(h11.Response(status_code=status_code, headers=headers))
        await self._send_h11_event(h11.Data(data=body))
        await self._send_h11_event(h11.EndOfMessage())


def _config(limits: Limits) -> Config:
    config = Config()
    config.accesslog = None
    # Its texts may hold what a request held; what goes wrong is logged here, by its type.
    config.errorlog = None
    config.include_server_header = False
    config.keep_alive_timeout = limits.idle_s
    config.h11_max_incomplete_size = limits.head
    return config


def _head(length: int) -> list[tuple[bytes, bytes]]:
    return [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % length),
        (b"connection", b"close"),
        (b"cache-control", b"no-store"),
    ]


def _refusal(error: NodeError) -> bytes:
    """Write the whole answer to a connection that is not served."""
    status, problem = explain(error)
    body = msgspec.json.encode(problem)
    head = b"".join(b"%s: %s\r\n" % pair for pair in _head(len(body)))
    phrase = HTTPStatus(status).phrase.encode()
    return b"HTTP/1.1 %d %s\r\n%s\r\n%s" % (status, phrase, head, body)


def _peer_of(stream: trio.SocketStream) -> tuple[str, int]:
    """Give address and port of the other end; raises OSError if it is gone."""
    address, port, *_ = stream.socket.getpeername()
    return str(address), int(port)


def _leaves(group: BaseExceptionGroup[Exception]) -> list[Exception]:
    found: list[Exception] = []
    for one in group.exceptions:
        found.extend(_leaves(one) if isinstance(one, BaseExceptionGroup) else [one])
    return found
