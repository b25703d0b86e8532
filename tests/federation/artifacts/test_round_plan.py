import pytest

from federation.artifacts import TRANSITIONS, Action, DecidedBy, State
from federation.artifacts.round_plan import PLAN, Kind, Wait, action_for
from federation.certificates import Phase

RUNNING: dict[Kind, set[State]] = {
    "review": {State.PROPOSED, State.UNDER_REVIEW},
    "dispute": {State.DISPUTED},
}
KINDS: tuple[Kind, ...] = ("review", "dispute")


@pytest.mark.parametrize("kind", KINDS)
def test_every_phase_ends_by_time_alone(kind: Kind) -> None:
    reached = {move.to for move in PLAN if move.kind == kind} - {Wait.IDLE}
    timed = {move.at for move in PLAN if move.kind == kind and move.timed}

    assert reached <= timed


def test_the_plan_has_every_phase_but_the_assessment() -> None:
    assert {move.at for move in PLAN if isinstance(move.at, Phase)} == set(Phase) - {Phase.ASSESS}


@pytest.mark.parametrize("kind", KINDS)
def test_every_place_of_a_round_can_be_reached_from_its_opening(kind: Kind) -> None:
    moves = [move for move in PLAN if move.kind == kind]
    reached: set[object] = {Wait.OPENED}
    for _ in moves:
        reached |= {move.to for move in moves if move.at in reached}

    assert {move.at for move in moves} <= reached
    assert Wait.IDLE in reached


def test_a_round_ends_exactly_with_a_verdict_that_the_table_can_follow() -> None:
    for move in PLAN:
        assert (move.to is Wait.IDLE) == (move.by is not None)
        if move.action is not None:
            assert {(state, move.action) for state in RUNNING[move.kind]} & TRANSITIONS.keys()


def test_nobodys_silence_ever_accepts_in_a_review() -> None:
    silent = {move.says for move in PLAN if move.by is DecidedBy.TIMEOUT and move.kind == "review"}

    assert silent == {"reject"}


def test_a_verdict_names_its_action() -> None:
    assert action_for("review", "accept", DecidedBy.VOTE) is Action.ACCEPT
    assert action_for("review", "reject", DecidedBy.VOTE) is Action.REJECT
    assert action_for("review", "reject", DecidedBy.SHORTFALL) is Action.TIMEOUT
    assert action_for("dispute", "accept", DecidedBy.TIMEOUT) is Action.KEEP
    assert action_for("dispute", "reject", DecidedBy.TIMEOUT) is Action.RETRACT


def test_a_window_for_objections_never_closes_early() -> None:
    assert not any(move.early for move in PLAN if move.at is Phase.FAST)


def test_a_fresh_panel_is_asked_for_once() -> None:
    again = [move for move in PLAN if "rerun = 1" in move.does]

    assert {move.kind for move in again} == {"review", "dispute"}
    assert all("!rerun" in move.needs for move in again)
