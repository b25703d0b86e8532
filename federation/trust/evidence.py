"""What a decided round says about those who took part (design: evidence; §2.3, §3.2.2).

A round gives *rows*: so much for, so much against one agent, from one source operator. For
voters and arguers the source is the operator of the artifact's author; for the author it is the
operators that voted with the decision, so that one friendly operator is discounted as one. All
amounts come from the charter, in millionths of one outcome, and every division rounds down.

The rows of ended rounds are made at the next tick, those of a review by `evidence_of` and those of a
dispute by `outcomes.rows_of`; those of who vouched for an agent that is found bad by `liability`.
What else becomes known after a round (reversals, reports, audits, dissents) has its kinds here and
its rows in `outcomes`. No audits are drawn in this version, and no dissents are settled.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from federation.charter import EvidenceTable
from federation.core import MILLION, AgentId, Digest, Micro, OperatorId, RecordId, RoundId
from federation.crypto import Choice


class EvidenceKind(StrEnum):
    """Which outcome a row is about."""

    VOTE = "vote"
    """A revealed ballot, with or against the decision."""
    UNREVEALED = "unrevealed"
    """A listed commitment that was never opened."""
    CONTRIBUTION = "contribution"
    """The author's artifact was accepted or rejected."""
    DELIBERATION = "deliberation"
    """An argument that a reviewer of another operator answered or cited."""
    APPROVED_RETRACTED = "approved_retracted"
    """A ballot for an artifact that was accepted and retracted later."""
    OPPOSED_RETRACTED = "opposed_retracted"
    """A ballot against an artifact that was accepted and retracted later."""
    SURVIVED = "survived"
    """The author's artifact survived a dispute."""
    DISPUTE_SUSTAINED = "dispute_sustained"
    """The disputer was right: the artifact is retracted."""
    DISPUTE_DISMISSED = "dispute_dismissed"
    """The disputer was wrong: the artifact stands."""
    UNFOUNDED_REPORT = "unfounded_report"
    """An urgent report that proved unfounded."""
    AUDIT = "audit"
    """A ballot that an audit found right or wrong."""
    DISSENT = "dissent"
    """A dissent that a check vindicated or refuted."""
    LIABILITY = "liability"
    """An agent that it vouched for, itself or through others, was found bad; nobody's own doing."""


class Decision(StrEnum):
    """How a round ended, as far as evidence is concerned."""

    ACCEPT = "accept"
    REJECT = "reject"
    NONE = "none"
    """Nothing was decided about the artifact: only kept and broken promises count."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Evidence:
    """One row; its order is the order of its fields, whatever order rows arrive in."""

    tick: int
    """Tick at which it began to count."""
    cause: Digest
    """Round, argument or bad agent it comes from; hashes, so nobody chooses the order within a
    tick."""
    kind: EvidenceKind
    subject: AgentId
    source: OperatorId
    """Whose judgement or artifact it rests on; farming caps and the discount look at it."""
    positive: Micro
    negative: Micro
    practice: bool
    """From a ballot below tier 1; already counted at its share."""
    topic: str = ""
    """Top component of the artifact's first topic; empty if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Withdrawal:
    """A row that is taken back: the subject's, of this kind and cause, whenever it comes."""

    cause: Digest
    kind: EvidenceKind
    subject: AgentId


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One revealed ballot."""

    voter: AgentId
    operator: OperatorId
    choice: Choice
    practice: bool
    """Cast below tier 1: weight 0, evidence at a share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrevealed:
    """One listed commitment that nobody opened."""

    voter: AgentId
    practice: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One argument that a reviewer of another operator answered, or cited in its ballot."""

    agent: AgentId
    argument: RecordId


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOutcome:
    """What evidence needs to know of one ended round."""

    round_id: RoundId
    tick: int
    """Tick at which it counts."""
    author: AgentId
    """Author of the artifact."""
    author_operator: OperatorId
    home_operator: OperatorId
    """Operator of the round's home: the source when no ballot decided."""
    decision: Decision
    strong: bool
    """The absolute tally reached the charter's `strong`."""
    fast_track: bool = False
    """Accepted because nobody objected."""
    votes: tuple[Vote, ...] = ()
    unrevealed: tuple[Unrevealed, ...] = ()
    answered: tuple[Answered, ...] = ()
    topic: str = ""
    """Top component of the artifact's first topic (`top_topic`)."""
    disputer: AgentId | None = None
    """Of a dispute: who filed it, or the report; None if the rules opened it."""
    dispute: bool = False
    """It asked whether an artifact still stands: `accept` keeps, `reject` retracts."""


