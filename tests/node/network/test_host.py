"""Opening hosts, connecting, and ends that leave nothing behind."""

import socket
from contextlib import suppress

import pytest
import trio
from multiaddr import Multiaddr

from node.base.errors import NetworkError, NodeCode
from node.network.host import open_host
from node.network.identity import peer_id_of
from node.network.limits import HostLimits
from node.network.streams import Stream
from tests.node.network.hosts import (
    ECHO,
    HOLD,
    LOOPBACK,
    WITHIN,
    ask,
    code_of,
    crowd,
    host,
    seed,
    until,
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.trio
async def test_a_seed_is_the_same_identity_each_time() -> None:
    keys = []
    for _ in range(2):
        async with open_host(seed(7), listen=LOOPBACK) as opened:
            keys.append(opened.key)
            assert opened.peer_id == peer_id_of(opened.key)
            assert all(one.endswith(f"/p2p/{opened.peer_id}") for one in opened.addresses)
    assert keys[0] == keys[1]


@pytest.mark.trio
async def test_two_hosts_on_one_port_are_refused() -> None:
    async with host(1) as first:
        taken = first.addresses[0].rpartition("/p2p/")[0]
        with pytest.raises(NetworkError) as caught:
            async with host(2, listen=(taken,)):
                pass
        assert code_of(caught.value) is NodeCode.NOT_BOUND
        assert "in use" in caught.value.why


@pytest.mark.trio
@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("/ip4/192.0.2.1/tcp/4420", NodeCode.NOT_BOUND),
        ("/ip4/127.0.0.1/udp/4420/quic-v1", NodeCode.BAD_ADDRESS),
        ("localhost:4420", NodeCode.BAD_ADDRESS),
    ],
)
async def test_an_address_that_cannot_be_had_is_told(address: str, code: NodeCode) -> None:
    with pytest.raises(NetworkError) as caught:
        async with host(1, listen=(LOOPBACK[0], address)):
            pass
    assert code_of(caught.value) is code


@pytest.mark.trio
async def test_a_port_is_free_again_at_once() -> None:
    where = f"/ip4/127.0.0.1/tcp/{free_port()}"
    with trio.fail_after(WITHIN):
        for number in range(3):
            async with host(number, listen=(where,)) as opened, host(9) as other:
                await other.connect(opened.addresses[0])


@pytest.mark.trio
async def test_both_sides_see_each_other_come_and_go() -> None:
    async with crowd(2) as (one, other):
        assert await one.connect(other.addresses[0]) == other.key
        assert one.connected() == {other.key}
        assert await other.changed(frozenset()) == {one.key}

        await one.disconnect(other.key)

        assert one.connected() == frozenset()
        assert await other.changed(frozenset({one.key})) == frozenset()


@pytest.mark.trio
async def test_connecting_twice_makes_one_connection() -> None:
    async with crowd(2) as (one, other):
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(one.connect, other.addresses[0])
        assert len(one._swarm.get_connections()) == 1
        assert not one._dialling


@pytest.mark.trio
async def test_another_identity_at_an_address_is_noticed() -> None:
    async with crowd(3) as (one, other, third):
        lie = other.addresses[0].replace(other.peer_id, third.peer_id)
        with pytest.raises(NetworkError) as caught:
            await one.connect(lie)
        assert code_of(caught.value) is NodeCode.WRONG_PEER
        assert one.connected() == frozenset()


@pytest.mark.trio
async def test_nobody_at_an_address_is_told_with_the_reason_and_again_at_once() -> None:
    nobody = f"/ip4/127.0.0.1/tcp/{free_port()}/p2p/{peer_id_of(bytes(32))}"
    async with crowd(1) as (one,):
        for _ in range(2):
            with pytest.raises(NetworkError) as caught:
                await one.connect(nobody)
            assert code_of(caught.value) is NodeCode.UNREACHABLE
            assert "refused" in caught.value.why


@pytest.mark.trio
async def test_a_peer_that_comes_back_after_a_failed_call_is_reached_at_once() -> None:
    where = f"/ip4/127.0.0.1/tcp/{free_port()}"
    async with crowd(1) as (one,):
        async with host(5, listen=(where,)) as other:
            address = other.addresses[0]
        with pytest.raises(NetworkError):
            await one.connect(address)
        async with host(5, listen=(where,)):
            await one.connect(address)


@pytest.mark.trio
async def test_a_host_calls_nobody_by_itself_and_nobody_twice() -> None:
    async with crowd(2) as (one, other):
        where = Multiaddr(other.addresses[0]).decapsulate(Multiaddr(f"/p2p/{other.peer_id}"))
        one._host.get_peerstore().add_addrs(other._host.get_id(), [where], 60)
        await one._swarm.auto_connector.maybe_connect()
        assert not one.connected()
        assert one._swarm.retry_config.max_retries == 0


@pytest.mark.trio
async def test_a_silent_address_times_out() -> None:
    async with crowd(1, HostLimits(dial_s=0.2)) as (one,):
        silent = trio.socket.socket()
        with silent:
            await silent.bind(("127.0.0.1", 0))
            silent.listen(1)
            where = f"/ip4/127.0.0.1/tcp/{silent.getsockname()[1]}/p2p/{peer_id_of(bytes(32))}"
            with pytest.raises(NetworkError) as caught:
                await one.connect(where)
        assert code_of(caught.value) is NodeCode.TIMED_OUT


