import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.trust import Decay, one_epoch
from federation.trust.decay import ONE


@pytest.mark.parametrize(
    ("decay", "expected"),
    [
        (0, 4_294_967_296),
        (2_000, 4_286_385_945),
        (10_000, 4_252_231_657),
        (1_000_000, 1_580_030_168),
    ],
)
def test_one_epoch_is_fixed_for_all_machines(decay: int, expected: int) -> None:
    assert one_epoch(decay) == expected


@given(decay=st.integers(0, 1_000_000))
def test_one_epoch_is_the_exponential_rounded_down(decay: int) -> None:
    real = math.exp(-decay / 1_000_000) * ONE

    assert abs(one_epoch(decay) - real) <= 1.001


def test_the_table_is_its_recurrence() -> None:
    table = Decay(10_000)
    step = one_epoch(10_000)
    expected = ONE
    for age in range(300):
        assert table.factor(age) == expected
        expected = expected * step >> 32


def test_the_table_can_be_asked_in_any_order() -> None:
    late_first, early_first = Decay(10_000), Decay(10_000)

    assert [late_first.factor(age) for age in (200, 3)] == [
        early_first.factor(age) for age in (3, 200)
    ][::-1]


def test_very_old_evidence_is_nothing_and_the_table_stays_short() -> None:
    table = Decay(10_000)

    assert table.factor(10**9) == 0
    assert len(table._table) < 2_500


def test_without_decay_nothing_fades() -> None:
    table = Decay(0)

    assert table.factor(10**9) == ONE
    assert len(table._table) == 1
