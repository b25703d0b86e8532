"""What this node's operator does not show on this node: the local part of moderation (§3.2.3).

It changes nothing for anybody else: records are replicated, judged and voted on as ever, and other
nodes show what they like. An artifact can be hidden before any cut contains it.
"""

from collections.abc import Callable, Iterable
from typing import Final

import trio

from federation.core import ArtifactId, Millis
from federation.protocol import World
from node.base.errors import NodeCode, RequestError
from node.queries.texts import veil
from node.store import Hidden, ShowAgain, Store

MOST: Final = 10_000
"""Artifacts that one node may hide: they are kept in memory."""


class Hiding:
    """The hidden artifacts of one node, in memory and on disk."""

    def __init__(
        self,
        store: Store,
        world: Callable[[], World],
        wall: Callable[[], Millis],
        kept: Iterable[Hidden],
    ) -> None:
        """Hide again what was hidden before; `wall` is Unix time in ms."""
        self._store = store
        self._world = world
        self._wall = wall
        self._kept = {one.artifact: one for one in kept}
        # A later word about the same artifact must not overtake an earlier one on its way to disk.
        self._writing = trio.Lock()
        self._apply()

    @property
    def kept(self) -> tuple[Hidden, ...]:
        """List what is hidden, the newest first."""
        return tuple(sorted(self._kept.values(), key=lambda one: (-one.at, one.artifact)))

    async def hide(self, artifact: ArtifactId, reason: str) -> Hidden:
        """Hide an artifact here; said again it takes the new reason. Raises RequestError BUSY."""
        async with self._writing:
            if len(self._kept) >= MOST and artifact not in self._kept:
                raise RequestError(
                    "artifact not hidden",
                    why=f"this node hides {MOST} artifacts already",
                    fix="show others again first",
                    code=NodeCode.BUSY,
                )
            one = Hidden(artifact=artifact, reason=reason, at=self._wall())
            # At once: whoever reads while the disk works must not see it any more.
            self._kept[artifact] = one
            self._apply()
            await self._store.write([one])
            return one

    async def show(self, artifact: ArtifactId) -> None:
        """Show an artifact here again; raises RequestError NOT_FOUND if it is not hidden here."""
        async with self._writing:
            if artifact not in self._kept:
                raise RequestError(
                    "artifact not shown again",
                    why="this node's operator does not hide it",
                    fix="if the realm hides it, only the realm can show it again",
                    code=NodeCode.NOT_FOUND,
                )
            await self._store.write([ShowAgain(artifact=artifact)])
            del self._kept[artifact]
            self._apply()

    def _apply(self) -> None:
        veil(self._world(), {name: one.reason for name, one in self._kept.items()})
