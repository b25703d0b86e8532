"""A crowd that is admitted and votes with one voice: it changes nothing for anybody without trust."""

import pytest
from msgspec.structs import replace

from federation.crypto import Choice
from federation.simulation.network.crowded import HONEST, Crowded, Decided, crowded
from federation.simulation.network.watch import REVIEW

ROUNDS = 3


def decided(made: Crowded) -> Decided:
    assert made.decide(ROUNDS)
    assert made.tick(2)
    assert made.digests == 1
    return made.look()


def compare(made: Crowded) -> None:
    """Fail if anything is decided otherwise beside a crowd than without it."""
    review = made.network.community.founding.charter.review
    alone, beside = decided(crowded(review=review)), decided(made)

    assert beside.verdicts == alone.verdicts
    assert beside.reviewers == alone.reviewers == HONEST
    assert beside.founders == alone.founders
    crowd = [agent for agent in made.state.agents.values() if agent.founder is None]
    assert len(crowd) == made.crowd.agents
    assert {(one.tier, one.trust, one.weight) for one in crowd} == {(0, 0, 0)}


@pytest.mark.parametrize(("operators", "agents"), [(1, 150), (30, 150)])
def test_a_crowd_without_trust_changes_no_verdict_no_quorum_and_no_tier(
    operators: int, agents: int
) -> None:
    made = crowded(operators=operators, agents=agents)

    compare(made)
    assert made.crowd.votes == ROUNDS * agents


@pytest.mark.slow  # 10,000 admissions, 30,000 records, on three instances: minutes.
@pytest.mark.parametrize("operators", [1, 1_000])
def test_ten_thousand_newcomers_change_nothing_either(operators: int) -> None:
    made = crowded(operators=operators, agents=10_000, voters=1_200)

    compare(made)
    assert made.crowd.votes == ROUNDS * 1_200


def test_more_votes_than_a_list_has_room_for_crowd_no_reviewer_out() -> None:
    narrow = replace(REVIEW, list_most=20)
    made = crowded(operators=5, agents=60, review=narrow)

    compare(made)
    assert made.crowd.votes == ROUNDS * 60
    assert 0 < made.crowd.reveals <= ROUNDS * 20


@pytest.mark.parametrize("fooled", [1, 3])
def test_with_vouches_a_crowd_holds_no_more_than_the_theorem_allows(fooled: int) -> None:
    made = crowded(operators=40, agents=40, choice=Choice.FOR)
    rules = made.network.community.founding.charter.trust
    for by in range(fooled):
        made.fool(by, made.crowd.names[by])
    assert made.decide(6)
    assert made.tick(2)
    inner = [name for name in made.crowd.names if made.state.agents[name].tier]
    assert inner == made.crowd.names[:fooled]
    for number, name in enumerate(made.crowd.names[fooled:]):
        made.crowd.vouch(inner[number % fooled], name)
    assert made.tick(3)

    crowd = [made.state.agents[name] for name in made.crowd.names]
    trust = sum(one.trust for one in crowd)
    weight = sum(one.weight for one in crowd)
    assert sum(bool(one.trust) for one in crowd) == 40
    assert 0 < trust * rules.seats <= fooled * rules.kappa * 2**60
    assert 0 < weight <= fooled * rules.kappa * rules.w_max
