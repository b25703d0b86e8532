from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.charter import preset
from federation.core import MILLION
from federation.crypto import Choice
from federation.trust import (
    AuditOutcome,
    Decision,
    DisputeOutcome,
    DissentOutcome,
    Evidence,
    EvidenceKind,
    Ledger,
    Reversal,
    RoundOutcome,
    UnfoundedReport,
    Unrevealed,
    Vote,
    Withdrawal,
    audit_evidence,
    dispute_evidence,
    dissent_evidence,
    evidence_of,
    report_evidence,
    reversal_evidence,
    rows_of,
    withdrawals_of,
)

TRUST = preset("community").trust
TABLE = TRUST.evidence
FOR, AGAINST, ABSTAIN = Choice.FOR, Choice.AGAINST, Choice.ABSTAIN
AUTHOR, AUTHORS_OPERATOR, HOME = b"a" * 32, b"A" * 32, b"H" * 32
DISPUTER = b"d" * 32
ACCEPTED, DISPUTED = b"r" * 32, b"D" * 32


def _vote(n: int, choice: Choice, *, practice: bool = False) -> Vote:
    return Vote(
        voter=bytes([n]) * 32, operator=bytes([100 + n]) * 32, choice=choice, practice=practice
    )


def _name(n: int) -> bytes:
    return bytes([n]) * 32


def _amounts(rows: tuple[Evidence, ...]) -> dict[tuple[bytes, EvidenceKind], tuple[int, int]]:
    return {(row.subject, row.kind): (row.positive, row.negative) for row in rows}


BALLOTS = (
    _vote(1, FOR),
    _vote(2, AGAINST),
    _vote(3, ABSTAIN),
    _vote(4, FOR, practice=True),
    _vote(5, AGAINST, practice=True),
)
ROUND = RoundOutcome(
    round_id=ACCEPTED,
    tick=2,
    author=AUTHOR,
    author_operator=AUTHORS_OPERATOR,
    home_operator=HOME,
    decision=Decision.ACCEPT,
    strong=True,
    votes=BALLOTS,
    topic="science",
)
DISPUTE = DisputeOutcome(
    round=replace(
        ROUND,
        round_id=DISPUTED,
        tick=7,
        votes=(_vote(7, FOR), _vote(8, FOR), _vote(9, AGAINST)),
        unrevealed=(Unrevealed(voter=_name(10), practice=False),),
    ),
    disputer=DISPUTER,
)
REVERSAL = Reversal(
    round_id=ACCEPTED,
    tick=8,
    author_operator=AUTHORS_OPERATOR,
    votes=BALLOTS,
    topic="science",
)


# Disputes.


def test_a_dismissed_dispute_costs_the_disputer_and_pays_the_author_a_little() -> None:
    found = _amounts(dispute_evidence(DISPUTE, TABLE))

    assert found == {
        (_name(7), EvidenceKind.VOTE): (MILLION, 0),
        (_name(8), EvidenceKind.VOTE): (MILLION, 0),
        (_name(9), EvidenceKind.VOTE): (0, MILLION),
        (_name(10), EvidenceKind.UNREVEALED): (0, MILLION),
        (DISPUTER, EvidenceKind.DISPUTE_DISMISSED): (0, 500_000),
        (AUTHOR, EvidenceKind.SURVIVED): (25_000, 0),
    }


def test_a_sustained_dispute_pays_the_disputer_and_gives_the_author_no_row() -> None:
    sustained = replace(DISPUTE, round=replace(DISPUTE.round, decision=Decision.REJECT))
    found = _amounts(dispute_evidence(sustained, TABLE))

    assert found == {
        (_name(7), EvidenceKind.VOTE): (0, MILLION),
        (_name(8), EvidenceKind.VOTE): (0, MILLION),
        (_name(9), EvidenceKind.VOTE): (MILLION, 0),
        (_name(10), EvidenceKind.UNREVEALED): (0, MILLION),
        (DISPUTER, EvidenceKind.DISPUTE_SUSTAINED): (MILLION, 0),
    }


def test_a_dispute_without_a_judgement_says_nothing_about_the_disputer() -> None:
    undecided = replace(DISPUTE, round=replace(DISPUTE.round, decision=Decision.NONE))

    assert {row.kind for row in dispute_evidence(undecided, TABLE)} == {EvidenceKind.UNREVEALED}


