"""Frames: what is sent arrives, what breaks the form is a fault, nothing waits for ever."""

import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing
from libp2p.abc import INetStream

from node.base.errors import NetworkError, NodeCode
from node.network.faults import PeerFault, StreamEnded
from node.network.host import Host
from node.network.identity import PeerKey
from node.network.limits import FRAME, HostLimits
from node.network.muxer import BoundedYamux
from node.network.streams import Stream
from tests.node.network.hosts import (
    ECHO,
    HOLD,
    WITHIN,
    ask,
    crowd,
    fill,
    host,
    muxer,
    raw_stream,
    until,
)

ODD = "/test/odd/1"


@asynccontextmanager
async def served(
    limits: HostLimits | None = None,
) -> AsyncIterator[tuple[Host, INetStream, Stream]]:
    """Give an evil host, its raw stream to an honest one, and the honest end of that stream."""
    ends: list[Stream] = []
    taken, over = trio.Event(), trio.Event()

    async def keep(stream: Stream) -> None:
        ends.append(stream)
        taken.set()
        await over.wait()

    with trio.fail_after(3 * WITHIN):
        async with host(1, limits=limits) as honest, host(2) as evil:
            honest.serve(ODD, keep)
            await evil.connect(honest.addresses[0])
            raw = await raw_stream(evil, honest.key, ODD)
            await taken.wait()
            yield evil, raw, ends[0]
            over.set()


@pytest.mark.trio
@pytest.mark.parametrize("size", [0, 1, 4, 65_531, 65_532, 65_536, FRAME - 1, FRAME])
async def test_a_frame_of_any_size_arrives_whole(size: int) -> None:
    async with crowd(2) as (one, other):
        await one.connect(other.addresses[0])
        content = bytes(place % 251 for place in range(size))
        assert await ask(one, other.key, content) == content


@pytest.mark.trio
async def test_frames_arrive_in_order_however_they_are_cut() -> None:
    async with served() as (_, raw, stream):
        written = b"".join(struct.pack(">I", size) + bytes([size]) * size for size in range(9))
        for place in range(len(written)):
            await raw.write(written[place : place + 1])
        for size in range(9):
            assert await stream.receive(deadline_s=WITHIN) == bytes([size]) * size


@pytest.mark.trio
async def test_a_frame_beyond_the_limit_is_not_sent() -> None:
    async with crowd(2) as (one, other):
        await one.connect(other.addresses[0])
        stream = await one.open(other.key, ECHO)
        with pytest.raises(NetworkError) as caught:
            await stream.send(bytes(FRAME + 1))
        assert caught.value.code is NodeCode.FRAME_TOO_LARGE
        assert not isinstance(caught.value, PeerFault)

        await stream.send(b"the stream goes on")
        assert await stream.receive(deadline_s=WITHIN) == b"the stream goes on"
        await stream.close()


@pytest.mark.trio
async def test_the_length_alone_of_a_frame_that_is_too_large_is_a_fault() -> None:
    async with served() as (_, raw, stream):
        await raw.write(struct.pack(">I", FRAME + 1))
        with pytest.raises(PeerFault) as caught:
            await stream.receive(deadline_s=WITHIN)
        assert caught.value.code is NodeCode.FRAME_TOO_LARGE
        with pytest.raises(NetworkError):
            await stream.receive(deadline_s=WITHIN)


@pytest.mark.trio
async def test_a_frame_that_trickles_is_a_fault() -> None:
    async with served(HostLimits(frame_s=0.2)) as (_, raw, stream):

        async def trickle() -> None:
            await raw.write(struct.pack(">I", 1000))
            while True:
                await raw.write(b".")
                await trio.sleep(0.01)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(trickle)
            with pytest.raises(PeerFault) as caught:
                await stream.receive(deadline_s=WITHIN)
            nursery.cancel_scope.cancel()
        assert caught.value.code is NodeCode.FRAME_SLOW


