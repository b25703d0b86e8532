"""Remote addresses that are not heard for a while.

One has sent a proof of work that was none: such a proof is no accident, and to find it out costs
this node ten milliseconds. Another goes on by the hundreds after it was told to wait, and each
answer costs a part of a millisecond. Who is banned is refused before anything else is looked at, in
the moment in which it connects. The first ban is short, because others may live behind the same
address; each further one is twice as long.

Bans live in memory: who was banned before a restart has to earn the next one.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from federation.core import Millis
from node.api.limits import Limits, bucket_of, is_loopback
from node.base.errors import NodeCode, NodeError

_SECOND: Final = 1_000
_MOST_DOUBLINGS: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ban:
    until: Millis
    """Monotonic time in ms."""
    times: int
    """How often the address was banned in a row."""


class Bans:
    """Who is banned, by bucket of the address: of IPv6 a whole /64."""

    def __init__(self, limits: Limits) -> None:
        """Nobody is."""
        self._limits = limits
        self._bans: OrderedDict[str, _Ban] = OrderedDict()
        self._listeners: list[Callable[[str, int], None]] = []

    def listen(self, heard: Callable[[str, int], None]) -> None:
        """Let somebody hear of each new ban: its bucket, and the port that is to be spared."""
        self._listeners.append(heard)

    def ban(
        self, address: str, now: Millis, *, spare: int = 0, seconds: float | None = None
    ) -> Millis:
        """Ban an address; gives until when, 0 if it is spared. Times are monotonic, in ms.

        The first ban lasts `seconds`, or as long as one for a false proof. Its connections end, but for that from the port `spare`, which has to hear of it first.
        """
        if self._limits.spares_loopback and is_loopback(address):
            return 0
        name = bucket_of(address)
        before = self._bans.pop(name, None)
        longest = int(self._limits.ban_most_s * _SECOND)
        # Who has kept still for as long as the longest ban begins anew.
        again = before is not None and now < before.until + longest
        times = before.times + 1 if before is not None and again else 1
        first = self._limits.ban_s if seconds is None else seconds
        lasts = int(first * _SECOND) << min(times - 1, _MOST_DOUBLINGS)
        until = now + min(lasts, longest)
        self._bans[name] = _Ban(until=until, times=times)
        if len(self._bans) > self._limits.buckets:
            self._bans.popitem(last=False)
        for heard in self._listeners:
            heard(name, spare)
        return until

    def until(self, address: str, now: Millis) -> Millis:
        """Tell until when an address is banned; 0 if it is not."""
        if not self._bans:
            return 0
        ban = self._bans.get(bucket_of(address))
        return ban.until if ban is not None and now < ban.until else 0

    def __len__(self) -> int:
        """Count the addresses that are remembered."""
        return len(self._bans)


def banned(until: Millis) -> NodeError:
    """Make the error that a banned address is told; `until` is Unix time in ms."""
    return NodeError(
        "connection refused",
        why="a proof of work that was none came from this address, or hundreds of requests after it was "
        "told to wait",
        fix="wait until the ban ends; finish the search before you send a proof, and heed Retry-After",
        code=NodeCode.BANNED,
        retry_at=until,
    )
