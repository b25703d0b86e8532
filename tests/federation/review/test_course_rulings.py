"""Where a round goes after its vote: contest, ruling, appeal, operators (federation.review.course)."""

from dataclasses import replace

import pytest

from federation.artifacts import DecidedBy, Narrow
from federation.certificates import Phase
from federation.core import AgentId
from federation.crypto import Choice
from federation.records import Decree, Ruled
from federation.review import AgentView, AwaitsLot, course, expected_after, next_phase
from federation.trust import Decision
from tests.federation.review.paths import (
    PANEL,
    appealed,
    bench,
    decreed,
    drawn,
    panel,
    ruled,
    split,
    unanimous,
)
from tests.federation.review.scene import AGAINST, BEACON, FOR, SIX, Scene, ended, final


def test_a_vote_between_the_thresholds_goes_to_the_arbiters_without_a_contest_window() -> None:
    scene = bench()
    finals = split(scene)

    assert next_phase(scene.pin, finals) is Phase.RULE
    assert expected_after(Phase.RULE, scene.pin, finals) == finals[Phase.DECIDE].digest


def test_a_clear_result_that_nobody_contests_needs_no_arbiter() -> None:
    scene = bench()
    finals = unanimous(scene)

    assert next_phase(scene.pin, finals) is Phase.CONTEST

    verdict = ended(scene, finals | {Phase.CONTEST: final(Phase.CONTEST)})

    assert verdict.by is DecidedBy.VOTE
    assert not verdict.contested


def test_a_contested_result_goes_to_the_arbiters() -> None:
    scene = bench()
    finals = unanimous(scene)
    finals[Phase.CONTEST] = final(Phase.CONTEST, scene.contest(0, finals))

    assert next_phase(scene.pin, finals) is Phase.RULE
    assert expected_after(Phase.RULE, scene.pin, finals) == finals[Phase.CONTEST].digest

    quiet = ruled(scene, finals, Ruled.REJECT) | {Phase.APPEAL: final(Phase.APPEAL)}
    verdict = ended(scene, quiet)

    assert (verdict.by, verdict.decision) == (DecidedBy.ARBITER, Decision.REJECT)
    assert verdict.contested
    assert verdict.strong
    assert verdict.rulers == (scene.agents[drawn(scene, finals)[0]].id,)


def test_a_round_waits_for_the_beacon_that_draws_its_arbiters() -> None:
    waiting = bench(beacon=None)
    finals = split(waiting)
    so_far = course(waiting.pin, finals)

    assert next_phase(waiting.pin, finals) == AwaitsLot()
    assert so_far.awaits_lot
    assert so_far.open is None
    assert Phase.RULE not in so_far.after

    now = course(replace(waiting.pin, beacon=BEACON), finals)

    assert now.open is Phase.RULE
    assert dict(list(now.after.items())[:-1]) == so_far.after


def test_nobody_waits_for_a_lot_that_nobody_can_draw() -> None:
    alone = bench(0, beacon=None)

    assert ended(alone, split(alone)).by is DecidedBy.SIGN


def test_before_its_vote_a_round_needs_no_beacon() -> None:
    scene = bench(beacon=None)

    assert next_phase(scene.pin, {}) is Phase.DELIBERATE
    assert next_phase(scene.pin, unanimous(scene)) is Phase.CONTEST


@pytest.mark.parametrize("void", [True, False])
def test_without_a_ruling_a_review_goes_by_the_sign(*, void: bool) -> None:
    scene = bench()
    finals = split(scene)
    verdict = ended(scene, finals | {Phase.RULE: final(Phase.RULE, void=void)})

    assert verdict.by is DecidedBy.SIGN
    assert verdict.accepted
    assert Narrow.BY_SIGN in verdict.narrow


def test_a_charter_without_rulings_goes_by_the_sign() -> None:
    scene = bench(review={"rule": 0}, beacon=None)

    assert ended(scene, split(scene)).by is DecidedBy.SIGN


@pytest.mark.parametrize("arbiters", [0, 2])
def test_a_review_short_of_a_quorum_is_arbitrated_only_by_that_policy(arbiters: int) -> None:
    asked = bench(arbiters, review={"shortfall_high": "arbitrate"})
    policy = bench(arbiters, review={"shortfall_high": "reject"})
    votes = {1: FOR, 2: FOR}
    verdict = ended(policy, policy.voted(votes))

    assert (verdict.by, verdict.accepted) == (DecidedBy.SHORTFALL, False)
    finals = asked.voted(votes)
    if arbiters:
        assert next_phase(asked.pin, finals) is Phase.RULE
        verdict = ended(
            asked, ruled(asked, finals, Ruled.BY_SIGN) | {Phase.APPEAL: final(Phase.APPEAL)}
        )
        assert (verdict.by, verdict.accepted) == (DecidedBy.ARBITER, True)
        assert not verdict.strong
    else:
        assert ended(asked, finals).by is DecidedBy.SHORTFALL


