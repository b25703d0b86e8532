"""Invites and their places, in memory and on disk at once.

Every change is made under one lock: first in memory, then on disk, and only then the next one. So
of two who want the last place one comes first, in memory and on disk alike. What the database
refuses is undone in memory; whoever is cancelled on the way leaves the change standing, because it
may well be durable.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import count, dropwhile, islice
from typing import Final

import trio

from federation.core import AgentId, Millis, RecordId
from node.base.errors import StoreError
from node.store import DropInvite, Invite, Invited, KeptInvites, Store

_LONGEST_WHY: Final = 1_000
"""Characters of a reason that the database keeps."""


class InviteBook:
    """All invites of this instance's agents."""

    def __init__(self, store: Store, kept: KeptInvites) -> None:
        """Go on with what was kept."""
        self._store = store
        self._lock = trio.Lock()
        self._invites: dict[str, Invite] = {one.id: one for one in kept.invites}
        self._invited: dict[AgentId, Invited] = {one.agent: one for one in kept.invited}
        self._places: dict[str, dict[int, AgentId]] = {name: {} for name in self._invites}
        for one in kept.invited:
            self._occupy(one)

    # Looking --------------------------------------------------------------------------------------

    def get(self, name: str) -> Invite | None:
        """Give an invite as it is now, by its id."""
        return self._invites.get(name)

    def all(self) -> list[Invite]:
        """List the invites, oldest first."""
        return list(self._invites.values())

    def newest(self, *, after: str | None, most: int) -> list[Invite]:
        """List at most so many, newest first; those behind `after`, or none if it is not here."""
        rows = reversed(self._invites.values())
        behind = rows if after is None else dropwhile(lambda one: one.id != after, rows)
        return list(islice(behind, 0 if after is None else 1, most + (after is not None)))

    def invited(self, agent: AgentId) -> Invited | None:
        """Give the place that an agent holds."""
        return self._invited.get(agent)

    def came_by(self, name: str) -> list[Invited]:
        """List those who hold a place of an invite, by place."""
        return [self._invited[agent] for _, agent in sorted(self._places.get(name, {}).items())]

    def used(self, name: str) -> int:
        """Count the places of an invite that are held."""
        return len(self._places.get(name, ()))

    def unsettled(self) -> list[AgentId]:
        """List those whose vouch is not settled, in the order in which they came."""
        return [one.agent for one in self._invited.values() if not one.is_settled]

    # Changing -------------------------------------------------------------------------------------

    async def add(self, make: Callable[[], tuple[Invite, str | None]]) -> Invite:
        """Keep a new invite, and forget an old one for it if its maker names one.

        It is made when its turn has come, so what `make` sees is all that there is; it may raise.
        """
        async with self._lock:
            invite, instead = make()
            dropped = () if instead is None else (DropInvite(id=self._forget(instead)),)
            self._invites[invite.id] = invite
            self._places[invite.id] = {}
            try:
                await self._store.write([invite, *dropped])
            except StoreError:
                self._forget(invite.id)
                raise
            return invite

    async def revoke(self, name: str, at: Millis) -> None:
        """Take an invite back from now on; once is enough."""
        async with self._lock:
            one = self._invites.get(name)
            if one is not None:
                self._invites[name] = one = one if one.revoked else replace(one, revoked=at)
                await self._store.write([one])

    async def take(self, name: str, agent: AgentId, at: Millis) -> bool:
        """Let an agent hold a place of an invite, durably; False if there is none for it.

        Who holds a place of another one gives it back by this. Repeating it changes nothing.
        """
        async with self._lock:
            invite, before = self._invites.get(name), self._invited.get(agent)
            if invite is None or invite.revoked is not None:
                return False
            if before is not None and before.invite == name:
                # The caller before may have been cancelled while this was on its way to the disk.
                await self._store.write([before])
                return True
            places = self._places[name]
            if len(places) >= invite.uses:
                return False
            place = next(number for number in count() if number not in places)
            self._vacate(before)
            taken = Invited(agent=agent, invite=name, place=place, at=at)
            self._occupy(taken)
            try:
                await self._store.write([taken])
            except StoreError:
                self._vacate(taken)
                if before is not None:
                    self._occupy(before)
                raise
            return True

    async def give_back(self, agent: AgentId, *, unless: Callable[[AgentId], bool]) -> None:
        """Let an agent hold no place any more, unless something holds when its turn has come."""
        async with self._lock:
            one = self._invited.get(agent)
            if one is not None and not unless(agent):
                self._vacate(one)
                await self._store.write([replace(one, place=None)])

    async def settle(
        self,
        agent: AgentId,
        *,
        record: RecordId | None = None,
        code: str | None = None,
        why: str = "",
    ) -> None:
        """Remember what became of the vouch for an agent: a record that counts, or why none does."""
        async with self._lock:
            one = self._invited.get(agent)
            if one is not None and not one.is_settled:
                one = replace(
                    one, is_settled=True, record=record, code=code, why=why[:_LONGEST_WHY]
                )
                self._invited[agent] = one
                await self._store.write([one])

    def remark(self, agent: AgentId, code: str, why: str) -> None:
        """Remember, until the next look at it, why there is no vouch for an agent yet."""
        one = self._invited.get(agent)
        if one is not None and not one.is_settled:
            self._invited[agent] = replace(one, code=code, why=why[:_LONGEST_WHY])

    def _occupy(self, one: Invited) -> None:
        self._invited[one.agent] = one
        if one.place is not None:
            self._places[one.invite][one.place] = one.agent

    def _vacate(self, one: Invited | None) -> None:
        if one is not None and one.place is not None:
            del self._invited[one.agent]
            del self._places[one.invite][one.place]

    def _forget(self, name: str) -> str:
        for agent in self._places.pop(name).values():
            del self._invited[agent]
        del self._invites[name]
        return name
