from decimal import Context, Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from federation.core import MILLION, ParameterError
from federation.trust.logarithm import ln

EXACT = Context(prec=120)


def _floor(numerator: int, denominator: int) -> int:
    """Work in 120 digits: the floor is wrong only within 10^-100 of a whole number."""
    ratio = EXACT.divide(Decimal(numerator), Decimal(denominator))
    return int(EXACT.multiply(EXACT.ln(ratio), Decimal(MILLION)).to_integral_value("ROUND_FLOOR"))


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        ((1,), -13_815_511),
        ((500_000,), -693_148),
        ((999_999,), -2),
        ((1_000_000,), 0),
        ((1_000_001,), 0),
        ((2, 1), 693_147),
        ((1, 2), -693_148),
        ((600_000, 400_000), 405_465),
        ((7, 7), 0),
    ],
)
def test_it_is_fixed_for_all_machines(ratio: tuple[int, ...], expected: int) -> None:
    assert ln(*ratio) == expected


def test_every_ratio_that_audits_can_ask_for_is_the_exact_floor() -> None:
    # p is clipped to 1 % .. 99 %; one in 97 is asked here, and both ends.
    for p in (*range(10_000, 990_000, 97), 989_999, 990_000):
        assert ln(p, MILLION - p) == _floor(p, MILLION - p), p


@given(numerator=st.integers(1, 10**40), denominator=st.integers(1, 10**40))
@example(numerator=10**40, denominator=1)
@example(numerator=1, denominator=10**40)
def test_it_is_the_exact_floor_whatever_the_ratio(numerator: int, denominator: int) -> None:
    assert ln(numerator, denominator) == _floor(numerator, denominator)


@given(near=st.integers(1, 10**60), of=st.integers(10**50, 10**60))
def test_ratios_that_hardly_differ_from_one_ask_for_more_bits(near: int, of: int) -> None:
    # ln is just above or below 0, where few bits leave the floor open.
    assert ln(of + 1, of) == 0
    assert ln(of, of + 1) == -1
    assert ln(near, of) == _floor(near, of)


def test_it_rises_with_the_ratio() -> None:
    values = [ln(p) for p in range(1, MILLION, 1_009)]

    assert values == sorted(values)


@pytest.mark.parametrize("ratio", [(0, 1), (1, 0), (-1, 5), (5, -1)])
def test_a_ratio_that_is_not_above_nothing_has_none(ratio: tuple[int, int]) -> None:
    with pytest.raises(ParameterError, match="no logarithm"):
        ln(*ratio)
