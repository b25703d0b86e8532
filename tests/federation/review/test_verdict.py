from collections.abc import Mapping

import pytest

from federation.artifacts import DecidedBy, Narrow, Verdict
from federation.core import MILLION
from federation.crypto import Choice
from federation.review import Finals, RoundPin, Ruling, Tally, conclude, count, is_clear
from federation.review.tally import NOTHING
from federation.review.verdict import consent, timed_out
from federation.trust import Decision
from tests.federation.review.scene import ABSTAIN, AGAINST, FOR, ROUND, SIX, Scene


def decided(
    scene: Scene, votes: Mapping[int, Choice], *, contested: bool = False, objections: int = 0
) -> Verdict:
    finals: Finals = scene.voted(votes)
    return conclude(scene.pin, count(scene.pin, finals), objections=objections, contested=contested)


def weighed(*weights: int, **changes: object) -> Scene:
    """One author, and one reviewer of its own operator for each weight."""
    views = {number: {"weight": weight} for number, weight in enumerate(weights, start=1)}
    return Scene.of(*[1] * (len(weights) + 1), views=views, **changes)  # type: ignore[arg-type]


def test_five_votes_of_five_operators_accept_without_any_remark() -> None:
    verdict = decided(Scene.of(*SIX), dict.fromkeys(range(1, 6), FOR))

    assert verdict.decision is Decision.ACCEPT
    assert verdict.by is DecidedBy.VOTE
    assert verdict.v_ppm == MILLION
    assert verdict.strong
    assert verdict.quorum
    assert verdict.operators == 5
    assert verdict.revealed == 5
    assert verdict.narrow == ()
    assert verdict.round == ROUND


def test_the_threshold_of_acceptance_itself_accepts() -> None:
    # 65 for, 35 against: V = .3 exactly.
    scene = weighed(350_000, 300_000, 350_000)
    verdict = decided(scene, {1: FOR, 2: FOR, 3: AGAINST})

    assert (verdict.numerator, verdict.denominator) == (300_000, 1_000_000)
    assert verdict.by is DecidedBy.VOTE
    assert verdict.accepted
    assert not verdict.strong


@pytest.mark.parametrize(("against", "strong"), [(250_000, True), (250_001, False)])
def test_a_result_is_strong_from_the_charters_threshold_on(*, against: int, strong: bool) -> None:
    scene = weighed(400_000, 350_000, against)
    verdict = decided(scene, {1: FOR, 2: FOR, 3: AGAINST})

    assert verdict.strong is strong


def test_one_millionth_below_the_threshold_is_not_accepted_by_vote() -> None:
    scene = weighed(349_999, 300_000, 350_000)
    verdict = decided(scene, {1: FOR, 2: FOR, 3: AGAINST})

    assert verdict.numerator * MILLION < 300_000 * verdict.denominator
    assert verdict.by is DecidedBy.SIGN
    assert Narrow.BY_SIGN in verdict.narrow


def test_the_threshold_of_rejection_itself_rejects() -> None:
    # 40 for, 60 against: V = -.2 exactly.
    scene = weighed(400_000, 300_000, 300_000)
    verdict = decided(scene, {1: FOR, 2: AGAINST, 3: AGAINST})

    assert verdict.by is DecidedBy.VOTE
    assert verdict.decision is Decision.REJECT
    assert verdict.v_ppm == -200_000


def test_the_shown_tally_is_rounded_down_below_zero_too() -> None:
    verdict = decided(weighed(300_000, 300_000, 300_000), {1: FOR, 2: AGAINST, 3: AGAINST})

    assert verdict.v_ppm == -333_334


@pytest.mark.parametrize(
    ("votes", "decision"),
    [
        ({1: FOR, 2: FOR, 3: FOR, 4: AGAINST, 5: AGAINST}, Decision.ACCEPT),
        ({1: FOR, 2: AGAINST, 3: ABSTAIN}, Decision.REJECT),
        ({1: ABSTAIN, 2: ABSTAIN, 3: ABSTAIN}, Decision.REJECT),
    ],
)
def test_between_the_thresholds_the_sign_decides_and_a_tie_rejects(
    votes: dict[int, Choice], decision: Decision
) -> None:
    verdict = decided(Scene.of(*SIX), votes)

    assert verdict.by is DecidedBy.SIGN
    assert verdict.decision is decision
    assert Narrow.BY_SIGN in verdict.narrow
    assert not verdict.strong


def test_a_small_majority_against_is_decided_by_sign() -> None:
    scene = weighed(500_000, 300_000, 250_000)
    verdict = decided(scene, {1: FOR, 2: AGAINST, 3: AGAINST})

    assert -200_000 < verdict.v_ppm < 0
    assert verdict.by is DecidedBy.SIGN
    assert not verdict.accepted


def test_a_contested_result_goes_to_the_same_escalation() -> None:
    verdict = decided(Scene.of(*SIX), dict.fromkeys(range(1, 6), FOR), contested=True)

    assert verdict.by is DecidedBy.SIGN
    assert verdict.accepted
    assert verdict.strong


def test_an_escalation_of_ones_own_is_asked_instead_of_the_sign() -> None:
    def keep(pin: RoundPin, counted: Tally) -> Ruling:
        assert pin.round == ROUND
        assert counted.numerator < 0
        return Ruling(decision=Decision.ACCEPT, by=DecidedBy.VOTE)

    scene = weighed(500_000, 300_000, 250_000)
    counted = count(scene.pin, scene.voted({1: FOR, 2: AGAINST, 3: AGAINST}))
    verdict = conclude(scene.pin, counted, objections=0, contested=False, escalate=keep)

    assert verdict.accepted
    assert Narrow.BY_SIGN not in verdict.narrow


