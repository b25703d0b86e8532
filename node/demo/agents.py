"""The models as agents of real instances: they follow the events of their instance and vote.

Nothing is remembered here that an agent could not forget: the stream of events is resumed by its
cursor, a vote that got no answer is sent again, and the node reveals by itself.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

import httpx
import msgspec
import trio

from federation.core import AgentId
from federation.crypto import Choice
from node.demo.instance import Instance
from node.demo.scenario import TOPIC, Question

AT_ONCE: Final = 6
"""Votes of one instance that are under way together."""
_AGAIN_S: Final = 0.2
_QUIET_S: Final = 60.0
"""The stream says that it is alive more often than this."""
_TRIES: Final = 300

_WORDS: Final = {Choice.FOR: "for", Choice.AGAINST: "against", Choice.ABSTAIN: "abstain"}


class _Signed(msgspec.Struct, frozen=True):
    id: str


class _Fault(msgspec.Struct, frozen=True):
    code: str


class _Round(msgspec.Struct, frozen=True):
    artifact: str


class _Event(msgspec.Struct, frozen=True):
    cursor: int
    subject: str
    phase: str | None


class RefusedByNodeError(Exception):
    """An instance refused what it should have taken."""


@dataclass(slots=True, kw_only=True)
class Models:
    """All agents, and what has been proposed so far."""

    instances: Sequence[Instance]
    agents: Sequence[AgentId]
    """In the order of the models; model m lives on instance m mod n."""
    played: dict[str, Question] = field(default_factory=dict)
    """Questions by the hex id of the artifact that puts them."""
    missed: int = 0
    """Votes that came too late."""

    def home(self, model: int) -> Instance:
        """Give the instance that keeps a model's key."""
        return self.instances[model % len(self.instances)]

    async def propose(self, question: Question) -> None:
        """Let a model propose its answer."""
        home = self.home(question.proposer)
        text = question.text()
        body = {
            "agent": self.agents[question.proposer].hex(),
            "title": text.title,
            "prose": text.prose,
            "claims": text.claims,
            "falsification": text.falsification,
            "topics": [TOPIC],
        }
        # Sent again if the answer is lost with the process: the same text is the same proposal.
        answer = await insistently(home, "/v1/artifacts", body)
        if not answer.is_success:
            raise RefusedByNodeError(answer.text)
        name = msgspec.json.decode(answer.content, type=_Signed).id
        home.acknowledged.add(name)
        self.played[name] = question

    async def follow(self, home: Instance) -> None:
        """Follow an instance's events for ever, and vote whenever a box opens."""
        cursor = 0
        limiter = trio.CapacityLimiter(AT_ONCE)
        async with trio.open_nursery() as nursery:
            while True:
                try:
                    async with aclosing(_events(home, cursor)) as events:
                        async for event in events:
                            cursor = event.cursor
                            if event.phase == "commit":
                                nursery.start_soon(self._vote_all, home, event.subject, limiter)
                except httpx.HTTPError:
                    await trio.sleep(_AGAIN_S)

    async def _vote_all(self, home: Instance, round_id: str, limiter: trio.CapacityLimiter) -> None:
        question = await self._question_of(home, round_id)
        async with trio.open_nursery() as nursery:
            for model in question.reviewers:
                if self.home(model) is home:
                    nursery.start_soon(self._vote, home, round_id, question, model, limiter)

    async def _question_of(self, home: Instance, round_id: str) -> Question:
        while True:
            try:
                raw = await home.get(f"/v1/rounds/{round_id}")
            except httpx.HTTPError:
                await trio.sleep(_AGAIN_S)
                continue
            question = self.played.get(msgspec.json.decode(raw, type=_Round).artifact)
            if question is not None:
                return question
            # Its proposal is not acknowledged yet.
            await trio.sleep(_AGAIN_S)

    async def _vote(
        self,
        home: Instance,
        round_id: str,
        question: Question,
        model: int,
        limiter: trio.CapacityLimiter,
    ) -> None:
        ballot = question.ballot(model)
        body = {
            "agent": self.agents[model].hex(),
            "choice": _WORDS[ballot.choice],
            "reason": ballot.reason.value,
            "basis": ballot.basis.value,
        }
        async with limiter:
            answer = await insistently(home, f"/v1/rounds/{round_id}/vote", body)
        if answer.is_success:
            home.acknowledged.add(msgspec.json.decode(answer.content, type=_Signed).id)
            return
        match msgspec.json.decode(answer.content, type=_Fault).code:
            case "ALREADY_COMMITTED":
                # The answer to the first try was lost with the process that gave it.
                pass
            case "NOT_IN_PHASE":
                self.missed += 1
            case _:
                raise RefusedByNodeError(answer.text)


async def insistently(home: Instance, path: str, body: object) -> httpx.Response:
    """Post until there is an answer that is not only for now; a killed instance comes back."""
    for _ in range(_TRIES):
        try:
            answer = await home.post(path, body)
        except httpx.HTTPError:
            await trio.sleep(_AGAIN_S)
            continue
        if answer.status_code not in (
            httpx.codes.TOO_MANY_REQUESTS,
            httpx.codes.SERVICE_UNAVAILABLE,
        ):
            return answer
        await trio.sleep(_AGAIN_S)
    raise RefusedByNodeError(f"no answer from instance {home.place}")


async def _events(home: Instance, after: int) -> AsyncGenerator[_Event, None]:
    timeout = httpx.Timeout(10.0, read=_QUIET_S)
    url = f"{home.url}/v1/events?after={after}"
    async with home.client.stream("GET", url, headers=home.headers, timeout=timeout) as answer:
        answer.raise_for_status()
        async for line in answer.aiter_lines():
            event = _read(line)
            if event is not None:
                yield event


def _read(line: str) -> _Event | None:
    """Read a line of the stream; None if it is not the data of an event."""
    data = line.removeprefix("data: ")
    return None if data in (line, "{}") else msgspec.json.decode(data, type=_Event)