@pytest.mark.trio
async def test_silence_is_no_fault_and_the_stream_goes_on() -> None:
    async with served() as (_, raw, stream):
        with pytest.raises(NetworkError) as caught:
            await stream.receive(deadline_s=0.05)
        assert caught.value.code is NodeCode.TIMED_OUT
        assert not isinstance(caught.value, PeerFault)

        await raw.write(struct.pack(">I", 3) + b"yes")
        assert await stream.receive(deadline_s=WITHIN) == b"yes"


@pytest.mark.trio
async def test_an_end_between_frames_is_clean() -> None:
    async with served() as (_, raw, stream):
        await raw.write(struct.pack(">I", 4) + b"last")
        await raw.close()
        assert await stream.receive(deadline_s=WITHIN) == b"last"
        with pytest.raises(StreamEnded):
            await stream.receive(deadline_s=WITHIN)


@pytest.mark.trio
@pytest.mark.parametrize("begun", [b"\x00", struct.pack(">I", 5) + b"abc"])
async def test_an_end_inside_a_frame_is_a_fault(begun: bytes) -> None:
    async with served() as (_, raw, stream):
        await raw.write(begun)
        await raw.close()
        with pytest.raises(PeerFault) as caught:
            await stream.receive(deadline_s=WITHIN)
        assert caught.value.code is NodeCode.FRAME_TRUNCATED


@pytest.mark.trio
@pytest.mark.parametrize("begun", [b"", b"\x00\x00"])
async def test_a_reset_is_no_end(begun: bytes) -> None:
    async with served() as (_, raw, stream):
        if begun:
            await raw.write(begun)
        await raw.reset()
        with pytest.raises(NetworkError) as caught:
            await stream.receive(deadline_s=WITHIN)
        assert caught.value.code is NodeCode.STREAM_LOST
        assert not isinstance(caught.value, PeerFault | StreamEnded)


@pytest.mark.trio
@pytest.mark.parametrize("who", ["here", "there"])
async def test_a_lost_connection_is_no_end(who: str) -> None:
    async with served() as (evil, _, stream), trio.open_nursery() as nursery:

        async def read() -> None:
            with pytest.raises(NetworkError) as caught:
                await stream.receive(deadline_s=WITHIN)
            assert caught.value.code is NodeCode.STREAM_LOST

        nursery.start_soon(read)
        await trio.testing.wait_all_tasks_blocked()
        if who == "there":
            await muxer(evil, stream_peer(evil)).abandon()
        else:
            await evil.disconnect(stream_peer(evil))


def stream_peer(evil: Host) -> PeerKey:
    (peer,) = evil.connected()
    return peer


@pytest.mark.trio
async def test_a_cancelled_receive_loses_nothing() -> None:
    async with served() as (_, raw, stream):
        await raw.write(struct.pack(">I", 6) + b"fir")
        with trio.move_on_after(0.05) as scope:
            await stream.receive(deadline_s=WITHIN)
        assert scope.cancelled_caught

        await raw.write(b"st." + struct.pack(">I", 6) + b"second")
        assert await stream.receive(deadline_s=WITHIN) == b"first."
        assert await stream.receive(deadline_s=WITHIN) == b"second"


@pytest.mark.trio
async def test_a_peer_that_does_not_read_makes_send_time_out() -> None:
    async with crowd(2, HostLimits(frame_s=0.5)) as (one, other):
        await one.connect(other.addresses[0])
        stream = await one.open(other.key, HOLD)
        with pytest.raises(NetworkError) as caught:
            await fill(stream)
        assert caught.value.code is NodeCode.TIMED_OUT
        with pytest.raises(NetworkError):
            await stream.send(b"after that it is closed")
        assert await ask(one, other.key, b"others go on") == b"others go on"


