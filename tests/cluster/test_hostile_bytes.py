"""Bytes that are no message, to every protocol: refused, scored, nothing stored, and life goes on.

The protocols come from the messages' own module, so a new one is attacked as soon as it exists.
"""

import struct
from collections.abc import Awaitable, Callable

import pytest
import trio
from libp2p.abc import INetStream

from federation.core import Code
from node.base.errors import NodeCode
from node.network import messages as says
from node.network.limits import FRAME
from tests.cluster.evil import PROTOCOLS, Evil, Scene, scene, send_raw
from tests.cluster.town import town
from tests.node.runtime.realm import Realm

MALFORMED = (Code.NOT_CANONICAL, Code.TOO_LARGE)

FRAMES: dict[str, bytes] = {
    "nothing": b"",
    "zeros": bytes(64),
    "text": b"GET / HTTP/1.1\r\nHost: victim\r\n\r\n",
    "a list of an unknown kind": b"\x91\xa6sesame",
    "a map": b"\x81\xa1a\x01",
    "a list without end": b"\xdd\xff\xff\xff\xff" + bytes(1_000),
    "bytes without end": b"\x92\xa6packet\xc6\xff\xff\xff\xff",
    "a nest": b"\x91" * 200_000,
    "a wide length": b"\xdd\x00\x00\x00\x01\xa4meet",
    "a message and something after it": says.frame(says.Meet()) + b"\x00",
    "a float": b"\x93\xa6packet\xcb" + struct.pack(">d", 1.0) + b"\xc4\x00",
    "not UTF-8": b"\x91\xa4\xff\xfe\xfd\xfc",
    "a whole frame of noise": bytes(range(256)) * (FRAME // 256),
}
"""What no honest instance puts into a frame."""


@pytest.fixture(scope="module")
def realm(tmp_path_factory: pytest.TempPathFactory) -> Realm:
    return town(tmp_path_factory.mktemp("realm"))


def framed(content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + content


async def is_hung_up(stream: INetStream) -> None:
    """Wait until the victim has ended a stream."""
    with trio.fail_after(10):
        try:
            while await stream.read(65_536):
                pass
        except Exception:  # noqa: BLE001, S110 # ended, reset, or the connection is gone
            pass


@pytest.mark.trio
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_frame_that_is_no_message_is_refused_and_scored(
    realm: Realm, protocol: str
) -> None:
    async with scene(realm) as it:
        for name, content in FRAMES.items():
            stream = await it.evil.raw(protocol)
            await send_raw(stream, framed(content))
            await stream.close()
            await is_hung_up(stream)
            await it.evil.is_scored(*MALFORMED, during=name)
            it.forgive()
        it.assert_nothing_stored()
        await it.still_lives()


Sends = Callable[[INetStream], Awaitable[None]]


async def oversize(stream: INetStream) -> None:
    await send_raw(stream, struct.pack(">I", FRAME + 1), bytes(1_000))


async def absurd(stream: INetStream) -> None:
    await send_raw(stream, b"\xff" * 64)


async def truncated(stream: INetStream) -> None:
    await send_raw(stream, struct.pack(">I", 1_000), bytes(10))
    await stream.close()


async def half_a_length(stream: INetStream) -> None:
    await send_raw(stream, b"\x00\x00")
    await stream.close()


async def slow(stream: INetStream) -> None:
    await send_raw(stream, struct.pack(">I", 1_000))
    for _ in range(200):
        await trio.sleep(0.02)
        await send_raw(stream, b"\x00")


async def a_length_only(stream: INetStream) -> None:
    await send_raw(stream, struct.pack(">I", 1_000))


FRAMINGS: dict[str, tuple[Sends, NodeCode]] = {
    "a frame too large": (oversize, NodeCode.FRAME_TOO_LARGE),
    "four gigabytes": (absurd, NodeCode.FRAME_TOO_LARGE),
    "a frame that breaks off": (truncated, NodeCode.FRAME_TRUNCATED),
    "half a length": (half_a_length, NodeCode.FRAME_TRUNCATED),
    "a byte now and then": (slow, NodeCode.FRAME_SLOW),
    "a length and silence": (a_length_only, NodeCode.FRAME_SLOW),
}


@pytest.mark.trio
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_broken_frame_is_refused_and_scored(realm: Realm, protocol: str) -> None:
    async with scene(realm) as it:
        for name, (sends, code) in FRAMINGS.items():
            async with trio.open_nursery() as nursery:
                stream = await it.evil.raw(protocol)
                nursery.start_soon(sends, stream)
                await is_hung_up(stream)
                await it.evil.is_scored(code, during=name)
                nursery.cancel_scope.cancel()
            it.forgive()
        it.assert_nothing_stored()
        await it.still_lives()


@pytest.mark.trio
async def test_the_victim_lives_and_bans_who_goes_on(realm: Realm) -> None:
    async with scene(realm) as it:
        for content in FRAMES.values():
            if it.evil.row.banned_until is not None:
                break
            await again(it.evil)
            stream = await it.evil.raw(says.PUSH)
            await send_raw(stream, framed(content))
            await is_hung_up(stream)

        assert it.evil.row.banned_until is not None
        await is_away(it)
        await it.still_lives()


async def again(evil: Evil) -> None:
    """Say hello again if the victim has hung up."""
    if evil.victim.host is not None and evil.host.key not in evil.victim.host.connected():
        await evil.greet()


async def is_away(it: Scene) -> None:
    host = it.victim.host
    assert host is not None
    with trio.fail_after(10):
        while it.evil.host.key in (now := host.connected()):
            await host.changed(now)


@pytest.mark.trio
async def test_every_protocol_that_a_node_serves_is_in_the_table(realm: Realm) -> None:
    async with scene(realm, greeted=False) as it:
        assert it.victim.host is not None
        served = {str(name) for name in it.victim.host._host.get_mux().handlers}

    assert {name for name in served if name.startswith("/folkmoot/")} == set(PROTOCOLS)
    # The rest is libp2p's own: identify, ping and gossip, attacked in the tests of the network.
    assert {name for name in served if not name.startswith("/folkmoot/")} == {
        "/ipfs/id/1.0.0",
        "/ipfs/ping/1.0.0",
        "/meshsub/1.1.0",
    }
