"""The share that a weight comes to, against the caps of a real tally."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.charter import preset
from federation.core import MILLION
from federation.trust import capped, level_of
from federation.trust.capture_share import Cell, Electorate, _level, share_of
from tests.builders import named

COMMUNITY = preset("community").trust
NEAR = 5
"""Millionths that the roundings of two caps may come to."""


def electorate(
    *cells: tuple[int, int, int], instances: int = 4, operator: int = 100_000, firm: bool = True
) -> Electorate:
    """Give honest weight as (operator, instance, weight); `firm`: the attacker takes none of it."""
    return Electorate(
        cells=tuple(
            Cell(operator=one, instance=place, weight=weight, firm=weight if firm else 0)
            for one, place, weight in cells
        ),
        instances=instances,
        operator_cap=operator,
        instance_cap=250_000,
    )


def tallied(voters: Electorate, parts: list[tuple[int, int, int]]) -> int:
    """Count the attacker's `parts` as (operator, instance, weight) with the caps of a tally."""
    weights, operators, instances = {}, {}, {}
    honest = [(f"h{cell.operator}", cell.instance, cell.weight) for cell in voters.cells]
    mine = [(f"a{operator}", place, weight) for operator, place, weight in parts]
    for n, (operator, place, weight) in enumerate(honest + mine):
        name = named(n)
        weights[name], operators[name] = weight, named("operator", operator)
        instances[name] = named("instance", place)
    alone = {name: name for name in weights}
    trust = replace(COMMUNITY, operator_cap=voters.operator_cap, instance_cap=voters.instance_cap)
    counted = capped(
        trust, weights, models=alone, keepers=alone, operators=operators, instances=instances
    ).weights
    own = sum(counted[named(n)] for n in range(len(honest), len(weights)))
    return own * MILLION // max(1, sum(counted.values()))


cells = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(1, 60_000_000)),
    max_size=12,
    unique_by=lambda cell: cell[:2],
)


@given(
    honest=cells,
    unit=st.integers(1, 1_000_000),
    operators=st.integers(1, 30),
    operator=st.integers(20_000, MILLION),
)
def test_the_share_is_that_of_a_real_tally(
    honest: list[tuple[int, int, int]], unit: int, operators: int, operator: int
) -> None:
    # In billionths, so that the roundings of many small ballots do not show.
    large = [(one, place, 1_000 * weight) for one, place, weight in honest]
    voters = electorate(*large, operator=operator)
    parts = [(n, place, 1_000_000 * unit) for n in range(operators) for place in range(4)]

    found = share_of(voters, 4_000_000 * unit * operators, operators=operators, doors=4)

    assert abs(found - tallied(voters, parts)) <= NEAR


@given(honest=cells, unit=st.integers(1, 1_000_000), operators=st.integers(1, 9))
def test_who_comes_through_one_instance_takes_the_lightest(
    honest: list[tuple[int, int, int]], unit: int, operators: int
) -> None:
    # Without a cap on operators the lightest instance is that of before all caps.
    large = [(one, place, 1_000 * weight) for one, place, weight in honest]
    voters = electorate(*large, operator=MILLION)
    held = [sum(weight for _, at, weight in large if at == place) for place in range(4)]
    lightest = held.index(min(held))
    parts = [(n, lightest, 1_000_000 * unit) for n in range(operators)]

    found = share_of(voters, 1_000_000 * unit * operators, operators=operators, doors=1)

    assert abs(found - tallied(voters, parts)) <= NEAR


def test_many_small_operators_do_not_outweigh_few_large_ones() -> None:
    """16 tickets against 100 seats of four operators: twice their share, and no three fifths."""
    voters = electorate(*((n, n, 25_000_000) for n in range(4)))
    parts = [(n, n % 4, 50_000) for n in range(16)]
    twice = 2 * 800_000 * MILLION // 100_800_000

    assert share_of(voters, 800_000, operators=16, doors=4) == pytest.approx(twice, abs=NEAR)
    assert tallied(voters, parts) == pytest.approx(twice, abs=NEAR)


