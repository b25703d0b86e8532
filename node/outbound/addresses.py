"""Which addresses a node may be sent to by strangers: public ones of the internet, and no others.

The tables are those of IANA's registries of special-purpose addresses, and stricter where a form
hides another address: a packet to a mapped, translated or tunnelled IPv6 address may come out at
any IPv4 address, so these forms are refused whatever they hold. Of a name every address must be
public: one that is not makes the others worthless.
"""

import ipaddress
import socket
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final, TypeAlias

import trio

from node.base.errors import NetworkError, NodeCode

Address: TypeAlias = IPv4Address | IPv6Address
Resolve: TypeAlias = Callable[[str], Awaitable[tuple[Address, ...]]]
"""Gives all addresses of a name; raises OSError if it has none."""

MOST_LOOK_UPS: Final = 8
"""Names looked up at the same time; a slow one holds its thread until the system gives up on it."""
MOST_ADDRESSES: Final = 64
"""Of one name; nobody needs more, and each is looked at."""
_UNICAST: Final = IPv6Network("2000::/3")
"""All that IANA has given out of IPv6 for the public internet; everything else is special."""
_TUNNELS: Final = (0x0000_5EFE, 0x0200_5EFE)
"""Begin the lower half of an ISATAP address, whose end is an IPv4 address."""

NOT_PUBLIC: Final[tuple[tuple[IPv4Network | IPv6Network, str], ...]] = tuple(
    (ipaddress.ip_network(text), what)
    for text, what in (
        ("0.0.0.0/8", "this host"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by the customers of a provider"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved for protocols"),
        ("192.0.2.0/24", "for documentation"),
        ("192.88.99.0/24", "a relay of 6to4"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        # Public by its number, but inside a provider's network it is the provider's own agent.
        ("168.63.129.16/32", "the platform of a cloud provider"),
        ("::/128", "this host"),
        ("::1/128", "loopback"),
        ("::ffff:0:0/96", "an IPv4 address in disguise"),
        ("64:ff9b::/96", "translated to an IPv4 address"),
        ("64:ff9b:1::/48", "translated to an IPv4 address"),
        ("2001::/32", "tunnelled to an IPv4 address"),
        ("2001::/23", "reserved for protocols"),
        ("2001:db8::/32", "for documentation"),
        ("2002::/16", "tunnelled to an IPv4 address"),
        ("3fff::/20", "for documentation"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
    )
)
"""Networks of special addresses, and what they are; the first that fits names an address."""

_limiter: Final[trio.lowlevel.RunVar[trio.CapacityLimiter]] = trio.lowlevel.RunVar("look-ups")


def why_not_public(address: Address) -> str:
    """Say what an address is, if it is none of the public internet; empty if it is one."""
    for network, what in NOT_PUBLIC:
        if address.version == network.version and address in network:
            return what
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            return "of one link"
        if address not in _UNICAST:
            return "reserved"
        if (int(address) >> 32) & 0xFFFF_FFFF in _TUNNELS:
            return "tunnelled to an IPv4 address"
    return ""


async def by_system(name: str) -> tuple[Address, ...]:
    """Ask the system for all addresses of a name, in its order; raises OSError.

    It runs in a thread of a small pool of its own: a name whose servers never answer must hold up
    no other work of the node. A caller that gives up leaves its thread behind.
    """
    found = await trio.to_thread.run_sync(
        _look_up,
        name,
        limiter=_own_limiter(),
        abandon_on_cancel=True,  # type: ignore[call-arg] # mypy loses it
    )
    return tuple(dict.fromkeys(found))


def _look_up(name: str) -> list[Address]:
    found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [ipaddress.ip_address(place[0]) for *_, place in found]


async def public_addresses(
    name: str, *, resolve: Resolve = by_system, allowed: frozenset[Address] = frozenset()
) -> tuple[Address, ...]:
    """Give the addresses of a name, if all of them are public.

    `allowed` are taken besides: tests serve on loopback, and nothing else may pass any. Raises
    NetworkError UNREACHABLE if the name has no address, one that is not public, or too many.
    """
    try:
        found = await resolve(name)
    except (OSError, UnicodeError, ValueError) as error:
        raise _refused() from error
    if len(found) > MOST_ADDRESSES:
        raise NetworkError(
            "address refused",
            why=f"its name has more than {MOST_ADDRESSES} addresses",
            fix="give it fewer in the DNS",
            code=NodeCode.UNREACHABLE,
        )
    if not found or any(why_not_public(one) for one in found if one not in allowed):
        raise _refused()
    return found


def _own_limiter() -> trio.CapacityLimiter:
    """Give the pool of this run of trio."""
    try:
        return _limiter.get()
    except LookupError:
        made = trio.CapacityLimiter(MOST_LOOK_UPS)
        _limiter.set(made)
        return made


def _refused() -> NetworkError:
    # One sentence for both: a stranger must not learn which names the network around this node
    # has, nor where they lead.
    return NetworkError(
        "address refused",
        why="its name has no address, or one that is not public",
        fix="give it public addresses only in the DNS, and not only ones that NAT64 makes up",
        code=NodeCode.UNREACHABLE,
    )