@pytest.mark.trio
async def test_one_does_not_call_oneself() -> None:
    async with crowd(1) as (one,):
        with pytest.raises(NetworkError) as caught:
            await one.connect(one.addresses[0])
        assert code_of(caught.value) is NodeCode.BAD_ADDRESS


@pytest.mark.trio
async def test_as_many_peers_are_called_as_are_allowed() -> None:
    async with crowd(3, HostLimits(outbound_total=1)) as (one, other, third):
        await one.connect(other.addresses[0])
        with pytest.raises(NetworkError) as caught:
            await one.connect(third.addresses[0])
        assert code_of(caught.value) is NodeCode.BUSY
        await third.connect(one.addresses[0])


@pytest.mark.trio
async def test_whoever_has_our_own_key_is_hung_up_on() -> None:
    async with crowd(1) as (one,), host(1) as twin, host(2) as other:
        assert twin.key == one.key
        await other.connect(one.addresses[0])
        # Past `connect`, which would not even call: the twin runs our code with our key.
        where = Multiaddr(one.addresses[0]).decapsulate(Multiaddr(f"/p2p/{one.peer_id}"))
        with suppress(Exception), trio.move_on_after(WITHIN):
            await twin._swarm.dial_addr(where, one._host.get_id())
        await until(lambda: one.places.total() == 1)
        assert one.connected() == {other.key}
        assert await ask(other, one.key, b"alive") == b"alive"


@pytest.mark.trio
async def test_streams_are_opened_with_connected_peers_only() -> None:
    async with crowd(2) as (one, other):
        with pytest.raises(NetworkError) as caught:
            await one.open(other.key, ECHO)
        assert code_of(caught.value) is NodeCode.UNREACHABLE


@pytest.mark.trio
async def test_a_protocol_that_the_peer_does_not_speak_is_told() -> None:
    async with crowd(2) as (one, other):
        await one.connect(other.addresses[0])
        with pytest.raises(NetworkError) as caught:
            await one.open(other.key, "/test/unknown/1")
        assert code_of(caught.value) is NodeCode.WRONG_PROTOCOL


@pytest.mark.trio
async def test_a_host_does_not_open_more_streams_than_it_may() -> None:
    async with crowd(2, HostLimits(streams_out=4)) as (one, other):
        await one.connect(other.addresses[0])
        await until(lambda: one.gossip.pubsub.peers != {})
        held = [await one.open(other.key, HOLD) for _ in range(3)]
        with pytest.raises(NetworkError) as caught:
            await one.open(other.key, HOLD)
        assert code_of(caught.value) is NodeCode.TOO_MANY_STREAMS
        await held[0].reset()
        assert await ask(one, other.key, b"room again") == b"room again"


@pytest.mark.trio
@pytest.mark.parametrize(
    "error", [KeyError("bug"), AssertionError(), ExceptionGroup("many", [ValueError(), OSError()])]
)
async def test_a_bug_in_a_handler_ends_its_stream_only(error: Exception) -> None:
    async def fail(stream: Stream) -> None:
        del stream
        raise error

    async with crowd(2) as (one, other):
        other.serve("/test/fail/1", fail)
        await one.connect(other.addresses[0])
        stream = await one.open(other.key, "/test/fail/1")
        with pytest.raises(NetworkError):
            await stream.receive(deadline_s=WITHIN)
        assert await ask(one, other.key, b"alive") == b"alive"


@pytest.mark.trio
async def test_what_the_block_raises_passes_as_it_is() -> None:
    with pytest.raises(KeyError, match="mine"):
        async with host(1):
            raise KeyError("mine")


@pytest.mark.trio
async def test_a_cancelled_host_closes_everything() -> None:
    before = trio.lowlevel.current_statistics().tasks_living
    with trio.fail_after(WITHIN):
        async with host(1) as one:
            with trio.CancelScope() as scope:
                async with host(2) as other:
                    await other.connect(one.addresses[0])
                    await other.open(one.key, HOLD)
                    scope.cancel()
                    await trio.sleep_forever()
            assert scope.cancelled_caught
            await one.changed(frozenset({other.key}))
    await until(lambda: trio.lowlevel.current_statistics().tasks_living <= before)


@pytest.mark.trio
async def test_closing_takes_no_longer_because_many_peers_are_connected() -> None:
    async with crowd(25) as others, host(99) as one:
        for other in others:
            await one.connect(other.addresses[0])
        began = trio.current_time()
        one.stop.set()
        await until(lambda: not one.connected())

        assert trio.current_time() - began < 1.5


@pytest.mark.trio
async def test_a_host_that_stops_by_itself_is_told_as_one_error() -> None:
    async def stops() -> None:
        async with host(1) as one:

            async def fail() -> None:
                raise ValueError("libp2p")

            one._swarm.manager.run_task(fail)
            await trio.sleep_forever()

    with trio.fail_after(WITHIN), pytest.raises(NetworkError) as caught:
        await stops()
    assert code_of(caught.value) is NodeCode.NETWORK_FAILED


@pytest.mark.trio
async def test_hosts_speak_ipv6_too() -> None:
    try:
        probe = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6")
    probe.close()
    with trio.fail_after(WITHIN):
        async with host(1, listen=("/ip6/::1/tcp/0",)) as one, host(2) as other:
            assert "ip6" in [part.name for part in Multiaddr(one.addresses[0]).protocols()]
            await other.connect(one.addresses[0])
            assert await ask(other, one.key, b"six") == b"six"
