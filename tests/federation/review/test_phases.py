import pytest

from federation.certificates import Phase
from federation.records import Decree
from federation.review import is_late, may_close_early
from tests.federation.review.paths import PANEL, bench, drawn, panel, split
from tests.federation.review.scene import FOR, MODERATOR, SIX, Scene, final, low


def test_only_a_box_past_its_deadline_is_late() -> None:
    scene = Scene.of(*SIX, review={"deadline": 1_000})

    assert not is_late(Phase.COMMIT, scene.pin, 1_000)
    assert is_late(Phase.COMMIT, scene.pin, 1_001)
    assert not is_late(Phase.DECIDE, scene.pin, 1_001)
    assert not is_late(Phase.COMMIT2, scene.pin, 1_001)


def test_the_box_closes_at_the_kth_reviewer_and_not_before_its_least_time() -> None:
    scene = Scene.of(*SIX, review={"k": 3, "commit_min": 200})
    finals = scene.opening()
    held = [scene.commit(who, finals) for who in (1, 2, 3)]

    assert may_close_early(Phase.COMMIT, scene.pin, finals, held, 200)
    assert not may_close_early(Phase.COMMIT, scene.pin, finals, held, 199)
    assert not may_close_early(Phase.COMMIT, scene.pin, finals, held[:2], 10_000)


def test_all_reviewers_are_enough_where_they_are_fewer_than_k() -> None:
    scene = Scene.of(1, 1, 1, 1, views={3: {"reviewer": False, "tier": 0}})
    finals = scene.opening()
    held = [scene.commit(who, finals) for who in (1, 2, 3)]

    assert may_close_early(Phase.COMMIT, scene.pin, finals, held[:2], 10_000)
    assert not may_close_early(Phase.COMMIT, scene.pin, finals, held[1:], 10_000)


def test_a_widening_counts_those_already_in_the_box() -> None:
    scene = Scene.of(*SIX, review={"k": 3})
    finals = scene.committed({1: FOR, 2: FOR})
    third = scene.commit(3, finals, phase=Phase.COMMIT2)

    assert not may_close_early(Phase.COMMIT2, scene.pin, finals, [], 10_000)
    assert may_close_early(Phase.COMMIT2, scene.pin, finals, [third], 10_000)


def test_reveals_close_when_every_listed_commitment_is_open() -> None:
    scene = Scene.of(*SIX)
    finals = scene.committed(dict.fromkeys((1, 2, 3), FOR))
    held = [scene.reveal(who, finals) for who in (1, 2, 3)]

    assert may_close_early(Phase.DECIDE, scene.pin, finals, held, 0)
    assert not may_close_early(Phase.DECIDE, scene.pin, finals, held[:2], 10_000)


@pytest.mark.parametrize("phase", [Phase.FAST, Phase.DELIBERATE, Phase.CONTEST, Phase.APPEAL])
def test_no_other_phase_closes_early(phase: Phase) -> None:
    assert not may_close_early(phase, low(*SIX).pin, {}, [], 10**9)


def test_rulings_and_assessments_are_bounded_by_their_own_windows() -> None:
    scene = Scene.of(*SIX, review={"deadline": 1_000})

    assert not is_late(Phase.RULE, scene.pin, 10**9)
    assert not is_late(Phase.ASSESS, scene.pin, 10**9)


def test_a_disputes_box_does_not_close_below_its_quorum() -> None:
    scene = panel(review={"k": 3, "contest": 0})
    finals = scene.opening()
    held = [scene.commit(who, finals) for who in PANEL]

    assert may_close_early(Phase.COMMIT, scene.pin, finals, held, 10_000)
    assert not may_close_early(Phase.COMMIT, scene.pin, finals, held[1:], 10_000)


def test_seals_close_when_all_reviewers_have_sealed_and_open_when_all_are_open() -> None:
    scene = Scene.of(1, 1, 1, 1, review={"mode": "sealed_first", "seal": 500})
    seals = [scene.seal(who, {}) for who in (1, 2, 3)]

    assert may_close_early(Phase.SEAL, scene.pin, {}, seals, 0)
    assert not may_close_early(Phase.SEAL, scene.pin, {}, seals[1:], 10**9)

    finals = {Phase.SEAL: final(Phase.SEAL, *seals[:2])}
    opened = [scene.unseal(who, finals) for who in (1, 2)]

    assert may_close_early(Phase.UNSEAL, scene.pin, finals, opened, 0)
    assert not may_close_early(Phase.UNSEAL, scene.pin, finals, opened[:1], 10**9)
    finals[Phase.UNSEAL] = final(Phase.UNSEAL, *opened)
    spoken = [scene.argue(who, finals) for who in (1, 2, 3)]
    assert not may_close_early(Phase.DELIBERATE, scene.pin, finals, spoken, 10**9)


def test_a_turn_closes_when_every_reviewer_has_spoken() -> None:
    scene = Scene.of(1, 1, 1, review={"mode": "rounds", "turns": 2})
    first = [scene.argue(who, {}) for who in (1, 2)]
    finals = {Phase.DELIBERATE: final(Phase.DELIBERATE, *first)}
    second = [scene.argue(who, finals, Phase.TURN2) for who in (0, 2)]

    assert may_close_early(Phase.DELIBERATE, scene.pin, {}, first, 0)
    assert not may_close_early(Phase.DELIBERATE, scene.pin, {}, first[:1], 10**9)
    assert not may_close_early(Phase.TURN2, scene.pin, finals, second, 10**9)


def test_rulings_close_with_the_first_in_lot_order_or_with_all() -> None:
    scene = bench()
    finals = split(scene)
    first, second, third = (scene.rule(who, finals) for who in drawn(scene, finals))

    assert may_close_early(Phase.RULE, scene.pin, finals, [first], 0)
    assert may_close_early(Phase.RULE, scene.pin, finals, [third, second, first], 0)
    assert not may_close_early(Phase.RULE, scene.pin, finals, [second, third], 10**9)
    assert not may_close_early(Phase.RULE, scene.pin, finals, [], 10**9)


def test_an_assessment_closes_at_the_first() -> None:
    scene = Scene.of(*SIX, kind="report", disputer=1, views={5: MODERATOR})

    assert may_close_early(Phase.ASSESS, scene.pin, {}, [scene.assess(5, {})], 0)
    assert not may_close_early(Phase.ASSESS, scene.pin, {}, [], 10**9)


def test_operators_close_their_phase_when_a_quorum_agrees() -> None:
    scene = panel(0)
    finals = scene.voted({})
    keep = [scene.decree(number, finals) for number in range(3)]
    against = scene.decree(3, finals, Decree.RETRACT)

    assert may_close_early(Phase.ADMIN, scene.pin, finals, keep, 0)
    assert may_close_early(Phase.ADMIN, scene.pin, finals, [against, *keep], 0)
    assert not may_close_early(Phase.ADMIN, scene.pin, finals, [against, *keep[1:]], 10**9)
