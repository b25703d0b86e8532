"""What an agent offers to review: its subscription as of the last cut, and a newer one on its way."""

import msgspec

from federation.core import AgentId
from federation.protocol import Fate, World, judge
from federation.records import AgentSubscribe, Kind, Record
from node.queries.names import Thing, Who, unknown, who


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A standing offer to review."""

    on: bool
    """Whether it stands."""
    topics: tuple[str, ...]
    """Topics, each for its whole branch; empty if it is off."""
    keywords: tuple[str, ...]
    """Words to look for in texts; empty if it is off."""


class SubscriptionPage(msgspec.Struct, frozen=True, kw_only=True):
    """The subscription of one agent."""

    agent: Who
    """The agent."""
    offer: Offer
    """What it offers as of the last cut."""
    waiting: Offer | None
    """What it has said since, and will hold once a cut contains it; nil if nothing."""


def subscription(world: World, agent: AgentId) -> SubscriptionPage:
    """Show the subscription of an agent; raises RequestError NOT_FOUND unless it is admitted."""
    known = world.state.agents.get(agent)
    if known is None:
        raise unknown(agent, {Thing.AGENT})
    said = latest(world, agent)
    waits = said is not None and judge(world, said).fate is Fate.WAITS
    return SubscriptionPage(
        agent=who(world, agent),
        offer=_offer(known.offer),
        waiting=_offer(said.body) if said is not None and waits else None,
    )


def latest(world: World, agent: AgentId) -> Record | None:
    """Give the newest record here by which an agent subscribes, unless it counts nowhere."""
    found = [
        record
        for record in world.log.by_kind(Kind.AGENT_SUBSCRIBE)
        if record.author == agent and judge(world, record).fate is not Fate.VOID
    ]
    return max(found, key=lambda record: record.seq, default=None)


def _offer(body: object) -> Offer:
    if not isinstance(body, AgentSubscribe) or not body.on:
        return Offer(on=False, topics=(), keywords=())
    return Offer(on=True, topics=body.topics, keywords=body.keywords)
