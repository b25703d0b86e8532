"""The book of peers: who broke which rule, what it cost, and who is banned until when.

A peer starts at zero and rises with each fault by its cost; the score halves with every ten minutes
of quiet, so an accident is forgotten and a habit is not. At the limit a peer is banned, each time
twice as long. The reasons are kept for the operator (`folkmoot peer why`): nobody is banned by a
number alone. Everything is bounded: peers, reasons, and the length of a reason.
The book only tells. `Links` ends the conversation of whoever is banned, `hello` refuses it another,
the dialer does not call it, and gossip neither hears nor tells it anything.
Design: federation, "Moving records" (budgets).
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from federation.core import Millis
from node.base.errors import NodeCode
from node.network.identity import PeerKey

LIMIT: Final = 100
"""The score at which a peer is banned."""
HALF_LIFE: Final[Millis] = 10 * 60 * 1_000
FIRST_BAN: Final[Millis] = 10 * 60 * 1_000
LONGEST_BAN: Final[Millis] = 24 * 60 * 60 * 1_000
PROBATION: Final[Millis] = 24 * 60 * 60 * 1_000
"""So long after the end of a ban the next one is twice as long."""
MOST_PEERS: Final = 1_024
MOST_REASONS: Final = 32
_TEXT: Final = 256
_MINUTE: Final = 60 * 1_000
# Scores are kept in thousandths, so that halving small ones does not lose them at once.
_SCALE: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One row of the why-table of a peer."""

    at: Millis
    """Unix time in ms."""
    code: str
    why: str
    cost: int
    """What it added to the score; 0 for a mere note."""


@dataclass(slots=True)
class _Page:
    thousandths: int = 0
    as_of: Millis = 0
    banned_until: Millis = 0
    bans: int = 0
    reasons: deque[Reason] = field(default_factory=lambda: deque(maxlen=MOST_REASONS))


class PeerBook:
    """What this instance holds against its peers; in memory only, a restart forgives."""

    def __init__(self, now: Callable[[], Millis], wall: Callable[[], Millis]) -> None:
        """Start blank; bans are measured by `now`, `wall` is what people read."""
        self._now = now
        self._wall = wall
        self._pages: OrderedDict[PeerKey, _Page] = OrderedDict()

    def __len__(self) -> int:
        """Count the peers in the book."""
        return len(self._pages)

    def fault(self, peer: PeerKey, code: str, why: str, cost: int) -> None:
        """Hold a fault against a peer, and ban it at the limit; `cost` >= 0 (`costs`)."""
        assert cost >= 0, "no fault improves a score"  # noqa: S101 # our own invariant
        now = self._now()
        page = self._page(peer)
        self._write(page, code, why, cost)
        if now < page.banned_until:
            # What was under way when the ban began does not prolong it.
            return
        page.thousandths = _decayed(page, now) + cost * _SCALE
        page.as_of = now
        if page.thousandths >= LIMIT * _SCALE:
            habit = page.bans and now < page.banned_until + PROBATION
            page.bans = page.bans + 1 if habit else 1
            page.banned_until = now + min(FIRST_BAN << min(page.bans - 1, 16), LONGEST_BAN)
            page.thousandths = 0

    def note(self, peer: PeerKey, code: str, why: str) -> None:
        """Write something about a peer that costs it nothing."""
        self._write(self._page(peer), code, why, 0)

    def ban(self, peer: PeerKey, *, minutes: int, why: str) -> None:
        """Ban a peer by the operator's word, however good it was; the last word counts, 0 pardons."""
        page = self._page(peer)
        page.thousandths = 0
        page.banned_until = self._now() + minutes * _MINUTE
        self._write(page, NodeCode.BANNED, why, 0)

    def is_banned(self, peer: PeerKey) -> bool:
        """Tell whether a peer is banned now."""
        return self.banned_until(peer) is not None

    def banned_until(self, peer: PeerKey) -> Millis | None:
        """Tell when a peer's ban ends, on this instance's clock; None if it is not banned."""
        page = self._pages.get(peer)
        return page.banned_until if page is not None and self._now() < page.banned_until else None

    def banned_until_wall(self, peer: PeerKey) -> Millis | None:
        """Tell when a peer's ban ends, in Unix ms; None if it is not banned."""
        until = self.banned_until(peer)
        return None if until is None else self._wall() + until - self._now()

    def banned_why(self, peer: PeerKey) -> str | None:
        """Tell why a peer is banned, in words that it may hear; None if it is not banned."""
        until = self.banned_until(peer)
        if until is None:
            return None
        minutes = -(-(until - self._now()) // _MINUTE)
        return f"for {minutes} more minutes; last: {self._pages[peer].reasons[-1].why}"

    def score(self, peer: PeerKey) -> int:
        """Give what is held against a peer now; 0 is spotless."""
        page = self._pages.get(peer)
        return 0 if page is None else -(-_decayed(page, self._now()) // _SCALE)

    def why(self, peer: PeerKey) -> tuple[Reason, ...]:
        """Give the why-table of a peer, oldest first; the newest 32 rows are kept."""
        page = self._pages.get(peer)
        return () if page is None else tuple(page.reasons)

    def _write(self, page: _Page, code: str, why: str, cost: int) -> None:
        row = Reason(at=self._wall(), code=str(code)[:_TEXT], why=why[:_TEXT], cost=cost)
        page.reasons.append(row)

    def _page(self, peer: PeerKey) -> _Page:
        page = self._pages.get(peer)
        if page is None:
            if len(self._pages) >= MOST_PEERS:
                self._forget_one()
            page = self._pages[peer] = _Page()
        self._pages.move_to_end(peer)
        return page

    def _forget_one(self) -> None:
        """Forget who was quiet the longest; the banned last, else a swarm would lift bans."""
        now = self._now()
        free = (one for one, page in self._pages.items() if now >= page.banned_until)
        soonest = min(self._pages, key=lambda one: self._pages[one].banned_until)
        del self._pages[next(free, soonest)]


def _decayed(page: _Page, now: Millis) -> int:
    """Halve the score for each half-life since it was taken, with a straight line in between."""
    halvings, rest = divmod(max(0, now - page.as_of), HALF_LIFE)
    left = page.thousandths >> min(halvings, 64)
    return left - left * rest // (2 * HALF_LIFE)