def test_a_review_that_nobody_can_vote_on_is_ruled_on_at_once_where_the_policy_says_so() -> None:
    scene = bench(
        1,
        sizes=(1,),
        review={"shortfall_high": "arbitrate"},
    )
    weightless = replace(scene.pin, agents=weightless_of(scene))

    assert next_phase(weightless, {}) is Phase.RULE
    assert expected_after(Phase.RULE, weightless, {}) == weightless.round


def weightless_of(scene: Scene) -> dict[AgentId, AgentView]:
    return {name: replace(view, weight=0) for name, view in scene.pin.agents.items()}


def test_a_rerun_ends_the_round_without_a_decision_and_without_an_appeal() -> None:
    scene = bench()
    verdict = ended(scene, ruled(scene, split(scene), Ruled.RERUN))

    assert (verdict.by, verdict.decision) == (DecidedBy.RERUN, Decision.NONE)
    assert len(verdict.ballots) == 5
    assert Narrow.FEW_OPERATORS not in verdict.narrow


def test_a_ruling_that_nobody_contests_decides() -> None:
    scene = bench()
    finals = ruled(scene, split(scene), Ruled.REJECT)

    assert next_phase(scene.pin, finals) is Phase.APPEAL
    assert expected_after(Phase.APPEAL, scene.pin, finals) == finals[Phase.RULE].digest

    verdict = ended(scene, finals | {Phase.APPEAL: final(Phase.APPEAL)})

    assert (verdict.by, verdict.accepted) == (DecidedBy.ARBITER, False)


def test_a_charter_without_appeals_makes_a_ruling_final() -> None:
    scene = bench(review={"appeal": 0})

    assert ended(scene, ruled(scene, split(scene), Ruled.REJECT)).by is DecidedBy.ARBITER


def test_a_contested_ruling_goes_to_the_operators() -> None:
    scene = bench()
    finals = appealed(scene, ruled(scene, split(scene), Ruled.REJECT))

    assert next_phase(scene.pin, finals) is Phase.ADMIN
    assert expected_after(Phase.ADMIN, scene.pin, finals) == finals[Phase.APPEAL].digest

    kept = ended(scene, decreed(scene, finals, Decree.KEEP, (0, 1, 2)))
    silent = ended(scene, decreed(scene, finals, Decree.KEEP, (0, 1)))

    assert (kept.by, kept.accepted, kept.contested) == (DecidedBy.ADMIN, True, True)
    assert len(kept.rulers) == 3
    # Who contests a ruling must not win by the operators' silence.
    assert (silent.by, silent.accepted, silent.contested) == (DecidedBy.ARBITER, False, True)
    assert len(silent.ballots) == 5


def test_a_frozen_artifact_goes_to_the_operators_without_an_appeal() -> None:
    scene = bench()
    finals = ruled(scene, split(scene), Ruled.FREEZE)

    assert next_phase(scene.pin, finals) is Phase.ADMIN
    assert expected_after(Phase.ADMIN, scene.pin, finals) == finals[Phase.RULE].digest
    assert ended(scene, decreed(scene, finals, Decree.RETRACT, (0, 1, 2, 3))).by is DecidedBy.ADMIN


def test_a_dispute_has_no_objection_window_even_of_low_sensitivity() -> None:
    scene = panel(sensitivity="low", watchers=(2, 3, 4))

    assert next_phase(scene.pin, {}) is Phase.DELIBERATE


@pytest.mark.parametrize(
    ("against", "kept", "frivolous"), [(0, True, True), (3, True, False), (4, False, False)]
)
def test_a_dispute_is_sustained_from_its_own_threshold_on(
    against: int, kept: bool, frivolous: bool
) -> None:
    scene = panel(review={"contest": 0})
    votes = {who: AGAINST if index < against else FOR for index, who in enumerate(PANEL)}
    verdict = ended(scene, scene.voted(votes))

    assert (verdict.by, verdict.kind) == (DecidedBy.VOTE, "dispute")
    assert (verdict.accepted, verdict.frivolous) == (kept, frivolous)


def test_a_dispute_short_of_its_quorum_is_widened_and_then_ruled_on() -> None:
    scene = panel()
    boxed = scene.committed(dict.fromkeys(PANEL[:4], FOR))

    assert next_phase(scene.pin, boxed) is Phase.COMMIT2

    finals = scene.voted(dict.fromkeys(PANEL[:4], AGAINST))

    assert next_phase(scene.pin, finals) is Phase.RULE
    quiet = ruled(scene, finals, Ruled.BY_SIGN) | {Phase.APPEAL: final(Phase.APPEAL)}
    verdict = ended(scene, quiet)
    assert (verdict.by, verdict.accepted) == (DecidedBy.ARBITER, False)


