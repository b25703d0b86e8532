"""A running instance that asks newcomers for a tiny proof, and clients of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import trio

from federation.admission import Work
from federation.records import Delegate, Record, Role
from node.api.limits import Limits, Rate
from tests.node.api.living import QUICK, Living, living
from tests.node.api.living import found as found_town
from tests.node.api.newcomers import Newcomer, blank, body_of, delegated, found, newcomer
from tests.node.runtime.realm import tiny

FREE = Rate(per_second=10**6, burst=10**6)
LIMITS = replace(QUICK, by_address=FREE, by_token=FREE, by_operator=FREE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Town:
    """The instance and a client of it."""

    it: Living
    client: httpx.AsyncClient

    @property
    def realm(self) -> bytes:
        return self.it.node.world.realm

    async def terms(self) -> dict[str, Any]:
        page: dict[str, Any] = (await self.client.get("/v1/registration")).json()
        return page

    def agent(self, name: str = "robin") -> tuple[Newcomer, Record]:
        """Make an agent, and the word of the operator whose key the instance keeps."""
        one = newcomer(self.realm, Role.AGENT, name)
        return one, delegated(self.it.node, one)

    async def work(self, one: Newcomer) -> Work:
        return found(blank(await self.terms(), one))

    async def post(
        self, one: Newcomer, work: Work | None, *others: Record, **more: object
    ) -> httpx.Response:
        return await self.client.post("/v1/registration", json=body_of(one, work, *others, **more))

    async def register(self, one: Newcomer, *others: Record, **more: object) -> httpx.Response:
        return await self.post(one, await self.work(one), *others, **more)

    async def register_agent(self, name: str) -> tuple[Newcomer, httpx.Response]:
        """Register an agent of the instance's operator."""
        one, word = self.agent(name)
        return one, await self.register(one, word)


def answers_for(operator: Newcomer, agent: Newcomer, **more: int) -> Record:
    """Let an operator that keeps its own keys answer for an agent."""
    return operator.say(Delegate(agent=agent.id, scope=(), **more))


@asynccontextmanager
async def town(
    root: Path,
    *,
    epoch: int = 600_000,
    registration: str = "open",
    limits: Limits = LIMITS,
    **terms: int,
) -> AsyncIterator[Town]:
    """Run an instance; unless told otherwise no tick comes while a test lasts."""
    data = found_town(
        root, admission=tiny(**terms), timing={"epoch": epoch}, registration=registration
    )
    with trio.fail_after(40):
        async with living(root, data=data, limits=limits) as it, it.client() as client:
            yield Town(it=it, client=client)


def code_of(answer: httpx.Response) -> str:
    return str(answer.json().get("code", ""))