def test_surviving_is_split_over_the_operators_that_voted_to_keep() -> None:
    rows = dispute_evidence(DISPUTE, TABLE)
    survived = [row for row in rows if row.kind is EvidenceKind.SURVIVED]

    assert [(row.source, row.positive) for row in survived] == [
        (_name(107), 25_000),
        (_name(108), 25_000),
    ]
    (disputer,) = [row for row in rows if row.subject == DISPUTER]
    assert (disputer.source, disputer.cause, disputer.topic) == (
        AUTHORS_OPERATOR,
        DISPUTED,
        "science",
    )


# Reversals.


def test_a_reversal_corrects_each_ballot_and_skips_abstentions() -> None:
    assert _amounts(reversal_evidence(REVERSAL, TABLE)) == {
        (_name(1), EvidenceKind.APPROVED_RETRACTED): (0, 2 * MILLION),
        (_name(2), EvidenceKind.OPPOSED_RETRACTED): (MILLION, 0),
        (_name(4), EvidenceKind.APPROVED_RETRACTED): (0, 500_000),
        (_name(5), EvidenceKind.OPPOSED_RETRACTED): (250_000, 0),
    }


def test_a_reversal_counts_at_its_tick_with_the_operator_of_the_author_as_source() -> None:
    rows = reversal_evidence(REVERSAL, TABLE)

    assert {(row.tick, row.cause, row.source, row.topic) for row in rows} == {
        (8, ACCEPTED, AUTHORS_OPERATOR, "science")
    }
    assert [row.practice for row in rows] == [row.subject in {_name(4), _name(5)} for row in rows]


def test_a_reversal_withdraws_what_the_round_had_said_of_its_voters() -> None:
    assert withdrawals_of(REVERSAL) == tuple(
        Withdrawal(cause=ACCEPTED, kind=EvidenceKind.VOTE, subject=_name(n)) for n in (1, 2, 4, 5)
    )


def test_an_artifact_that_nobody_voted_on_reverses_nobody() -> None:
    silent = replace(REVERSAL, votes=())

    assert reversal_evidence(silent, TABLE) == ()
    assert withdrawals_of(silent) == ()


@pytest.mark.parametrize("reversed_first", [False, True])
def test_after_a_reversal_an_approver_stands_lower_than_before_it_voted(
    *, reversed_first: bool
) -> None:
    ledger = Ledger(TRUST)
    steps = [
        lambda: ledger.add(evidence_of(ROUND, TABLE)),
        lambda: ledger.withdraw(withdrawals_of(REVERSAL)),
        lambda: ledger.add(reversal_evidence(REVERSAL, TABLE)),
    ]
    for step in reversed(steps) if reversed_first else steps:
        step()
        ledger.standing(_name(1), 9)
    approver, opponent = (ledger.undecayed(_name(n)) for n in (1, 2))

    # Approver: nothing for, 2 against; opponent: 1 for, nothing against.
    assert (approver.alpha, approver.beta) == (MILLION, 3 * MILLION)
    assert (opponent.alpha, opponent.beta) == (2 * MILLION, MILLION)
    assert ledger.standing(_name(1), 8).interactions == 1
    assert ledger.standing(_name(3), 8).interactions == 0
    # The author's own row is not touched.
    assert ledger.undecayed(AUTHOR).alpha == 2 * MILLION


# Reports, audits, dissents.


def test_an_unfounded_report_costs_more_than_a_dismissed_dispute() -> None:
    report = UnfoundedReport(
        report=b"p" * 32, tick=3, reporter=_name(6), author_operator=AUTHORS_OPERATOR, topic="law"
    )

    assert report_evidence(report, TABLE) == (
        Evidence(
            tick=3,
            cause=b"p" * 32,
            kind=EvidenceKind.UNFOUNDED_REPORT,
            subject=_name(6),
            source=AUTHORS_OPERATOR,
            positive=0,
            negative=2 * MILLION,
            practice=False,
            topic="law",
        ),
    )
    assert TABLE.unfounded_report > TABLE.dispute_dismissed


AUDIT = AuditOutcome(
    audit=b"u" * 32,
    tick=5,
    author_operator=AUTHORS_OPERATOR,
    right=AGAINST,
    votes=BALLOTS,
    topic="science",
)


