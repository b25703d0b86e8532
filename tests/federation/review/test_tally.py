import random

from hypothesis import given, settings
from hypothesis import strategies as st

from federation.core import MILLION
from federation.crypto import Choice
from federation.records import Reveal
from federation.review import count
from federation.review.tally import tally
from federation.trust import Unrevealed
from tests.builders import ballot
from tests.federation.review.scene import ABSTAIN, AGAINST, FOR, Scene, operator

NEWCOMER = {"tier": 0, "reviewer": False, "weight": 900_000}


def test_votes_are_weighed_and_normalised() -> None:
    weights = {1: {"weight": 300_000}, 2: {"weight": 200_000}, 3: {"weight": 100_000}}
    scene = Scene.of(1, 1, 1, 1, views=weights)
    counted = count(scene.pin, scene.voted({1: FOR, 2: AGAINST, 3: ABSTAIN}))

    # Three operators may hold two thirds each, so no cap bites.
    assert (counted.numerator, counted.denominator) == (100_000, 600_000)
    assert counted.quorum
    assert counted.operators == {operator(1), operator(2), operator(3)}


def test_an_abstention_counts_for_quorum_and_weight() -> None:
    scene = Scene.of(1, 1, 1, 1)
    counted = count(scene.pin, scene.voted({1: ABSTAIN, 2: ABSTAIN, 3: ABSTAIN}))

    assert counted.numerator == 0
    assert counted.denominator == 3 * 700_000
    assert counted.quorum


def test_a_practice_ballot_is_opened_and_weighs_nothing() -> None:
    scene = Scene.of(1, 1, 1, 1, 1, views={4: NEWCOMER})
    counted = count(scene.pin, scene.voted({1: FOR, 2: FOR, 4: AGAINST}))

    assert [one.voter for one in counted.practice] == [scene.agents[4].id]
    assert counted.practice[0].weight == 0
    assert counted.practice[0].practice
    assert counted.numerator == counted.denominator
    assert not counted.quorum
    assert not counted.against
    assert {one.voter for one in counted.ballots} == scene.ids(1, 2, 4)


def test_an_unopened_commitment_is_named_and_not_counted() -> None:
    scene = Scene.of(1, 1, 1, 1, 1, 1, views={5: NEWCOMER})
    votes = {1: FOR, 2: FOR, 3: FOR, 4: AGAINST, 5: FOR}
    counted = count(scene.pin, scene.voted(votes, silent=(4, 5)))

    assert set(counted.unrevealed) == {
        Unrevealed(voter=scene.agents[4].id, practice=False),
        Unrevealed(voter=scene.agents[5].id, practice=True),
    }
    assert len(counted.counted) == 3


def test_a_reveal_outside_the_box_is_not_counted() -> None:
    scene = Scene.of(1, 1, 1, 1)
    finals = scene.committed({1: FOR, 2: FOR, 3: FOR})
    boxed = [
        record for record in finals.popitem()[1].records if record.author != scene.agents[3].id
    ]
    late = Scene.of(1, 1, 1, 1).voted({1: FOR, 2: FOR, 3: AGAINST}).popitem()[1].records
    counted = tally(scene.pin, boxed, late)

    assert {one.voter for one in counted.counted} == scene.ids(1, 2)


def test_of_two_reveals_the_lowest_id_counts() -> None:
    scene = Scene.of(1, 1)
    finals = scene.committed({1: FOR})
    # Such a pair cannot qualify; it makes visible which of the two was taken.
    twice = [scene.reveal(1, finals, ballot(choice)) for choice in (FOR, AGAINST)]
    lowest = min(twice, key=lambda record: record.id).body
    counted = tally(scene.pin, finals.popitem()[1].records, twice)

    assert isinstance(lowest, Reveal)
    assert [one.ballot for one in counted.counted] == [lowest.ballot]


def test_no_ballot_at_all_gives_an_empty_tally() -> None:
    scene = Scene.of(1, 1, 1, 1)
    counted = count(scene.pin, scene.voted({}))

    assert (counted.numerator, counted.denominator, counted.ballots) == (0, 0, ())
    assert not counted.quorum


def test_fifty_one_founders_of_three_instances_weigh_the_same_at_first() -> None:
    scene = Scene.of(*[1] * 51, instances=3)
    counted = count(scene.pin, scene.voted(dict.fromkeys(range(1, 8), FOR)))

    # Seven operators, so each may hold 2/7; three instances, so each may hold 2/3.
    assert {one.weight for one in counted.counted} == {700_000}


def test_an_operator_holds_at_most_two_of_seven_shares() -> None:
    # Operator 1 has six of twelve ballots, six more operators have one each: 2/7 of what counts.
    scene = Scene.of(1, 6, 1, 1, 1, 1, 1, 1)
    counted = count(scene.pin, scene.voted(dict.fromkeys(range(1, 13), FOR)))
    share = sum(one.weight for one in counted.counted if one.operator == operator(1))

    assert share * 7 <= 2 * counted.denominator
    assert (share + 6) * 7 > 2 * counted.denominator - 14


def test_an_instance_holds_at_most_two_of_three_shares() -> None:
    # Instance 0 has operators 0, 3, 6, …; operators 1 and 2 alone stand for the other two.
    scene = Scene.of(1, 1, 1, *[1, 0, 0] * 5, instances=3)
    counted = count(scene.pin, scene.voted(dict.fromkeys(range(1, 8), FOR)))
    home = sum(
        one.weight for one in counted.counted if one.operator not in {operator(1), operator(2)}
    )

    assert len(counted.counted) == 7
    assert home * 3 <= 2 * counted.denominator
    assert home * 3 > 2 * counted.denominator - 30


@settings(max_examples=30)
@given(
    st.dictionaries(st.integers(1, 8), st.sampled_from(Choice), min_size=1, max_size=8),
    st.lists(st.integers(1, MILLION), min_size=9, max_size=9),
    st.randoms(use_true_random=False),
)
def test_the_tally_does_not_depend_on_any_order(
    votes: dict[int, Choice], weights: list[int], shuffle: random.Random
) -> None:
    views = {number: {"weight": weight} for number, weight in enumerate(weights)}
    scene = Scene.of(1, 3, 2, 2, 1, views=views, instances=2)
    finals = scene.voted(votes)
    decide = list(finals.popitem()[1].records)
    commits = [record for final in finals.values() for record in final.records]
    expected = tally(scene.pin, commits, decide)
    shuffle.shuffle(commits)
    shuffle.shuffle(decide)

    assert tally(scene.pin, commits, decide) == expected
    assert expected.numerator == sum(one.weight * one.ballot.choice for one in expected.counted)
    assert abs(expected.numerator) <= expected.denominator