def test_a_dispute_that_no_panel_can_decide_asks_nobody_to_debate_or_vote() -> None:
    # Of the author, the disputer and four others, whether one of these is an arbiter or none.
    ruled_on = panel(1, sizes=(1,) * 5)
    by_hand = panel(0, sizes=(1,) * 6)
    enough = panel(1, sizes=(1,) * 6)

    assert next_phase(ruled_on.pin, {}) is Phase.RULE
    assert next_phase(by_hand.pin, {}) is Phase.ADMIN
    assert expected_after(Phase.ADMIN, by_hand.pin, {}) == by_hand.pin.round
    assert next_phase(enough.pin, {}) is Phase.DELIBERATE


@pytest.mark.parametrize(("timeout", "kept"), [("keep", True), ("retract", False)])
def test_a_dispute_that_nobody_decides_ends_as_the_charter_says(
    timeout: str, *, kept: bool
) -> None:
    scene = panel(0, disputes={"timeout": timeout})
    finals = scene.voted({})
    late = scene.opening() | {Phase.COMMIT: final(Phase.COMMIT, void=True)}

    assert next_phase(scene.pin, finals) is Phase.ADMIN
    for end in (finals | {Phase.ADMIN: final(Phase.ADMIN)}, late):
        verdict = ended(scene, end)
        assert (verdict.by, verdict.accepted) == (DecidedBy.TIMEOUT, kept)


@pytest.mark.parametrize("votes", [FOR, AGAINST])
def test_a_contested_vote_stands_if_neither_arbiters_nor_operators_answer(votes: Choice) -> None:
    scene = panel(0, disputes={"timeout": "keep"})
    finals = scene.voted(dict.fromkeys(PANEL, votes))
    finals[Phase.CONTEST] = final(Phase.CONTEST, scene.contest(0, finals))
    assert next_phase(scene.pin, finals) is Phase.ADMIN
    verdict = ended(scene, finals | {Phase.ADMIN: final(Phase.ADMIN)})

    # Else the author of what a panel has retracted would contest that, and wait.
    assert (verdict.by, verdict.accepted) == (DecidedBy.VOTE, votes is FOR)
    assert verdict.contested


def test_a_frozen_result_thaws_to_the_vote_if_the_operators_say_nothing() -> None:
    scene = panel()
    finals = scene.voted(dict.fromkeys(PANEL, AGAINST))
    finals[Phase.CONTEST] = final(Phase.CONTEST, scene.contest(0, finals))
    frozen = ruled(scene, finals, Ruled.FREEZE)
    verdict = ended(scene, frozen | {Phase.ADMIN: final(Phase.ADMIN)})

    assert (verdict.by, verdict.accepted) == (DecidedBy.VOTE, False)


def test_a_dispute_without_a_ruling_goes_to_the_operators() -> None:
    scene = panel()
    finals = scene.voted({}) | {Phase.RULE: final(Phase.RULE)}

    assert next_phase(scene.pin, finals) is Phase.ADMIN
    unruled = panel(review={"rule": 0})
    assert next_phase(unruled.pin, unruled.voted({})) is Phase.ADMIN


def test_an_appeal_of_a_sanction_begins_with_its_lot() -> None:
    scene, nobody = bench(kind="appeal"), bench(0, kind="appeal")
    waiting = bench(kind="appeal", beacon=None)

    assert next_phase(waiting.pin, {}) == AwaitsLot()
    assert next_phase(scene.pin, {}) is Phase.RULE
    assert expected_after(Phase.RULE, scene.pin, {}) == scene.pin.round
    assert next_phase(nobody.pin, {}) is Phase.ADMIN

    upheld = ruled(scene, {}, Ruled.UPHOLD) | {Phase.APPEAL: final(Phase.APPEAL)}
    verdict = ended(scene, upheld)

    assert (verdict.kind, verdict.by) == ("appeal", DecidedBy.ARBITER)
    assert not verdict.accepted
    assert verdict.narrow == ()


def test_a_sanction_that_nobody_rules_on_stays() -> None:
    scene = bench(0, kind="appeal", disputes={"timeout": "keep"})
    silent = ended(scene, {Phase.ADMIN: final(Phase.ADMIN)})
    lifted = ended(scene, decreed(scene, {}, Decree.RECLASSIFY, (0, 1, 2)))

    assert (silent.by, silent.accepted) == (DecidedBy.TIMEOUT, False)
    assert (lifted.by, lifted.accepted) == (DecidedBy.ADMIN, True)


def test_a_rerun_says_that_its_votes_were_not_sealed_from_the_first() -> None:
    scene = Scene.of(*SIX, rerun=True)
    verdict = ended(scene, unanimous(scene))

    assert Narrow.NOT_SEALED in verdict.narrow
    assert Narrow.NOT_SEALED not in ended(Scene.of(*SIX), unanimous(Scene.of(*SIX))).narrow
