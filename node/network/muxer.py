"""Yamux that keeps its own rules, and everybody else to them.

libp2p 0.8.1 reads Yamux without enforcing it: a sender may ignore the window, open streams without
end, and an unknown frame is skipped (fault 18). Its writes wait for ever for a frozen peer, a
write that is cancelled half way leaves the encryption out of step, and a cancelled read loses
bytes. This subclass reads the frames itself: what breaks a rule or a limit ends the connection, so
one peer costs bounded memory and bounded time. Streams, windows and closing are the library's.

Source: the Yamux specification (github.com/hashicorp/yamux), faults 18 to 20 of ADR 23.
"""

import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import trio
from libp2p.abc import IMuxedConn, ISecureConn
from libp2p.custom_types import TProtocol
from libp2p.io.exceptions import ConnectionClosedError
from libp2p.io.utils import read_exactly
from libp2p.peer.id import ID
from libp2p.stream_muxer.exceptions import MuxedStreamError, MuxedStreamReset
from libp2p.stream_muxer.muxer_multistream import MuxerMultistream
from libp2p.stream_muxer.yamux import yamux
from libp2p.stream_muxer.yamux.yamux import PROTOCOL_ID as YAMUX
from libp2p.stream_muxer.yamux.yamux import Yamux, YamuxStream

from federation.core import Millis, short
from node.network.budgets import TokenBucket
from node.network.identity import key_of
from node.network.limits import WINDOW, HostLimits
from node.telemetry import log

_HEADER: Final = struct.Struct(yamux.YAMUX_HEADER_FORMAT)
_SYN: Final = yamux.FLAG_SYN
_ACK: Final = yamux.FLAG_ACK
_FIN: Final = yamux.FLAG_FIN
_RST: Final = yamux.FLAG_RST
# Anything above would let the send window grow without end, which says nothing but fills memory.
_MOST_CREDIT: Final = 2**31
_MOST_DATA: Final = yamux.MAX_MESSAGE_SIZE - yamux.HEADER_SIZE
_FAREWELL_S: Final = 0.5


class RuleBroken(Exception):  # noqa: N818 # private to the muxer: it ends the connection
    """A peer broke a rule of Yamux or a limit of ours."""


class BoundedStream(YamuxStream):
    """A stream that waits for its window as long as its caller does, and loses nothing it read."""

    def __init__(self, stream_id: int, conn: "BoundedYamux", *, is_initiator: bool) -> None:
        """Start with a full window in both directions."""
        super().__init__(stream_id, conn, is_initiator)
        self._changed = trio.Event()

    def wake(self) -> None:
        """Let a waiting writer look again: the window grew, or the stream ended."""
        self._changed.set()
        self._changed = trio.Event()

    async def write(self, data: bytes) -> None:
        """Write all of `data`; the caller bounds the time.

        The library looks every 10 ms whether there is room, and gives up after five seconds (fault
        19); a reader whose budget is used up may well take longer.
        """
        rest = memoryview(data)
        while rest:
            while not self.send_window and not self.send_closed:
                await self._changed.wait()
            if self.send_closed:
                raise MuxedStreamReset("the stream is closed for writing")
            size = min(len(rest), self.send_window, _MOST_DATA)
            self.send_window -= size
            header = _HEADER.pack(0, yamux.TYPE_DATA, 0, self.stream_id, size)
            await self.conn._write_frame(header + rest[:size])  # noqa: SLF001 # as the library's own
            rest = rest[size:]

    async def close(self) -> None:
        """Write no more."""
        await super().close()
        self.wake()

    async def reset(self) -> None:
        """End both directions."""
        await super().reset()
        self.wake()

    async def _auto_tune_and_send_window_update(self, *, bytes_read: int = 0) -> None:
        """Give the sender back what was read, half a window at a time.

        The library lets the window grow to 16 MiB a stream; a frame of ours needs 256 KiB. It also
        calls this between taking bytes and returning them, so a reader cancelled here would lose
        them: writing is bounded by itself and runs to its end.
        """
        self._pending_recv_release += bytes_read
        credit = self._pending_recv_release
        if credit < WINDOW // 2 or self.recv_closed:
            return
        self._pending_recv_release = 0
        self.recv_window += credit
        # What was read is good, whatever the library raises: the next read finds out.
        with trio.CancelScope(shield=True), suppress(Exception):
            await self.send_window_update(credit)


