"""The graph of a debate: threads, turns, answers, citations; nothing of what is sealed."""

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.certificates import Phase
from federation.deliberation import DEEPEST, Debate, debate_of, unanswered
from federation.records import Level, Record, Role, Stance
from tests.builders import Chain, argue, named, person
from tests.federation.deliberation.talk import Talk
from tests.federation.review.scene import ROUND, operator

CHOICES = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from([Phase.UNSEAL, Phase.DELIBERATE, Phase.TURN2, Phase.TURN5]),
        st.sampled_from(list(Stance)),
        st.integers(0, 40),
    ),
    max_size=25,
)


def talked(choices: list[tuple[int, Phase, Stance, int]]) -> Talk:
    """Say as many things, each in answer to one before it or to nothing."""
    talk, names = Talk(), [named("no argument")]
    order = [Phase.UNSEAL, Phase.DELIBERATE, Phase.TURN2, Phase.TURN5]
    for who, phase, stance, target in sorted(choices, key=lambda one: order.index(one[1])):
        above = None if target % 3 == 0 else names[target % len(names)]
        names.append(talk.say(who, f"{target}", phase=phase, stance=stance, replies_to=above))
    return talk


def test_a_round_without_arguments_is_an_empty_debate() -> None:
    assert Talk().debate() == Debate(arguments={}, threads=(), sealed=0, closed=())


def test_answers_stand_behind_what_they_answer_in_one_thread() -> None:
    talk = Talk()
    first = talk.say(1, "no", stance=Stance.AGAINST, level=Level.TECHNICAL)
    other = talk.say(2, "another")
    answer = talk.say(0, "yes", replies_to=first)
    again = talk.say(1, "no!", replies_to=answer, stance=Stance.AGAINST)
    debate = talk.debate()

    assert [thread.root for thread in debate.threads] == sorted([first, other])
    (thread,) = [one for one in debate.threads if one.root == first]
    assert (thread.arguments, thread.operators) == ((first, answer, again), 2)
    placed = debate.arguments[again]
    assert (placed.depth, placed.thread, placed.replies_to) == (2, first, answer)
    assert debate.arguments[first].replies == (answer,)
    assert debate.arguments[first].said == talk.body(first)
    assert debate.arguments[first].operator == operator(1)
    assert not any(one.strays for one in debate.arguments.values())


def test_turns_are_counted_and_a_later_one_answers_an_earlier_one() -> None:
    talk = Talk()
    first = talk.say(1, phase=Phase.DELIBERATE)
    second = talk.say(2, phase=Phase.TURN2, replies_to=first)
    fifth = talk.say(1, phase=Phase.TURN5, replies_to=second)
    turns = {name: one.turn for name, one in talk.debate().arguments.items()}

    assert turns == {first: 1, second: 2, fifth: 5}


def test_what_answers_no_argument_of_the_debate_begins_a_thread_and_is_marked() -> None:
    talk = Talk()
    stray = talk.say(1, replies_to=named("an argument of another round"))
    root = talk.say(2)
    placed = talk.debate().arguments

    assert (placed[stray].strays, placed[stray].replies_to, placed[stray].depth) == (True, None, 0)
    assert not placed[root].strays


def test_an_argument_is_answered_by_other_operators_only() -> None:
    talk = Talk()
    asked = talk.say(4)
    talk.say(5, replies_to=asked)
    assert talk.debate().arguments[asked].answered_by == ()
    talk.say(1, replies_to=asked)
    talk.say(1, replies_to=asked)
    debate = talk.debate()

    assert debate.arguments[asked].answered_by == (operator(1),)
    assert asked not in unanswered(debate)
    assert len(unanswered(debate)) == 3


def test_ballots_cite_arguments_of_others_and_practice_ballots_do_not() -> None:
    talk = Talk()
    told = talk.say(4)
    talk.cite(5, told)
    talk.cite(3, told, practice=True)
    talk.cite(2, named("no argument"))
    assert talk.debate().arguments[told].cited_by == ()
    talk.cite(2, told)
    placed = talk.debate().arguments[told]

    assert (placed.cited_by, placed.heard) == ((operator(2),), 1)


def test_who_answers_and_cites_is_heard_once() -> None:
    talk = Talk()
    told = talk.say(1)
    talk.say(2, replies_to=told)
    talk.cite(2, told)
    talk.cite(3, told)

    assert talk.debate().arguments[told].heard == 2


