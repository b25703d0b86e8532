from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from federation.charter import preset
from federation.core import MILLION
from federation.crypto import Choice
from federation.trust import (
    Answered,
    Decision,
    Evidence,
    EvidenceKind,
    RoundOutcome,
    Unrevealed,
    Vote,
    evidence_of,
    top_topic,
)

TABLE = preset("test").trust.evidence
ROUND = b"r" * 32
AUTHOR, AUTHORS_OPERATOR, HOME = b"a" * 32, b"A" * 32, b"H" * 32
DECIDED = RoundOutcome(
    round_id=ROUND,
    tick=7,
    author=AUTHOR,
    author_operator=AUTHORS_OPERATOR,
    home_operator=HOME,
    decision=Decision.ACCEPT,
    strong=True,
)


def _vote(n: int, choice: Choice, *, operator: int | None = None, practice: bool = False) -> Vote:
    return Vote(
        voter=bytes([n]) * 32,
        operator=bytes([100 + (n if operator is None else operator)]) * 32,
        choice=choice,
        practice=practice,
    )


def _rows(outcome: RoundOutcome, kind: EvidenceKind) -> list[Evidence]:
    return [row for row in evidence_of(outcome, TABLE) if row.kind is kind]


@pytest.mark.parametrize(
    ("decision", "choice", "strong", "practice", "positive", "negative"),
    [
        (Decision.ACCEPT, Choice.FOR, True, False, 1_000_000, 0),
        (Decision.ACCEPT, Choice.AGAINST, True, False, 0, 1_000_000),
        (Decision.REJECT, Choice.FOR, False, False, 0, 400_000),
        (Decision.REJECT, Choice.AGAINST, False, False, 400_000, 0),
        (Decision.ACCEPT, Choice.FOR, False, True, 100_000, 0),
        (Decision.ACCEPT, Choice.AGAINST, True, True, 0, 250_000),
    ],
)
def test_a_vote_is_judged_by_the_decision(
    *,
    decision: Decision,
    choice: Choice,
    strong: bool,
    practice: bool,
    positive: int,
    negative: int,
) -> None:
    outcome = replace(
        DECIDED, decision=decision, strong=strong, votes=(_vote(1, choice, practice=practice),)
    )

    assert _rows(outcome, EvidenceKind.VOTE) == [
        Evidence(
            tick=7,
            cause=ROUND,
            kind=EvidenceKind.VOTE,
            subject=bytes([1]) * 32,
            source=AUTHORS_OPERATOR,
            positive=positive,
            negative=negative,
            practice=practice,
        )
    ]


def test_an_abstention_gives_no_row() -> None:
    outcome = replace(DECIDED, votes=(_vote(1, Choice.ABSTAIN),))

    assert _rows(outcome, EvidenceKind.VOTE) == []


@pytest.mark.parametrize(("practice", "negative"), [(False, MILLION), (True, 250_000)])
def test_an_unrevealed_commitment_counts_against_its_voter(practice: bool, negative: int) -> None:
    outcome = replace(DECIDED, unrevealed=(Unrevealed(voter=b"u" * 32, practice=practice),))
    (row,) = _rows(outcome, EvidenceKind.UNREVEALED)

    assert (row.subject, row.positive, row.negative) == (b"u" * 32, 0, negative)
    assert row.source == AUTHORS_OPERATOR


def test_an_authors_row_is_split_over_the_operators_that_voted_with_the_decision() -> None:
    outcome = replace(
        DECIDED,
        votes=(
            _vote(3, Choice.FOR),
            _vote(1, Choice.FOR),
            _vote(2, Choice.FOR),
            _vote(4, Choice.FOR, operator=1),
            _vote(5, Choice.AGAINST),
            _vote(6, Choice.ABSTAIN),
            _vote(7, Choice.FOR, practice=True),
        ),
    )

    assert [(row.source, row.positive) for row in _rows(outcome, EvidenceKind.CONTRIBUTION)] == [
        (bytes([101]) * 32, 333_334),
        (bytes([102]) * 32, 333_333),
        (bytes([103]) * 32, 333_333),
    ]


