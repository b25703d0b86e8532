"""A crowd comes: operators first, then their agents, and each acts only where it may."""

import pytest

from federation.core import Code, RefusedError
from federation.simulation.network.crowded import crowded


def test_a_crowd_is_admitted_by_one_instance_and_dealt_to_its_operators() -> None:
    made = crowded(operators=3, agents=7)
    state, crowd = made.state, made.crowd

    assert crowd.are_in
    assert len(set(crowd.names)) == 7
    assert {state.agents[name].instance for name in crowd.names} == {
        made.network.community.founding.instances[crowd.home]
    }
    assert [crowd.answer.index(state.agents[name].operator) for name in crowd.names] == [
        number % 3 for number in range(7)
    ]


def test_only_so_many_of_it_vote_as_are_asked_to() -> None:
    made = crowded(operators=1, agents=9, voters=4)
    assert made.decide(2)

    assert made.crowd.votes == made.crowd.reveals == 2 * 4


def test_a_newcomer_cannot_vouch() -> None:
    made = crowded(operators=1, agents=2)
    one, other = made.crowd.names
    with pytest.raises(RefusedError) as refused:
        made.crowd.vouch(one, other)

    assert refused.value.code is Code.NOT_ELIGIBLE
