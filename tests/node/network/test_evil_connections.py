"""Attacks below gossip: raw sockets, handshakes, Yamux, floods."""

import os
import socket
import struct
from collections.abc import Awaitable, Callable

import pytest
import trio
from libp2p.network.stream.exceptions import StreamError
from multiaddr import Multiaddr

from node.base.errors import NetworkError, NodeCode
from node.network.host import Host
from node.network.limits import WINDOW as WINDOW_SIZE
from node.network.limits import HostLimits
from tests.node.network.hosts import (
    ACK,
    AWAY,
    DATA,
    ECHO,
    HOLD,
    PING,
    RST,
    SYN,
    WINDOW,
    WITHIN,
    Scene,
    ask,
    crowd,
    frame,
    host,
    muxer,
    raw_stream,
    reach,
    scene,
    until,
    write_frames,
)

MULTISTREAM = b"\x13/multistream/1.0.0\n"
NOISE = b"\x07/noise\n"
IMPATIENT = HostLimits(upgrade_s=0.3)


async def call(victim: Host, *, source: str = "127.0.0.1") -> trio.SocketStream:
    """Connect a bare socket."""
    where = Multiaddr(victim.addresses[0])
    opened = trio.socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    await opened.bind((source, 0))
    await opened.connect(("127.0.0.1", int(where.value_for_protocol("tcp"))))
    return trio.SocketStream(opened)


async def is_hung_up_on(stream: trio.SocketStream) -> None:
    """Wait until the victim closes."""
    with trio.fail_after(WITHIN):
        try:
            while await stream.receive_some():
                pass
        except trio.BrokenResourceError:
            pass


HANDSHAKES: dict[str, tuple[bytes, ...]] = {
    "silence": (),
    "noise on the line": (os.urandom(3000),),
    "an endless length": (b"\xff\xff\xff\xff\xff\xff\xff\x7f",),
    "no UTF-8": (b"\x13/multistream/1.0.0\n\x05\xff\xfe\xfd\xfc\n",),
    "a stalled handshake": (MULTISTREAM + NOISE, b"\xff\xff" + bytes(100)),
    "garbage keys": (
        MULTISTREAM + NOISE,
        b"\x00\x20" + os.urandom(32) + b"\x00\x64" + os.urandom(100),
    ),
    "one byte, then silence": (b"\x13",),
}


@pytest.mark.trio
@pytest.mark.parametrize("name", HANDSHAKES)
async def test_a_bad_handshake_is_hung_up_on(name: str) -> None:
    with trio.fail_after(2 * WITHIN):
        async with host(1, limits=IMPATIENT) as victim:
            stream = await call(victim)
            async with stream:
                for part in HANDSHAKES[name]:
                    await stream.send_all(part)
                await is_hung_up_on(stream)
            await until(lambda: victim.places.total() == 0)
            async with host(2) as honest:
                await reach(honest, victim)


@pytest.mark.trio
async def test_200_sockets_with_garbage_leave_nothing_behind() -> None:
    with trio.fail_after(2 * WITHIN):
        async with host(1, limits=IMPATIENT) as victim:
            before = trio.lowlevel.current_statistics().tasks_living
            for size in range(200):
                async with await call(victim) as stream:
                    await stream.send_all(os.urandom(1 + 15 * size))
            await until(lambda: victim.places.total() == 0)
            await until(lambda: trio.lowlevel.current_statistics().tasks_living <= before)


BREAKS: dict[str, tuple[bytes, ...]] = {
    "an unknown kind": (frame(9, 0, 1, 0),),
    "an unknown version": (frame(DATA, 0, 1, 4, b"abcd", version=7),),
    "4 GiB of data": (frame(DATA, 0, 1, 0xFFFFFFFF),),
    "more data than a window": (frame(DATA, SYN, 1001, 16 * 1024 * 1024, bytes(1000)),),
    "an endless window": (frame(WINDOW, SYN, 1001, 0xFFFFFFFF),),
    "a window that grows for ever": (
        frame(WINDOW, SYN, 1001, 0),
        *[frame(WINDOW, 0, 1001, 0x7FFFFFFF)] * 3,
    ),
    "a stream number of ours": (frame(WINDOW, SYN, 1002, 0),),
    "the same stream twice": (frame(WINDOW, SYN, 1001, 0), frame(WINDOW, SYN, 1001, 0)),
    "stream number 0": (frame(WINDOW, SYN, 0, 0),),
    "a farewell of no meaning": (frame(AWAY, 0, 0, 77),),
    "5,000 streams": tuple(frame(WINDOW, SYN, 1001 + 2 * place, 0) for place in range(5000)),
    "5,000 streams that are taken back": tuple(
        frame(WINDOW, flag, 1001 + 2 * place, 0) for place in range(5000) for flag in (SYN, RST)
    ),
    "20,000 pings": tuple(frame(PING, SYN, 0, place) * 100 for place in range(200)),
}
"""What ends the connection."""

ENDURED: dict[str, tuple[bytes, ...]] = {
    "data for an unknown stream": (frame(DATA, 0, 777, 4, b"abcd"),),
    "opened and reset at once": (frame(WINDOW, SYN | RST, 1001, 0),),
    "an answer nobody asked for": (frame(WINDOW, ACK, 1001, 0), frame(PING, ACK, 0, 5)),
    "a window of nobody": (frame(WINDOW, 0, 1001, 5),),
}
"""What may happen between honest peers, and costs nothing."""


@pytest.mark.trio
@pytest.mark.parametrize("name", BREAKS)
async def test_breaking_the_rules_of_yamux_ends_the_connection(name: str) -> None:
    async with scene() as played:
        tasks = trio.lowlevel.current_statistics().tasks_living
        await write_frames(played.evil, played.victim.key, *BREAKS[name])
        await played.is_cut_off()
        await until(lambda: trio.lowlevel.current_statistics().tasks_living <= tasks)
        await played.still_lives()


