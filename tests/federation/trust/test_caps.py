from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.charter import preset
from federation.core import MILLION
from federation.trust import cap, capped, effective_share, water_level

TRUST = preset("community").trust


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (0, MILLION),
        (1, MILLION),
        (2, MILLION),
        (3, 666_666),
        (8, 250_000),
        (20, 100_000),
        (99, 100_000),
    ],
)
def test_a_cap_is_raised_to_what_the_groups_can_keep(groups: int, expected: int) -> None:
    assert effective_share(100_000, groups) == expected


def test_seven_equal_voters_of_seven_operators_are_not_capped() -> None:
    weights = {bytes([n]): 700_000 for n in range(7)}

    assert cap(weights, {agent: agent for agent in weights}, 100_000) == weights


def test_a_heavy_group_is_cut_to_its_share_of_what_is_counted() -> None:
    weights = {"a": 600, "b": 300, "c": 100, "d": 100, "e": 100, "f": 100}
    groups = {"a": 1, "b": 1, "c": 2, "d": 3, "e": 4, "f": 5}

    # Five groups: 2/5. c <= .4 * (400 + c) gives c = 266.
    assert cap(weights, groups, 100_000) == {
        "a": 177, "b": 88, "c": 100, "d": 100, "e": 100, "f": 100
    }  # fmt: skip


def test_a_group_without_weight_does_not_lower_the_cap() -> None:
    assert cap({"a": 5, "b": 0, "c": 0}, {"a": 1, "b": 2, "c": 3}, 100_000) == {
        "a": 5, "b": 0, "c": 0
    }  # fmt: skip


def test_no_ballot_is_no_weight() -> None:
    assert cap({}, {}, 100_000) == {}
    assert cap({"a": 0}, {"a": 1}, 100_000) == {"a": 0}


def test_an_infeasible_share_leaves_nothing() -> None:
    assert water_level([5, 5], 400_000) == 0


def test_operators_are_capped_before_instances() -> None:
    weights = {bytes([n]): 700_000 for n in range(9)}
    operators = {agent: b"o" if agent < bytes([6]) else agent for agent in weights}
    instances = {agent: b"i" if agent < bytes([7]) else agent for agent in weights}
    found = capped(TRUST, weights, operators=operators, instances=instances)
    by_operator = cap(weights, operators, TRUST.operator_cap)

    assert found == cap(by_operator, instances, TRUST.instance_cap)
    assert found != cap(cap(weights, instances, TRUST.instance_cap), operators, TRUST.operator_cap)


TOTALS = st.lists(st.integers(0, 60), max_size=6)


@given(totals=TOTALS, share=st.integers(1, MILLION))
def test_the_water_level_is_the_largest_that_keeps_the_share(totals: list[int], share: int) -> None:
    def keeps(c: int) -> bool:
        return MILLION * c <= share * sum(min(total, c) for total in totals)

    level = water_level(totals, share)

    assert keeps(level)
    assert not any(keeps(c) for c in range(level + 1, sum(totals) + 2))


WEIGHTS = st.dictionaries(st.integers(0, 40), st.integers(50_000, MILLION), max_size=25)


@given(weights=WEIGHTS, spread=st.integers(1, 12), share=st.integers(1, MILLION), data=st.data())
def test_capping_keeps_shares_and_never_adds(
    weights: dict[int, int], spread: int, share: int, data: st.DataObject
) -> None:
    groups = {member: member * member % spread for member in weights}
    found = cap(weights, groups, share)
    shuffled = dict(data.draw(st.permutations(list(weights.items()))))

    assert cap(shuffled, groups, share) == found
    assert all(found[member] <= w for member, w in weights.items())
    limit = effective_share(share, len(set(groups.values())))
    total = sum(found.values())
    for group in set(groups.values()):
        held = sum(w for member, w in found.items() if groups[member] == group)
        # Each member's division may lose less than one.
        assert MILLION * held <= limit * (total + len(weights))


@given(weights=WEIGHTS, spread=st.integers(1, 12), share=st.integers(1, MILLION))
def test_capping_keeps_the_order_of_groups_and_a_fair_count_untouched(
    weights: dict[int, int], spread: int, share: int
) -> None:
    groups = {member: member % spread for member in weights}
    found = cap(weights, groups, share)
    before: dict[int, int] = {}
    after: dict[int, int] = {}
    for member, w in weights.items():
        before[groups[member]] = before.get(groups[member], 0) + w
        after[groups[member]] = after.get(groups[member], 0) + found[member]
    rising = sorted(before, key=before.__getitem__)
    for lighter, heavier in pairwise(rising):
        # Rounding of the heavier group's members loses less than one each.
        assert after[lighter] <= after[heavier] + len(weights)
    limit = effective_share(share, len(before))
    if all(MILLION * held <= limit * sum(before.values()) for held in before.values()):
        assert found == weights
