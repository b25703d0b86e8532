"""Before a vote: assessments, turns and seals (federation.review.course)."""

from federation.artifacts import DecidedBy
from federation.certificates import Phase
from federation.review import course, expected_after, next_phase
from federation.trust import Decision
from tests.federation.review.scene import MODERATOR, ROUND, SIX, Scene, ended, final, low

SEVEN = (1,) * 7
SEALED = {"mode": "sealed_first", "seal": 500}


def reported(*, assess_only: bool = False) -> Scene:
    """Make a report by agent 1, with two moderators and five who may vote."""
    views = {5: MODERATOR, 6: MODERATOR}
    return Scene.of(*SEVEN, kind="report", disputer=1, views=views, assess_only=assess_only)


def test_turns_follow_each_other() -> None:
    scene = Scene.of(*SIX, review={"mode": "rounds", "turns": 3})
    finals = scene.opening()

    assert list(course(scene.pin, finals).after.items()) == [
        (Phase.DELIBERATE, ROUND),
        (Phase.TURN2, finals[Phase.DELIBERATE].digest),
        (Phase.TURN3, finals[Phase.TURN2].digest),
        (Phase.COMMIT, finals[Phase.TURN3].digest),
    ]


def test_assessments_are_sealed_opened_and_then_discussed() -> None:
    scene = Scene.of(*SIX, review=SEALED)
    sealed = {Phase.SEAL: final(Phase.SEAL, scene.seal(1, {}))}

    assert next_phase(scene.pin, {}) is Phase.SEAL
    assert next_phase(scene.pin, sealed) is Phase.UNSEAL
    opened = sealed | {Phase.UNSEAL: final(Phase.UNSEAL)}
    assert next_phase(scene.pin, opened) is Phase.DELIBERATE
    assert expected_after(Phase.DELIBERATE, scene.pin, opened) == opened[Phase.UNSEAL].digest


def test_where_nobody_sealed_anything_nothing_is_opened() -> None:
    scene = Scene.of(*SIX, review=SEALED)

    assert next_phase(scene.pin, {Phase.SEAL: final(Phase.SEAL)}) is Phase.DELIBERATE


def test_seals_come_after_the_objections() -> None:
    scene = low(*SIX, review=SEALED)
    finals = {Phase.FAST: final(Phase.FAST, scene.object_to(1, {}))}

    assert next_phase(scene.pin, finals) is Phase.SEAL
    assert expected_after(Phase.SEAL, scene.pin, finals) == finals[Phase.FAST].digest


def test_objections_of_high_sensitivity_are_collected_and_it_is_voted_on_all_the_same() -> None:
    scene = Scene.of(*SIX, watchers=(1, 2, 3), review={"fast_high": 700})

    assert next_phase(scene.pin, {}) is Phase.FAST
    assert next_phase(scene.pin, {Phase.FAST: final(Phase.FAST)}) is Phase.DELIBERATE


def test_a_report_that_no_moderator_looks_at_lapses() -> None:
    scene = reported()

    assert next_phase(scene.pin, {}) is Phase.ASSESS
    for void in (False, True):
        verdict = ended(scene, {Phase.ASSESS: final(Phase.ASSESS, void=void)})
        assert (verdict.by, verdict.decision) == (DecidedBy.LAPSED, Decision.NONE)
        assert verdict.rulers == ()


def test_a_report_that_is_not_credible_is_unfounded() -> None:
    scene = reported()
    said = scene.assess(5, {}, credible=False)
    verdict = ended(scene, {Phase.ASSESS: final(Phase.ASSESS, said)})

    assert (verdict.by, verdict.decision) == (DecidedBy.UNFOUNDED, Decision.NONE)
    assert verdict.rulers == (said.author,)
    assert verdict.kind == "report"


def test_a_credible_report_goes_on_as_a_dispute() -> None:
    scene = reported()
    finals = {Phase.ASSESS: final(Phase.ASSESS, scene.assess(5, {}))}

    assert next_phase(scene.pin, finals) is Phase.DELIBERATE
    assert expected_after(Phase.DELIBERATE, scene.pin, finals) == finals[Phase.ASSESS].digest


def test_a_report_beside_another_round_ends_with_its_assessment() -> None:
    scene = reported(assess_only=True)
    credible = ended(scene, {Phase.ASSESS: final(Phase.ASSESS, scene.assess(5, {}))})
    unfounded = ended(
        scene, {Phase.ASSESS: final(Phase.ASSESS, scene.assess(6, {}, credible=False))}
    )

    assert (credible.by, credible.decision) == (DecidedBy.ASSESSED, Decision.NONE)
    assert unfounded.by is DecidedBy.UNFOUNDED


def test_a_credible_report_that_no_panel_can_decide_goes_to_the_operators() -> None:
    scene = Scene.of(1, 1, 1, kind="report", disputer=1, views={2: MODERATOR})
    finals = {Phase.ASSESS: final(Phase.ASSESS, scene.assess(2, {}))}

    assert next_phase(scene.pin, {}) is Phase.ASSESS
    assert next_phase(scene.pin, finals) is Phase.ADMIN
    assert ended(scene, finals | {Phase.ADMIN: final(Phase.ADMIN)}).by is DecidedBy.TIMEOUT