@pytest.mark.trio
@pytest.mark.parametrize("name", ENDURED)
async def test_what_is_odd_but_allowed_costs_nothing(name: str) -> None:
    async with scene() as played:
        await write_frames(played.evil, played.victim.key, *ENDURED[name])
        await played.is_heard()


@pytest.mark.trio
async def test_bad_ciphertext_ends_the_connection() -> None:
    async with scene() as played:
        secured = muxer(played.evil, played.victim.key).secured_conn
        raw = secured.conn.read_writer.read_write_closer  # type: ignore[attr-defined] # below libp2p
        await raw.write(b"\x00\x40" + os.urandom(64))
        await played.is_cut_off()
        await played.still_lives()


async def garbage(played: Scene) -> None:
    """Say nonsense where a protocol should be agreed on."""
    connection = muxer(played.evil, played.victim.key)
    for payload in (
        os.urandom(200),
        b"\xff" * 10,
        MULTISTREAM + b"\xff\xff\x7f",
        bytes(50),
        MULTISTREAM + b"\x03ls\n",
        MULTISTREAM + b"\x05\xff\xfe\xfd\xfc\n",
    ):
        stream = await connection.open_stream()
        await stream.write(payload)
        await stream.close()


async def half_a_ping(played: Scene) -> None:
    """Ping with too few bytes, and hang up on a whole one."""
    stream = await raw_stream(played.evil, played.victim.key, "/ipfs/ping/1.0.0")
    await stream.write(bytes(5))
    await stream.close()
    stream = await raw_stream(played.evil, played.victim.key, "/ipfs/ping/1.0.0")
    await stream.write(bytes(32))
    await stream.reset()


@pytest.mark.trio
@pytest.mark.parametrize("attack", [garbage, half_a_ping])
async def test_nonsense_on_a_stream_is_the_stream_s_end(
    attack: Callable[[Scene], Awaitable[None]],
) -> None:
    async with scene() as played:
        await attack(played)
        await played.is_heard()
        await played.still_lives()


@pytest.mark.trio
async def test_nobody_can_push_addresses() -> None:
    async with scene() as played:
        with pytest.raises(NetworkError) as caught:
            await played.evil.open(played.victim.key, "/ipfs/id/push/1.0.0")
        assert caught.value.code is NodeCode.WRONG_PROTOCOL


@pytest.mark.trio
async def test_a_peer_holds_as_many_streams_as_it_may_and_no_more() -> None:
    async with scene(HostLimits(streams_in=4)) as played:
        held = [await played.evil.open(played.victim.key, HOLD) for _ in range(3)]

        async def more() -> None:
            # The evil host's own gossip stream is the fourth, or will be.
            while True:
                held.append(await played.evil.open(played.victim.key, HOLD))

        with pytest.raises(NetworkError):
            await more()
        await held[0].reset()
        await until(lambda: len(muxer(played.victim, played.evil.key).streams) < 8)
        await played.is_heard()


@pytest.mark.trio
async def test_a_sender_that_ignores_the_window_is_cut_off_at_its_end() -> None:
    async with scene() as played:
        stream = await raw_stream(played.evil, played.victim.key, HOLD)
        number = stream.muxed_stream.stream_id  # type: ignore[attr-defined] # below libp2p
        served = muxer(played.victim, played.evil.key)
        most = 0

        async def watch() -> None:
            nonlocal most
            while True:
                most = max(most, served._buffered())
                await trio.sleep(0)  # noqa: ASYNC115 # between any two frames

        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch)
            full = frame(DATA, 0, number, 65536, bytes(65536))
            await write_frames(played.evil, played.victim.key, *[full] * 64)
            await played.is_cut_off()
            nursery.cancel_scope.cancel()

        assert 0 < most <= WINDOW_SIZE


@pytest.mark.trio
async def test_unread_data_of_all_streams_together_is_bounded() -> None:
    async with scene(HostLimits(buffered_per_peer=3 * WINDOW_SIZE)) as played:
        key = played.victim.key
        for _ in range(3):
            stream = await raw_stream(played.evil, key, HOLD)
            # Agreeing on the protocol took a little of the window.
            await stream.write(bytes(WINDOW_SIZE - 1000))
        last = await raw_stream(played.evil, key, HOLD)

        async def write() -> None:
            while True:
                await last.write(bytes(1000))

        with pytest.raises(StreamError):
            await write()
        await played.is_cut_off()
        await played.still_lives()


@pytest.mark.trio
async def test_many_connections_of_one_peer_after_another_leave_nothing_behind() -> None:
    with trio.fail_after(3 * WITHIN):
        async with host(1) as victim:
            await until(lambda: True)
            before = trio.lowlevel.current_statistics().tasks_living
            for _ in range(12):
                async with host(2) as caller:
                    await caller.connect(victim.addresses[0])
            await until(lambda: victim.places.total() == 0 and not victim.connected())
            await until(lambda: trio.lowlevel.current_statistics().tasks_living <= before)
            assert len(victim._host.get_peerstore().peer_ids()) == 1


@pytest.mark.trio
async def test_two_that_dial_each_other_talk() -> None:
    async with crowd(2) as (one, other):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one.connect, other.addresses[0])
            nursery.start_soon(other.connect, one.addresses[0])
        assert await ask(one, other.key, b"there") == b"there"
        assert await ask(other, one.key, b"back") == b"back"


def test_the_header_is_that_of_yamux() -> None:
    assert frame(DATA, SYN, 1, 2) == struct.pack("!BBHII", 0, 0, 1, 1, 2)
    assert ECHO != HOLD
