"""A crowd that is far above what a topic is used to is told of, and nothing less."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest

from federation.artifacts import OpenedBallot
from federation.certificates import Phase
from federation.protocol import Round, World
from node.queries.participation import SAMPLE, USUAL, Crowd, abnormal, committers
from tests.federation.protocol.town import Town, rules
from tests.node.queries.scenes import opened

CROWD = (0, 3, 6, 9)
"""Agents of the first of three operators; 1 and 4 are of the second, the author is of the third."""


def scene(
    past: Mapping[int, int],
    now: Collection[int],
    *,
    topic: str = "code",
    practice: int = 0,
    operators: int = 3,
) -> tuple[World, Round, list[bytes]]:
    """Give a round to which agents have committed, on a topic whose operators have a past.

    `past` counts ballots by operator, of which the first `practice` were of newcomers.
    """
    town = Town.of(1, 12, operators=operators, review=rules(k=12))
    first = town.propose(0, "The past", topics=(topic,))
    town.vote(first, {1: 1, 2: 1, 5: 1})
    town.settled()
    world = town.world()
    artifact = world.state.artifacts[first.id]
    assert artifact.verdict is not None
    like = artifact.verdict.ballots[0]
    names = [world.state.agents[town.agent(index)].operator for index in range(3)]
    who = [names[index] for index, count in past.items() for _ in range(count)]
    ballots: tuple[OpenedBallot, ...] = tuple(
        replace(like, operator=operator, practice=place < practice)
        for place, operator in enumerate(who)
    )
    world.state.artifacts[first.id] = replace(
        artifact, verdict=replace(artifact.verdict, ballots=ballots)
    )
    # What was counted for the last cut is counted again.
    world.state.tick += 1
    _, name = opened(town, Phase.COMMIT, author=2)
    for index in now:
        town.cast(index, name, 1)
    found = world.rounds[name]
    assert committers(world, found) == {town.agent(index) for index in now}
    return world, found, names


def test_an_operator_that_fills_the_box_on_a_topic_it_does_not_know_is_told_of() -> None:
    world, found, operators = scene({1: 60}, (*CROWD, 1, 4))
    (one,) = abnormal(world, found)

    assert one.operator is not None
    assert (one.crowd, one.operator.id) == (Crowd.OPERATOR, operators[0].hex())
    assert (one.topic, one.commitments, one.of, one.usual) == ("code", 4, 6, 0)
    assert "4 of 6" in one.why


@pytest.mark.parametrize(("usual", "warns"), [(13, True), (14, False), (30, False)])
def test_three_times_the_usual_share_is_far_above_it(usual: int, warns: bool) -> None:
    world, found, _ = scene({0: usual, 1: 60 - usual}, (*CROWD, 1, 4))

    assert bool(abnormal(world, found)) is warns


def test_less_than_half_of_the_box_is_no_crowd() -> None:
    world, found, _ = scene({2: 60}, (0, 4, 1, 5, 3, 7), operators=4)

    assert abnormal(world, found) == ()


@pytest.mark.parametrize(("past", "warns"), [(USUAL - 1, False), (USUAL, True)])
def test_too_little_of_the_past_says_nothing(past: int, warns: bool) -> None:
    world, found, _ = scene({1: past}, (*CROWD, 1))

    assert bool(abnormal(world, found)) is warns


def test_too_few_commitments_say_nothing() -> None:
    world, found, _ = scene({1: 60}, CROWD)

    assert len(CROWD) == SAMPLE - 1
    assert abnormal(world, found) == ()


def test_the_past_of_another_topic_says_nothing() -> None:
    world, found, _ = scene({1: 60}, (*CROWD, 1, 4), topic="water")

    assert abnormal(world, found) == ()


@pytest.mark.parametrize(("practice", "warns"), [(3, True), (30, False)])
def test_newcomers_in_unusual_number_are_told_of(practice: int, warns: bool) -> None:
    world, found, _ = scene({0: 30, 1: 30}, (*CROWD[:3], 1, 4), practice=practice)
    agents = {
        name: replace(view, tier=0, weight=0, reviewer=False)
        if name in committers(world, found)
        else view
        for name, view in found.pin.agents.items()
    }
    found.pin = replace(found.pin, agents=agents)
    told = abnormal(world, found)

    assert [one.crowd for one in told] == ([Crowd.NEWCOMERS] if warns else [])
    assert all(one.operator is None for one in told)
