"""Which agents offer to review an artifact: what this node's notices go out by.

The world says who offers what; texts are held here or not. Offers change with cuts only, so they
are compared once a cut, and the search itself runs beside the event loop.
"""

from typing import TYPE_CHECKING

import trio

from federation.core import AgentId, ArtifactId
from federation.protocol import World
from federation.records import AgentSubscribe, ArtifactText, Propose
from node.queries.texts import shown
from node.recruitment.matches import Match
from node.recruitment.tokens import Tokens

if TYPE_CHECKING:
    from node.recruitment.offers import Offers


class Matching:
    """The offers of one world, and who matches what."""

    def __init__(self) -> None:
        """Know of no offer yet, and hold nothing that must be given back."""
        self._tokens: Tokens | None = None
        self._offers: Offers | None = None
        self._seen: dict[AgentId, AgentSubscribe] = {}
        self._cut = -1
        self._working = trio.Lock()

    async def matches(self, world: World, artifact: ArtifactId) -> tuple[Match, ...]:
        """List the agents whose offer matches an artifact, or a proposal that no cut contains yet.

        Never its author, and nobody who may take no part in anything. What is hidden here matches
        by its topics only, what is not held at all matches nobody.
        """
        record = world.log.get(artifact)
        if record is None or not isinstance(record.body, Propose):
            return ()
        _, text = shown(world, artifact)
        topics = record.body.topics
        async with self._working:
            changes = self._changes(world)
            if not self._seen and not changes:
                # Nobody offers anything: then nothing is loaded that could look.
                return ()
            try:
                found = await trio.to_thread.run_sync(self._work, changes, topics, text)
            except BaseException:
                # What was taken of the changes is unknown: all offers are taken again.
                self._cut, self._seen = -1, {}
                raise
        views = world.state.views
        return tuple(
            one
            for one in found
            if one.agent != record.author and one.agent in views and not views[one.agent].barred
        )

    def _work(
        self,
        changes: dict[AgentId, AgentSubscribe | None],
        topics: tuple[str, ...],
        text: ArtifactText | None,
    ) -> tuple[Match, ...]:
        if self._offers is None:
            # What only reads commands or frames must not load what counts runs of characters.
            from node.recruitment.offers import Offers  # noqa: PLC0415

            self._tokens = Tokens()
            self._offers = Offers(self._tokens)
        if changes:
            self._offers.change(changes)
        return self._offers.matching(topics, text)

    def _changes(self, world: World) -> dict[AgentId, AgentSubscribe | None]:
        """List the offers that have changed since this was asked last."""
        if world.state.cut == self._cut:
            return {}
        self._cut = world.state.cut
        changes: dict[AgentId, AgentSubscribe | None] = {}
        for agent in world.state.agents.values():
            offer = agent.offer
            if offer is not self._seen.get(agent.agent):
                changes[agent.agent] = offer
                if offer is None:
                    self._seen.pop(agent.agent, None)
                else:
                    self._seen[agent.agent] = offer
        return changes

    def close(self) -> None:
        """Give back what it holds outside this program's memory."""
        if self._tokens is not None:
            self._tokens.close()
        self._tokens = self._offers = None
