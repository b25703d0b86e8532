"""What one caller may ask of this instance, in numbers.

Every request costs event-loop time that agreement needs too, so callers have buckets: one for
each token, one for each remote address of callers without a valid token. The number of buckets
is bounded as well; the one used longest ago makes room.
"""

import ipaddress
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from federation.core import Millis

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
    bad_token: int = 20
    """What a request with a wrong token costs its address: guessing has to be slow."""
    buckets: int = 4_096
    connections: int = 256
    """Connections at a time; one more is told so and closed."""
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
