"""Yamux of our own: what it does when the peer, the socket or the library fails it."""

import pytest
import trio
import trio.testing
from libp2p.network.stream.exceptions import StreamError
from libp2p.stream_muxer.exceptions import MuxedStreamError

from node.base.errors import NetworkError
from node.network.limits import HostLimits
from node.network.muxer import BoundedStream
from tests.node.network.hosts import (
    AWAY,
    DATA,
    ECHO,
    HOLD,
    SYN,
    WITHIN,
    ask,
    crowd,
    frame,
    muxer,
    raw_stream,
    scene,
    until,
    write_frames,
)


@pytest.mark.trio
async def test_a_peer_that_takes_nothing_from_the_socket_is_given_up() -> None:
    async with crowd(2, HostLimits(write_s=0.3, ping_every_s=60)) as (one, other):
        await one.connect(other.addresses[0])
        await until(lambda: len(muxer(one, other.key).streams) == 2)
        deaf = muxer(other, one.key)
        # From its next read on it reads no more, as a process that is stopped.
        deaf.secured_conn.read = _never  # type: ignore[method-assign] # the fault is played
        mine = muxer(one, other.key)

        async def shout() -> None:
            while True:
                await mine._write_frame(frame(DATA, 0, 9_999, 60_000, bytes(60_000)))

        with trio.fail_after(WITHIN), pytest.raises(Exception, match="takes nothing"):
            await shout()
        assert await one.changed(frozenset({other.key})) == frozenset()


async def _never(n: int | None = None) -> bytes:
    del n
    await trio.sleep_forever()
    return b""


@pytest.mark.trio
async def test_a_frame_that_never_ends_ends_the_connection() -> None:
    async with scene(HostLimits(frame_s=0.2)) as played:
        await write_frames(played.evil, played.victim.key, frame(DATA, SYN, 1001, 1000, bytes(10)))
        await played.is_cut_off()
        await played.still_lives()


@pytest.mark.trio
async def test_an_error_of_our_own_in_a_connection_ends_that_connection_only() -> None:
    async with scene() as played:
        served = muxer(played.victim, played.evil.key)
        whole, calls = served._cleanup_on_error, 0

        async def fails_once() -> None:
            nonlocal calls
            calls += 1
            if calls == 1:
                raise KeyError
            await whole()

        served._cleanup_on_error = fails_once  # type: ignore[method-assign] # the fault is played
        await write_frames(played.evil, played.victim.key, frame(AWAY, 0, 0, 0))
        await played.is_cut_off()
        await played.still_lives()


@pytest.mark.trio
async def test_a_write_that_is_cancelled_half_way_leaves_the_connection_whole() -> None:
    async with crowd(2, HostLimits(write_s=60)) as (one, other):
        await one.connect(other.addresses[0])
        await until(lambda: len(muxer(one, other.key).streams) == 2)
        deaf, mine = muxer(other, one.key), muxer(one, other.key)
        read, go_on = deaf.secured_conn.read, trio.Event()

        async def later(n: int | None = None) -> bytes:
            await go_on.wait()
            return await read(n)

        deaf.secured_conn.read = later  # type: ignore[method-assign] # it pauses

        async def shout() -> None:
            while True:
                await mine._write_frame(frame(DATA, 0, 9_999, 60_000, bytes(60_000)))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(shout)
            await trio.testing.wait_all_tasks_blocked(0.1)
            assert mine._write_lock.locked(), "the socket is full, in the middle of a packet"
            nursery.cancel_scope.cancel()
            nursery.start_soon(_set, go_on)

        assert await ask(one, other.key, b"in step") == b"in step"


async def _set(event: trio.Event) -> None:
    event.set()


@pytest.mark.trio
async def test_no_stream_is_opened_on_a_connection_that_closes() -> None:
    async with crowd(2) as (one, other):
        await one.connect(other.addresses[0])
        connection = muxer(one, other.key)
        await connection.abandon()
        with pytest.raises(MuxedStreamError):
            await connection.open_stream()


@pytest.mark.trio
async def test_a_stream_that_could_not_be_announced_is_forgotten() -> None:
    async with crowd(2) as (one, other):
        await one.connect(other.addresses[0])
        await until(lambda: len(muxer(one, other.key).streams) == 2)
        connection = muxer(one, other.key)
        async with connection._write_lock, trio.open_nursery() as nursery:
            nursery.start_soon(connection.open_stream)
            await trio.testing.wait_all_tasks_blocked()
            assert len(connection.streams) == 3
            nursery.cancel_scope.cancel()
        assert len(connection.streams) == 2
        assert await ask(one, other.key, b"and the next is") == b"and the next is"


@pytest.mark.trio
async def test_as_many_streams_as_allowed_are_opened_and_the_next_is_an_error_not_a_wait() -> None:
    async with crowd(2, HostLimits(streams_out=5, streams_in=50)) as (one, other):
        await one.connect(other.addresses[0])
        connection = muxer(one, other.key)
        with trio.fail_after(WITHIN):
            while connection.ours() < 5:
                await connection.open_stream()
            with pytest.raises(MuxedStreamError):
                await connection.open_stream()


@pytest.mark.trio
async def test_a_writer_that_waits_for_its_window_hears_of_the_end() -> None:
    async with crowd(2) as (one, other):
        await one.connect(other.addresses[0])
        stream = await raw_stream(one, other.key, HOLD)

        async def write() -> None:
            with pytest.raises(StreamError):
                await stream.write(bytes(1_000_000))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(write)
            await trio.testing.wait_all_tasks_blocked()
            await one.disconnect(other.key)


@pytest.mark.trio
async def test_a_closed_stream_takes_no_more() -> None:
    async with crowd(2) as (one, other):
        await one.connect(other.addresses[0])
        stream = await muxer(one, other.key).open_stream()
        assert isinstance(stream, BoundedStream)
        await stream.close()
        with pytest.raises(MuxedStreamError):
            await stream.write(b"more")


@pytest.mark.trio
async def test_farewells_do_not_wait_for_whoever_takes_nothing() -> None:
    async with crowd(2, HostLimits(write_s=60)) as (one, other):
        await one.connect(other.addresses[0])
        stream = await one.open(other.key, ECHO)
        async with muxer(one, other.key)._write_lock:
            with trio.fail_after(5):
                await one.disconnect(other.key)
        with pytest.raises(NetworkError):
            await stream.receive(deadline_s=WITHIN)


@pytest.mark.trio
async def test_a_stream_whose_opener_gives_up_is_reset() -> None:
    async with crowd(2) as (one, other):
        await one.connect(other.addresses[0])
        await until(lambda: len(muxer(one, other.key).streams) == 2)
        connection = muxer(one, other.key)
        (outer,) = one._swarm.get_connections()
        whole = connection._write_frame

        async def slow(data: bytes) -> None:
            await whole(data)
            scope.cancel()

        connection._write_frame = slow  # type: ignore[method-assign] # the moment is chosen
        with trio.CancelScope() as scope:
            await outer.new_stream()
        connection._write_frame = whole  # type: ignore[method-assign] # as it was

        assert scope.cancelled_caught
        assert len(connection.streams) == 2
