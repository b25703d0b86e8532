import pytest

from federation.artifacts import (
    Flag,
    Guard,
    Resubmission,
    StaleFlag,
    State,
    Withdrawal,
    may_flag_stale,
    may_resubmit,
    may_supersede,
    may_take_back,
)
from federation.core import Code
from tests.builders import named
from tests.federation.artifacts.forms import (
    active,
    decreed,
    dispute,
    frozen,
    proposed,
    resubmission,
    retracted,
    stale_flag,
    supersession,
    withdrawal,
)


def resubmit_code(facts: Resubmission, **changes: object) -> Code | None:
    refusal = may_resubmit(retracted(**changes), facts)
    return None if refusal is None else refusal.code


def test_an_author_may_withdraw_what_nothing_rests_on() -> None:
    assert may_take_back(active(), withdrawal()) is None


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (withdrawal(author=named("somebody")), Code.NOT_AUTHOR),
        (withdrawal(author=named("somebody"), refused=Code.AGENT_BANNED), Code.NOT_AUTHOR),
        (withdrawal(refused=Code.FORK), Code.FORK),
        (withdrawal(cited=True), Code.CITED),
    ],
)
def test_a_withdrawal_is_refused_with_the_code_of_its_fault(facts: Withdrawal, code: Code) -> None:
    refusal = may_take_back(active(), facts)

    assert refusal is not None
    assert refusal.code is code


def test_a_freeze_holds_the_author_and_a_revision_and_not_the_operators() -> None:
    artifact = frozen(active())
    held = may_take_back(artifact, withdrawal())
    behind = may_supersede(artifact, supersession())

    assert held is not None
    assert held.code is Code.FROZEN
    assert behind is not None
    assert behind.code is Code.FROZEN
    assert may_take_back(artifact, decreed()) is None


def test_an_accepted_revision_supersedes_and_nothing_supersedes_itself() -> None:
    refusal = may_supersede(active(), supersession(by=active().id))

    assert may_supersede(active(), supersession()) is None
    assert refusal is not None
    assert refusal.code is Code.GUARD_FAILED


@pytest.mark.parametrize("guard", [may_take_back, may_supersede, may_resubmit])
def test_a_guard_of_the_ways_out_refuses_facts_of_another_action(guard: Guard) -> None:
    refusal = guard(active(), dispute())

    assert refusal is not None
    assert refusal.code is Code.GUARD_FAILED
    assert guard(None, withdrawal()) is not None


def test_whoever_has_new_evidence_may_resubmit_after_the_cooldown() -> None:
    assert resubmit_code(resubmission(tick=124)) is None
    assert resubmit_code(resubmission(tick=123)) is Code.COOLDOWN


@pytest.mark.parametrize(
    ("facts", "changes", "code"),
    [
        (resubmission(refused=Code.SUSPENDED), {}, Code.SUSPENDED),
        (resubmission(r=249_999), {}, Code.NOT_ELIGIBLE),
        (resubmission(), {"resubmitted": 3}, Code.RESUBMISSIONS_SPENT),
        (resubmission(resub_max=0), {}, Code.RESUBMISSIONS_SPENT),
        (resubmission(evidence=()), {}, Code.NO_NEW_EVIDENCE),
        (resubmission(), {"evidence": (named("new source"),)}, Code.NO_NEW_EVIDENCE),
        (resubmission(), {"flags": frozenset({Flag.FROZEN})}, Code.FROZEN),
    ],
)
def test_a_resubmission_is_refused_with_the_code_of_its_fault(
    facts: Resubmission, changes: dict[str, object], code: Code
) -> None:
    assert resubmit_code(facts, **changes) is code


def test_a_cooldown_counts_from_the_newest_retraction() -> None:
    assert resubmit_code(resubmission(), retracted_at=101) is Code.COOLDOWN
    assert resubmit_code(resubmission(cooldown=0), retracted_at=124) is None


def test_a_refusal_says_until_when_to_wait() -> None:
    refusal = may_resubmit(retracted(), resubmission(tick=100))

    assert refusal is not None
    assert refusal.fix == "wait until tick 124"


@pytest.mark.parametrize(
    ("state", "facts", "code"),
    [
        (State.ACTIVE, stale_flag(), None),
        (State.ACTIVE, stale_flag(used=4), None),
        (State.ACTIVE, stale_flag(used=5), Code.OVER_QUOTA),
        (State.ACTIVE, stale_flag(refused=Code.NOT_ADMITTED), Code.NOT_ADMITTED),
        (State.DISPUTED, stale_flag(), Code.GUARD_FAILED),
        (State.RETRACTED, stale_flag(), Code.GUARD_FAILED),
    ],
)
def test_only_what_stands_may_be_flagged_as_stale(
    state: State, facts: StaleFlag, code: Code | None
) -> None:
    refusal = may_flag_stale(proposed(state=state), facts)

    assert (None if refusal is None else refusal.code) is code


def test_nothing_unknown_is_flagged() -> None:
    refusal = may_flag_stale(None, stale_flag())

    assert refusal is not None
    assert refusal.code is Code.UNKNOWN_ARTIFACT
