import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.artifacts import (
    Artifact,
    DecidedBy,
    Flag,
    Guard,
    ReviewReason,
    RoundKind,
    Verdict,
    Window,
    may_submit,
    review_reasons,
)
from federation.artifacts.guards import (
    may_accept,
    may_begin_review,
    may_pass_fast,
    may_reject,
    may_time_out,
)
from federation.core import Code
from federation.trust import Decision
from tests.builders import named
from tests.federation.artifacts.forms import (
    consent,
    proposed,
    quiet_window,
    submission,
    under_review,
    verdict,
)

KINDS: tuple[RoundKind, ...] = ("review", "dispute", "report", "appeal")
JUDGED = {DecidedBy.VOTE, DecidedBy.SIGN, DecidedBy.ARBITER, DecidedBy.ADMIN}
WINDOWS = st.builds(
    Window,
    sensitivity=st.sampled_from(["low", "high"]),
    flags=st.frozensets(st.sampled_from(Flag), max_size=2),
    held=st.booleans(),
    objections=st.integers(0, 2),
    author_has_ticket=st.booleans(),
    watchers=st.integers(0, 4),
    watchers_needed=st.integers(0, 4),
    verdict=st.just(consent()),
)


def code_of(guard: Guard, artifact: Artifact | None, facts: object) -> Code | None:
    refusal = guard(artifact, facts)  # type: ignore[arg-type]
    return None if refusal is None else refusal.code


def test_a_trusted_author_may_submit_something_new() -> None:
    assert may_submit(None, submission()) is None


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"admitted": False}, Code.NOT_ADMITTED),
        ({"barred": True}, Code.NOT_ELIGIBLE),
        ({"forked": True, "barred": True}, Code.FORK),
        ({"delegated": False}, Code.NOT_ELIGIBLE),
        ({"r": 249_999}, Code.NOT_ELIGIBLE),
        ({"refused": Code.SUSPENDED, "r": 0}, Code.SUSPENDED),
        ({"refused": Code.AGENT_BANNED, "used": 10}, Code.AGENT_BANNED),
        ({"refused": Code.AGENT_BANNED, "admitted": False}, Code.NOT_ADMITTED),
        ({"duplicate_of": named("first")}, Code.DUPLICATE),
        ({"used": 10}, Code.OVER_QUOTA),
    ],
)
def test_a_submission_is_refused_with_the_code_of_its_fault(
    changes: dict[str, object], code: Code
) -> None:
    assert code_of(may_submit, None, submission(**changes)) is code


def test_reputation_at_the_threshold_and_the_last_of_the_quota_are_enough() -> None:
    assert may_submit(None, submission(r=250_000, used=9)) is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"objections": 1}, ReviewReason.OBJECTION),
        ({"sensitivity": "high"}, ReviewReason.HIGH_SENSITIVITY),
        ({"author_has_ticket": False}, ReviewReason.SANDBOX),
        ({"flags": frozenset({Flag.NEAR_DUPLICATE})}, ReviewReason.NEAR_DUPLICATE),
        ({"flags": frozenset({Flag.FORENSIC})}, ReviewReason.FLAGGED),
        ({"watchers": 2}, ReviewReason.FEW_WATCHERS),
        ({"held": False}, ReviewReason.NO_WINDOW),
    ],
)
def test_one_reason_is_enough_for_a_vote(changes: dict[str, object], reason: ReviewReason) -> None:
    facts = quiet_window(**changes)

    assert review_reasons(facts) == (reason,)
    assert may_begin_review(proposed(), facts) is None
    assert code_of(may_pass_fast, proposed(), facts) is Code.GUARD_FAILED


@given(WINDOWS)
def test_a_closed_window_leads_either_to_acceptance_or_to_a_vote(facts: Window) -> None:
    passes = may_pass_fast(proposed(), facts) is None
    votes = may_begin_review(proposed(), facts) is None

    assert passes is not votes


@pytest.mark.parametrize(
    "said",
    [
        None,
        consent(round=named("another round")),
        consent(decision=Decision.REJECT),
        consent(decision=Decision.NONE),
        verdict(),
    ],
)
def test_silence_counts_only_with_the_verdict_of_its_own_fast_track(said: Verdict | None) -> None:
    facts = quiet_window(verdict=said)

    assert code_of(may_pass_fast, proposed(), facts) is Code.GUARD_FAILED


@pytest.mark.parametrize(
    ("guard", "decision", "by"),
    [
        (may_accept, Decision.ACCEPT, JUDGED | {DecidedBy.SHORTFALL}),
        (may_reject, Decision.REJECT, JUDGED),
        (may_time_out, Decision.REJECT, {DecidedBy.TIMEOUT, DecidedBy.SHORTFALL}),
    ],
)
def test_a_verdict_opens_only_the_row_that_it_stands_for(
    guard: Guard, decision: Decision, by: set[DecidedBy]
) -> None:
    open_rows = {
        (facts.decision, facts.by, facts.kind)
        for facts in (
            verdict(decision=d, by=b, kind=k) for d in Decision for b in DecidedBy for k in KINDS
        )
        if guard(under_review(), facts) is None
    }

    assert open_rows == {(decision, b, "review") for b in by}


def test_a_verdict_of_another_round_moves_nothing() -> None:
    facts = verdict(round=named("another round"))

    assert code_of(may_accept, under_review(), facts) is Code.GUARD_FAILED
    assert code_of(may_accept, under_review(round=None), verdict()) is Code.GUARD_FAILED


@pytest.mark.parametrize("guard", [may_accept, may_reject])
def test_no_vote_counts_without_a_quorum(guard: Guard) -> None:
    decision = Decision.ACCEPT if guard is may_accept else Decision.REJECT
    facts = verdict(decision=decision, quorum=False)

    assert code_of(guard, under_review(), facts) is Code.GUARD_FAILED


@pytest.mark.parametrize("by", [DecidedBy.SIGN, DecidedBy.ARBITER, DecidedBy.ADMIN])
def test_who_decides_in_a_votes_place_needs_no_quorum(by: DecidedBy) -> None:
    assert may_accept(under_review(), verdict(by=by, quorum=False)) is None


@pytest.mark.parametrize("guard", [may_pass_fast, may_begin_review, may_accept])
def test_a_guard_refuses_facts_of_another_action(guard: Guard) -> None:
    assert code_of(guard, proposed(), submission()) is Code.GUARD_FAILED


def test_nothing_is_submitted_twice() -> None:
    assert code_of(may_submit, proposed(), submission()) is Code.GUARD_FAILED


def test_a_quiet_window_begins_no_review() -> None:
    assert code_of(may_begin_review, proposed(), quiet_window()) is Code.GUARD_FAILED
