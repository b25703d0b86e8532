from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.artifacts import (
    REPORT_PAUSE,
    Credible,
    DecidedBy,
    Dispute,
    Flag,
    Guard,
    Report,
    RoundKind,
    State,
    may_dispute,
    may_keep,
    may_report,
    may_retract,
)
from federation.core import Code
from federation.trust import Decision
from tests.builders import named
from tests.federation.artifacts.forms import (
    active,
    by_rules,
    credible,
    dispute,
    disputed,
    frozen,
    kept,
    report,
    resubmission,
    verdict,
)

KINDS: tuple[RoundKind, ...] = ("review", "dispute", "report", "appeal")
ENDED = {
    DecidedBy.VOTE,
    DecidedBy.SIGN,
    DecidedBy.ARBITER,
    DecidedBy.ADMIN,
    DecidedBy.TIMEOUT,
}


def dispute_code(facts: Dispute | Credible, **changes: object) -> Code | None:
    refusal = may_dispute(active(**changes), facts)
    return None if refusal is None else refusal.code


def report_code(facts: Report, **changes: object) -> Code | None:
    refusal = may_report(active(**changes), facts)
    return None if refusal is None else refusal.code


def test_a_trusted_agent_may_dispute_what_stands() -> None:
    assert may_dispute(active(), dispute()) is None


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"refused": Code.NOT_ADMITTED, "tier": 0}, Code.NOT_ADMITTED),
        ({"refused": Code.SUSPENDED}, Code.SUSPENDED),
        ({"refused": Code.QUARANTINED}, Code.QUARANTINED),
        ({"tier": 1}, Code.DISPUTER_TIER),
        ({"r": 699_999}, Code.DISPUTER_REPUTATION),
        ({"d_max": 0}, Code.DISPUTES_SPENT),
        ({"used": 5}, Code.DISPUTE_LIMIT),
        ({"disputer": named("author")}, Code.NOT_ELIGIBLE),
    ],
)
def test_a_dispute_is_refused_with_the_code_of_its_fault(
    changes: dict[str, object], code: Code
) -> None:
    assert dispute_code(dispute(**changes)) is code


def test_the_last_dispute_of_the_artifact_and_of_the_agent_are_allowed() -> None:
    assert dispute_code(dispute(used=4), disputes=2) is None
    assert dispute_code(dispute(used=4), disputes=3) is Code.DISPUTES_SPENT


def test_a_limit_that_fell_below_what_was_used_refuses_too() -> None:
    assert dispute_code(dispute(d_max=1), disputes=3) is Code.DISPUTES_SPENT
    assert dispute_code(dispute(used=6)) is Code.DISPUTE_LIMIT


def test_a_ground_counts_again_only_with_evidence_that_is_new() -> None:
    known = {"grounds": ("inaccurate",), "evidence": (named("seen"),)}

    assert dispute_code(dispute(), **known) is Code.NO_NEW_GROUND
    assert dispute_code(dispute(evidence=(named("seen"),)), **known) is Code.NO_NEW_GROUND
    assert dispute_code(dispute(evidence=(named("seen"), named("new"))), **known) is None
    assert dispute_code(dispute(ground="harmful"), **known) is None


def test_what_the_rules_open_asks_for_nothing_personal() -> None:
    spent = {"disputes": 3, "grounds": ("inaccurate",)}

    assert dispute_code(by_rules(refused=Code.AGENT_BANNED), **spent) is None


@pytest.mark.parametrize("facts", [dispute(), by_rules(), credible()])
def test_a_frozen_artifact_is_left_alone(facts: Dispute | Credible) -> None:
    assert dispute_code(facts, flags=frozenset({Flag.FROZEN})) is Code.FROZEN


@pytest.mark.parametrize("facts", [dispute(), by_rules()])
def test_a_dispute_waits_for_the_assessment_of_a_report(facts: Dispute) -> None:
    assert dispute_code(facts, reports=1) is Code.GUARD_FAILED


