"""What an agent may do now: offered exactly where the door lets it through."""

import pytest

from federation.certificates import Phase
from federation.charter import TopicClass
from federation.core import RefusedError
from federation.crypto import Reason
from federation.protocol import custody
from federation.records import Contest, Role, Stance
from node.base.errors import NodeCode, RequestError
from node.queries import rounds
from node.queries.acts import Act, to_review
from tests.federation.protocol.town import Town, rules
from tests.node.queries.scenes import opened

FAST = rules(
    topics=(TopicClass(prefix="notes", sensitivity="low"),), fast_min_watchers=0, fast_low=1_000
)


def acts(town: Town, index: int) -> list[Act]:
    return [one.act for one in to_review(town.home(index), town.agent(index), town.now)]


def test_a_vote_is_offered_to_whoever_may_vote_until_it_has() -> None:
    town = Town.of(3, 6)
    _, name = opened(town, Phase.COMMIT)

    assert acts(town, 1) == [Act.VOTE]
    assert acts(town, 0) == [], "the author never reviews"
    assert acts(town, 3) == [], "nor does its operator while others are enough"
    town.cast(1, name, 1)
    assert acts(town, 1) == []
    assert acts(town, 2) == [Act.VOTE]


def test_an_offer_says_where_and_until_when() -> None:
    town = Town.of(1, 5)
    record, name = opened(town, Phase.COMMIT)
    (offer,) = to_review(town.world(), town.agent(1), town.now)

    assert (offer.round, offer.artifact) == (name.hex(), record.id.hex())
    assert (offer.title, offer.topics, offer.matches) == ("A claim", ("code",), False)
    assert offer.phase is Phase.COMMIT
    assert offer.window.submit_within > 0
    assert offer.after == town.world().rounds[name].finals[Phase.DELIBERATE].digest.hex()
    town.world().log.drop_text(record.id)
    (bare,) = to_review(town.world(), town.agent(1), town.now)
    assert bare.title is None


def test_everybody_may_argue_as_often_as_the_charter_allows() -> None:
    town = Town.of(1, 5, review=rules(arguments_each=2))
    _, name = opened(town, Phase.DELIBERATE)
    world = town.world()
    for number in range(2):
        assert acts(town, 0) == [Act.ARGUE]
        town.arrive(
            world,
            custody.argue(
                world,
                town.keyring(0),
                name,
                stance=Stance.FOR,
                note=f"Point {number}",
                salt=bytes(16),
                now=town.now,
            ),
        )

    assert acts(town, 0) == []
    assert acts(town, 1) == [Act.ARGUE]


def test_reviewers_may_object_in_the_fast_track_but_not_the_author() -> None:
    town = Town.of(1, 5, review=FAST)
    record = town.propose(0, topics=("notes",))
    name = town.open_round(record)

    assert town.world().rounds[name].phase is Phase.FAST
    assert acts(town, 1) == [Act.OBJECT]
    assert acts(town, 0) == []
    town.arrive(
        town.world(),
        custody.object_to(town.world(), town.keyring(1), name, reason=Reason.UNCLEAR, now=town.now),
    )
    assert acts(town, 1) == []


def test_a_listed_ballot_should_be_opened_until_it_is() -> None:
    town = Town.of(1, 5)
    _, name = opened(town, Phase.COMMIT)
    for voter in (1, 2, 3):
        town.cast(voter, name, 1)
    town.in_phase(name, Phase.DECIDE)

    assert acts(town, 1) == [Act.REVEAL]
    assert acts(town, 4) == []
    town.reveal(1, name)
    assert acts(town, 1) == []
    assert acts(town, 2) == [Act.REVEAL]


