"""Virtual time: a queue of what happens next (design: tests, simulated network).

Nothing here reads a clock. Events of one instant run in the order in which they were planned, so
a run is a pure function of its seed and its scenario.
"""

import heapq
from collections.abc import Callable
from typing import TypeAlias

from federation.core import Millis

Action: TypeAlias = Callable[[], object]


class Timeline:
    """Events in virtual time, earliest first, ties by the order in which they were planned."""

    def __init__(self) -> None:
        """Start at time 0 with nothing planned."""
        self.now: Millis = 0
        self._queue: list[tuple[Millis, int, Action]] = []
        self._planned = 0

    def at(self, when: Millis, action: Action) -> None:
        """Plan an action for virtual time `when`; a time that has passed means now."""
        self._planned += 1
        heapq.heappush(self._queue, (max(when, self.now), self._planned, action))

    def after(self, delay: Millis, action: Action) -> None:
        """Plan an action in `delay` ms."""
        self.at(self.now + delay, action)

    @property
    def upcoming(self) -> Millis | None:
        """When the next event happens; None if nothing is planned."""
        return self._queue[0][0] if self._queue else None

    def advance(self) -> bool:
        """Run the next event; tell whether there was one."""
        if not self._queue:
            return False
        self.now, _, action = heapq.heappop(self._queue)
        action()
        return True