def test_an_audit_says_three_times_what_a_strong_vote_says() -> None:
    assert _amounts(audit_evidence(AUDIT, TABLE)) == {
        (_name(1), EvidenceKind.AUDIT): (0, 3 * MILLION),
        (_name(2), EvidenceKind.AUDIT): (3 * MILLION, 0),
        (_name(4), EvidenceKind.AUDIT): (0, 750_000),
        (_name(5), EvidenceKind.AUDIT): (750_000, 0),
    }
    assert {
        (row.cause, row.source, row.tick, row.topic) for row in audit_evidence(AUDIT, TABLE)
    } == {(b"u" * 32, AUTHORS_OPERATOR, 5, "science")}


def test_an_audit_that_found_for_the_artifact_turns_it_round() -> None:
    found = _amounts(audit_evidence(replace(AUDIT, right=FOR), TABLE))

    assert found[_name(1), EvidenceKind.AUDIT] == (3 * MILLION, 0)
    assert found[_name(2), EvidenceKind.AUDIT] == (0, 3 * MILLION)


def test_an_audit_that_cannot_tell_says_nothing() -> None:
    assert audit_evidence(replace(AUDIT, right=ABSTAIN), TABLE) == ()


@pytest.mark.parametrize(
    ("score", "positive", "negative"),
    [(1_700_000, 1_700_000, 0), (-230_000, 0, 230_000)],
)
def test_a_dissent_counts_by_the_sign_of_its_score(
    score: int, positive: int, negative: int
) -> None:
    dissent = DissentOutcome(
        dissent=b"s" * 32,
        tick=4,
        agent=_name(6),
        author_operator=AUTHORS_OPERATOR,
        score=score,
        topic="law",
    )
    (row,) = dissent_evidence(dissent)

    assert (row.positive, row.negative, row.kind) == (positive, negative, EvidenceKind.DISSENT)
    assert (row.subject, row.source, row.cause) == (_name(6), AUTHORS_OPERATOR, b"s" * 32)
    assert (row.tick, row.topic, row.practice) == (4, "law", False)
    assert dissent_evidence(replace(dissent, score=0)) == ()


VOTES = st.lists(
    st.builds(
        Vote,
        voter=st.integers(0, 9).map(_name),
        operator=st.integers(0, 5).map(_name),
        choice=st.sampled_from(Choice),
        practice=st.booleans(),
    ),
    max_size=9,
    unique_by=lambda vote: vote.voter,
)


@given(votes=VOTES, decision=st.sampled_from(Decision), right=st.sampled_from(Choice), d=st.data())
def test_rows_are_sorted_and_do_not_depend_on_the_order_of_ballots(
    votes: list[Vote], decision: Decision, right: Choice, d: st.DataObject
) -> None:
    def rows(ballots: list[Vote]) -> list[tuple[object, ...]]:
        return [
            dispute_evidence(
                replace(
                    DISPUTE,
                    round=replace(DISPUTE.round, votes=tuple(ballots), decision=decision),
                ),
                TABLE,
            ),
            reversal_evidence(replace(REVERSAL, votes=tuple(ballots)), TABLE),
            withdrawals_of(replace(REVERSAL, votes=tuple(ballots))),
            audit_evidence(replace(AUDIT, votes=tuple(ballots), right=right), TABLE),
        ]

    found = rows(votes)

    assert rows(d.draw(st.permutations(votes))) == found
    assert [sorted(one) for one in found] == [list(one) for one in found]  # type: ignore[type-var]


def test_an_ended_round_of_either_kind_has_its_own_rows() -> None:
    dispute = replace(DISPUTE.round, dispute=True, disputer=DISPUTER)

    assert rows_of(ROUND, TABLE) == evidence_of(ROUND, TABLE)
    assert rows_of(dispute, TABLE) == dispute_evidence(DISPUTE, TABLE)
    assert rows_of(dispute, TABLE) != evidence_of(dispute, TABLE)


@pytest.mark.parametrize("decision", [Decision.ACCEPT, Decision.REJECT])
def test_a_dispute_that_the_rules_opened_has_no_disputers_row(decision: Decision) -> None:
    filed = replace(DISPUTE.round, dispute=True, disputer=DISPUTER, decision=decision)
    by_rules = replace(filed, disputer=None)
    own = {EvidenceKind.DISPUTE_SUSTAINED, EvidenceKind.DISPUTE_DISMISSED}
    rows = rows_of(filed, TABLE)

    assert any(row.kind in own for row in rows)
    assert rows_of(by_rules, TABLE) == tuple(row for row in rows if row.kind not in own)
