"""Where my verdicts part from the canonical ones, for readers."""

import pytest

from federation.protocol import Policy
from federation.protocol.local import look
from node.queries.disagreement import Disagreement, compare, newest_ended, page
from tests.federation.protocol.town import Town, rules
from tests.node.queries.scenes import plain

ALL = dict.fromkeys(range(1, 6), 1)
VOTES = (ALL, {1: 1, 2: -1, 3: 1, 4: 1, 5: -1}, ALL)


@pytest.fixture(scope="module")
def town() -> Town:
    """Hold three rounds among six founders of six operators on three instances."""
    made = Town.of(3, 6, operators=6, review=rules(contest=0, rule=0))
    for number, votes in enumerate(VOTES):
        made.vote(made.propose(0, f"Claim {number}"), votes)
    return made.settled()


def asked(town: Town, policy: Policy, *, rounds: int = 200, most: int = 50) -> Disagreement:
    world = town.world()
    seen = look(world.state, policy)
    newest, more = newest_ended(world, rounds)
    return page(world, seen, [compare(one, seen) for one in newest], more=more, most=most)


def observing(town: Town, instance: int = 1) -> Policy:
    return Policy(observed=frozenset({town.founding.instances[instance]}))


def test_without_a_policy_there_is_no_disagreement(town: Town) -> None:
    page = asked(town, Policy())

    assert (page.compared, page.agreed, page.parted) == (3, 3, 0)
    assert page.rounds == ()
    assert not page.more


def test_a_round_that_i_would_decide_otherwise_names_the_weights_that_did_it(town: Town) -> None:
    page = asked(town, observing(town))
    (one,) = page.rounds

    assert (page.compared, page.agreed, page.parted) == (3, 2, 1)
    assert one.title == "Claim 1"
    assert (one.canonical, one.local) == ("accept", "reject")
    assert one.canonical_v is not None
    assert one.local_v is not None
    assert one.canonical_v > 0 > one.local_v
    gone = [shift for shift in one.shifts if shift.local == 0]
    assert {shift.voter.id for shift in gone} == {town.agent(n).hex() for n in (1, 4)}
    assert {shift.instance.name for shift in gone} == {"instance 1"}
    assert {shift.why for shift in gone} == {"I only observe its instance."}
    assert [abs(s.local - s.canonical) for s in one.shifts] == sorted(
        (abs(s.local - s.canonical) for s in one.shifts), reverse=True
    )
    others = [shift for shift in one.shifts if shift.local]
    assert all("that of others moved" in shift.why for shift in others)
    assert "accept" in one.why
    assert "reject" in one.why


def test_a_weight_that_seeds_of_my_own_take_away_says_so(town: Town) -> None:
    page = asked(town, Policy(seeds=frozenset({town.agent(2)})))
    words = {shift.why for one in page.rounds for shift in one.shifts}

    assert "My trust in it does not reach a ticket." in words


def test_only_so_many_rounds_are_compared_and_shown(town: Town) -> None:
    newest = asked(town, observing(town), rounds=1)
    none_shown = asked(town, observing(town), most=0)

    assert (newest.compared, newest.parted, newest.more) == (1, 0, True)
    assert (none_shown.parted, none_shown.rounds) == (1, ())
    assert not asked(town, observing(town), rounds=3).more


def test_rounds_come_newest_first(town: Town) -> None:
    page = asked(town, Policy(observed=frozenset(town.founding.instances)))
    cuts = [one.cut for one in page.rounds]

    # Nobody is counted, and what the charter does without voters is not what the votes did.
    assert page.parted == 3
    assert cuts == sorted(cuts, reverse=True)
    assert {one.local_v for one in page.rounds} == {None}
    assert all("no weight is left" in one.why for one in page.rounds)


def test_an_answer_is_plain(town: Town) -> None:
    assert isinstance(plain(asked(town, observing(town))), dict)


def test_an_open_round_is_not_compared() -> None:
    made = Town.of(3, 6, operators=6)
    made.open_round(made.propose(0))

    assert asked(made, Policy()).compared == 0
