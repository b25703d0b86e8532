"""Places of accepted connections, and sockets that are bound for one node alone."""

import pytest
import trio

from node.base.errors import NetworkError, NodeCode
from node.network.limits import HostLimits
from node.network.listener import Places, bind, origin_of
from tests.node.network.hosts import WITHIN, host

FEW = HostLimits(inbound_total=4, inbound_per_ip=3, pending_total=3, pending_per_ip=2)


@pytest.mark.parametrize(
    ("host_name", "origin"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
def test_an_origin_is_an_ipv4_address_or_a_site(host_name: str, origin: str) -> None:
    assert origin_of(host_name) == origin


def test_unfinished_handshakes_of_one_origin_are_few() -> None:
    places = Places(FEW)
    assert [places.take("a") for _ in range(3)] == [True, True, False]
    assert places.take("b")
    assert not places.take("c"), "all together are too many"
    places.settle("a")
    assert places.take("c")
    assert places.refused == 2


def test_connections_of_one_origin_and_of_all_are_bounded() -> None:
    places = Places(FEW)
    for origin in "aaa":
        assert places.take(origin)
        places.settle(origin)
    assert not places.take("a")
    assert places.take("b")
    places.settle("b")
    assert not places.take("b")
    places.leave("a")
    assert places.take("b")
    assert (places.total(), places.pending()) == (4, 1)


def test_origins_that_left_are_not_remembered() -> None:
    places = Places(FEW)
    for place in range(100):
        assert places.take(str(place))
        places.settle(str(place))
        places.leave(str(place))
    assert not places._all
    assert not places._pending


@pytest.mark.trio
async def test_all_addresses_are_bound_or_none() -> None:
    first = await bind(("/ip4/127.0.0.1/tcp/0",))
    port = first[0].socket.getsockname()[1]
    with pytest.raises(NetworkError) as caught:
        await bind(("/ip4/127.0.0.1/tcp/0", f"/ip4/127.0.0.1/tcp/{port}"))
    assert caught.value.code is NodeCode.NOT_BOUND
    for listener in first:
        listener.socket.close()


@pytest.mark.trio
async def test_a_host_listens_on_several_addresses() -> None:
    two = ("/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.2/tcp/0")
    with trio.fail_after(WITHIN):
        async with host(1, listen=two) as one, host(2) as other, host(3) as third:
            assert len(one.addresses) == 2
            await other.connect(one.addresses[0])
            await third.connect(one.addresses[1])
            assert one.places.total() == 2


@pytest.mark.trio
async def test_a_host_may_listen_nowhere_and_still_call() -> None:
    with trio.fail_after(WITHIN):
        async with host(1) as one, host(2, listen=()) as other:
            assert other.addresses == ()
            await other.connect(one.addresses[0])
