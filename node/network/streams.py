"""Frames on a stream: a length of four bytes and so many bytes, each under one deadline.

What a peer sends is bounded before it is read, what is sent is bounded before it is written, and
nothing waits for ever: a peer that trickles a frame byte by byte is at fault (PeerFault), a peer
that says nothing is not (NetworkError TIMED_OUT, and the stream goes on). The end of a stream
between two frames is clean (StreamEnded), inside one it is a fault.
Design: federation, "Moving records".
"""

import struct
from collections.abc import Callable
from typing import Final, TypeAlias

import trio
from libp2p.abc import INetStream
from libp2p.network.stream.exceptions import StreamEOF
from libp2p.network.stream.net_stream import NetStream
from libp2p.stream_muxer.yamux.yamux import YamuxStream

from node.base.errors import NodeCode
from node.network.faults import network_error, peer_fault, stream_ended
from node.network.identity import PeerKey
from node.network.limits import FRAME, HostLimits
from node.network.muxer import BoundedYamux

Tap: TypeAlias = Callable[[str, PeerKey, str, bytes], None]
"""Sees everything: "in" or "out", the peer, the protocol or topic, and the payload in clear."""

_LENGTH: Final = struct.Struct(">I")
_CHUNK: Final = 64 * 1024


class Stream:
    """One conversation with one peer, in frames."""

    def __init__(
        self,
        stream: INetStream,
        *,
        peer: PeerKey,
        protocol: str,
        limits: HostLimits,
        tap: Tap | None,
    ) -> None:
        """Take over an open stream of libp2p."""
        self.peer = peer
        self.protocol = protocol
        self._stream = stream
        self._limits = limits
        self._tap = tap
        self._sending = trio.Lock()
        self._receiving = trio.Lock()
        self._arrived = bytearray()
        self._broken = False

    async def send(self, frame: bytes) -> None:
        """Send one frame of at most 256 KiB.

        Raises NetworkError FRAME_TOO_LARGE, STREAM_LOST; TIMED_OUT when the peer does not read.
        A send that fails or is cancelled half way ends the stream: the peer could not tell where
        the next frame begins.
        """
        if len(frame) > FRAME:
            raise network_error("frame not sent", NodeCode.FRAME_TOO_LARGE)
        async with self._sending:
            self._check()
            sent = False
            try:
                with trio.fail_after(self._limits.frame_s):
                    await self._stream.write(_LENGTH.pack(len(frame)) + frame)
                sent = True
            except trio.TooSlowError as error:
                raise network_error("frame not sent", NodeCode.TIMED_OUT) from error
            except Exception as error:
                raise network_error("frame not sent", NodeCode.STREAM_LOST) from error
            finally:
                if not sent:
                    await self.reset()
        if self._tap is not None:
            self._tap("out", self.peer, self.protocol, frame)

    async def receive(self, *, deadline_s: float) -> bytes:
        """Receive the next frame.

        It must begin within `deadline_s` seconds, else NetworkError TIMED_OUT and the stream goes
        on; from its first byte on it may take `frame_s`. Raises StreamEnded at the clean end,
        NetworkError STREAM_LOST if the stream or connection broke, and PeerFault FRAME_TOO_LARGE,
        FRAME_TRUNCATED or FRAME_SLOW, which end the stream. A cancelled receive loses nothing.
        """
        async with self._receiving:
            self._check()
            if not self._arrived:
                with trio.move_on_after(deadline_s) as waiting:
                    await self._read_some()
                if waiting.cancelled_caught and not self._arrived:
                    raise network_error("no frame came", NodeCode.TIMED_OUT)
            with trio.move_on_after(self._limits.frame_s) as reading:
                frame = await self._read_frame()
            if reading.cancelled_caught:
                await self.reset()
                raise peer_fault("frame not received", NodeCode.FRAME_SLOW)
        if self._tap is not None:
            self._tap("in", self.peer, self.protocol, frame)
        return frame

    async def close(self) -> None:
        """Say that nothing more comes, wait a little for the peer to say so too; never raises."""
        self._broken = True
        await finish(self._stream, clean=True, within=self._limits.close_s)

    async def reset(self) -> None:
        """End the stream at once, in both directions; never raises."""
        self._broken = True
        await finish(self._stream, clean=False, within=self._limits.close_s)

    async def _read_frame(self) -> bytes:
        while len(self._arrived) < _LENGTH.size:
            await self._read_some()
        (length,) = _LENGTH.unpack_from(self._arrived)
        if length > FRAME:
            await self.reset()
            raise peer_fault("frame refused", NodeCode.FRAME_TOO_LARGE)
        end = _LENGTH.size + length
        while len(self._arrived) < end:
            await self._read_some()
        frame = bytes(self._arrived[_LENGTH.size : end])
        del self._arrived[:end]
        return frame

    async def _read_some(self) -> None:
        try:
            self._arrived += await self._stream.read(_CHUNK)
        except StreamEOF as error:
            # The library reports a stream that was cut off as the end of its data.
            inside = bool(self._arrived)
            lost = _yamux(self._stream).reset_received
            await self.reset()
            if lost:
                raise network_error("stream broke", NodeCode.STREAM_LOST) from error
            if inside:
                raise peer_fault("frame not received", NodeCode.FRAME_TRUNCATED) from error
            raise stream_ended("stream ended") from error
        except Exception as error:
            await self.reset()
            raise network_error("stream broke", NodeCode.STREAM_LOST) from error

    def _check(self) -> None:
        if self._broken:
            raise network_error("stream is closed", NodeCode.STREAM_LOST)


async def finish(stream: INetStream, *, clean: bool, within: float) -> None:
    """End a stream, in at most three times `within` seconds, whatever happens.

    It raises nothing but the cancellation that it met. A clean end waits for the peer's: a stream
    that only one side has closed stays in memory. What still arrives is thrown away. Who was
    cancelled says its end and waits for nobody: the reset below frees the stream.
    """
    muxed = _yamux(stream)
    try:
        if clean and not muxed.closed:
            # Cancelled tasks end their streams too: the time is bounded by itself.
            with trio.move_on_after(within) as bound:
                bound.shield = True
                await stream.close()
            with trio.move_on_after(within):
                while not muxed.closed:
                    await muxed.read(_CHUNK)
    except Exception:  # noqa: BLE001, S110 # the end of the data, or of the connection
        pass
    finally:
        with trio.move_on_after(within) as bound:
            bound.shield = True
            # Where it is gone from the wire already, this makes the swarm forget it.
            await stream.reset()
        if isinstance(muxed.conn, BoundedYamux):
            muxed.conn.forget(muxed.stream_id)


def _yamux(stream: INetStream) -> YamuxStream:
    assert isinstance(stream, NetStream), "the swarm makes these"  # noqa: S101 # for the type checker
    muxed = stream.muxed_stream
    assert isinstance(muxed, YamuxStream), "every connection is Yamux"  # noqa: S101 # our own invariant
    return muxed