def test_what_a_standing_reply_of_the_other_side_answers_does_not_stand() -> None:
    talk = Talk()
    claim = talk.say(1, stance=Stance.FOR)
    attack = talk.say(2, stance=Stance.AGAINST, replies_to=claim)
    talk.say(3, stance=Stance.NEUTRAL, replies_to=attack)
    talk.say(3, stance=Stance.AGAINST, replies_to=attack)
    stands = talk.debate().arguments
    assert (stands[claim].stands, stands[attack].stands) == (False, True)
    defence = talk.say(1, stance=Stance.FOR, replies_to=attack)
    stands = talk.debate().arguments

    assert [stands[one].stands for one in (claim, attack, defence)] == [True, False, True]


def test_an_opened_assessment_is_turn_0_and_shown_once_its_list_is_final() -> None:
    talk = Talk()
    for who in (1, 2):
        talk.seal(who)
    opened = talk.say(1, phase=Phase.UNSEAL)
    finals = talk.finals()
    held = {Phase.UNSEAL: talk.said[Phase.UNSEAL]}
    del finals[Phase.UNSEAL]
    before = debate_of(talk.scene.pin, finals, held=held)
    after = talk.debate()

    assert (before.arguments, before.sealed, before.closed) == ({}, 2, ())
    assert (after.arguments[opened].turn, after.arguments[opened].phase) == (0, Phase.UNSEAL)
    assert (after.sealed, after.closed) == (2, (talk.scene.agents[2].id,))


def test_records_of_the_open_phase_are_shown_as_not_certified_until_its_list_is_final() -> None:
    talk = Talk()
    name = talk.say(1)
    late = talk.scene.agents[2].say(talk.body(name))
    held = {Phase.DELIBERATE: [*talk.said[Phase.DELIBERATE], late]}
    before = debate_of(talk.scene.pin, {}, held=held)
    after = debate_of(talk.scene.pin, talk.finals(), held=held)

    assert {one.certified for one in before.arguments.values()} == {False}
    assert set(before.arguments) == {name, late.id}
    assert set(after.arguments) == {name}
    assert after.arguments[name].certified


def test_what_is_no_argument_or_of_no_agent_of_the_round_is_left_out() -> None:
    talk = Talk()
    talk.seal(3)
    (seal,) = talk.said.pop(Phase.SEAL)
    stranger = Chain(person(Role.AGENT, 99)).say(*argue(ROUND))
    talk.say(1)
    talk.said[Phase.DELIBERATE] += [seal, stranger]

    assert {one.author for one in talk.debate().arguments.values()} == {talk.scene.agents[1].id}


def test_a_long_chain_of_answers_is_walked_and_its_depth_is_bounded() -> None:
    talk, above = Talk(), None
    for number in range(1_200):
        above = talk.say(number % 6, replies_to=above)
    debate = talk.debate()
    (thread,) = debate.threads

    assert len(thread.arguments) == 1_200
    assert debate.arguments[thread.arguments[DEEPEST]].depth == DEEPEST
    assert debate.arguments[thread.arguments[-1]].depth == DEEPEST


def test_replies_in_a_circle_are_a_broken_hash_and_noticed() -> None:
    talk = Talk()
    talk.say(1)
    talk.say(2)
    one, two = talk.said[Phase.DELIBERATE]

    def answering(record: Record, other: Record) -> Record:
        body = msgspec.structs.replace(talk.body(record.id), replies_to=other.id)
        return msgspec.structs.replace(record, body=body)

    talk.said[Phase.DELIBERATE] = [answering(one, two), answering(two, one)]
    with pytest.raises(AssertionError, match="circle"):
        talk.debate()


@given(CHOICES, st.randoms(use_true_random=False))
def test_the_order_in_which_records_come_changes_nothing(
    choices: list[tuple[int, Phase, Stance, int]], chance: random.Random
) -> None:
    talk = talked(choices)
    before = talk.debate()
    for records in talk.said.values():
        chance.shuffle(records)
    talk.said = dict(sorted(talk.said.items(), reverse=True))
    after = talk.debate()

    assert after == before
    assert [*after.arguments] == [*before.arguments]


@given(CHOICES)
def test_threads_divide_the_arguments_and_answers_come_later(
    choices: list[tuple[int, Phase, Stance, int]],
) -> None:
    debate = talked(choices).debate()
    order = [*debate.arguments]

    assert [name for thread in debate.threads for name in thread.arguments] == order
    assert len(order) == len(choices)
    for name, one in debate.arguments.items():
        assert all(order.index(reply) > order.index(name) for reply in one.replies)
        assert one.thread == name if one.replies_to is None else one.thread != name
        assert one.operator not in one.answered_by
        assert one.said.round == ROUND
