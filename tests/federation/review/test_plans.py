import pytest

from federation.artifacts import RoundKind
from federation.certificates import Phase
from federation.review import PLANS, Step, length
from tests.federation.review.scene import RULED, SIX, Scene, low

DEBATE = [
    Phase.SEAL,
    Phase.UNSEAL,
    Phase.DELIBERATE,
    Phase.TURN2,
    Phase.TURN3,
    Phase.TURN4,
    Phase.TURN5,
]
VOTE = [Phase.COMMIT, Phase.COMMIT2, Phase.DECIDE, Phase.CONTEST]
RULING = [Phase.RULE, Phase.APPEAL, Phase.ADMIN]


@pytest.mark.parametrize(
    ("kind", "phases"),
    [
        ("review", [Phase.FAST, *DEBATE, *VOTE, *RULING]),
        ("dispute", [*DEBATE, *VOTE, *RULING]),
        ("report", [Phase.ASSESS, *DEBATE, *VOTE, *RULING]),
        ("appeal", RULING),
    ],
)
def test_every_kind_of_round_holds_its_phases_in_the_order_of_the_design(
    kind: RoundKind, phases: list[Phase]
) -> None:
    assert [step.phase for step in PLANS[kind]] == phases


def test_no_plan_holds_a_phase_twice_and_together_they_hold_all() -> None:
    for steps in PLANS.values():
        assert len({step.phase for step in steps}) == len(steps)
    assert {step.phase for steps in PLANS.values() for step in steps} == set(Phase)


def test_a_phase_lasts_what_the_charter_says() -> None:
    review = RULED | {"deliberate": 1, "commit": 20, "reveal": 30, "fast_low": 50}
    pin = low(*SIX, review=review).pin

    assert {phase: length(phase, pin) for phase in Phase if length(phase, pin)} == {
        Phase.FAST: 50,
        Phase.DELIBERATE: 1,
        Phase.COMMIT: 20,
        Phase.COMMIT2: 20,
        Phase.DECIDE: 30,
        Phase.CONTEST: 1_000,
        Phase.RULE: 2_000,
        Phase.APPEAL: 3_000,
        Phase.ADMIN: 4_000,
    }


def test_what_a_plan_does_not_hold_has_no_length() -> None:
    report = Scene.of(*SIX, kind="report", disputes={"assess": 70}).pin

    assert length(Phase.ASSESS, report) == 70
    assert length(Phase.ASSESS, low(*SIX).pin) == 0
    assert length(Phase.FAST, report) == 0
    assert length(Phase.COMMIT, Scene.of(*SIX, kind="appeal").pin) == 0


@pytest.mark.parametrize(
    ("review", "phases"),
    [
        ({"mode": "open", "turns": 5, "seal": 40}, [Phase.DELIBERATE]),
        ({"mode": "rounds", "turns": 1, "seal": 40}, [Phase.DELIBERATE]),
        (
            {"mode": "rounds", "turns": 3, "seal": 40},
            [Phase.DELIBERATE, Phase.TURN2, Phase.TURN3],
        ),
        (
            {"mode": "rounds", "turns": 5},
            [Phase.DELIBERATE, Phase.TURN2, Phase.TURN3, Phase.TURN4, Phase.TURN5],
        ),
        (
            {"mode": "sealed_first", "turns": 5, "seal": 40},
            [Phase.SEAL, Phase.UNSEAL, Phase.DELIBERATE],
        ),
        ({"mode": "sealed_first", "seal": 0}, [Phase.DELIBERATE]),
        ({"mode": "rounds", "turns": 5, "deliberate": 0}, []),
        ({"mode": "sealed_first", "seal": 40, "deliberate": 0}, [Phase.SEAL, Phase.UNSEAL]),
    ],
)
@pytest.mark.parametrize("kind", ["review", "dispute", "report"])
def test_the_mode_says_which_turns_a_debate_has(
    kind: RoundKind, review: dict[str, object], phases: list[Phase]
) -> None:
    pin = Scene.of(*SIX, kind=kind, review={"deliberate": 10, **review}).pin

    assert [phase for phase in DEBATE if length(phase, pin)] == phases
    assert {length(phase, pin) for phase in phases} <= {10, 40}


def test_a_step_is_one_row_of_four_questions() -> None:
    assert list(Step.__slots__) == ["phase", "length", "is_held", "ends"]
