"""What happened, numbered: the feed behind server-sent events, resumable after a restart.

An event is shown only once it is stored, so a cursor that a client keeps means the same after the
instance was killed.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

import trio

from federation.core import Millis
from federation.protocol import effects as fx
from node.store import SaveEvent, Store

RECENT: Final = 1_024
"""Events that are kept in memory; older ones come from the store."""


class EventFeed:
    """The events of one instance."""

    def __init__(
        self, store: Store, *, recent: Sequence[SaveEvent], wall: Callable[[], Millis]
    ) -> None:
        """Go on after the newest stored events, of which `recent` are the last."""
        self._store = store
        self._wall = wall
        self._recent: deque[SaveEvent] = deque(recent, maxlen=RECENT)
        self.last = self._recent[-1].cursor if self._recent else 0
        """Cursor of the newest event that may be shown."""
        self._numbered = self.last
        self._moved = trio.Event()

    def unheard(self, effects: Sequence[fx.Effect]) -> list[fx.Effect]:
        """Leave out what a restart tells again: what was told up to the last event known here."""
        heard = {(one.event, one.subject, one.phase) for one in self._recent}
        known = -1
        for place, effect in enumerate(effects):
            if isinstance(effect, fx.Tell) and _key(effect) in heard:
                known = place
        return [
            effect
            for place, effect in enumerate(effects)
            if place > known or not isinstance(effect, fx.Tell)
        ]

    def number(self, effect: fx.Tell) -> SaveEvent:
        """Give an event its cursor; it is shown once `announce` hears that it is stored."""
        self._numbered += 1
        event, subject, phase = _key(effect)
        return SaveEvent(
            cursor=self._numbered, at=self._wall(), event=event, subject=subject, phase=phase
        )

    def announce(self, event: SaveEvent) -> None:
        """Show an event that is stored."""
        self._recent.append(event)
        self.last = event.cursor
        self._moved.set()
        self._moved = trio.Event()

    async def after(self, cursor: int, most: int) -> list[SaveEvent]:
        """Give the events after a cursor, oldest first."""
        if self._recent and self._recent[0].cursor <= cursor + 1:
            found = [event for event in self._recent if event.cursor > cursor]
            return found[:most]
        return await self._store.events(cursor, most)

    async def wait(self, cursor: int) -> None:
        """Return once there is something newer than a cursor."""
        while self.last <= cursor:
            await self._moved.wait()


def _key(effect: fx.Tell) -> tuple[str, bytes, str | None]:
    return (
        effect.event.value,
        effect.subject,
        None if effect.phase is None else effect.phase.value,
    )
