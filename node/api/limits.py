"""What one caller may ask of this instance, in numbers.

Every request costs event-loop time that agreement needs too, so callers have buckets: one for
each token, one for each remote address of callers without a valid token. The number of buckets
is bounded as well; the one used longest ago makes room. An agent's token also draws from the
bucket of its operator, so that many agents of one operator are no more than one operator.
Connections have places: one address cannot take them all.
"""

import ipaddress
from collections import Counter, OrderedDict
from dataclasses import dataclass
from typing import Final

from federation.core import Millis

AGENTS_A_REQUEST: Final = 500
"""To look at so many agents takes as long as a request."""
EDGES_A_REQUEST: Final = 2_500
"""To look at so many judgements takes as long as a request."""
ROWS_A_REQUEST: Final = 50
"""To explain so many rows of evidence takes as long as a request."""
DEAREST_LOOK: Final = 100
"""Most requests that such a look costs: a caller with a full bucket can pay it."""
_THOUSAND: Final = 1_000
_PREFIX_V6: Final = 64
"""One household has a whole /64 of IPv6 addresses, and gets one bucket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How a bucket fills."""

    per_second: int
    burst: int
    """What a full bucket holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of the HTTP side; tests take smaller ones."""

    by_token: Rate = Rate(per_second=100, burst=400)
    by_address: Rate = Rate(per_second=50, burst=200)
    by_operator: Rate = Rate(per_second=250, burst=1_000)
    """All tokens that act for agents of one operator together, and its registrations."""
    deaf: Rate = Rate(per_second=20, burst=400)
    """Requests beyond its rate that an address may send, after the answer that tells it to wait: one
    more, and it is banned for `deaf_s`. To answer costs time, too."""
    deaf_s: float = 60.0
    """Seconds of such a ban; each further one in a row is twice as long."""
    bad_token: int = 20
    """What a request with a wrong token costs its address: guessing has to be slow."""
    stranger: int = 20
    """What a record costs whose author no cut has admitted: it is stored for ever, and anybody can
    make such authors."""
    registration: int = 20
    """What an attempt to register costs its address, and a successful one its operator: at the
    rates above, ten at once and then two and a half a second."""
    ban_s: float = 600.0
    """Seconds for which an address is not heard that has sent a false proof; twice as long each
    further time. Loopback is spared, as above."""
    ban_most_s: float = 86_400.0
    """Seconds that such a ban may come to; one who is quiet for as long begins anew."""
    buckets: int = 4_096
    connections: int = 256
    """Connections at a time; one more is told so and closed."""
    of_address: int = 32
    """Of these, connections of one address; loopback is spared, where a proxy speaks for many."""
    spares_loopback: bool = True
    """False only in tests, which have no other address."""
    streams: int = 64
    """Event streams at a time, of these connections."""
    body: int = 64 * 1024
    """Bytes of a body, unless the route says otherwise."""
    head: int = 16 * 1024
    """Bytes of request line and headers."""
    body_s: float = 10.0
    """Seconds for a body to arrive."""
    idle_s: float = 15.0
    """Seconds for the head of a request to arrive whole, and between two requests."""
    send_s: float = 20.0
    """Seconds for a client to take what it was sent."""
    linger_s: float = 1.0
    """Seconds to read on after a refused body, so that the answer arrives."""
    heartbeat_s: float = 15.0
    """Seconds between two signs of life on an event stream."""
    flush_s: float = 10.0
    """Seconds that an answer waits for the disk before it says that it cannot be given."""
    drain_s: float = 1.0
    """Seconds that open requests get at shutdown."""


def price_of_look(agents: int, edges: int, rows: int = 0) -> int:
    """Price a look at agents, judgements and rows of evidence, in requests beyond the one."""
    looks = agents // AGENTS_A_REQUEST + edges // EDGES_A_REQUEST + rows // ROWS_A_REQUEST
    return min(looks, DEAREST_LOOK)


class Buckets:
    """Token buckets by name, each filled at one rate."""

    def __init__(self, rate: Rate, *, most: int) -> None:
        """Keep at most so many buckets."""
        self._rate = rate
        self._most = most
        # Of each: what it held, in thousandths, and when that was.
        self._held: OrderedDict[str, tuple[int, Millis]] = OrderedDict()

    def take(self, name: str, cost: int, now: Millis) -> Millis:
        """Take `cost` from a bucket; 0, or the ms to wait if it holds less: then nothing is taken.

        `now` is monotonic time in ms.
        """
        rate = self._rate
        full = rate.burst * _THOUSAND
        held, since = self._held.pop(name, (full, now))
        held = min(held + (now - since) * rate.per_second, full)
        lacks = cost * _THOUSAND - held
        self._held[name] = (held if lacks > 0 else held - cost * _THOUSAND, now)
        if len(self._held) > self._most:
            self._held.popitem(last=False)
        return -(-lacks // rate.per_second) if lacks > 0 else 0

    def __len__(self) -> int:
        """Count the buckets that are kept."""
        return len(self._held)


class Places:
    """Places for connections: so many in all, and so many of them for one address."""

    def __init__(self, limits: Limits) -> None:
        """All are free."""
        self._limits = limits
        self._taken: Counter[str] = Counter()
        self._count = 0

    def take(self, address: str) -> bool:
        """Take a place for a remote address, or tell that there is none."""
        name, limits = bucket_of(address), self._limits
        spared = limits.spares_loopback and is_loopback(address)
        if self._count >= limits.connections:
            return False
        if not spared and self._taken[name] >= limits.of_address:
            return False
        self._taken[name] += 1
        self._count += 1
        return True

    def leave(self, address: str) -> None:
        """Give back a place that was taken for an address."""
        name = bucket_of(address)
        self._count -= 1
        self._taken[name] -= 1
        if not self._taken[name]:
            del self._taken[name]

    def __len__(self) -> int:
        """Count the addresses that have places."""
        return len(self._taken)


def is_loopback(address: str) -> bool:
    """Tell whether an address is this machine's own: a proxy there speaks for many."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return (mapped or parsed).is_loopback


def bucket_of(address: str) -> str:
    """Name the bucket of a remote address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, _PREFIX_V6), strict=False))
