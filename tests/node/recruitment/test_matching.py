"""Whom a node would tell of an artifact of its world."""

from dataclasses import replace

import pytest
import trio

from federation.core import AgentId
from federation.protocol import custody
from federation.records import AgentSubscribe
from node.queries.texts import veil
from node.recruitment.matches import Why
from node.recruitment.matching import Matching
from tests.builders import named
from tests.federation.protocol.town import Town


def subscribe(town: Town, index: int, *, on: bool = True, **asked: tuple[str, ...]) -> None:
    body = AgentSubscribe(topics=asked.get("topics", ()), keywords=asked.get("keywords", ()), on=on)
    world = town.home(index)
    town.arrive(world, custody.author(world, town.keyring(index), body, now=town.now))


async def told(matching: Matching, town: Town, artifact: bytes) -> dict[AgentId, Why]:
    return {one.agent: one.why for one in await matching.matches(town.world(), artifact)}


@pytest.mark.trio
async def test_whoever_offers_it_is_told_but_the_author_and_who_is_barred() -> None:
    town = Town.of(1, 6)
    for index in (0, 1, 2):
        subscribe(town, index, topics=("code",))
    subscribe(town, 3, keywords=("claim",))
    subscribe(town, 4, keywords=("claims",))
    record = town.propose(0, "A claim")
    town.open_round(record)
    world, matching = town.world(), Matching()
    banned = town.agent(2)
    world.state.views = {
        **world.state.views,
        banned: replace(world.state.views[banned], banned=True),
    }
    with trio.fail_after(20):
        found = await told(matching, town, record.id)
        veil(world, {record.id: ""})
        hidden = await told(matching, town, record.id)
        unknown = await told(matching, town, named("nothing"))
        other = await told(matching, town, town.agent(0))
    matching.close()

    assert found == {
        town.agent(1): Why.TOPIC,
        town.agent(3): Why.KEYWORD,
        town.agent(4): Why.NEAR,
    }
    assert hidden == {town.agent(1): Why.TOPIC}
    assert unknown == other == {}


@pytest.mark.trio
async def test_an_offer_that_changes_counts_from_its_cut_on() -> None:
    town = Town.of(1, 6)
    subscribe(town, 1, topics=("code",))
    record = town.propose(0, "A claim")
    town.open_round(record)
    matching = Matching()
    with trio.fail_after(20):
        before = await told(matching, town, record.id)
        subscribe(town, 1, on=False)
        subscribe(town, 2, topics=("code",))
        waiting = await told(matching, town, record.id)
        town.open_round(town.propose(3, "Another"))
        after = await told(matching, town, record.id)
    matching.close()

    assert before == waiting == {town.agent(1): Why.TOPIC}
    assert after == {town.agent(2): Why.TOPIC}


@pytest.mark.trio
async def test_where_nobody_offers_anything_nothing_is_held() -> None:
    town = Town.of(1, 6)
    record = town.propose(0, "A claim")
    town.open_round(record)
    matching = Matching()
    with trio.fail_after(5):
        assert await told(matching, town, record.id) == {}
    assert matching._offers is None  # what it holds shows nowhere else
    matching.close()