def test_who_took_part_may_contest_the_result_once() -> None:
    town = Town.of(1, 6, review=rules(contest=2_000))
    _, name = opened(town, Phase.COMMIT)
    for voter in (1, 2, 3):
        town.cast(voter, name, 1)
    town.in_phase(name, Phase.DECIDE)
    for voter in (1, 2, 3):
        town.reveal(voter, name)
    town.in_phase(name, Phase.CONTEST)

    assert acts(town, 0) == [Act.CONTEST]
    assert acts(town, 1) == [Act.CONTEST]
    assert acts(town, 5) == [], "it had no part in it"
    after = town.world().rounds[name].finals[Phase.DECIDE].digest
    town.arrive(town.world(), town.sign(1, Contest(round=name, after=after, ground="haste")))
    assert acts(town, 1) == []


def test_a_newcomer_may_argue_and_practise_in_rounds_opened_after_its_admission() -> None:
    town = Town.of(1, 5)
    _, name = opened(town, Phase.DELIBERATE)
    agent = town.stranger(Role.AGENT)
    with pytest.raises(RequestError) as caught:
        to_review(town.world(), agent.id, town.now)
    assert caught.value.code is NodeCode.NOT_FOUND
    town.admit(agent)
    town.until(lambda one: agent.id in one.world().state.agents)

    assert to_review(town.world(), agent.id, town.now) == (), "its round does not know it"
    town.propose(1, "Another")
    town.until(lambda one: bool(to_review(one.world(), agent.id, one.now)))
    assert [one.act for one in to_review(town.world(), agent.id, town.now)] == [Act.ARGUE]
    town.until(
        lambda one: (
            [each.act for each in to_review(one.world(), agent.id, one.now)] == [Act.PRACTICE]
        )
    )
    assert town.world().rounds[name].pin.agents.get(agent.id) is None


def test_what_an_operator_did_not_delegate_is_not_offered() -> None:
    town = Town.of(1, 5)
    agent = town.stranger(Role.AGENT)
    town.admit(agent, scope=("review.commit",))
    town.until(lambda one: agent.id in one.world().state.agents)
    _, name = opened(town, Phase.DELIBERATE)

    assert to_review(town.world(), agent.id, town.now) == ()
    town.in_phase(name, Phase.COMMIT)
    assert [one.act for one in to_review(town.world(), agent.id, town.now)] == [Act.PRACTICE]


def test_nothing_is_offered_once_the_window_is_over_here() -> None:
    town = Town.of(3, 6)
    town.take_down(2)
    record = town.propose(0)
    town.rest(100)
    town.bring_up(2)
    name = town.open_round(record)
    town.take_down(1)
    town.take_down(2)
    world = town.world()
    town.rest(1_500)

    assert world.rounds[name].phase is Phase.DELIBERATE, "alone it cannot end"
    assert to_review(world, town.agent(0), town.now) == ()


def test_when_a_box_is_widened_only_whoever_is_not_in_it_may_vote() -> None:
    town = Town.of(1, 5)
    _, name = opened(town, Phase.COMMIT)
    town.cast(1, name, 1)
    town.in_phase(name, Phase.COMMIT2)

    assert acts(town, 1) == []
    assert acts(town, 2) == [Act.VOTE]
    town.cast(2, name, 1)
    assert acts(town, 2) == []
    assert rounds.one(town.world(), name, town.now).counts.commitments == 2


def test_what_is_offered_passes_the_door() -> None:
    town = Town.of(3, 6)
    _, name = opened(town, Phase.COMMIT)
    for index in range(6):
        offered = acts(town, index) == [Act.VOTE]
        try:
            town.cast(index, name, 1)
            passed = True
        except RefusedError:
            passed = False
        assert offered is passed


def test_rounds_that_close_first_stand_at_the_top() -> None:
    town = Town.of(1, 5)
    opened(town, Phase.DELIBERATE)
    town.rest(300)
    town.propose(1, "Another")
    town.until(lambda one: len(acts(one, 2)) == 2)
    offers = to_review(town.world(), town.agent(2), town.now)

    assert offers[0].window.submit_by < offers[1].window.submit_by
