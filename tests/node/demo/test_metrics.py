import pytest

from federation.artifacts import DecidedBy
from node.demo.metrics import Score, by_majority, by_protocol, score
from tests.node.demo.verdicts import judged


@pytest.mark.parametrize(
    ("choices", "accepts"),
    [
        ((1, 1, -1), True),
        ((1, -1, -1), False),
        ((1, 0, 0), True),
        ((1, -1, 0), False),
        ((0, 0, 0), False),
    ],
)
def test_a_majority_accepts_with_more_votes_for_than_against_and_a_tie_retracts(
    choices: tuple[int, ...], accepts: bool
) -> None:
    assert judged(*choices, accepted=not accepts, true=True).majority_accepts is accepts


def test_a_majority_does_not_look_at_practice_ballots() -> None:
    assert not judged(1, -1, accepted=True, true=True, practice=(1, 1)).majority_accepts


@pytest.mark.parametrize(
    ("by", "decided", "ambiguous"),
    [
        (DecidedBy.VOTE, True, False),
        (DecidedBy.SIGN, False, True),
        (DecidedBy.SHORTFALL, False, False),
        (DecidedBy.TIMEOUT, False, False),
    ],
)
def test_a_round_is_decided_by_vote_or_ambiguous_by_sign_or_neither(
    by: DecidedBy, decided: bool, ambiguous: bool
) -> None:
    one = judged(1, accepted=True, true=True, by=by)

    assert (one.is_decided, one.is_ambiguous) == (decided, ambiguous)


def test_the_score_counts_what_was_accepted_and_what_was_true() -> None:
    rounds = [
        judged(1, 1, accepted=True, true=True),
        judged(1, 1, accepted=True, true=True),
        judged(1, 1, accepted=True, true=False),
        judged(-1, 1, accepted=False, true=True),
        judged(-1, -1, accepted=False, true=False),
        judged(-1, -1, accepted=False, true=False),
    ]

    assert score(rounds, by_protocol) == Score(
        accepted=3, retracted=3, precision=0.6667, recall=0.6667, accuracy=0.6667
    )


def test_protocol_and_majority_are_scored_each_by_its_own_decisions() -> None:
    rounds = [judged(1, -1, -1, accepted=True, true=True)]

    assert score(rounds, by_protocol).accuracy == 1
    assert score(rounds, by_majority).accuracy == 0


def test_a_share_of_nothing_is_no_number() -> None:
    assert score([], by_protocol) == Score(
        accepted=0, retracted=0, precision=None, recall=None, accuracy=None
    )
    nothing_true = score([judged(-1, accepted=False, true=False)], by_protocol)
    assert (nothing_true.precision, nothing_true.recall, nothing_true.accuracy) == (None, None, 1)
