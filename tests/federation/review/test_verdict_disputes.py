"""Thresholds and quorums of disputes, and what only they say (federation.review.verdict)."""

import pytest

from federation.artifacts import DecidedBy, Narrow, Verdict
from federation.core import MILLION
from federation.crypto import Choice
from federation.review import by_sign, conclude, count, is_clear, is_escalated
from federation.review.tally import NOTHING
from federation.review.verdict import timed_out, timeout, undecided
from federation.trust import Decision
from tests.federation.review.scene import ABSTAIN, AGAINST, FOR, SIX, Scene


def weighed(*weights: int, **changes: object) -> Scene:
    """Make a dispute that the rules opened, with one voter of its own operator for each weight."""
    views = {number: {"weight": weight} for number, weight in enumerate(weights, start=1)}
    start: dict[str, object] = {"kind": "dispute", "disputes": {"q_dispute": len(weights)}}
    return Scene.of(*[1] * (len(weights) + 1), views=views, **(start | changes))  # type: ignore[arg-type]


def decided(scene: Scene, *votes: Choice) -> Verdict:
    finals = scene.voted(dict(enumerate(votes, 1)))
    return conclude(scene.pin, count(scene.pin, finals), objections=0, contested=False)


@pytest.mark.parametrize(
    ("against", "decision"), [(350_000, Decision.REJECT), (349_999, Decision.ACCEPT)]
)
def test_the_threshold_itself_retracts_and_a_millionth_less_keeps(
    *, against: int, decision: Decision
) -> None:
    # 70 against 30: -V = .4 exactly.
    verdict = decided(weighed(300_000, 350_000, against), FOR, AGAINST, AGAINST)

    assert verdict.by is DecidedBy.VOTE
    assert verdict.decision is decision


@pytest.mark.parametrize("votes", [(ABSTAIN, ABSTAIN, ABSTAIN), (FOR, AGAINST, ABSTAIN)])
def test_a_dispute_is_never_between_its_thresholds(votes: tuple[Choice, ...]) -> None:
    scene = weighed(300_000, 300_000, 300_000)
    counted = count(scene.pin, scene.voted(dict(enumerate(votes, 1))))

    assert is_clear(scene.pin, counted)
    assert not is_escalated(scene.pin, counted, contested=False)
    assert is_escalated(scene.pin, counted, contested=True)
    assert decided(scene, *votes).accepted


@pytest.mark.parametrize(("against", "frivolous"), [(99_999, True), (100_000, False)])
def test_a_dispute_with_hardly_any_weight_behind_it_is_frivolous(
    *, against: int, frivolous: bool
) -> None:
    scene = weighed(300_000, 300_000, 400_000 - against, against)
    verdict = decided(scene, FOR, FOR, ABSTAIN, AGAINST)

    assert verdict.accepted
    assert verdict.denominator == MILLION
    assert verdict.frivolous is frivolous


def test_only_a_kept_dispute_with_a_quorum_is_frivolous() -> None:
    scene = weighed(300_000, 300_000, 300_000)
    review = Scene.of(*SIX)
    short = conclude(
        scene.pin,
        count(scene.pin, scene.voted({1: FOR, 2: FOR})),
        objections=0,
        contested=False,
    )

    assert decided(scene, FOR, FOR, FOR).frivolous
    assert not decided(scene, AGAINST, AGAINST, AGAINST).frivolous
    assert short.accepted
    assert not short.frivolous
    assert not decided(review, FOR, FOR, FOR).frivolous


def test_a_dispute_short_of_its_quorum_is_always_escalated() -> None:
    scene = weighed(300_000, 300_000, 300_000)
    short = count(scene.pin, scene.voted({1: AGAINST, 2: AGAINST}))
    weightless = weighed(0, 0, 1)
    nothing = count(weightless.pin, weightless.voted({1: FOR, 2: FOR}))

    for pin, counted in ((scene.pin, short), (weightless.pin, nothing), (scene.pin, NOTHING)):
        assert is_escalated(pin, counted, contested=False)
        assert not is_clear(pin, counted)


def test_by_the_sign_a_tie_keeps_what_stands_and_rejects_what_does_not_yet() -> None:
    assert by_sign(weighed(1).pin, NOTHING).decision is Decision.ACCEPT
    assert by_sign(Scene.of(*SIX).pin, NOTHING).decision is Decision.REJECT


def test_the_words_for_a_small_quorum_are_of_reviews_only() -> None:
    verdict = decided(weighed(300_000, 300_000), FOR, FOR)

    assert verdict.quorum_needed == 2
    assert verdict.narrow == (Narrow.FEW_OPERATORS,)


@pytest.mark.parametrize(
    ("kind", "policy", "decision"),
    [
        ("review", "keep", Decision.REJECT),
        ("dispute", "keep", Decision.ACCEPT),
        ("dispute", "retract", Decision.REJECT),
        ("report", "keep", Decision.ACCEPT),
        ("appeal", "keep", Decision.REJECT),
    ],
)
def test_what_nobody_decides_ends_as_its_kind_says(
    kind: str, policy: str, decision: Decision
) -> None:
    pin = Scene.of(*SIX, kind=kind, disputes={"timeout": policy}).pin  # type: ignore[arg-type]

    assert timeout(pin).decision is decision
    assert timed_out(pin, objections=0).by is DecidedBy.TIMEOUT


def test_a_report_that_goes_no_further_counts_nothing() -> None:
    scene = Scene.of(1, 1, kind="report", members=1)
    moderator = scene.agents[1].id
    verdict = undecided(scene.pin, DecidedBy.UNFOUNDED, moderator)

    assert verdict.decision is Decision.NONE
    assert verdict.rulers == (moderator,)
    assert verdict.narrow == (Narrow.FEW_MEMBERS,)
    assert undecided(scene.pin, DecidedBy.LAPSED, None).rulers == ()
