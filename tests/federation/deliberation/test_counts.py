"""Counts of a debate: by stance and level, by speaker."""

from hypothesis import given

from federation.certificates import Phase
from federation.deliberation import Side, Speaker, sides, speakers
from federation.records import Level, Stance
from tests.federation.deliberation.talk import Talk
from tests.federation.deliberation.test_graph import CHOICES, talked
from tests.federation.review.scene import operator


def test_arguments_are_counted_by_stance_and_level() -> None:
    talk = Talk()
    claim = talk.say(4, stance=Stance.FOR)
    talk.say(5, stance=Stance.FOR)
    talk.say(1, stance=Stance.AGAINST, level=Level.TECHNICAL, replies_to=claim)

    assert sides(talk.debate()) == (
        Side(
            stance=Stance.FOR,
            level=Level.CONTENT,
            arguments=2,
            standing=1,
            answered=1,
            operators=1,
        ),
        Side(
            stance=Stance.AGAINST,
            level=Level.TECHNICAL,
            arguments=1,
            standing=1,
            answered=0,
            operators=1,
        ),
    )


def test_speakers_are_counted_and_answers_to_oneself_are_none() -> None:
    talk = Talk()
    claim = talk.say(4)
    talk.say(5, replies_to=claim)
    talk.say(1, replies_to=claim)
    talk.cite(2, claim)
    four, five, one = (talk.scene.agents[who].id for who in (4, 5, 1))
    found = {each.agent: each for each in speakers(talk.debate())}

    assert [*found] == sorted([four, five, one])
    assert found[four] == Speaker(
        agent=four, operator=operator(4), arguments=1, replies=0, answered=1, cited=1
    )
    assert (found[five].replies, found[one].replies) == (0, 1)


def test_nobody_spoke_in_an_empty_debate() -> None:
    assert (sides(Talk().debate()), speakers(Talk().debate())) == ((), ())


@given(CHOICES)
def test_both_counts_add_up_to_all_arguments(choices: list[tuple[int, Phase, Stance, int]]) -> None:
    debate = talked(choices).debate()

    assert sum(one.arguments for one in sides(debate)) == len(debate.arguments)
    assert sum(one.arguments for one in speakers(debate)) == len(debate.arguments)
    assert sum(one.standing for one in sides(debate)) == sum(
        one.stands for one in debate.arguments.values()
    )
