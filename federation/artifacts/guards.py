"""Guards of submission and review: the conditions beside these rows of the table (paper 2.1, 3.2.1).

A guard looks at the artifact and at the facts of the action and returns None, or why the action
is refused. A guard is a pure function of what one cut contains, so every node judges alike.
Guards of disputes and of what comes after a retraction have modules of their own.
"""

from enum import StrEnum
from typing import Final

from federation.artifacts.artifact import Artifact, Flag
from federation.artifacts.facts import Facts, Refusal, Submission, Window, wrong_facts
from federation.artifacts.personal import held_against
from federation.artifacts.verdicts import DecidedBy, RoundKind, Verdict
from federation.core import Code, short
from federation.trust import Decision

JUDGED: Final = frozenset({DecidedBy.VOTE, DecidedBy.SIGN, DecidedBy.ARBITER, DecidedBy.ADMIN})
"""Rules behind which somebody's judgement stands."""
_SHORTFALL: Final = frozenset({DecidedBy.SHORTFALL})
_REVIEW: Final[frozenset[RoundKind]] = frozenset({"review"})


class ReviewReason(StrEnum):
    """Why an artifact needs a formal vote (design: begin_review)."""

    OBJECTION = "objection"
    HIGH_SENSITIVITY = "high_sensitivity"
    SANDBOX = "sandbox_author"
    NEAR_DUPLICATE = "near_duplicate"
    FLAGGED = "flagged"
    FEW_WATCHERS = "few_watchers"
    """The window closed, but too few reviewers watched for silence to mean consent."""
    NO_WINDOW = "no_window"
    """There was no objection window to close."""


def review_reasons(window: Window) -> tuple[ReviewReason, ...]:
    """List why an artifact needs a vote; none means that the fast track may accept it."""
    conditions = {
        ReviewReason.OBJECTION: window.objections > 0,
        ReviewReason.HIGH_SENSITIVITY: window.sensitivity == "high",
        ReviewReason.SANDBOX: not window.author_has_ticket,
        ReviewReason.NEAR_DUPLICATE: Flag.NEAR_DUPLICATE in window.flags,
        ReviewReason.FLAGGED: bool(window.flags - {Flag.NEAR_DUPLICATE}),
        ReviewReason.FEW_WATCHERS: window.watchers < window.watchers_needed,
        ReviewReason.NO_WINDOW: not window.held,
    }
    return tuple(reason for reason, holds in conditions.items() if holds)


def may_submit(artifact: Artifact | None, facts: Facts) -> Refusal | None:
    """`submit`: admitted, trusted enough, not barred, no exact duplicate, quota free."""
    if artifact is not None or not isinstance(facts, Submission):
        return wrong_facts("the proposal")
    if not facts.admitted:
        return Refusal(
            Code.NOT_ADMITTED, "no cut has admitted its author", "ask an instance for admission"
        )
    if not facts.delegated:
        return Refusal(
            Code.NOT_ELIGIBLE,
            "its author's operator did not delegate proposing to it",
            "let an agent propose whose delegation covers artifact.propose",
        )
    if facts.forked:
        return Refusal(
            Code.FORK,
            "its author's chain is forked",
            "rotate the key and pick the branch to keep",
        )
    if facts.barred:
        return Refusal(
            Code.NOT_ELIGIBLE,
            "its author is revoked, or has disowned the record",
            "propose it with an identity of good standing",
        )
    if facts.refused is not None:
        return held_against(facts.refused)
    if facts.r < facts.r_min:
        return Refusal(
            Code.NOT_ELIGIBLE,
            f"its author's reputation is {facts.r} ppm, the charter asks for {facts.r_min}",
            "earn evidence with practice ballots and arguments",
        )
    if facts.duplicate_of is not None:
        return Refusal(
            Code.DUPLICATE,
            f"artifact {short(facts.duplicate_of)} has the same text and came first",
            "cite that one, or revise it",
        )
    if facts.used >= facts.quota:
        return Refusal(
            Code.OVER_QUOTA,
            f"its author has made {facts.used} of {facts.quota} proposals in this epoch",
            "wait for the next tick",
        )
    return None


def may_pass_fast(artifact: Artifact | None, facts: Facts) -> Refusal | None:
    """`accept` by fast track: nobody objected, and nothing else asks for a vote."""
    if artifact is None or not isinstance(facts, Window):
        return wrong_facts("the closed objection window")
    reasons = review_reasons(facts)
    if reasons:
        return Refusal(
            Code.GUARD_FAILED, f"a vote is needed: {', '.join(reasons)}", "begin the review"
        )
    consent = facts.verdict
    if (
        consent is None
        or consent.round != artifact.round
        or not consent.accepted
        or consent.by is not DecidedBy.FAST_TRACK
    ):
        return Refusal(
            Code.GUARD_FAILED,
            "no verdict says that the fast track of its own round has ended",
            "give the verdict that the certified list stands for",
        )
    return None


def may_begin_review(artifact: Artifact | None, facts: Facts) -> Refusal | None:
    """`begin_review`: at least one reason for a vote."""
    if artifact is None or not isinstance(facts, Window):
        return wrong_facts("the objection window")
    if not review_reasons(facts):
        return Refusal(
            Code.GUARD_FAILED,
            "nobody objected and nothing else asks for a vote",
            "accept it by fast track",
        )
    return None


def may_accept(artifact: Artifact | None, facts: Facts) -> Refusal | None:
    """`accept` by verdict: a vote, its sign, a ruling, the operators, or the shortfall policy."""
    return verdict_guard(artifact, facts, kinds=_REVIEW, accepted=True, by=JUDGED | _SHORTFALL)


def may_reject(artifact: Artifact | None, facts: Facts) -> Refusal | None:
    """`reject` by verdict: a vote, its sign, a ruling, or the operators."""
    return verdict_guard(artifact, facts, kinds=_REVIEW, accepted=False, by=JUDGED)


def may_time_out(artifact: Artifact | None, facts: Facts) -> Refusal | None:
    """`timeout`: nobody decided in time, or too few ballots were opened and the policy rejects."""
    return verdict_guard(
        artifact,
        facts,
        kinds=_REVIEW,
        accepted=False,
        by=_SHORTFALL | frozenset({DecidedBy.TIMEOUT}),
    )


def verdict_guard(
    artifact: Artifact | None,
    facts: Facts,
    *,
    kinds: frozenset[RoundKind],
    accepted: bool,
    by: frozenset[DecidedBy],
) -> Refusal | None:
    """Refuse a verdict that is not of the artifact's own round, or does not stand for the row.

    `accepted` is the decision that the row asks for; `none` never moves an artifact. `by` are the
    rules that may have given it, `kinds` the rounds that may end so.
    """
    if artifact is None or not isinstance(facts, Verdict):
        return wrong_facts("the verdict of its round")
    if facts.round != artifact.round:
        return Refusal(
            Code.GUARD_FAILED, "the verdict is of another round", "use its own round's verdict"
        )
    decision = Decision.ACCEPT if accepted else Decision.REJECT
    if facts.decision is not decision or facts.by not in by or facts.kind not in kinds:
        return Refusal(
            Code.GUARD_FAILED,
            f"its {facts.kind} round ended with {facts.decision} by {facts.by}",
            "take the action that this verdict stands for",
        )
    if facts.by is DecidedBy.VOTE and not facts.quorum:
        return Refusal(
            Code.GUARD_FAILED, "no quorum stands behind the vote", "apply the shortfall policy"
        )
    return None