def top_topic(topics: Sequence[str]) -> str:
    """Give the top component of the first topic path; empty if there is none."""
    return topics[0].partition("/")[0] if topics else ""


def evidence_of(outcome: RoundOutcome, table: EvidenceTable) -> tuple[Evidence, ...]:
    """Turn a round into rows, sorted; abstentions and rows of nothing are left out."""
    return in_order(
        (
            *_votes(outcome, table),
            *_unrevealed(outcome, table),
            *_contribution(outcome, table),
            *_deliberation(outcome, table),
        )
    )


def in_order(rows: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Sort rows and leave out those of nothing."""
    return tuple(sorted(row for row in rows if row.positive or row.negative))


def share_of(amount: Micro, vote: Vote | Unrevealed, table: EvidenceTable) -> Micro:
    """Give the amount at which a ballot counts: practice ballots have a share of it."""
    return amount * table.practice // MILLION if vote.practice else amount


def split(amount: Micro, sources: Sequence[OperatorId]) -> Iterator[tuple[OperatorId, Micro]]:
    """Split an amount evenly; the remainder goes one by one to the first in id order."""
    each, left = divmod(amount, len(sources))
    for index, source in enumerate(sources):
        yield source, each + (1 if index < left else 0)


def judges(outcome: RoundOutcome) -> list[OperatorId]:
    """List the operators that voted with the decision, by id; the home's if there is none.

    Practice ballots decide nothing and cost nothing, so they make nobody a judge: otherwise an
    author could spread its evidence over the operators of invented newcomers.
    """
    with_it = {
        vote.operator
        for vote in outcome.votes
        if not vote.practice and _is_with(vote.choice, outcome.decision)
    }
    return sorted(with_it) or [outcome.home_operator]


def _votes(outcome: RoundOutcome, table: EvidenceTable) -> Iterator[Evidence]:
    amount = table.vote_strong if outcome.strong else table.vote_weak
    for vote in outcome.votes:
        if vote.choice is Choice.ABSTAIN or outcome.decision is Decision.NONE:
            continue
        earned = share_of(amount, vote, table)
        right = _is_with(vote.choice, outcome.decision)
        yield Evidence(
            tick=outcome.tick,
            cause=outcome.round_id,
            kind=EvidenceKind.VOTE,
            subject=vote.voter,
            source=outcome.author_operator,
            positive=earned if right else 0,
            negative=0 if right else earned,
            practice=vote.practice,
            topic=outcome.topic,
        )


def _unrevealed(outcome: RoundOutcome, table: EvidenceTable) -> Iterator[Evidence]:
    for promise in outcome.unrevealed:
        yield Evidence(
            tick=outcome.tick,
            cause=outcome.round_id,
            kind=EvidenceKind.UNREVEALED,
            subject=promise.voter,
            source=outcome.author_operator,
            positive=0,
            negative=share_of(table.unrevealed, promise, table),
            practice=promise.practice,
            topic=outcome.topic,
        )


def _contribution(outcome: RoundOutcome, table: EvidenceTable) -> Iterator[Evidence]:
    if outcome.decision is Decision.NONE:
        return
    accepted = outcome.decision is Decision.ACCEPT
    if not accepted:
        amount = table.rejected
    else:
        amount = table.accepted_fast if outcome.fast_track else table.accepted_vote
    for source, part in split(amount, judges(outcome)):
        yield Evidence(
            tick=outcome.tick,
            cause=outcome.round_id,
            kind=EvidenceKind.CONTRIBUTION,
            subject=outcome.author,
            source=source,
            positive=part if accepted else 0,
            negative=0 if accepted else part,
            practice=False,
            topic=outcome.topic,
        )


def _deliberation(outcome: RoundOutcome, table: EvidenceTable) -> Iterator[Evidence]:
    for answered in outcome.answered:
        yield Evidence(
            tick=outcome.tick,
            cause=answered.argument,
            kind=EvidenceKind.DELIBERATION,
            subject=answered.agent,
            source=outcome.author_operator,
            positive=table.deliberation,
            negative=0,
            practice=False,
            topic=outcome.topic,
        )


def _is_with(choice: Choice, decision: Decision) -> bool:
    agreed = Choice.FOR if decision is Decision.ACCEPT else Choice.AGAINST
    return choice is agreed
