"""Which artifacts a new text nearly repeats: sought in the index, compared beside the core.

The index gives the texts that share the rarest-looking words, and a thread compares those. What is
not found in time is not found: nobody waits long to propose something because of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import trio

from federation.artifacts.near import cosine, runs_of, whole
from federation.core import ArtifactId, Ppm, RecordId
from federation.protocol import World
from federation.records import ArtifactText
from node.queries.texts import article
from node.store import Store
from node.store.words import shared_words
from node.telemetry import log

CANDIDATES: Final = 20
"""Texts that are compared, the best matches first: 16 KiB each cost some 40 ms in a thread."""
PATIENCE_S: Final = 2.0
"""How long a proposal waits for the comparison, with those before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """An artifact that a text nearly repeats."""

    of: ArtifactId
    likeness: Ppm


class Nearness:
    """The comparison of one node: one text at a time."""

    def __init__(self, store: Store, world: Callable[[], World]) -> None:
        """Compare with the texts of a store that a world has taken in."""
        self._store = store
        self._world = world
        self._one = trio.CapacityLimiter(1)

    async def find(self, text: ArtifactText) -> tuple[Near, ...]:
        """List artifacts that a text nearly repeats by the charter, the nearest first.

        Hidden ones are left out. Gives none if it takes longer than 2 s.
        """
        found: tuple[Near, ...] = ()
        spelt = whole(text)
        expression = shared_words(spelt)
        if expression is None:
            return found
        with trio.move_on_after(PATIENCE_S) as patience:
            names = await self._store.search(expression, CANDIDATES)
            others = self._texts(names)
            least = self._world().charter.review.near
            found = await trio.to_thread.run_sync(
                _compare,
                spelt,
                others,
                least,
                abandon_on_cancel=True,  # type: ignore[call-arg] # mypy loses it
                limiter=self._one,
            )
        if patience.cancelled_caught:
            log.warning("near.given_up", after_ms=int(PATIENCE_S * 1_000))
        return found

    def _texts(self, names: list[RecordId]) -> list[tuple[ArtifactId, str]]:
        world = self._world()
        artifacts = (world.state.artifacts.get(name) for name in names)
        held = ((one.id, article(world, one)[1]) for one in artifacts if one is not None)
        return [(name, whole(text)) for name, text in held if text is not None]


def _compare(text: str, others: list[tuple[ArtifactId, str]], least: Ppm) -> tuple[Near, ...]:
    runs = runs_of(text)
    found = [Near(of=name, likeness=cosine(runs, runs_of(other))) for name, other in others]
    near = [one for one in found if one.likeness >= least]
    return tuple(sorted(near, key=lambda one: (-one.likeness, one.of)))
