"""Routes of recruitment: search, the review queue, subscriptions, and what is not shown here.

They are rows of the table of routes like all others.
"""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from federation.core import Millis
from node import commands
from node.api.calls import Call, Reply, Route, Who
from node.api.limits import price_of_look
from node.api.schemas import Done, Id, Most, Signed
from node.queries import names
from node.queries.names import Thing
from node.queries.queue import QueuePage, queue
from node.queries.subscriptions import SubscriptionPage, subscription
from node.recruitment import SearchPage, Within
from node.store import Hidden

_CREATED: Final = 201
_LONGEST: Final = 400
"""Characters of a question; the first 200 are read."""
_SEARCH_COSTS: Final = 4
"""A search costs so many requests beyond the one: it reads the disk."""

Wanted = Annotated[tuple[Annotated[str, Meta(max_length=250)], ...], Meta(max_length=32)]


class AskSearch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to look for."""

    q: Annotated[str, Meta(max_length=_LONGEST)]
    """Words, and phrases in double quotes; all of them must stand in a text. Nothing else in it has
    a meaning: there are no operators."""
    state: Within = Within.ACTIVE
    """Among which artifacts: `active` is accepted knowledge, `any` is all of them."""
    topic: Annotated[str, Meta(max_length=250)] | None = None
    """Only this topic and what is below it."""
    after: Id | None = None
    """Go on behind this artifact: `next` of the page before."""
    most: Annotated[int, Meta(ge=1, le=100)] = 20
    """Rows of a page."""


class AskQueue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For whom the queue is."""

    agent: Id | None = None
    """Only what this agent may do now."""
    most: Most = 50
    """Rows of the answer, the most urgent ones."""


class SubscribeAgent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the agent offers to review; it replaces what it offered before."""

    topics: Wanted = ()
    """Topics, each for its whole branch."""
    keywords: Wanted = ()
    """Words to look for in title, claims and prose, and as a part of a topic."""
    on: bool = True
    """False takes the offer back."""


class HideArtifact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why this node does not show an artifact."""

    reason: Annotated[str, Meta(max_length=500)] = ""
    """Shown in place of the text; in at most 500 characters."""


class HiddenHere(msgspec.Struct, frozen=True, kw_only=True):
    """One artifact that this node does not show."""

    id: str
    """Id of the artifact, in hex."""
    cid: str
    """The same as a CIDv1."""
    reason: str
    """Why."""
    at: Millis
    """Since when, Unix time in ms."""


class HiddenList(msgspec.Struct, frozen=True, kw_only=True):
    """What this node does not show, the newest first."""

    items: tuple[HiddenHere, ...]
    """The artifacts."""


async def search(call: Call) -> SearchPage:
    """Find artifacts by their words."""
    asked = call.ask(AskSearch)
    call.spend(_SEARCH_COSTS)
    after = asked.after
    world = call.node.world
    return await call.node.recruitment.find(
        asked.q,
        within=asked.state,
        topic=asked.topic,
        after=names.resolve(world, after, things=(Thing.ARTIFACT,)).id if after else None,
        most=asked.most,
    )


async def show_queue(call: Call) -> QueuePage:
    """Show what asks for a look."""
    asked = call.ask(AskQueue)
    world = call.node.world
    call.spend(price_of_look(0, 0, len(world.slots)))
    agent = asked.agent
    return queue(
        world,
        call.node.clock.now(),
        agent=names.resolve(world, agent, things=(Thing.AGENT,)).id if agent else None,
        most=asked.most,
    )


async def show_subscription(call: Call) -> SubscriptionPage:
    """Show what an agent offers to review."""
    return subscription(call.node.world, call.named(Thing.AGENT))


async def subscribe(call: Call) -> Reply:
    """Say what an agent offers to review."""
    body = call.take(SubscribeAgent)
    agent = call.agent(call.path["id"])
    record = await commands.subscribe(
        call.node, agent, topics=body.topics, keywords=body.keywords, on=body.on
    )
    return Reply(
        status=_CREATED,
        content=Signed(
            id=record.id.hex(),
            cid=names.cid_of(record.id),
            kind=record.kind,
            agent=record.author.hex(),
            seq=record.seq,
            at=record.statement.at,
        ),
    )


async def hide(call: Call) -> HiddenHere:
    """Hide an artifact on this node."""
    body = call.take(HideArtifact)
    return _here(await call.node.recruitment.hiding.hide(call.named(Thing.ARTIFACT), body.reason))


async def show_again(call: Call) -> Done:
    """Hide an artifact on this node no more."""
    await call.node.recruitment.hiding.show(call.named(Thing.ARTIFACT))
    return Done()


async def list_hidden(call: Call) -> HiddenList:
    """List what this node does not show."""
    return HiddenList(items=tuple(_here(one) for one in call.node.recruitment.hiding.kept))


def _here(one: Hidden) -> HiddenHere:
    return HiddenHere(
        id=one.artifact.hex(), cid=names.cid_of(one.artifact), reason=one.reason, at=one.at
    )


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/search",
        summary="Artifacts by their words, the best first",
        handler=search,
        gives=SearchPage,
        query=AskSearch,
        says="Among accepted knowledge unless `state` says otherwise. Any text is a question. A "
        "search costs as much as 5 requests. What is hidden is never found.",
    ),
    Route(
        method="GET",
        path="/v1/queue",
        summary="What asks for a look, the most urgent first",
        handler=show_queue,
        gives=QueuePage,
        query=AskQueue,
        says="With `agent` only what that agent may do now. Warnings move nothing.",
    ),
    Route(
        method="GET",
        path="/v1/agents/{id}/subscription",
        summary="What an agent offers to review",
        handler=show_subscription,
        gives=SubscriptionPage,
    ),
    Route(
        method="POST",
        path="/v1/agents/{id}/subscribe",
        summary="Say what an agent offers to review",
        handler=subscribe,
        gives=Signed,
        takes=SubscribeAgent,
        who=Who.AGENT,
        says="The address names the agent. The offer replaces the one before, and holds from the cut "
        "that contains it. The same offer sent again is the same record.",
    ),
    Route(
        method="GET",
        path="/v1/admin/hidden",
        summary="What this node does not show",
        handler=list_hidden,
        gives=HiddenList,
        who=Who.OPERATOR,
    ),
    Route(
        method="POST",
        path="/v1/admin/artifacts/{id}/hide",
        summary="Show the text of an artifact no more on this node",
        handler=hide,
        gives=HiddenHere,
        takes=HideArtifact,
        who=Who.OPERATOR,
        says="It has no effect elsewhere: records are replicated, and votes count, as ever.",
    ),
    Route(
        method="DELETE",
        path="/v1/admin/artifacts/{id}/hide",
        summary="Show it again on this node",
        handler=show_again,
        gives=Done,
        who=Who.OPERATOR,
        says="What the realm hides stays hidden.",
    ),
)
"""Rows of the table of routes."""
