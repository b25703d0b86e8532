import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.charter import preset
from federation.core import MILLION
from federation.trust import ticketed, weight, weights

TRUST = preset("community").trust


@pytest.mark.parametrize(
    ("competence", "seats", "expected"),
    [
        (700_000, MILLION, 700_000),
        (700_000, 94_000, 65_800),
        (700_000, 20 * MILLION, 700_000),
        (20_000, MILLION, 50_000),
        (MILLION, MILLION, MILLION),
    ],
)
def test_weight_is_competence_scaled_by_seats_within_its_bounds(
    competence: int, seats: int, expected: int
) -> None:
    assert ticketed(TRUST, competence=competence, seats=seats) == expected


def test_the_largest_weight_scales_the_others() -> None:
    half = replace(TRUST, w_max=500_000)

    assert ticketed(half, competence=700_000, seats=MILLION) == 350_000


def test_only_founders_have_weight_in_this_version() -> None:
    assert weight(TRUST, competence=700_000, founder=True) == 700_000
    assert weight(TRUST, competence=700_000, founder=False) == 0


def test_all_agents_are_weighed_in_id_order() -> None:
    found = weights(TRUST, {b"c": 10, b"a": 700_000, b"b": 900_000}, founders=[b"a", b"c"])

    assert list(found.items()) == [(b"a", 700_000), (b"b", 0), (b"c", 50_000)]


@given(competence=st.integers(1, MILLION), seats=st.integers(0, 10**9))
def test_a_ticket_holders_weight_stays_within_its_bounds(competence: int, seats: int) -> None:
    assert TRUST.w_min <= ticketed(TRUST, competence=competence, seats=seats) <= TRUST.w_max
