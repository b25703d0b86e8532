import pytest

from federation.certificates import Phase
from federation.core import Code
from federation.records import Decree, Ruled
from federation.review import qualifies
from tests.builders import named
from tests.federation.review.paths import PANEL, appealed, bench, drawn, panel, ruled, split
from tests.federation.review.scene import (
    FOR,
    MODERATOR,
    RULED,
    SIX,
    Scene,
    final,
)


def test_a_moderator_of_neither_side_assesses_the_report_that_opened_the_round() -> None:
    views = {
        number: MODERATOR | change
        for number, change in enumerate(
            [{}, {}, {}, {}, {"suspended": True}, {"quarantined": True}, {"forked": True}]
        )
    }
    # Agents: 0 the author, 1 of its operator, 2 the reporter, 3 of its operator, then strangers.
    scene = Scene.of(2, 2, 1, 1, 1, 1, 1, kind="report", disputer=2, views=views | {7: MODERATOR})
    codes = [qualifies(scene.pin, {}, scene.assess(who, {})) for who in range(9)]

    assert codes == [
        Code.NOT_ELIGIBLE,
        Code.AUTHORS_OPERATOR,
        Code.NOT_ELIGIBLE,
        Code.NOT_ELIGIBLE,
        Code.SUSPENDED,
        Code.QUARANTINED,
        Code.FORK,
        None,
        Code.NOT_MODERATOR,
    ]


def test_an_assessment_of_another_report_or_a_second_one_does_not_count() -> None:
    scene = Scene.of(*SIX, kind="report", disputer=1, views={5: MODERATOR})
    first = scene.assess(5, {}, credible=False)
    other = scene.assess(5, {}, report=named("another report"))

    assert qualifies(scene.pin, {}, first) is None
    assert qualifies(scene.pin, {}, other) is Code.GUARD_FAILED
    assert qualifies(scene.pin, {}, scene.assess(5, {}), [first]) is Code.OVER_QUOTA


def test_only_who_was_drawn_rules() -> None:
    scene = bench(5)
    finals = split(scene)
    lucky = drawn(scene, finals)
    unlucky = next(who for who in range(6, 11) if who not in lucky)

    assert all(qualifies(scene.pin, finals, scene.rule(who, finals)) is None for who in lucky)
    assert qualifies(scene.pin, finals, scene.rule(unlucky, finals)) is Code.NOT_DRAWN
    assert qualifies(scene.pin, finals, scene.rule(1, finals)) is Code.NOT_DRAWN


def test_a_ruling_fits_its_round_and_is_given_once() -> None:
    scene, again = bench(), bench(rerun=True)
    finals, second = split(scene), split(again)
    who = drawn(scene, finals)[0]
    first = scene.rule(who, finals, Ruled.RERUN)

    assert qualifies(scene.pin, finals, first) is None
    assert qualifies(scene.pin, finals, scene.rule(who, finals), [first]) is Code.OVER_QUOTA
    assert qualifies(scene.pin, finals, scene.rule(who, finals, Ruled.UPHOLD)) is (
        Code.GUARD_FAILED
    )
    asked = again.rule(drawn(again, second)[0], second, Ruled.RERUN)
    assert qualifies(again.pin, second, asked) is Code.GUARD_FAILED


def test_operators_of_members_decide_once_about_what_the_round_is_about() -> None:
    scene = panel(0, members=2)
    finals = scene.voted({})
    first = scene.decree(0, finals)

    assert qualifies(scene.pin, finals, first) is None
    assert qualifies(scene.pin, finals, scene.decree(1, finals, Decree.RETRACT)) is None
    assert qualifies(scene.pin, finals, scene.decree(2, finals)) is Code.NOT_MEMBER
    assert qualifies(scene.pin, finals, scene.decree(0, finals), [first]) is Code.OVER_QUOTA
    for decree in (Decree.HIDE, Decree.SHOW, Decree.UPHOLD, Decree.RECLASSIFY):
        wrong = scene.decree(0, finals, decree)
        assert qualifies(scene.pin, finals, wrong) is Code.GUARD_FAILED
    other = scene.decree(0, finals, subject=named("another artifact"))
    assert qualifies(scene.pin, finals, other) is Code.GUARD_FAILED


