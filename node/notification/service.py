"""All of notification, as the node holds it."""

import ipaddress
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Final

import httpx
import trio

from federation.core import AgentId, ArtifactId, IdentityId
from federation.protocol import World
from node.base.errors import NodeCode, SettingsError
from node.notification.delivering import Delivering
from node.notification.mailboxes import Mailboxes
from node.notification.noticing import Noticing
from node.notification.sanctions import of_sanctions
from node.notification.webhooks import Webhooks, unknown_webhook
from node.outbound.fetching import Outside
from node.store.notices import Sending, SetDelivery

if TYPE_CHECKING:
    from node.runtime.node import Node


class Notification:
    """Notices of one running node, and the ways on which they go."""

    def __init__(self, node: "Node") -> None:
        """Tell nobody before `run`; know no webhook before `load`."""
        self._node = node
        self.mailboxes: Final = Mailboxes(node.store)
        self.webhooks: Final = Webhooks(node.store, node.entropy)
        self.outside = Outside()
        """How receivers are reached; `load` sets it by the settings."""
        self._noticing: Final = Noticing(
            world=lambda: node.world,
            instance=node.instance,
            feed=node.events,
            store=node.store,
            mailboxes=self.mailboxes,
            flushed=node.flushed,
            wall=node.clock.wall,
            interested=self._interested,
            sanctions=of_sanctions,
        )
        self._delivering: Final = Delivering(
            store=node.store,
            webhooks=self.webhooks,
            mailboxes=self.mailboxes,
            outside=lambda: self.outside,
            now=node.clock.now,
            wall=node.clock.wall,
            entropy=node.entropy,
        )

    async def _interested(self, world: World, artifact: ArtifactId) -> list[AgentId]:
        """Give the agents whose offer to review matches an artifact."""
        found = await self._node.recruitment.matching.matches(world, artifact)
        return [one.agent for one in found]

    async def load(self) -> None:
        """Read webhooks and settings; raises SettingsError if the roots cannot be read."""
        await self.webhooks.load()
        settings = self._node.settings
        roots = None
        if settings.webhook_roots is not None:
            roots = await trio.to_thread.run_sync(roots_with, settings.webhook_roots)
        allowed = frozenset(ipaddress.ip_address(one) for one in settings.webhook_addresses)
        self.outside = Outside(allowed=allowed, roots=roots)

    async def notice(self) -> None:
        """Turn what happens into notices, for ever."""
        await self._noticing.run()

    async def deliver(self) -> None:
        """Post notices to webhooks, for ever."""
        await self._delivering.run()

    def is_ours(self, name: IdentityId) -> bool:
        """Tell whether notices are kept here for an agent or an operator."""
        state, instance = self._node.world.state, self._node.instance
        agent = state.agents.get(name)
        if agent is not None:
            return agent.instance == instance
        operator = state.operators.get(name)
        return state.instances.get(instance) == name or (
            operator is not None and operator.instance == instance
        )

    async def retry(self, agent: AgentId, number: int) -> None:
        """Try a dead letter of an agent again, as if it was new; turns its webhook on.

        Raises RequestError NOT_FOUND.
        """
        found = await self._node.store.notices.delivery(number)
        hook = self.webhooks.get(found.webhook) if found else None
        if found is None or hook is None or hook.agent != agent or found.state is not Sending.DEAD:
            raise unknown_webhook()
        again = SetDelivery(id=number, state=Sending.WAITING, tries=0, due=0, last=found.last)
        await self._node.store.write([again])
        await self.webhooks.turn_on(hook.id)
        self.mailboxes.wake([agent])


def roots_with(path: Path) -> ssl.SSLContext:
    """Believe the usual authorities and those of a file; raises SettingsError BAD_SETTINGS."""
    roots = httpx.create_ssl_context(trust_env=False)
    try:
        roots.load_verify_locations(cafile=path)
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(
            "setting webhook_roots refused",
            why=f"{path} cannot be read as certificates",
            fix="name a file with certificates of authorities in PEM",
            code=NodeCode.BAD_SETTINGS,
        ) from error
    return roots
