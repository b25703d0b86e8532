"""Where agents want their notices posted: in memory and on disk at once.

Each webhook has a signing key of its own, so a receiver that loses its trust in one sender need not
look at any other. The public half is what a receiver keeps; it is told when the webhook is made and
whenever webhooks are listed. Making one calls nobody.
"""

from dataclasses import replace
from typing import Final

import trio

from federation.core import IdentityId, Millis
from node.base.entropy import Entropy
from node.base.errors import NodeCode, RequestError
from node.outbound.posting import read_target
from node.store import Store
from node.store.notices import DropWebhook, Webhook

EACH: Final = 4
"""Webhooks of one agent."""
MOST: Final = 1_024
"""Webhooks of this instance."""
ID: Final = 8
"""Bytes of a webhook's id."""
_SEED: Final = 32


class Webhooks:
    """All webhooks of this instance."""

    def __init__(self, store: Store, entropy: Entropy) -> None:
        """Know none before `load`."""
        self._store = store
        self._entropy = entropy
        self._lock = trio.Lock()
        self._all: dict[bytes, Webhook] = {}
        self._changed = trio.Event()

    async def load(self) -> None:
        """Read what was kept."""
        self._all = {one.id: one for one in await self._store.notices.webhooks()}

    # Looking --------------------------------------------------------------------------------------

    def all(self) -> list[Webhook]:
        """List all, oldest first."""
        return list(self._all.values())

    def of(self, agent: IdentityId) -> list[Webhook]:
        """List those of an agent, oldest first."""
        return [one for one in self._all.values() if one.agent == agent]

    def get(self, name: bytes) -> Webhook | None:
        """Give a webhook as it is now."""
        return self._all.get(name)

    @property
    def changed(self) -> trio.Event:
        """Give the event that is set at the next change."""
        return self._changed

    # Changing -------------------------------------------------------------------------------------

    async def add(self, agent: IdentityId, url: str, at: Millis) -> Webhook:
        """Make a webhook, durably; the same address again gives the one that is there.

        `at` is Unix time in ms. Raises RequestError BAD_FIELD for an address that may not be
        called, and BUSY if the agent, or this instance, has as many as it may.
        """
        url = read_target(url).url
        async with self._lock:
            same = next((one for one in self.of(agent) if one.url == url), None)
            if same is not None:
                return await self._put(replace(same, is_on=True, why=""))
            if len(self.of(agent)) >= EACH or len(self._all) >= MOST:
                most, whose = (
                    (EACH, "the agent") if len(self.of(agent)) >= EACH else (MOST, "this node")
                )
                raise RequestError(
                    "webhook not made",
                    why=f"{whose} has {most} webhooks already",
                    fix="remove one that is not used any more",
                    code=NodeCode.BUSY,
                )
            return await self._put(
                Webhook(
                    id=self._entropy(ID),
                    agent=agent,
                    url=url,
                    secret_key=self._entropy(_SEED),
                    created=at,
                )
            )

    async def remove(self, agent: IdentityId, name: bytes) -> None:
        """Forget a webhook of an agent and what waits for it; raises RequestError NOT_FOUND."""
        async with self._lock:
            one = self._all.get(name)
            if one is None or one.agent != agent:
                raise unknown_webhook()
            await self._store.write([DropWebhook(id=name)])
            self._all.pop(name, None)
            self._tell()

    async def turn_off(self, name: bytes, why: str) -> None:
        """Post nothing more to a webhook until somebody turns it on again."""
        await self._turn(name, is_on=False, why=why)

    async def turn_on(self, name: bytes) -> None:
        """Post to a webhook again."""
        await self._turn(name, is_on=True, why="")

    async def _turn(self, name: bytes, *, is_on: bool, why: str) -> None:
        async with self._lock:
            one = self._all.get(name)
            if one is not None and one.is_on is not is_on:
                await self._put(replace(one, is_on=is_on, why=why))

    async def _put(self, one: Webhook) -> Webhook:
        await self._store.write([one])
        self._all[one.id] = one
        self._tell()
        return one

    def _tell(self) -> None:
        self._changed.set()
        self._changed = trio.Event()


def unknown_webhook() -> RequestError:
    """Make the error for what is no webhook, or no delivery, of an agent."""
    return RequestError(
        "webhook not found",
        why="the agent has no such webhook or delivery here",
        fix="`folkmoot webhook list` and `folkmoot webhook dead` show them",
        code=NodeCode.NOT_FOUND,
    )