def test_a_credible_report_is_not_held_by_its_own_assessment_nor_by_spent_disputes() -> None:
    assert dispute_code(credible(), reports=1, disputes=99) is None


@given(
    st.builds(
        dispute,
        refused=st.none() | st.sampled_from([Code.FORK, Code.AGENT_BANNED]),
        tier=st.integers(0, 3),
        r=st.integers(699_999, 700_001),
        d_max=st.integers(0, 2),
        used=st.integers(4, 6),
        ground=st.sampled_from(["inaccurate", "harmful"]),
        disputer=st.sampled_from([named("author"), named("disputer")]),
    ),
    st.integers(0, 2),
)
def test_a_filed_dispute_passes_only_if_every_condition_holds(facts: Dispute, had: int) -> None:
    passes = dispute_code(facts, disputes=had, grounds=("inaccurate",)) is None

    assert passes == (
        facts.refused is None
        and facts.tier >= 2
        and facts.r >= facts.r_dispute
        and had < facts.d_max
        and facts.used < facts.d_agent
        and facts.ground != "inaccurate"
        and facts.disputer != named("author")
    )


@pytest.mark.parametrize(
    ("guard", "decision"), [(may_keep, Decision.ACCEPT), (may_retract, Decision.REJECT)]
)
def test_only_the_verdict_of_a_dispute_or_of_a_report_ends_a_dispute(
    guard: Guard, decision: Decision
) -> None:
    open_rows = {
        (facts.decision, facts.by, facts.kind)
        for facts in (
            verdict(decision=d, by=b, kind=k) for d in Decision for b in DecidedBy for k in KINDS
        )
        if guard(disputed(), facts) is None
    }

    assert open_rows == {(decision, b, k) for b in ENDED for k in ("dispute", "report")}


@pytest.mark.parametrize("guard", [may_keep, may_retract])
def test_a_dispute_by_vote_without_a_quorum_ends_nothing(guard: Guard) -> None:
    decision = Decision.ACCEPT if guard is may_keep else Decision.REJECT
    refusal = guard(disputed(), kept(decision=decision, quorum=False))

    assert refusal is not None
    assert refusal.code is Code.GUARD_FAILED


@pytest.mark.parametrize("guard", [may_dispute, may_keep, may_retract])
def test_a_guard_of_disputes_refuses_facts_of_another_action(guard: Guard) -> None:
    refusal = guard(disputed(), resubmission())

    assert refusal is not None
    assert refusal.code is Code.GUARD_FAILED
    assert guard(None, dispute()) is not None


@pytest.mark.parametrize("state", State)
def test_anybody_may_report_whatever_the_state(state: State) -> None:
    assert report_code(report(), state=state) is None


@pytest.mark.parametrize(
    ("facts", "changes", "code"),
    [
        (report(refused=Code.FORK), {}, Code.FORK),
        (report(has_text=False), {}, Code.NO_GROUNDS),
        (report(used=2), {}, Code.OVER_QUOTA),
        (report(), {"reports": 1}, Code.GUARD_FAILED),
        (report(), {"flags": frozenset({Flag.HIDDEN})}, Code.GUARD_FAILED),
    ],
)
def test_a_report_is_refused_with_the_code_of_its_fault(
    facts: Report, changes: dict[str, object], code: Code
) -> None:
    assert report_code(facts, **changes) is code


def test_after_an_assessment_the_next_report_waits_for_a_whole_epoch() -> None:
    assert report_code(report(tick=10), reported_at=9) is Code.COOLDOWN
    assert report_code(report(tick=9 + REPORT_PAUSE), reported_at=9) is None
    # Meanwhile disputes are free.
    assert dispute_code(dispute(), reported_at=9) is None


def test_nothing_unknown_is_reported() -> None:
    refusal = may_report(None, report())

    assert refusal is not None
    assert refusal.code is Code.UNKNOWN_ARTIFACT


def test_a_freeze_does_not_silence_reports() -> None:
    assert may_report(frozen(disputed()), replace(report(), used=1)) is None
