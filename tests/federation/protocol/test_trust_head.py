from dataclasses import replace

import pytest

from federation.protocol import World
from federation.protocol.trust_head import head_of
from federation.records import AgentVouch, RevokeBy, trust_head_root
from federation.records.trust_bodies import HEAD_ROWS
from tests.builders import named
from tests.federation.protocol.town import Town


@pytest.fixture(scope="module")
def town() -> Town:
    made = Town.of(2, 4)
    vouch = made.sign(0, AgentVouch(agent=made.agent(1), weight=255, reason="Good work."))
    made.arrive(made.home(0), vouch)
    number = made.settled().world().state.tick + 1
    return made.until(lambda one: one.world().state.tick > number).settled()


@pytest.fixture
def world(town: Town) -> World:
    return town.world()


def test_a_head_names_the_most_trusted_with_weights_beside_the_highest(
    town: Town, world: World
) -> None:
    head = head_of(world.state)
    weights = {row.agent: row.weight for row in head.top}

    assert weights.keys() == {town.agent(n) for n in range(4)}
    assert weights[town.agent(1)] == 255
    assert max(weights[town.agent(n)] for n in (0, 2, 3)) < 255
    assert min(weights.values()) >= 1
    for row in head.top:
        assert row.key == world.state.identities[row.agent].keys.key


def test_a_head_tells_of_one_cut_and_its_world(world: World) -> None:
    head = head_of(world.state)

    assert head.cut == world.state.cut
    assert head.digest == world.digest
    assert head.root == trust_head_root(head.top)


def test_all_nodes_make_the_same_head_at_the_same_cut(town: Town) -> None:
    one, other = town.live()
    assert one.state.cut == other.state.cut

    assert head_of(one.state) == head_of(other.state)


def test_who_is_revoked_forked_or_without_trust_is_left_out(town: Town, world: World) -> None:
    state = world.state
    kept = dict(state.agents), dict(state.identities)
    first, second, third = (state.identities[town.agent(n)] for n in range(3))
    state.identities[town.agent(0)] = replace(
        first, keys=replace(first.keys, revoked_by=RevokeBy.CURRENT)
    )
    state.identities[town.agent(1)] = replace(second, forked_in=1)
    state.agents[town.agent(2)] = replace(state.agents[town.agent(2)], trust=0)
    try:
        head = head_of(state)
        state.agents[town.agent(3)] = replace(state.agents[town.agent(3)], trust=0)
        empty = head_of(state)
    finally:
        state.agents, state.identities = kept

    assert third.forked_in is None
    assert [(row.agent, row.weight) for row in head.top] == [(town.agent(3), 255)]
    assert empty.top == ()


def test_of_very_many_the_most_trusted_are_named_and_of_equals_the_lowest_ids(world: World) -> None:
    state = world.state
    kept = dict(state.agents), dict(state.identities)
    agent = next(iter(state.agents.values()))
    identity = state.identities[agent.agent]
    crowd = {named("crowd", n): 10**15 + (n < 100) for n in range(400)}
    try:
        for name, trust in crowd.items():
            state.agents[name] = replace(agent, agent=name, trust=trust)
            state.identities[name] = identity
        rows = [row.agent for row in head_of(state).top]
    finally:
        state.agents, state.identities = kept

    assert len(rows) == HEAD_ROWS
    assert rows == sorted(rows)
    more = {name for name, trust in crowd.items() if trust > 10**15}
    equals = sorted(crowd.keys() - more)
    assert more <= set(rows)
    founders = len(kept[0])
    assert set(rows) & (crowd.keys() - more) == set(equals[: HEAD_ROWS - 100 - founders])