@given(
    honest=cells,
    weight=st.integers(1_000_000, 90_000_000),
    operators=st.integers(1, 60),
    operator=st.integers(20_000, MILLION),
)
def test_a_share_is_doubled_by_each_cap_at_the_most(
    honest: list[tuple[int, int, int]], weight: int, operators: int, operator: int
) -> None:
    voters = electorate(*honest, operator=operator)
    lifted = replace_instance_cap(voters)
    before = -(-weight * MILLION // (weight + voters.weight))

    assert share_of(lifted, weight, operators=operators, doors=None) <= 2 * before + NEAR
    assert share_of(voters, weight, operators=operators, doors=None) <= 4 * before + NEAR


def replace_instance_cap(voters: Electorate) -> Electorate:
    """Give the same without a cap on instances."""
    return Electorate(
        cells=voters.cells,
        instances=voters.instances,
        operator_cap=voters.operator_cap,
        instance_cap=MILLION,
    )


@given(runs=st.lists(st.tuples(st.integers(0, 10**6) | st.just(5), st.integers(1, 9)), max_size=9))
def test_equal_groups_together_have_the_level_that_they_have_one_by_one(
    runs: list[tuple[int, int]],
) -> None:
    each = [weight for weight, count in runs for _ in range(count)]

    for share in (1, 50_000, 250_000, 999_999, MILLION):
        assert _level(runs, share) == level_of(each, share)


@pytest.mark.parametrize("honest", [1, 3, 4, 10, 25])
def test_one_operator_of_half_the_weight_holds_no_more_than_its_cap(honest: int) -> None:
    voters = electorate(*((n, n % 4, 1_000_000) for n in range(honest)))
    most = max(100_000, -(-2 * MILLION // (honest + 1)))
    found = share_of(voters, voters.weight, operators=1, doors=None)

    assert min(most, 500_000) - NEAR <= found <= most


@pytest.mark.parametrize("honest", [4, 10, 25])
def test_one_operator_beyond_half_keeps_twice_what_is_above_it(honest: int) -> None:
    voters = electorate(*((n, n % 4, 1_000_000) for n in range(honest)))

    for parts, kept in ((4, 600_000), (3, 500_000), (9, 800_000)):
        weight = parts * voters.weight
        assert share_of(voters, weight, operators=1, doors=None) == pytest.approx(kept, abs=NEAR)


def test_nothing_is_nothing() -> None:
    voters = electorate((0, 0, 5))

    assert share_of(voters, 0, operators=9, doors=None) == 0
    assert share_of(voters, 9, operators=0, doors=None) == 0
    assert share_of(voters, -1, operators=1, doors=None) == 0


def test_a_weight_divided_into_nothing_is_nothing() -> None:
    assert share_of(electorate(), 1, operators=10**7, doors=None) == 0


def test_where_nobody_honest_votes_any_weight_is_all() -> None:
    assert share_of(electorate(), 1, operators=1, doors=None) == MILLION


def test_what_the_attacker_weighs_the_honest_lose_but_for_what_is_firm() -> None:
    soft = electorate((0, 0, 10_000_000), (1, 1, 10_000_000), operator=MILLION, firm=False)
    firm = electorate((0, 0, 10_000_000), (1, 1, 10_000_000), operator=MILLION)

    assert share_of(soft, 10_000_000, operators=1, doors=None) == 500_000
    assert share_of(firm, 10_000_000, operators=1, doors=None) == 333_334
    assert share_of(soft, 30_000_000, operators=1, doors=None) == MILLION


@given(seed=st.integers(0, 2**32), operators=st.integers(1, 8), honest=st.integers(1, 8))
def test_no_uneven_division_over_operators_gains(seed: int, operators: int, honest: int) -> None:
    random = Random(seed)
    voters = electorate(
        *((n, n % 4, random.randint(1, 40_000_000)) for n in range(honest)), operator=150_000
    )
    marks = sorted(random.randint(0, 20_000_000) for _ in range(operators - 1))
    pieces = [b - a for a, b in zip([0, *marks], [*marks, 20_000_000], strict=True)]
    # The instance cap is lifted: this is about operators.
    lifted = replace_instance_cap(voters)
    uneven = tallied(lifted, [(n, 0, piece) for n, piece in enumerate(pieces)])

    assert uneven <= share_of(lifted, 20_000_000, operators=operators, doors=None) + NEAR


@given(
    honest=cells,
    weight=st.integers(1_000_000, 90_000_000),
    operators=st.integers(1, 30),
    firm=st.booleans(),
)
def test_more_weight_and_more_operators_never_reach_less(
    honest: list[tuple[int, int, int]], weight: int, operators: int, firm: bool
) -> None:
    voters = electorate(*honest, firm=firm)
    now = share_of(voters, weight, operators=operators, doors=None)

    assert share_of(voters, 2 * weight, operators=operators, doors=None) >= now - NEAR
    assert share_of(voters, weight, operators=operators + 1, doors=None) >= now - NEAR


@given(seed=st.integers(0, 2**32), instances=st.integers(1, 16), operators=st.integers(1, 20))
def test_no_number_of_instances_is_better_than_the_best(
    seed: int, instances: int, operators: int
) -> None:
    random = Random(seed)
    cells_ = [
        (n, min(instances, int(random.paretovariate(1))) - 1, random.randint(10**6, 10**9))
        for n in range(random.randint(1, 40))
    ]
    voters = electorate(*cells_, instances=instances, firm=False)
    weight = voters.weight // random.randint(2, 30)
    best = share_of(voters, weight, operators=operators, doors=None)
    every = [
        share_of(voters, weight, operators=operators, doors=n) for n in range(1, instances + 1)
    ]

    assert best == max(every)


@pytest.mark.parametrize("instances", [17, 40, 100, 300])
def test_of_many_instances_nearly_the_best_is_found(instances: int) -> None:
    random = Random(instances)
    voters = electorate(
        # One instance has more than its cap: to come in through it is a loss.
        (0, 0, 10**8 * instances),
        *((n % 9, n, int(10**8 * random.random())) for n in range(1, instances)),
        instances=instances,
        operator=MILLION,
    )
    weight = voters.weight // 9
    every = [share_of(voters, weight, operators=5, doors=n) for n in range(1, instances + 1)]

    assert max(every) - 5_000 <= share_of(voters, weight, operators=5, doors=None) <= max(every)


def test_numbers_beyond_64_bits_do_no_harm() -> None:
    voters = electorate((0, 0, 2**80), firm=False)

    assert 0 < share_of(voters, 2**79, operators=10**6, doors=None) <= MILLION
