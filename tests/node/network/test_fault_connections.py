"""Faults 6 and 18 to 22 of ADR 23: connections that take more than their share, or nothing at all."""

import socket

import pytest
import trio
from multiaddr import Multiaddr

from node.base.errors import NetworkError
from node.network.limits import FRAME, HostLimits
from tests.node.network.hosts import (
    ECHO,
    HOLD,
    SYN,
    WINDOW,
    WITHIN,
    ask,
    crowd,
    fill,
    frame,
    host,
    muxer,
    reach,
    scene,
    until,
    write_frames,
)


@pytest.mark.trio
async def test_fault_06_a_place_is_free_again_when_its_connection_ends() -> None:
    limits = HostLimits(inbound_total=3, outbound_total=1)
    with trio.fail_after(3 * WITHIN):
        async with host(1, limits=limits) as victim, host(2) as caller:
            for _ in range(10):
                await caller.connect(victim.addresses[0])
                await victim.changed(frozenset())
                await caller.disconnect(victim.key)
                await victim.changed(frozenset({caller.key}))
            await until(lambda: victim.places.total() == 0)
            assert victim._swarm._inbound_limiter.borrowed_tokens == 0
            assert victim.places.refused == 0


@pytest.mark.trio
async def test_fault_18_data_beyond_the_window_ends_the_connection() -> None:
    async with scene() as played:
        stream = await played.evil.open(played.victim.key, HOLD)
        number = stream._stream.muxed_stream.stream_id  # type: ignore[attr-defined] # below libp2p
        full = frame(0, 0, number, 65536, bytes(65536))
        await write_frames(played.evil, played.victim.key, *[full] * 16)
        await played.is_cut_off()
        await played.still_lives()


@pytest.mark.trio
async def test_fault_18_a_flood_of_streams_makes_few_tasks_and_ends_the_connection() -> None:
    async with scene() as played:
        before = trio.lowlevel.current_statistics().tasks_living
        most = 0

        async def watch() -> None:
            nonlocal most
            while True:
                most = max(most, trio.lowlevel.current_statistics().tasks_living - before)
                await trio.sleep(0)  # noqa: ASYNC115 # between any two frames

        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch)
            flood = [frame(WINDOW, SYN, 1001 + 2 * place, 0) for place in range(5000)]
            await write_frames(played.evil, played.victim.key, *flood)
            await played.is_cut_off()
            nursery.cancel_scope.cancel()

        assert most < 100
        await played.still_lives()


@pytest.mark.trio
async def test_fault_19_a_stalled_reader_costs_the_writer_its_stream_only() -> None:
    async with crowd(2, HostLimits(frame_s=0.5)) as (one, other):
        await one.connect(other.addresses[0])
        stream = await one.open(other.key, HOLD)
        with pytest.raises(NetworkError):
            await fill(stream)
        assert await ask(one, other.key, b"others are fine") == b"others are fine"


@pytest.mark.slow
@pytest.mark.trio
async def test_fault_19_a_reader_may_pause_for_longer_than_five_seconds() -> None:
    go = trio.Event()

    async def late(stream: object) -> None:
        await go.wait()
        for _ in range(3):
            assert len(await stream.receive(deadline_s=WITHIN)) == FRAME  # type: ignore[attr-defined] # a Stream
        await stream.send(b"all")  # type: ignore[attr-defined] # a Stream

    async with crowd(2) as (one, other):
        other.serve("/test/late/1", late)
        await one.connect(other.addresses[0])
        stream = await one.open(other.key, "/test/late/1")
        async with trio.open_nursery() as nursery:

            async def write() -> None:
                for _ in range(3):
                    await stream.send(bytes(FRAME))

            nursery.start_soon(write)
            await trio.sleep(6)  # The fault is one of time: libp2p gives up after five seconds.
            go.set()
        assert await stream.receive(deadline_s=WITHIN) == b"all"


@pytest.mark.trio
async def test_fault_20_a_frozen_peer_is_disconnected() -> None:
    limits = HostLimits(ping_every_s=0.1, ping_within_s=0.2)
    async with scene(limits) as played:
        # It reads, and can say nothing any more, not even answer a ping.
        frozen = muxer(played.evil, played.victim.key)
        await frozen._write_lock.acquire()
        try:
            assert await played.victim.changed(frozenset({played.evil.key})) == frozenset()
        finally:
            frozen._write_lock.release()
        await until(lambda: not played.victim.gossip.pubsub.peers)


@pytest.mark.trio
async def test_fault_20_a_peer_that_answers_pings_stays() -> None:
    limits = HostLimits(ping_every_s=0.02, ping_within_s=5)
    async with crowd(2, limits) as (one, other):
        await one.connect(other.addresses[0])
        connection = muxer(one, other.key)
        await until(lambda: connection._ping_id > 10)
        assert one.connected() == {other.key}


@pytest.mark.trio
async def test_fault_21_silent_sockets_of_one_address_leave_room_for_others() -> None:
    limits = HostLimits(pending_per_ip=8, pending_total=64, upgrade_s=2)
    with trio.fail_after(2 * WITHIN):
        async with host(1, limits=limits) as victim, host(2) as honest:
            port = int(Multiaddr(victim.addresses[0]).value_for_protocol("tcp"))
            silent = []
            for _ in range(250):
                opened = trio.socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                await opened.bind(("127.0.0.2", 0))
                await opened.connect(("127.0.0.1", port))
                silent.append(opened)
            await until(lambda: victim.places.refused == 242)

            assert victim.places.pending() == 8
            await reach(honest, victim)

            # And these few places are free again as soon as the patience with silence ends.
            await until(lambda: victim.places.total() == 1)
            for opened in silent:
                opened.close()


@pytest.mark.trio
async def test_fault_22_a_simultaneous_dial_leaves_at_most_two_connections_that_work() -> None:
    async with crowd(2) as (one, other):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one.connect, other.addresses[0])
            nursery.start_soon(other.connect, one.addresses[0])
        assert 1 <= len(one._swarm.get_connections()) <= 2
        assert await ask(one, other.key, b"there") == b"there"
        assert await ask(other, one.key, b"back") == b"back"


@pytest.mark.trio
async def test_fault_22_of_more_connections_the_newest_stay() -> None:
    async with crowd(2) as (one, other):
        where = Multiaddr(other.addresses[0])
        made = [await one._swarm.dial_addr(where, other._host.get_id()) for _ in range(4)]
        await until(lambda: len(other._swarm.get_connections()) == 2)
        await until(lambda: [old.is_closed for old in made] == [True, True, False, False])
        stream = await one.open(other.key, ECHO)
        await stream.close()
