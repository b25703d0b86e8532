"""Named guards: the conditions beside each row of the lifecycle table (paper 2.1, 3.2.1).

A guard looks at the artifact and at the facts of the action and returns None, or why the action
is refused. Facts are collected by the caller from the world of one cut, so a guard is a pure
function and every node judges alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from federation.artifacts.artifact import Artifact, Flag
from federation.artifacts.verdicts import DecidedBy, Verdict
from federation.charter import Sensitivity
from federation.core import (
    AgentId,
    ArtifactId,
    Code,
    Digest,
    InstanceId,
    OperatorId,
    Ppm,
    short,
)


class Refusal(NamedTuple):
    """Why an action is refused: code, reason, remedy."""

    code: Code
    why: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Facts of `submit`, in the world of the cut that first contains the proposal."""

    id: ArtifactId
    author: AgentId
    author_operator: OperatorId
    home: InstanceId
    topics: tuple[str, ...]
    sensitivity: Sensitivity
    text_id: Digest
    cut: int
    admitted: bool
    delegated: bool
    """The author's operator delegated proposing to it."""
    forked: bool
    """A contained proof bars the author until it picks a branch of its chain."""
    barred: bool
    """The author's identity is revoked, or it has disowned the record."""
    r: Ppm
    """The author's Beta reputation."""
    r_min: Ppm
    duplicate_of: ArtifactId | None
    """An artifact of equal `text_id` that comes first in cut order."""
    used: int
    """Proposals of the author that counted in this epoch."""
    quota: int
    """Proposals an epoch allows it at its tier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Facts of the fast track, when it would open and when it closes, as the round pinned them.

    A flag or a class that changes while the round runs is not among them: else two nodes could
    judge one certified list differently.
    """

    sensitivity: Sensitivity
    flags: frozenset[Flag]
    """The artifact's flags in the world of the cut that opened the round."""
    held: bool
    """The objection window was open for its time; False when the charter has none."""
    objections: int
    """Objections that the `fast` certificate lists."""
    author_has_ticket: bool
    watchers: int
    """Matching subscriptions of reviewers who could have objected."""
    watchers_needed: int
    """min(fast_min_watchers, reviewers who may review this)."""
    verdict: Verdict | None = None
    """The fast track's verdict, kept with the artifact that it accepts."""


Facts: TypeAlias = Submission | Window | Verdict
Guard: TypeAlias = Callable[[Artifact | None, Facts], Refusal | None]


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
        return _wrong_facts("the proposal")
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
        return _wrong_facts("the closed objection window")
    reasons = review_reasons(facts)
    if reasons:
        return Refusal(
            Code.GUARD_FAILED, f"a vote is needed: {', '.join(reasons)}", "begin the review"
        )
    return None


def may_begin_review(artifact: Artifact | None, facts: Facts) -> Refusal | None:
    """`begin_review`: at least one reason for a vote."""
    if artifact is None or not isinstance(facts, Window):
        return _wrong_facts("the objection window")
    if not review_reasons(facts):
        return Refusal(
            Code.GUARD_FAILED,
            "nobody objected and nothing else asks for a vote",
            "accept it by fast track",
        )
    return None


def may_accept(artifact: Artifact | None, facts: Facts) -> Refusal | None:
    """`accept` by verdict: this round's, by a quorum's vote, by sign, or by shortfall policy."""
    return _verdict_guard(
        artifact,
        facts,
        accepted=True,
        by=frozenset({DecidedBy.VOTE, DecidedBy.SIGN, DecidedBy.SHORTFALL}),
    )


def may_reject(artifact: Artifact | None, facts: Facts) -> Refusal | None:
    """`reject` by verdict: this round's, by a quorum's vote or by sign."""
    return _verdict_guard(
        artifact, facts, accepted=False, by=frozenset({DecidedBy.VOTE, DecidedBy.SIGN})
    )


def may_time_out(artifact: Artifact | None, facts: Facts) -> Refusal | None:
    """`timeout`: the box is void, or too few ballots were opened and the policy rejects."""
    return _verdict_guard(
        artifact, facts, accepted=False, by=frozenset({DecidedBy.TIMEOUT, DecidedBy.SHORTFALL})
    )


def _verdict_guard(
    artifact: Artifact | None, facts: Facts, *, accepted: bool, by: frozenset[DecidedBy]
) -> Refusal | None:
    if artifact is None or not isinstance(facts, Verdict):
        return _wrong_facts("the verdict of its round")
    if facts.round != artifact.round:
        return Refusal(
            Code.GUARD_FAILED, "the verdict is of another round", "use its own round's verdict"
        )
    if facts.accepted is not accepted or facts.by not in by:
        return Refusal(
            Code.GUARD_FAILED,
            f"its round ended with {facts.decision} by {facts.by}",
            "take the action that this verdict stands for",
        )
    if facts.by in {DecidedBy.VOTE, DecidedBy.SIGN} and not facts.quorum:
        return Refusal(
            Code.GUARD_FAILED, "no quorum stands behind the verdict", "apply the shortfall policy"
        )
    return None


def _wrong_facts(needed: str) -> Refusal:
    return Refusal(Code.GUARD_FAILED, f"the action rests on {needed}", f"give {needed}")
