from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.charter import preset
from federation.core import MILLION
from federation.trust import ESTABLISHED, NEWCOMER, TRUSTED, Shown, requirements, tier_of

TRUST = preset("community").trust
GOOD = Shown(interactions=20, r=700_000, has_ticket=True, age=30, ways=2)


def _tier(
    shown: Shown, *, previous: int = 0, founder_tier: int | None = None, operators: int = 9
) -> int:
    return tier_of(TRUST, shown, previous=previous, founder_tier=founder_tier, operators=operators)


@pytest.mark.parametrize(
    ("shown", "tier"),
    [
        (GOOD, TRUSTED),
        (replace(GOOD, interactions=19), ESTABLISHED),
        (replace(GOOD, r=699_999), ESTABLISHED),
        (replace(GOOD, age=29), ESTABLISHED),
        (replace(GOOD, ways=1), ESTABLISHED),
        (replace(GOOD, interactions=5, r=400_000, age=0, ways=0), ESTABLISHED),
        (replace(GOOD, interactions=4), NEWCOMER),
        (replace(GOOD, r=399_999), NEWCOMER),
        (replace(GOOD, has_ticket=False), NEWCOMER),
    ],
)
def test_a_tier_is_gained_at_its_thresholds(shown: Shown, tier: int) -> None:
    assert _tier(shown) == tier


@pytest.mark.parametrize(
    ("shown", "previous", "tier"),
    [
        (replace(GOOD, r=560_000), TRUSTED, TRUSTED),
        (replace(GOOD, r=559_999), TRUSTED, ESTABLISHED),
        (replace(GOOD, r=320_000), TRUSTED, ESTABLISHED),
        (replace(GOOD, r=320_000), ESTABLISHED, ESTABLISHED),
        (replace(GOOD, r=319_999), ESTABLISHED, NEWCOMER),
        (replace(GOOD, r=560_000), ESTABLISHED, ESTABLISHED),
        (replace(GOOD, interactions=16, age=24), TRUSTED, TRUSTED),
        (replace(GOOD, age=23), TRUSTED, ESTABLISHED),
        (replace(GOOD, has_ticket=False), TRUSTED, NEWCOMER),
        (replace(GOOD, ways=1), TRUSTED, ESTABLISHED),
    ],
)
def test_a_tier_is_lost_at_four_fifths_of_its_thresholds(
    shown: Shown, previous: int, tier: int
) -> None:
    assert _tier(shown, previous=previous) == tier


@pytest.mark.parametrize(
    ("ways", "operators", "tier"),
    [
        (0, 0, TRUSTED),
        (0, 1, ESTABLISHED),
        (1, 1, TRUSTED),
        (1, 2, ESTABLISHED),
        (2, 2, TRUSTED),
        (2, 50, TRUSTED),
    ],
)
def test_nobody_is_asked_for_more_ways_than_there_are(ways: int, operators: int, tier: int) -> None:
    assert _tier(replace(GOOD, ways=ways), operators=operators) == tier


NOTHING = Shown(interactions=0, r=500_000, has_ticket=True, age=0, ways=0)


def test_a_founder_keeps_its_tier_until_it_has_shown_enough() -> None:
    poor = replace(NOTHING, interactions=19, r=100_000)

    assert _tier(NOTHING, previous=2, founder_tier=2) == TRUSTED
    assert _tier(poor, previous=2, founder_tier=2) == TRUSTED
    assert _tier(replace(poor, interactions=20), previous=2, founder_tier=2) == NEWCOMER


def test_a_founder_may_earn_a_higher_tier_before() -> None:
    shown = replace(GOOD, interactions=6)

    assert _tier(shown, previous=0, founder_tier=0) == ESTABLISHED


def test_a_founders_age_and_ways_do_not_matter() -> None:
    young = replace(GOOD, age=0, ways=0)

    assert _tier(young, previous=2, founder_tier=2) == TRUSTED
    assert _tier(young, previous=2) == ESTABLISHED


def test_the_requirements_come_from_the_charter_highest_first() -> None:
    assert [
        (row.tier, row.interactions, row.r, row.age, row.operators) for row in requirements(TRUST)
    ] == [
        (2, 20, 700_000, 30, 2),
        (1, 5, 400_000, 0, 0),
    ]


SHOWN = st.builds(
    Shown,
    interactions=st.integers(0, 30),
    r=st.integers(0, MILLION),
    has_ticket=st.booleans(),
    age=st.integers(0, 40),
    ways=st.integers(0, 3),
)


@given(shown=SHOWN, previous=st.integers(0, 2), founder=st.none() | st.integers(0, 2))
def test_holding_a_tier_never_hurts_and_keeping_is_stable(
    shown: Shown, previous: int, founder: int | None
) -> None:
    tier = _tier(shown, previous=previous, founder_tier=founder)

    assert tier >= _tier(shown, founder_tier=founder)
    # The same facts at the next tick change nothing.
    assert _tier(shown, previous=tier, founder_tier=founder) == tier


@given(shown=SHOWN, previous=st.integers(0, 2))
def test_showing_more_never_costs_a_tier(shown: Shown, previous: int) -> None:
    more = replace(
        shown,
        interactions=shown.interactions + 5,
        r=min(MILLION, shown.r + 9),
        age=99,
        ways=shown.ways + 1,
    )

    assert _tier(more, previous=previous) >= _tier(shown, previous=previous)
