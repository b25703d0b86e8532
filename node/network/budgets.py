"""Token buckets: how much a peer may send in the long run, and how much at once.

A bucket holds `burst` tokens, is filled with `rate` per second, and gives what is asked for or
nothing. Time comes as a number of milliseconds from outside, so a bucket needs no clock; time that
runs backwards fills nothing and costs nothing.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from federation.core import Millis

_SECOND: Final = 1_000


@dataclass(slots=True, kw_only=True)
class TokenBucket:
    """A budget of one thing: bytes, messages, streams."""

    rate: int
    """Tokens per second."""
    burst: int
    """Tokens of a full bucket."""
    _thousandths: int = field(init=False)
    _filled_at: Millis | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Start full."""
        self._thousandths = self.burst * _SECOND

    def take(self, count: int, now: Millis) -> bool:
        """Take `count` tokens, or none if there are too few."""
        self._fill(now)
        if count * _SECOND > self._thousandths:
            return False
        self._thousandths -= count * _SECOND
        return True

    def wait_ms(self, count: int, now: Millis) -> int:
        """Tell after how many ms `take(count)` would succeed; 0 at once. `count` <= `burst`."""
        self._fill(now)
        lacking = count * _SECOND - self._thousandths
        return 0 if lacking <= 0 else -(-lacking // self.rate)

    def _fill(self, now: Millis) -> None:
        if self._filled_at is None or now < self._filled_at:
            self._filled_at = now
            return
        gained = (now - self._filled_at) * self.rate
        self._thousandths = min(self.burst * _SECOND, self._thousandths + gained)
        self._filled_at = now


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What one peer may send of one kind of traffic."""

    messages_per_s: int
    messages_at_once: int
    bytes_per_s: int
    bytes_at_once: int


class Budgets:
    """The same allowance for each peer, remembered for a bounded number of peers.

    When there are more peers than room, the one that was quiet the longest is forgotten and starts
    again with full buckets; connected peers are far fewer than the room.
    """

    def __init__(self, allowance: Allowance, *, most_peers: int = 1_024) -> None:
        """Start with nobody."""
        self._allowance = allowance
        self._most = most_peers
        self._of: OrderedDict[bytes, tuple[TokenBucket, TokenBucket]] = OrderedDict()

    def __len__(self) -> int:
        """Tell how many peers are remembered."""
        return len(self._of)

    def spend(self, peer: bytes, size: int, now: Millis) -> bool:
        """Charge one message of `size` bytes to a peer; False if it is beyond its budget."""
        messages, volume = self._buckets(peer)
        # Both are asked: a peer out of bytes must not go on for free with messages.
        enough = messages.take(1, now)
        return volume.take(size, now) and enough

    def wait_ms(self, peer: bytes, size: int, now: Millis) -> int:
        """Tell after how many ms a message of `size` bytes is within the peer's budget."""
        messages, volume = self._buckets(peer)
        return max(messages.wait_ms(1, now), volume.wait_ms(min(size, volume.burst), now))

    def _buckets(self, peer: bytes) -> tuple[TokenBucket, TokenBucket]:
        found = self._of.get(peer)
        if found is None:
            allowed = self._allowance
            found = (
                TokenBucket(rate=allowed.messages_per_s, burst=allowed.messages_at_once),
                TokenBucket(rate=allowed.bytes_per_s, burst=allowed.bytes_at_once),
            )
            self._of[peer] = found
            if len(self._of) > self._most:
                self._of.popitem(last=False)
        self._of.move_to_end(peer)
        return found
