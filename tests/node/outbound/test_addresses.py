"""Addresses: what is public, what hides another address, and names that lead to both."""

import ipaddress
import socket

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from node.base.errors import NetworkError, NodeCode
from node.outbound import addresses
from node.outbound.addresses import (
    MOST_ADDRESSES,
    NOT_PUBLIC,
    Address,
    by_system,
    public_addresses,
    why_not_public,
)

HOSTILE = {
    "this host": "0.0.0.0 0.1.2.3 ::",
    "loopback": "127.0.0.1 127.255.255.254 ::1",
    "private": "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fc00::1 fd00:ec2::254 fec0::1",
    "link-local": "169.254.169.254 169.254.0.1 fe80::1 febf::1",
    "shared by the customers of a provider": "100.64.0.1 100.100.100.200 100.127.255.255",
    "reserved for protocols": "192.0.0.192 2001:10::1 2001:20::1 2001:1::1 2001:1ff::1",
    "for documentation": "192.0.2.1 198.51.100.1 203.0.113.1 2001:db8::1 3fff:fff::1",
    "for benchmarks": "198.18.0.1 198.19.255.255",
    "multicast": "224.0.0.1 239.255.255.255 ff02::1 ff0e::1",
    "reserved": "240.0.0.1 255.255.255.255 4000::1 1::1 100::1 5f00::1 ::7f00:1 ::10.0.0.1",
    "a relay of 6to4": "192.88.99.1",
    "the platform of a cloud provider": "168.63.129.16",
    "an IPv4 address in disguise": "::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:a00:1",
    "translated to an IPv4 address": "64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::a9fe:a9fe",
    "tunnelled to an IPv4 address": "2002:7f00:1::1 2002:a00:1::1 2001:0:53aa:64c:0:fbff:80ff:fffe "
    "2a00::5efe:10.0.0.1 2a00::200:5efe:127.0.0.1",
    "of one link": "2a00::1%eth0",
}
PUBLIC = (
    "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 "
    "169.253.255.255 172.15.255.255 172.32.0.0 192.0.1.0 198.17.255.255 198.20.0.0 223.255.255.255 "
    "2001:200::1 2001:4860:4860::8888 2003::1 2400:cb00::1 2606:4700::1111 2a00:1450::1 3ffe::1"
)
GOOD = ipaddress.ip_address("1.1.1.1")


def told(*found: str) -> addresses.Resolve:
    """Make a resolver that gives these addresses for every name."""

    async def resolve(name: str) -> tuple[Address, ...]:
        del name
        await trio.lowlevel.checkpoint()
        return tuple(ipaddress.ip_address(one) for one in found)

    return resolve


@pytest.mark.parametrize(
    ("what", "address"), [(what, one) for what, some in HOSTILE.items() for one in some.split()]
)
def test_a_special_address_is_named_for_what_it_is(what: str, address: str) -> None:
    assert why_not_public(ipaddress.ip_address(address)) == what


@pytest.mark.parametrize("address", PUBLIC.split())
def test_addresses_beside_the_special_ones_are_public(address: str) -> None:
    assert why_not_public(ipaddress.ip_address(address)) == ""


def test_both_ends_of_each_special_network_are_refused() -> None:
    for network, _ in NOT_PUBLIC:
        for address in (network[0], network[-1]):
            assert why_not_public(address), address


@given(st.ip_addresses())
def test_what_the_standard_library_calls_special_is_never_public(address: Address) -> None:
    special = not address.is_global or address.is_multicast or address.is_reserved

    assert why_not_public(address) or not special


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:0:0", "64:ff9b::", "::"]))
def test_no_ipv4_address_passes_in_a_form_of_ipv6(inner: ipaddress.IPv4Address, form: str) -> None:
    assert why_not_public(ipaddress.IPv6Address(int(ipaddress.IPv6Address(form)) + int(inner)))


@given(st.ip_addresses(v=4), st.integers(0, 2**80 - 1))
def test_no_ipv4_address_passes_in_6to4(inner: ipaddress.IPv4Address, rest: int) -> None:
    assert why_not_public(ipaddress.IPv6Address((0x2002 << 112) | (int(inner) << 80) | rest))


@pytest.mark.trio
async def test_a_name_with_public_addresses_gives_them_in_their_order() -> None:
    found = await public_addresses("a.example", resolve=told("8.8.8.8", "2606:4700::1111"))

    assert [str(one) for one in found] == ["8.8.8.8", "2606:4700::1111"]


@pytest.mark.trio
@pytest.mark.parametrize("bad", ["127.0.0.1", "::1", "169.254.169.254", "::ffff:8.8.8.8"])
async def test_one_bad_address_among_good_ones_spoils_the_name(bad: str) -> None:
    for order in ((bad, "8.8.8.8"), ("8.8.8.8", bad), ("8.8.8.8", "1.1.1.1", bad)):
        with pytest.raises(NetworkError) as caught:
            await public_addresses("a.example", resolve=told(*order))
        assert caught.value.code is NodeCode.UNREACHABLE


@pytest.mark.trio
async def test_only_what_is_allowed_passes_besides() -> None:
    allowed = frozenset({ipaddress.ip_address("127.0.0.1")})
    found = await public_addresses("a.example", resolve=told("127.0.0.1"), allowed=allowed)
    assert [str(one) for one in found] == ["127.0.0.1"]
    with pytest.raises(NetworkError, match="not public"):
        await public_addresses("a.example", resolve=told("127.0.0.2"), allowed=allowed)


@pytest.mark.trio
async def test_a_stranger_does_not_learn_what_names_there_are_inside() -> None:
    async def fails(name: str) -> tuple[Address, ...]:
        raise socket.gaierror(name)

    told_of = set()
    for resolve in (told(), fails, told("10.1.2.3"), told("8.8.8.8", "fe80::1%eth0")):
        with pytest.raises(NetworkError) as caught:
            await public_addresses("intranet.example", resolve=resolve)
        told_of.add(str(caught.value))
    assert len(told_of) == 1
    assert "10.1" not in told_of.pop()


@pytest.mark.trio
async def test_a_name_with_very_many_addresses_is_refused() -> None:
    many = [str(GOOD + number) for number in range(MOST_ADDRESSES + 1)]
    assert len(await public_addresses("a.example", resolve=told(*many[:-1]))) == MOST_ADDRESSES
    with pytest.raises(NetworkError, match="more than 64"):
        await public_addresses("a.example", resolve=told(*many))


@pytest.mark.trio
async def test_the_system_knows_its_own_name_and_it_is_refused() -> None:
    found = await by_system("localhost")
    assert found
    assert all(one.is_loopback for one in found)
    with pytest.raises(NetworkError, match="not public"):
        await public_addresses("localhost")


@pytest.mark.trio
@pytest.mark.parametrize(
    "spelling", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0", "0x7f.1", "017700000001"]
)
async def test_other_spellings_of_loopback_lead_nowhere(spelling: str) -> None:
    # The system's look-up takes them for numbers; domains are refused before (see `domains`).
    with pytest.raises(NetworkError, match="not public"):
        await public_addresses(spelling)
