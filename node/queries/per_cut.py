"""What is the same for everybody until the next cut is worked out once, and not once a request.

Some answers look at every agent or every judgement. Standing changes with cuts alone, so such a
look is kept until the next one; anybody may ask for it, and must not make the event loop do it
again. Only numbers are kept: names may become known between two cuts.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from federation.protocol import World

T = TypeVar("T")


class PerCut(Generic[T]):
    """A question to a world, with the answer for the cut that was asked about last."""

    def __init__(self, work: Callable[[World], T]) -> None:
        """Ask nothing yet; `work` must depend on nothing but the world's state."""
        self._work = work
        self._of: tuple[World, int, int, int] | None = None
        self._kept: T | None = None

    def __call__(self, world: World) -> T:
        """Give the answer for the newest cut of a world; whoever gets it must not change it."""
        state = world.state
        of = (world, state.cut, state.tick, state.graph.version)
        # Worlds are compared by identity: to compare all that they hold would take longest of all.
        if self._of is None or self._of[0] is not world or self._of[1:] != of[1:]:
            # What was kept goes first, so that there are never two.
            self._of = self._kept = None
            self._kept = self._work(world)
            self._of = of
        assert self._kept is not None, "it was worked out"  # noqa: S101 # our own invariant
        return self._kept
