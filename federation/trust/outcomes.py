"""What becomes known after a round, as rows: disputes, reversals, reports, audits, dissents.

A vote is first judged by the decision it helped to make, which is weak evidence: a crowd can be
wrong together. What is found out later corrects it (§3.3.1, the delayed correction): if an accepted
artifact is retracted, who had approved it pays and who had opposed it earns, and what the round
itself had said of either is withdrawn.

Source of every row here is the operator of the artifact's author, except of the author's own row,
which is split over the operators that judged for it.

An ended round of any kind is turned into its rows by `rows_of`. Reversals come of retractions, rows
of reports of assessments and dismissals; audits and dissents have no record yet that calls for them,
so they are used by tests and simulations only.
"""

from dataclasses import dataclass

from federation.charter import EvidenceTable
from federation.core import AgentId, Micro, OperatorId, RecordId, RoundId
from federation.crypto import Choice
from federation.trust.evidence import (
    Decision,
    Evidence,
    EvidenceKind,
    RoundOutcome,
    Vote,
    Withdrawal,
    evidence_of,
    in_order,
    judges,
    share_of,
    split,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeOutcome:
    """An ended dispute of an active artifact."""

    round: RoundOutcome
    """The dispute round; REJECT means sustained (retracted), ACCEPT dismissed (kept)."""
    disputer: AgentId | None
    """None if the rules opened it: then it says nothing about who filed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reversal:
    """An accepted artifact was retracted against its author's will.

    One for each round that had let it stand: the review, and disputes that were dismissed. An
    author's own withdrawal is none: otherwise it could harm whom it got to approve.
    """

    round_id: RoundId
    """The round that had let it stand; its voters' rows are withdrawn."""
    tick: int
    """Tick at which the reversal counts."""
    author_operator: OperatorId
    votes: tuple[Vote, ...]
    """Opened ballots of that round."""
    topic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfoundedReport:
    """An urgent report that a moderator or the dispute round found unfounded."""

    report: RecordId
    tick: int
    reporter: AgentId
    author_operator: OperatorId
    topic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOutcome:
    """A drawn artifact was checked a second time, independently of those who had voted on it."""

    audit: RecordId
    """The finding."""
    tick: int
    author_operator: OperatorId
    right: Choice
    """Which choice was right; an abstention if the audit could not tell."""
    votes: tuple[Vote, ...]
    """Opened ballots of the audited round."""
    topic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DissentOutcome:
    """A registered dissent was settled by a check."""

    dissent: RecordId
    tick: int
    agent: AgentId
    """Who dissented, or defended against a dissent."""
    author_operator: OperatorId
    score: Micro
    """Above 0 for, below 0 against the agent; 0 says nothing."""
    topic: str = ""


def rows_of(outcome: RoundOutcome, table: EvidenceTable) -> tuple[Evidence, ...]:
    """Turn an ended round into its rows, whichever kind it was; sorted, without rows of nothing."""
    if not outcome.dispute:
        return evidence_of(outcome, table)
    return dispute_evidence(DisputeOutcome(round=outcome, disputer=outcome.disputer), table)


def dispute_evidence(outcome: DisputeOutcome, table: EvidenceTable) -> tuple[Evidence, ...]:
    """Turn a dispute into rows of its voters, its disputer and, if it survived, the author.

    A dispute that ended without judgement (`Decision.NONE`) says nothing for or against the
    disputer, and one that the rules opened has none. The author of a retracted artifact has no row of its own: it pays in standing
    artifacts, and its approvers by `reversal_evidence`.
    """
    round_ = outcome.round
    rows = [row for row in evidence_of(round_, table) if row.kind is not EvidenceKind.CONTRIBUTION]
    if round_.decision is not Decision.NONE and outcome.disputer is not None:
        sustained = round_.decision is Decision.REJECT
        rows.append(
            Evidence(
                tick=round_.tick,
                cause=round_.round_id,
                kind=EvidenceKind.DISPUTE_SUSTAINED
                if sustained
                else EvidenceKind.DISPUTE_DISMISSED,
                subject=outcome.disputer,
                source=round_.author_operator,
                positive=table.dispute_sustained if sustained else 0,
                negative=0 if sustained else table.dispute_dismissed,
                practice=False,
                topic=round_.topic,
            )
        )
    if round_.decision is Decision.ACCEPT:
        rows.extend(
            Evidence(
                tick=round_.tick,
                cause=round_.round_id,
                kind=EvidenceKind.SURVIVED,
                subject=round_.author,
                source=source,
                positive=part,
                negative=0,
                practice=False,
                topic=round_.topic,
            )
            for source, part in split(table.survived, judges(round_))
        )
    return in_order(rows)


def reversal_evidence(reversal: Reversal, table: EvidenceTable) -> tuple[Evidence, ...]:
    """Turn a reversal into rows of those who had voted; to be added beside `withdrawals_of`.

    The cause is the round in which they voted, so that each of its ballots is corrected once.
    """
    return in_order(
        Evidence(
            tick=reversal.tick,
            cause=reversal.round_id,
            kind=EvidenceKind.APPROVED_RETRACTED
            if vote.choice is Choice.FOR
            else EvidenceKind.OPPOSED_RETRACTED,
            subject=vote.voter,
            source=reversal.author_operator,
            positive=share_of(table.opposed_retracted, vote, table)
            if vote.choice is Choice.AGAINST
            else 0,
            negative=share_of(table.approved_retracted, vote, table)
            if vote.choice is Choice.FOR
            else 0,
            practice=vote.practice,
            topic=reversal.topic,
        )
        for vote in reversal.votes
        if vote.choice is not Choice.ABSTAIN
    )


def withdrawals_of(reversal: Reversal) -> tuple[Withdrawal, ...]:
    """List the rows that a reversal takes back: for approvers the +, for opponents the -, sorted."""
    return tuple(
        sorted(
            Withdrawal(cause=reversal.round_id, kind=EvidenceKind.VOTE, subject=vote.voter)
            for vote in reversal.votes
            if vote.choice is not Choice.ABSTAIN
        )
    )


def report_evidence(report: UnfoundedReport, table: EvidenceTable) -> tuple[Evidence, ...]:
    """Turn an unfounded report into the row of who filed it."""
    return in_order(
        [
            Evidence(
                tick=report.tick,
                cause=report.report,
                kind=EvidenceKind.UNFOUNDED_REPORT,
                subject=report.reporter,
                source=report.author_operator,
                positive=0,
                negative=table.unfounded_report,
                practice=False,
                topic=report.topic,
            )
        ]
    )


def audit_evidence(audit: AuditOutcome, table: EvidenceTable) -> tuple[Evidence, ...]:
    """Turn an audit into rows of those who had voted; none if it could not tell."""
    if audit.right is Choice.ABSTAIN:
        return ()
    return in_order(
        Evidence(
            tick=audit.tick,
            cause=audit.audit,
            kind=EvidenceKind.AUDIT,
            subject=vote.voter,
            source=audit.author_operator,
            positive=share_of(table.audit, vote, table) if vote.choice is audit.right else 0,
            negative=0 if vote.choice is audit.right else share_of(table.audit, vote, table),
            practice=vote.practice,
            topic=audit.topic,
        )
        for vote in audit.votes
        if vote.choice is not Choice.ABSTAIN
    )


def dissent_evidence(dissent: DissentOutcome) -> tuple[Evidence, ...]:
    """Turn a settled dissent into a row of its score; the charter has no amount of its own."""
    return in_order(
        [
            Evidence(
                tick=dissent.tick,
                cause=dissent.dissent,
                kind=EvidenceKind.DISSENT,
                subject=dissent.agent,
                source=dissent.author_operator,
                positive=max(dissent.score, 0),
                negative=max(-dissent.score, 0),
                practice=False,
                topic=dissent.topic,
            )
        ]
    )