class BoundedYamux(Yamux):
    """One connection: at most so many streams, bytes, pings, and no waiting for the frozen."""

    def __init__(
        self,
        secured_conn: ISecureConn,
        peer_id: ID,
        *,
        limits: HostLimits,
        on_close: Callable[[], Awaitable[None]],
    ) -> None:
        """Take over an encrypted connection."""
        super().__init__(
            secured_conn, peer_id, is_initiator=secured_conn.is_initiator, on_close=on_close
        )
        self._limits = limits
        self._opened = TokenBucket(
            rate=limits.new_streams_per_s, burst=10 * limits.new_streams_per_s
        )
        self._pinged = TokenBucket(rate=limits.pings_per_s, burst=10 * limits.pings_per_s)
        self._write_s = limits.write_s
        self._heard = trio.Event()

    # Life

    async def start(self) -> None:
        """Serve the connection until it ends; never raises but on cancellation.

        The library runs this as a task of the swarm, and what it raised would end the swarm.
        """
        try:
            await super().start()
        except Exception as error:  # noqa: BLE001 # whatever it is, it is one connection's
            log.warning("peer.connection_failed", peer=_short(self), error=type(error).__name__)
            await self._cleanup_on_error()

    async def close(self, error_code: int = yamux.GO_AWAY_NORMAL) -> None:
        """Say farewell, if that takes no longer than half a second, and close the socket."""
        self._end_streams()
        self._write_s = _FAREWELL_S
        # While somebody waits for a peer that takes nothing, no farewell could come through.
        if not self.event_shutting_down.is_set() and not self._write_lock.locked():
            with suppress(Exception):
                await self._write_frame(_HEADER.pack(0, yamux.TYPE_GO_AWAY, 0, 0, error_code))
        await self._cleanup_on_error()

    async def _cleanup_on_error(self) -> None:
        self._end_streams()
        await super()._cleanup_on_error()

    def _end_streams(self) -> None:
        """End what is open: cut off, not at its clean end, so that readers can tell."""
        for stream in self.streams.values():
            stream.closed = stream.send_closed = stream.recv_closed = True
            stream.reset_received = True
            if isinstance(stream, BoundedStream):
                stream.wake()

    async def abandon(self) -> None:
        """Close the socket without a word; the reading task then cleans up.

        Cleaning up from another task of this connection would be cancelled half way, because the
        reading task ends them all.
        """
        self.event_shutting_down.set()
        await self.secured_conn.close()

    async def _measure_rtt_loop(self) -> None:
        """Ping the peer for as long as the connection lives; a frozen peer loses it (fault 20)."""
        while not self.event_shutting_down.is_set():
            with trio.move_on_after(self._limits.ping_every_s) as pause:
                await self.event_shutting_down.wait()
            if not pause.cancelled_caught:
                return
            self._heard = trio.Event()
            self._ping_id = (self._ping_id + 1) % 2**32
            answered = False
            with trio.move_on_after(self._limits.ping_within_s):
                ping = _HEADER.pack(0, yamux.TYPE_PING, _SYN, 0, self._ping_id)
                with suppress(Exception):
                    await self._write_frame(ping)
                    await self._heard.wait()
                    answered = True
            if not answered:
                log.info("peer.frozen", peer=_short(self))
                await self.abandon()
                return

    # Writing

    async def _write_frame(self, data: bytes) -> None:
        """Write one packet whole, or give the connection up.

        Half a packet would leave the encryption out of step, so cancellation waits for its end;
        a peer that takes nothing for `write_s` is gone.
        """
        async with self._write_lock:
            with trio.move_on_after(self._write_s) as bound:
                bound.shield = True
                await self.secured_conn.write(data)
        if bound.cancelled_caught:
            await self.abandon()
            raise ConnectionClosedError("the peer takes nothing")

    async def open_stream(self) -> YamuxStream:
        """Open a stream; MuxedStreamError at the limit, where the library waits for ever."""
        if self.ours() >= self._limits.streams_out:
            raise MuxedStreamError("too many streams are open")
        if self.event_shutting_down.is_set():
            raise MuxedStreamError("the connection is closing")
        number, self.next_stream_id = self.next_stream_id, self.next_stream_id + 2
        stream = BoundedStream(number, self, is_initiator=True)
        self._add(stream)
        try:
            await self._write_frame(_HEADER.pack(0, yamux.TYPE_WINDOW_UPDATE, _SYN, number, 0))
        except BaseException:
            self._drop(number)
            raise
        return stream

    # Reading

    async def handle_incoming(self) -> None:
        """Read frames until the connection ends or the peer breaks a rule."""
        try:
            while not self.event_shutting_down.is_set():
                header = await read_exactly(self.secured_conn, yamux.HEADER_SIZE)
                # Any frame is a sign of life: the answer to a ping may wait behind data.
                self._heard.set()
                await self._receive(*_HEADER.unpack(header))
        except RuleBroken as broken:
            log.warning("peer.disconnected", peer=_short(self), why=str(broken))
        except Exception:  # noqa: BLE001, S110 # the end of a connection comes as anything
            pass
        await self._cleanup_on_error()

    async def _receive(self, version: int, kind: int, flags: int, number: int, length: int) -> None:
        if version != 0:
            raise RuleBroken("unknown version of Yamux")
        match kind:
            case yamux.TYPE_DATA:
                await self._receive_data(flags, number, length)
            case yamux.TYPE_WINDOW_UPDATE:
                stream = await self._stream(flags, number)
                if stream is not None:
                    stream.send_window += length
                    if stream.send_window > _MOST_CREDIT:
                        raise RuleBroken("a window beyond all bounds")
                    stream.wake()
                    self._mark(stream, flags)
            case yamux.TYPE_PING:
                await self._receive_ping(flags, length)
            case yamux.TYPE_GO_AWAY:
                self.event_shutting_down.set()
            case _:
                raise RuleBroken("unknown kind of frame")

    async def _receive_data(self, flags: int, number: int, length: int) -> None:
        # The length is checked before a byte of the body is read. A body for a stream that we have
        # closed is read and dropped: the peer may not know yet.
        if length > WINDOW:
            raise RuleBroken("a frame larger than any window")
        stream = await self._stream(flags, number)
        if stream is not None:
            if length > stream.recv_window:
                raise RuleBroken("data beyond the window")
            if length + self._buffered() > self._limits.buffered_per_peer:
                raise RuleBroken("more unread data than a connection may have")
        body = b""
        if length:
            with trio.move_on_after(self._limits.frame_s):
                body = await read_exactly(self.secured_conn, length)
            if not body:
                raise RuleBroken("a frame took too long")
        if stream is None:
            return
        buffer = self.stream_buffers.get(number)
        if body and buffer is not None and not stream.recv_closed:
            stream.recv_window -= length
            buffer += body
            self.stream_events[number].set()
        self._mark(stream, flags)

    async def _receive_ping(self, flags: int, value: int) -> None:
        if flags & _ACK:
            return
        if not self._pinged.take(1, _now()):
            raise RuleBroken("too many pings")
        await self._write_frame(_HEADER.pack(0, yamux.TYPE_PING, _ACK, 0, value))

    async def _stream(self, flags: int, number: int) -> BoundedStream | None:
        """Find the stream of a frame; None for one that is closed. SYN opens it."""
        if not flags & _SYN:
            known = self.streams.get(number)
            return known if isinstance(known, BoundedStream) else None
        if number in self.streams or number % 2 == self.next_stream_id % 2 or number == 0:
            raise RuleBroken("a stream number that is not the peer's to give")
        if not self._opened.take(1, _now()):
            raise RuleBroken("streams opened too fast")
        theirs = sum(not stream.is_initiator for stream in self.streams.values())
        if theirs >= self._limits.streams_in:
            # Refused, not punished: the peer cannot know our limit. The rate above bounds it.
            await self._write_frame(_HEADER.pack(0, yamux.TYPE_WINDOW_UPDATE, _RST, number, 0))
            return None
        stream = BoundedStream(number, self, is_initiator=False)
        self._add(stream)
        await self._write_frame(_HEADER.pack(0, yamux.TYPE_WINDOW_UPDATE, _ACK, number, 0))
        await self.new_stream_send_channel.send(stream)
        return stream

    def _mark(self, stream: BoundedStream, flags: int) -> None:
        """Note the peer's closing of its side, or of both."""
        if flags & _RST:
            stream.closed = stream.recv_closed = stream.send_closed = True
            stream.reset_received = True
        if flags & _FIN:
            stream.recv_closed = True
            stream.closed = stream.closed or stream.send_closed
        if flags & (_FIN | _RST):
            stream.wake()
            event = self.stream_events.get(stream.stream_id)
            if event is not None:
                event.set()
        if stream.closed:
            self._finalize_stream_locked(stream, fully_closed=True)

    # Book-keeping

    def ours(self) -> int:
        """Count the streams that we opened and that are not closed."""
        return sum(stream.is_initiator for stream in self.streams.values())

    def _buffered(self) -> int:
        return sum(map(len, self.stream_buffers.values()))

    def _add(self, stream: YamuxStream) -> None:
        number = stream.stream_id
        self.streams[number] = stream
        self.stream_buffers[number] = bytearray()
        self.stream_events[number] = trio.Event()

    def forget(self, number: int) -> None:
        """Drop what a stream that was reset here has left unread; the library keeps it 90 s."""
        event = self.stream_events.get(number)
        if event is not None:
            event.set()
        self._drop(number)

    def _drop(self, number: int) -> None:
        self.streams.pop(number, None)
        self.stream_buffers.pop(number, None)
        self.stream_events.pop(number, None)


class OnlyBoundedYamux(MuxerMultistream):
    """The choice of multiplexers: there is one. The library's would make its own Yamux."""

    def __init__(self, limits: HostLimits) -> None:
        """Offer Yamux."""
        super().__init__({TProtocol(YAMUX): Yamux}, negotiate_timeout=int(limits.dial_s))
        self._limits = limits

    async def new_conn(self, conn: ISecureConn, peer_id: ID) -> IMuxedConn:
        """Agree on Yamux and take the connection over."""
        protocol, _ = await self._selector.select(conn, conn.is_initiator, self.negotiate_timeout)
        made = BoundedYamux(conn, peer_id, limits=self._limits, on_close=_nothing)
        return self._annotate_connection(made, conn, protocol)


async def _nothing() -> None:
    """Stand in until the swarm sets its own."""


def _short(connection: BoundedYamux) -> str:
    key = key_of(connection.peer_id.to_bytes())
    return "-" if key is None else short(key)


def _now() -> Millis:
    return int(trio.current_time() * 1_000)
