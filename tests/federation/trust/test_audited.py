import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.charter import preset
from federation.core import MILLION
from federation.trust import Audited, Checked

TRUST = preset("community").trust
ANN, BEN = b"a" * 32, b"b" * 32


def _audited(right: int, wrong: int = 0, trust: object = TRUST) -> Audited:
    audited = Audited(trust)  # type: ignore[arg-type]
    for _ in range(right):
        audited.observe(ANN, True)
    for _ in range(wrong):
        audited.observe(ANN, False)
    return audited


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        # p = .6 before any audit: ln 1.5 / 4.
        (0, 0, 101_366),
        # (8 · .6 + 8) / 16 = .8: ln 4 / 4.
        (8, 0, 346_573),
        # (8 · .6 + 2) / 14 = .485714: below even odds.
        (2, 4, 5_000),
        (0, 50, 5_000),
        # .98 is not yet full competence, .99 is the most that is believed.
        (152, 0, 972_955),
        (10_000, 0, MILLION),
    ],
)
def test_competence_is_the_log_odds_of_being_right(right: int, wrong: int, expected: int) -> None:
    assert _audited(right, wrong).b(ANN) == expected


def test_audits_of_others_do_not_matter() -> None:
    assert _audited(50).b(BEN) == Audited(TRUST).b(BEN)


def test_being_always_right_or_wrong_has_odds_too() -> None:
    sure = replace(TRUST, audit_prior=MILLION)
    never = replace(TRUST, audit_prior=1, audit_n=MILLION, b_floor=1)

    assert _audited(9, trust=sure).b(ANN) == MILLION
    assert _audited(0, 9, trust=never).b(ANN) == 1


def test_many_audits_are_taken_in_at_once() -> None:
    audited = Audited(TRUST)
    audited.observe(ANN, True, audits=8)
    audited.observe(ANN, False, audits=3)

    assert list(audited.rows()) == list(_audited(8, 3).rows())


def test_the_first_audits_move_most() -> None:
    gains = [_audited(n + 1).b(ANN) - _audited(n).b(ANN) for n in range(30)]

    assert gains == sorted(gains, reverse=True)


def test_the_sums_are_listed_by_agent_and_make_the_same_estimate() -> None:
    audited = _audited(3, 2)
    audited.observe(BEN, False)
    audited.observe(b"A" * 32, True)
    rows = list(audited.rows())

    assert rows == [
        Checked(agent=b"A" * 32, right=1, audits=1),
        Checked(agent=ANN, right=3, audits=5),
        Checked(agent=BEN, right=0, audits=1),
    ]


@given(found=st.lists(st.tuples(st.sampled_from([ANN, BEN]), st.booleans())), data=st.data())
def test_the_order_of_audits_does_not_matter_and_the_formula_holds(
    found: list[tuple[bytes, bool]], data: st.DataObject
) -> None:
    one, other = Audited(TRUST), Audited(TRUST)
    for agent, right in found:
        one.observe(agent, right)
    for agent, right in data.draw(st.permutations(found)):
        other.observe(agent, right)
    for agent in (ANN, BEN):
        mine = [right for who, right in found if who == agent]
        p = min(max((4.8 + sum(mine)) / (8 + len(mine)), 0.01), 0.99)
        exact = min(max(math.log(p / (1 - p)), 0.02), 4) / 4

        assert one.b(agent) == other.b(agent)
        assert 0 < one.b(agent) <= MILLION
        assert abs(one.b(agent) - exact * MILLION) < 20


@given(right=st.integers(0, 40), wrong=st.integers(0, 40))
def test_being_right_never_hurts_and_being_wrong_never_helps(right: int, wrong: int) -> None:
    b = _audited(right, wrong).b(ANN)

    assert _audited(right + 1, wrong).b(ANN) >= b
    assert _audited(right, wrong + 1).b(ANN) <= b


def test_under_another_charter_audits_are_shrunk_by_its_prior() -> None:
    other = replace(TRUST, audit_prior=900_000, audit_n=30)
    audited = _audited(5, 2)
    audited.under(other)

    assert audited.b(ANN) == _audited(5, 2, other).b(ANN) != _audited(5, 2).b(ANN)
    assert audited.b(BEN) == Audited(other).b(BEN)