def test_a_rejected_author_pays() -> None:
    outcome = replace(DECIDED, decision=Decision.REJECT, votes=(_vote(1, Choice.AGAINST),))
    (row,) = _rows(outcome, EvidenceKind.CONTRIBUTION)

    assert (row.subject, row.positive, row.negative) == (AUTHOR, 0, MILLION)
    assert row.source == bytes([101]) * 32


def test_the_fast_track_earns_a_quarter_from_the_home() -> None:
    outcome = replace(DECIDED, strong=False, fast_track=True)
    (row,) = evidence_of(outcome, TABLE)

    assert (row.source, row.positive, row.kind) == (HOME, 250_000, EvidenceKind.CONTRIBUTION)


def test_without_a_vote_for_the_decision_the_home_is_the_source() -> None:
    outcome = replace(DECIDED, votes=(_vote(1, Choice.FOR, practice=True),))
    (row,) = _rows(outcome, EvidenceKind.CONTRIBUTION)

    assert row.source == HOME


def test_a_round_without_a_decision_judges_only_broken_promises() -> None:
    outcome = replace(
        DECIDED,
        decision=Decision.NONE,
        votes=(_vote(1, Choice.FOR),),
        unrevealed=(Unrevealed(voter=b"u" * 32, practice=False),),
    )

    assert [row.kind for row in evidence_of(outcome, TABLE)] == [EvidenceKind.UNREVEALED]


def test_an_answered_argument_earns_its_author_a_little() -> None:
    outcome = replace(
        DECIDED,
        decision=Decision.NONE,
        answered=(Answered(agent=b"g" * 32, argument=b"m" * 32),),
    )

    assert evidence_of(outcome, TABLE) == (
        Evidence(
            tick=7,
            cause=b"m" * 32,
            kind=EvidenceKind.DELIBERATION,
            subject=b"g" * 32,
            source=AUTHORS_OPERATOR,
            positive=20_000,
            negative=0,
            practice=False,
        ),
    )


def test_a_row_of_nothing_is_left_out() -> None:
    free = changed(TABLE, accepted_fast=0)

    assert evidence_of(replace(DECIDED, fast_track=True), free) == ()


@pytest.mark.parametrize(
    ("topics", "top"),
    [
        ((), ""),
        (("science/physics/optics", "notes"), "science"),
        (("notes",), "notes"),
        (("",), ""),
    ],
)
def test_the_topic_of_evidence_is_the_top_of_the_first(topics: tuple[str, ...], top: str) -> None:
    assert top_topic(topics) == top


def test_every_row_of_a_round_carries_its_topic() -> None:
    outcome = replace(
        DECIDED,
        topic="science",
        votes=(_vote(1, Choice.FOR),),
        unrevealed=(Unrevealed(voter=b"u" * 32, practice=False),),
        answered=(Answered(agent=b"g" * 32, argument=b"m" * 32),),
    )
    rows = evidence_of(outcome, TABLE)

    assert len({row.kind for row in rows}) == 4
    assert {row.topic for row in rows} == {"science"}
    assert {row.topic for row in evidence_of(replace(outcome, topic=""), TABLE)} == {""}


VOTES = st.lists(
    st.builds(
        Vote,
        voter=st.integers(0, 255).map(lambda n: bytes([n]) * 32),
        operator=st.integers(0, 5).map(lambda n: bytes([n]) * 32),
        choice=st.sampled_from(Choice),
        practice=st.booleans(),
    ),
    max_size=9,
    unique_by=lambda vote: vote.voter,
)


@given(votes=VOTES, decision=st.sampled_from(Decision), strong=st.booleans(), data=st.data())
def test_rows_do_not_depend_on_the_order_of_ballots_and_nothing_is_lost(
    votes: list[Vote], decision: Decision, strong: bool, data: st.DataObject
) -> None:
    outcome = replace(DECIDED, votes=tuple(votes), decision=decision, strong=strong)
    shuffled = replace(outcome, votes=tuple(data.draw(st.permutations(votes))))
    rows = evidence_of(outcome, TABLE)
    author = [row for row in rows if row.kind is EvidenceKind.CONTRIBUTION]

    assert evidence_of(shuffled, TABLE) == rows
    assert sum(row.positive for row in author) == (MILLION if decision is Decision.ACCEPT else 0)
    assert sum(row.negative for row in author) == (MILLION if decision is Decision.REJECT else 0)
    assert all(row.positive == 0 or row.negative == 0 for row in rows)
