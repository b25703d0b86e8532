"""Wakes the core at the times it asked for.

The core asks again and again for the same moments; each is kept once. One wake-up serves all that
are due, because `Wake` tells the core only that time has passed.
"""

import heapq
import math
from collections.abc import Callable
from typing import Final

import trio

from federation.core import Millis

_SECOND: Final = 1_000
_LONGEST: Final = 30.0
"""Sleep at most this long: the machine may sleep too, and trio's clock stops then."""


class Timers:
    """The moments at which the core wants to be woken."""

    def __init__(self, now: Callable[[], Millis]) -> None:
        """Start with none; `now` is the instance's own clock."""
        self._now = now
        self._planned: set[Millis] = set()
        self._heap: list[Millis] = []
        self._sooner = trio.Event()

    def wake_at(self, at: Millis) -> None:
        """Plan a wake-up; one that is planned already is not planned twice."""
        if at in self._planned:
            return
        self._planned.add(at)
        heapq.heappush(self._heap, at)
        if self._heap[0] == at:
            self._sooner.set()

    @property
    def next(self) -> Millis | None:
        """When the next wake-up is due."""
        return self._heap[0] if self._heap else None

    def __len__(self) -> int:
        """Count the planned wake-ups."""
        return len(self._heap)

    async def wait(self) -> None:
        """Return once at least one wake-up is due; all that are due are forgotten then."""
        while True:
            now = self._now()
            if self._heap and self._heap[0] <= now:
                while self._heap and self._heap[0] <= now:
                    self._planned.discard(heapq.heappop(self._heap))
                return
            wait = (self._heap[0] - now) / _SECOND if self._heap else math.inf
            self._sooner = trio.Event()
            with trio.move_on_after(min(wait, _LONGEST)):
                await self._sooner.wait()