def test_only_a_quorum_has_a_clear_result() -> None:
    scene = Scene.of(*SIX)

    assert is_clear(scene.pin, count(scene.pin, scene.voted(dict.fromkeys((1, 2, 3), FOR))))
    assert not is_clear(scene.pin, count(Scene.of(*SIX).pin, Scene.of(*SIX).voted({1: FOR})))
    assert not is_clear(scene.pin, NOTHING)


def test_a_quorum_without_weight_is_a_shortfall() -> None:
    scene = weighed(0, 0, 0, 700_000)
    verdict = decided(scene, {1: FOR, 2: FOR, 3: FOR})

    assert verdict.quorum
    assert verdict.by is DecidedBy.SHORTFALL
    assert verdict.v_ppm == 0


@pytest.mark.parametrize(
    ("policy", "votes", "objections", "decision"),
    [
        ("reject", {1: FOR}, 0, Decision.REJECT),
        ("fast_track", {1: FOR}, 0, Decision.ACCEPT),
        ("fast_track", {}, 0, Decision.ACCEPT),
        ("fast_track", {1: ABSTAIN}, 0, Decision.ACCEPT),
        ("fast_track", {1: FOR}, 1, Decision.REJECT),
        ("fast_track", {1: FOR, 2: AGAINST}, 0, Decision.REJECT),
        ("arbitrate", {1: FOR}, 1, Decision.ACCEPT),
        ("arbitrate", {1: AGAINST}, 0, Decision.REJECT),
        ("arbitrate", {}, 0, Decision.REJECT),
    ],
)
@pytest.mark.parametrize("sensitivity", ["low", "high"])
def test_too_few_ballots_are_decided_by_the_policy_of_the_sensitivity(
    sensitivity: str,
    policy: str,
    votes: dict[int, Choice],
    objections: int,
    decision: Decision,
) -> None:
    # The policy of the other sensitivity would decide otherwise where it can.
    other = "reject" if decision is Decision.ACCEPT else "arbitrate"
    review = {"shortfall_low": other, "shortfall_high": other, f"shortfall_{sensitivity}": policy}
    scene = Scene.of(*SIX, sensitivity=sensitivity, ticket=False, review=review)
    verdict = decided(scene, votes, objections=objections)

    assert verdict.decision is decision
    assert verdict.by is DecidedBy.SHORTFALL
    assert Narrow.SHORTFALL in verdict.narrow
    assert (Narrow.BY_SIGN in verdict.narrow) is (policy == "arbitrate")
    assert not verdict.strong


def test_a_practice_ballot_against_does_not_stop_a_shortfall_consent() -> None:
    scene = Scene.of(
        *SIX,
        views={5: {"reviewer": False, "tier": 0}},
        review={"shortfall_high": "fast_track"},
    )

    assert decided(scene, {1: FOR, 5: AGAINST}).accepted


def test_a_community_of_one_operator_says_all_that_it_lacks() -> None:
    verdict = decided(Scene.of(5, members=1), {1: FOR, 2: FOR, 3: FOR})

    assert verdict.accepted
    assert verdict.quorum_needed == 3
    assert verdict.narrow == (Narrow.RELAXED, Narrow.FEW_OPERATORS, Narrow.FEW_MEMBERS)


def test_three_operators_with_one_agent_each_accept_together_and_retract_when_split() -> None:
    both = decided(Scene.of(1, 1, 1, members=3), {1: FOR, 2: FOR})
    split = decided(Scene.of(1, 1, 1, members=3), {1: FOR, 2: AGAINST})

    assert both.quorum_needed == 2
    assert both.by is DecidedBy.VOTE
    assert both.accepted
    assert both.narrow == (Narrow.QUORUM, Narrow.FEW_OPERATORS, Narrow.FEW_MEMBERS)
    assert not split.accepted
    assert Narrow.BY_SIGN in split.narrow


def test_silence_is_consent_by_nobodys_count() -> None:
    verdict = consent(Scene.of(*SIX, members=3).pin)

    assert verdict.accepted
    assert verdict.by is DecidedBy.FAST_TRACK
    assert verdict.narrow == (Narrow.FEW_MEMBERS,)


def test_a_cap_that_stopped_at_half_is_told() -> None:
    # 70 of 80 parts are one operator's: to cut it to two thirds takes 50 of them.
    heavy = {1: {"weight": 700_000}, 2: {"weight": 50_000}, 3: {"weight": 50_000}}
    votes = {1: FOR, 2: AGAINST, 3: AGAINST}
    alone = decided(Scene.of(1, 1, 1, 1, views=heavy), votes)
    even = decided(Scene.of(1, 1, 1, 1), votes)

    assert alone.narrow == (Narrow.FEW_OPERATORS, Narrow.CAP)
    assert even.narrow == (Narrow.FEW_OPERATORS,)


def test_a_void_box_retracts_without_counting() -> None:
    verdict = timed_out(Scene.of(*SIX).pin, objections=2)

    assert not verdict.accepted
    assert verdict.by is DecidedBy.TIMEOUT
    assert verdict.objections == 2
    assert verdict.narrow == ()


def test_a_shortfall_without_any_reviewer_counts_nothing() -> None:
    verdict = conclude(Scene.of(1).pin, NOTHING, objections=0, contested=False)

    assert not verdict.accepted
    assert Narrow.QUORUM in verdict.narrow
    assert verdict.quorum_needed == 0


def test_unopened_commitments_stay_on_record() -> None:
    scene = Scene.of(*SIX)
    finals = scene.voted(dict.fromkeys((1, 2, 3, 4), FOR), silent=[4])
    verdict = conclude(scene.pin, count(scene.pin, finals), objections=0, contested=False)

    assert [one.voter for one in verdict.unrevealed] == [scene.agents[4].id]
    assert verdict.revealed == 3