def test_an_act_of_operators_belongs_to_no_round() -> None:
    scene = panel(0)
    finals = scene.voted({})
    act = scene.decree(0, finals, round=None, after=None)

    assert qualifies(scene.pin, finals, act) is Code.NOT_IN_PHASE


def test_sides_voters_and_arbiters_contest_a_ruling() -> None:
    scene = panel(1)
    finals = ruled(scene, scene.voted({2: FOR}), Ruled.REJECT)
    first = scene.contest(0, finals, Phase.APPEAL)

    assert qualifies(scene.pin, finals, first) is None
    for who in (1, 2, 7):
        assert qualifies(scene.pin, finals, scene.contest(who, finals, Phase.APPEAL)) is None
    outsider = scene.contest(3, finals, Phase.APPEAL)
    assert qualifies(scene.pin, finals, outsider) is Code.NOT_ELIGIBLE
    again = scene.contest(0, finals, Phase.APPEAL)
    assert qualifies(scene.pin, finals, again, [first]) is Code.OVER_QUOTA


def test_who_contested_the_result_may_contest_the_ruling_too() -> None:
    scene = panel()
    finals = scene.voted(dict.fromkeys(PANEL, FOR))
    first = scene.contest(1, finals)
    finals[Phase.CONTEST] = final(Phase.CONTEST, first)
    finals = ruled(scene, finals, Ruled.BY_SIGN)

    assert qualifies(scene.pin, finals, first) is None
    assert qualifies(scene.pin, finals, scene.contest(1, finals, Phase.APPEAL), [first]) is None


def test_what_the_arbiters_say_makes_nobody_a_participant_of_the_vote() -> None:
    # The arbiter stands in a later list; the answer about the window before must not change.
    scene = bench(1)
    finals = scene.voted(dict.fromkeys((1, 2, 3), FOR))
    outsider = scene.contest(6, finals)
    listed = finals | {Phase.CONTEST: final(Phase.CONTEST, scene.contest(1, finals))}
    later = ruled(scene, listed, Ruled.REJECT)

    assert later[Phase.RULE].records[0].author == outsider.author
    assert qualifies(scene.pin, finals, outsider) is Code.NOT_ELIGIBLE
    assert qualifies(scene.pin, later, outsider) is Code.NOT_ELIGIBLE


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"suspended": True}, None),
        ({"banned": True}, None),
        ({"revoked": True}, Code.NOT_ELIGIBLE),
        ({"forked": True}, Code.FORK),
    ],
)
def test_a_sanctioned_agent_may_still_contest_the_ruling_on_its_own_sanction(
    change: dict[str, object], code: Code | None
) -> None:
    views = {0: change, 1: {"tier": 2, "badges": frozenset({"arbiter"})}}
    scene = Scene.of(1, 1, kind="appeal", views=views, review=RULED)
    finals = ruled(scene, {}, Ruled.UPHOLD)

    assert qualifies(scene.pin, finals, scene.contest(0, finals, Phase.APPEAL)) is code


def test_elsewhere_a_suspended_author_contests_nothing() -> None:
    scene = bench(1, sizes=(1, 1, 1, 1, 1, 1))
    barred = Scene.of(
        *SIX,
        1,
        views={0: {"suspended": True}, 6: {"tier": 2, "badges": frozenset({"arbiter"})}},
        review=RULED,
    )
    finals = ruled(barred, split(barred), Ruled.BY_SIGN)

    assert qualifies(barred.pin, finals, barred.contest(0, finals, Phase.APPEAL)) is (
        Code.SUSPENDED
    )
    free = ruled(scene, split(scene), Ruled.BY_SIGN)
    assert appealed(scene, free)[Phase.APPEAL].records[0].author == scene.agents[0].id
