"""What an agent has not acknowledged yet, and waiting for more of it.

A read changes nothing: until its cursor is acknowledged a notice is given again, so an agent that
forgets everything between two calls loses nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import trio

from federation.core import IdentityId
from node.store import Store
from node.store.notices import AckNotices, Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a look into a mailbox gives."""

    notices: tuple[Notice, ...]
    """In order."""
    missed: bool
    """Notices above the cursor were dropped unread, because there were too many of their kind."""


class Mailboxes:
    """The notices of all agents and operators of this instance."""

    def __init__(self, store: Store) -> None:
        """Read from a store."""
        self._store = store
        self._moved: dict[IdentityId, trio.Event] = {}

    async def look(self, agent: IdentityId, *, after: int, most: int, wait_s: float = 0) -> Look:
        """Give at most so many notices above a cursor; if there are none, wait for them."""
        with trio.move_on_after(wait_s):
            while wait_s:
                # Taken before the look: what is stored during it wakes this as well.
                moved = self.moved(agent)
                notices = await self._store.notices.unread(agent, after, most)
                if notices:
                    return await self._letters(agent, after, notices)
                await moved.wait()
        return await self._letters(
            agent, after, await self._store.notices.unread(agent, after, most)
        )

    async def _letters(self, agent: IdentityId, after: int, notices: list[Notice]) -> Look:
        dropped = await self._store.notices.dropped(agent)
        return Look(notices=tuple(notices), missed=dropped > after)

    async def ack(self, agent: IdentityId, cursor: int) -> None:
        """Give nothing any more of what is there up to a cursor; durable when this returns."""
        await self._store.write([AckNotices(agent=agent, cursor=cursor)])

    def moved(self, agent: IdentityId) -> trio.Event:
        """Give the event that is set once there may be something new for an agent."""
        return self._moved.setdefault(agent, trio.Event())

    def wake(self, agents: Iterable[IdentityId]) -> None:
        """Let those who wait for these agents' notices look again."""
        for agent in agents:
            moved = self._moved.pop(agent, None)
            if moved is not None:
                moved.set()