@pytest.mark.trio
async def test_a_cancelled_send_ends_the_stream() -> None:
    async with crowd(2) as (one, other):
        await one.connect(other.addresses[0])
        stream = await one.open(other.key, HOLD)
        await stream.send(bytes(FRAME - 1000))
        with trio.move_on_after(0.05):
            await stream.send(bytes(FRAME))
        with pytest.raises(NetworkError) as caught:
            await stream.send(b"")
        assert caught.value.code is NodeCode.STREAM_LOST
        assert await ask(one, other.key, b"others go on") == b"others go on"


@pytest.mark.trio
async def test_frames_of_two_senders_do_not_mix() -> None:
    async with crowd(2) as (one, other):
        await one.connect(other.addresses[0])
        stream = await one.open(other.key, ECHO)
        async with trio.open_nursery() as nursery:
            for mark in b"ab":
                nursery.start_soon(stream.send, bytes([mark]) * 200_000)
            answers = {await stream.receive(deadline_s=WITHIN) for _ in range(2)}
        assert answers == {b"a" * 200_000, b"b" * 200_000}
        await stream.close()


@pytest.mark.trio
async def test_closed_streams_leave_nothing_behind() -> None:
    async with crowd(2) as (one, other):
        await one.connect(other.addresses[0])
        await until(lambda: len(muxer(one, other.key).streams) == 2)  # gossip, both ways
        for _ in range(300):
            await ask(one, other.key, b"x")
        await until(lambda: len(muxer(one, other.key).streams) == 2)
        await until(lambda: len(muxer(other, one.key).streams) == 2)
        (connection,) = one._swarm.get_connections()
        assert len(connection.get_streams()) == 2


@pytest.mark.trio
async def test_a_stream_that_the_peer_never_closes_is_reset_here() -> None:
    async with served(HostLimits(close_s=0.1)) as (evil, raw, stream):
        with trio.fail_after(WITHIN):
            await stream.close()
        assert raw.muxed_stream.stream_id not in muxer_of(stream).streams  # type: ignore[attr-defined] # below libp2p
        await raw.reset()
        assert evil.connected()


def muxer_of(stream: Stream) -> object:
    return stream._stream.muxed_conn


@pytest.mark.trio
async def test_what_a_reset_stream_has_left_unread_is_dropped_at_once() -> None:
    async with served() as (evil, raw, stream):
        await raw.write(bytes(10_000))
        served_by = stream._stream.muxed_conn
        assert isinstance(served_by, BoundedYamux)
        await until(lambda: served_by._buffered() == 10_000)
        await stream.reset()
        assert served_by._buffered() == 0
        assert evil.connected()


@pytest.mark.trio
async def test_a_receive_that_is_cancelled_while_it_makes_room_loses_nothing() -> None:
    async with served() as (_, raw, stream):
        content = bytes(place % 251 for place in range(200_000))
        await raw.write(struct.pack(">I", len(content)) + content)
        served_by = stream._stream.muxed_conn
        assert isinstance(served_by, BoundedYamux)
        await until(lambda: served_by._buffered() == 4 + len(content))
        # Reading half a window tells the sender so, which has to wait here.
        await served_by._write_lock.acquire()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: stream.receive(deadline_s=WITHIN))
            await trio.testing.wait_all_tasks_blocked(0.05)
            nursery.cancel_scope.cancel()
            served_by._write_lock.release()

        assert await stream.receive(deadline_s=WITHIN) == content


@pytest.mark.trio
async def test_the_tap_sees_every_frame_in_clear() -> None:
    seen: list[tuple[str, PeerKey, str, bytes]] = []
    with trio.fail_after(2 * WITHIN):
        async with host(1) as one, host(2, tap=lambda *what: seen.append(what)) as other:
            await other.connect(one.addresses[0])
            await ask(other, one.key, b"words")
            assert seen == [
                ("out", one.key, ECHO, b"words"),
                ("in", one.key, ECHO, b"words"),
            ]
