"""The clock of one instance: virtual time with an offset of its own, and jumps.

An instance knows only its own monotonic clock (design: time, 2). Here it starts anywhere, may
jump forward, and stands still instead of going back: that is what monotonic means.
"""

from federation.core import Millis


class LocalClock:
    """A monotonic clock that is off by an offset."""

    def __init__(self, offset: Millis = 0) -> None:
        """Start `offset` ms ahead of virtual time."""
        self._offset = offset
        self._last: Millis = 0

    def read(self, now: Millis) -> Millis:
        """Give this clock's time at virtual time `now`; it never goes back."""
        self._last = max(self._last, now + self._offset)
        return self._last

    def when(self, local: Millis) -> Millis:
        """Give the virtual time at which this clock will show `local`, if it does not jump."""
        return local - self._offset

    def jump(self, by: Millis) -> None:
        """Move the clock by `by` ms; a jump back lets it stand still for as long."""
        self._offset += by
