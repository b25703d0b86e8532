from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.charter import preset
from federation.core import MILLION
from federation.trust import (
    as_heaviest,
    cap,
    capped,
    effective_share,
    half_level,
    level_of,
    stops_at_half,
    water_level,
)

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


# A cap takes at most half of what is counted.

SEAT = 1_000_000


def share_of(found: dict[str, int], *members: str) -> Fraction:
    return Fraction(sum(found[one] for one in members), sum(found.values()))


def test_dust_of_many_operators_does_not_push_the_honest_down_to_it() -> None:
    """Four operators of 25 seats; one fooled vouch brings sixteen strangers 0.05 seats each."""
    weights = {f"honest {n}": 25 * SEAT for n in range(4)} | {
        f"dust {n}": SEAT // 20 for n in range(16)
    }
    dust = [name for name in weights if name.startswith("dust")]
    groups = {name: name for name in weights}
    found = cap(weights, groups, 100_000)

    assert found["honest 0"] == 12_400_000
    assert all(found[name] == SEAT // 20 for name in dust)
    assert Fraction(15, 1_000) < share_of(found, *dust) < Fraction(2, 100)
    # At the water level 133,333 they would have three fifths.
    assert water_level(weights.values(), effective_share(100_000, 20)) == 133_333


def test_dust_over_operators_and_instances_gains_fourfold_at_the_most() -> None:
    weights, operators, instances = {}, {}, {}
    for n in range(4):
        name = b"honest %d" % n
        weights[name], operators[name], instances[name] = 25 * SEAT, name, b"i%d" % (n // 2)
    for n in range(64):
        name = b"dust %d" % n
        weights[name], operators[name], instances[name] = SEAT // 20, name, b"j%d" % n
    alone = _alone(weights)
    found = capped(
        TRUST, weights, models=alone, keepers=alone, operators=operators, instances=instances
    ).weights
    dust = [name for name in weights if name.startswith(b"dust")]
    before = Fraction(sum(weights[one] for one in dust), sum(weights.values()))
    after = Fraction(sum(found[one] for one in dust), sum(found.values()))

    assert after == 4 * before


def test_either_cap_that_stops_at_half_is_told() -> None:
    weights = {b"a": 45 * SEAT, b"b": 45 * SEAT} | {b"%d" % n: SEAT for n in range(10)}
    even = dict.fromkeys(weights, SEAT)
    alone = _alone(weights)
    one = dict.fromkeys(weights, b"one")

    def halved(
        weights: dict[bytes, int], operators: dict[bytes, bytes], instances: dict[bytes, bytes]
    ) -> bool:
        return capped(
            TRUST, weights, models=alone, keepers=alone, operators=operators, instances=instances
        ).halved

    assert halved(weights, alone, one)
    assert halved(weights, one, alone)
    assert not halved(weights, one, one)
    assert not halved(even, alone, alone)
    assert not halved({}, {}, {})


def test_a_giant_is_cut_though_it_lifts_the_mean_and_lifts_nobody_more_than_twofold() -> None:
    # 50 of 62 among twelve of 1. If only groups near the mean were counted, it alone would be one.
    weights = {"giant": 50 * SEAT} | {f"small {n}": SEAT for n in range(12)}
    found = cap(weights, {name: name for name in weights}, 100_000)

    assert found["giant"] == 19 * SEAT
    assert share_of(found, "giant") == Fraction(19, 31)
    assert share_of(found, "small 3") == 2 * share_of(weights, "small 3")


def test_two_heavy_groups_end_above_the_cap_where_it_would_take_more_than_half() -> None:
    weights = {"a": 35 * SEAT, "b": 35 * SEAT} | {f"small {n}": SEAT for n in range(30)}
    found = cap(weights, {name: name for name in weights}, 100_000)

    assert share_of(found, "a") == share_of(found, "b") == Fraction(20, 100)


@pytest.mark.parametrize(("held", "kept"), [(55, 10), (60, 20), (75, 50), (80, 60), (98, 96)])
def test_who_holds_more_than_half_keeps_what_is_above_it_twice(held: int, kept: int) -> None:
    weights = {"giant": held * SEAT} | {f"small {n}": SEAT for n in range(100 - held)}
    found = cap(weights, {name: name for name in weights}, 50_000)

    assert share_of(found, "giant") == Fraction(kept, 100)


@pytest.mark.parametrize(
    ("totals", "level"),
    [
        ([], 0),
        ([0, 0], 0),
        ([1], 1),
        ([5], 3),
        ([5, 5], 3),
        ([1, 1, 1, 97], 47),
        ([25_000_000] * 4 + [50_000] * 16, 12_400_000),
        ([2**80, 1], 2**79),
    ],
)
def test_the_half_level_leaves_half(totals: list[int], level: int) -> None:
    assert half_level(totals) == level


def _alone(weights: dict[bytes, int]) -> dict[bytes, bytes]:
    return {agent: agent for agent in weights}


def test_operators_are_capped_before_instances() -> None:
    weights = {bytes([n]): 700_000 for n in range(9)}
    operators = {agent: b"o" if agent < bytes([6]) else agent for agent in weights}
    instances = {agent: b"i" if agent < bytes([7]) else agent for agent in weights}
    alone = _alone(weights)
    found = capped(
        TRUST, weights, models=alone, keepers=alone, operators=operators, instances=instances
    ).weights
    by_operator = cap(weights, operators, TRUST.operator_cap)

    assert found == cap(by_operator, instances, TRUST.instance_cap)
    assert found != cap(cap(weights, instances, TRUST.instance_cap), operators, TRUST.operator_cap)


def test_seven_ballots_of_fifty_one_equal_founders_are_capped_at_two_sevenths() -> None:
    # One of three instances has five of the seven: 2/3 of the weight at most, rounded down.
    weights = {bytes([n]): 700_000 for n in range(7)}
    alone = _alone(weights)
    instances = {agent: b"i" if agent < bytes([5]) else agent for agent in weights}

    def count(operators: dict[bytes, bytes], instances: dict[bytes, bytes]) -> list[int]:
        return list(
            capped(
                TRUST,
                weights,
                models=alone,
                keepers=alone,
                operators=operators,
                instances=instances,
            ).weights.values()
        )

    assert count(alone, alone) == [700_000] * 7
    assert count(alone, instances) == [559_998] * 5 + [700_000] * 2
    # Two of one operator hold 2/6 of what six operators cast: within the cap.
    two = alone | {bytes([1]): bytes([0])}
    assert effective_share(TRUST.operator_cap, 6) == 333_333
    assert count(two, alone) == [700_000] * 7
    three = two | {bytes([2]): bytes([0])}
    assert count(three, alone) == [622_222] * 3 + [700_000] * 4


def test_clones_share_the_weight_of_the_heaviest() -> None:
    weights = {b"a": 700_000, b"b": 600_000, b"c": 100_000, b"d": 700_000}

    assert as_heaviest(weights, {b"a": 1, b"b": 1, b"c": 1, b"d": 2}, own=weights) == {
        b"a": 350_000, b"b": 300_000, b"c": 50_000, b"d": 700_000
    }  # fmt: skip


def test_clones_without_weight_take_nothing_from_anybody() -> None:
    for weights in ({b"a": 7, b"b": 0}, {b"a": 0, b"b": 0}):
        assert as_heaviest(weights, {b"a": 1, b"b": 1}, own=weights) == weights


def test_clones_lose_before_it_is_asked_what_their_operator_holds() -> None:
    # Twelve clones of one operator beside three others: one voice of four, so no cap binds. They
    # share once, even if they are clones by both signs.
    weights = {bytes([n]): 700_000 for n in range(15)}
    alone = _alone(weights)
    clones = {agent: b"o" if agent < bytes([12]) else agent for agent in weights}

    for models, keepers in ((clones, alone), (alone, clones), (clones, clones)):
        found = capped(
            TRUST, weights, models=models, keepers=keepers, operators=clones, instances=clones
        ).weights
        assert list(found.values()) == [58_333] * 12 + [700_000] * 3


def test_who_copies_a_declaration_does_not_tie_its_own_clones_to_the_copied() -> None:
    # One operator keeps two agents; each copies the declaration of a stranger.
    weights = {b"x1": 50_000, b"x2": 50_000, b"ann": 700_000, b"ben": 700_000}
    models = {b"x1": b"A", b"x2": b"B", b"ann": b"A", b"ben": b"B"}
    keepers = {b"x1": b"x", b"x2": b"x", b"ann": b"ann", b"ben": b"ben"}
    alone = _alone(weights)
    found = capped(
        TRUST, weights, models=models, keepers=keepers, operators=alone, instances=alone
    ).weights

    assert found[b"ann"] == found[b"ben"] == 700_000 * 700_000 // 750_000


TOTALS = st.lists(st.integers(0, 60), max_size=6)


@given(totals=TOTALS, share=st.integers(1, MILLION))
def test_the_water_level_is_the_largest_that_keeps_the_share(totals: list[int], share: int) -> None:
    def keeps(c: int) -> bool:
        return MILLION * c <= share * sum(min(total, c) for total in totals)

    level = water_level(totals, share)

    assert keeps(level)
    assert not any(keeps(c) for c in range(level + 1, sum(totals) + 2))


HEAVY = st.lists(st.integers(0, 60) | st.integers(0, 2**70), max_size=12)


@given(totals=HEAVY, data=st.data())
def test_the_half_level_is_the_smallest_that_leaves_half(
    totals: list[int], data: st.DataObject
) -> None:
    def leaves(c: int) -> bool:
        return 2 * sum(min(total, c) for total in totals) >= sum(totals)

    level = half_level(totals)

    assert type(level) is int
    assert leaves(level)
    assert level == 0 or not leaves(level - 1)
    assert half_level(data.draw(st.permutations(totals))) == level
    assert half_level([*totals, 0]) == level


@given(totals=HEAVY, share=st.integers(1, MILLION), data=st.data())
def test_the_level_is_the_larger_of_the_two(
    totals: list[int], share: int, data: st.DataObject
) -> None:
    level = level_of(totals, share)
    counted = [total for total in totals if total]
    water = water_level(counted, effective_share(share, len(counted)))

    assert type(level) is int
    assert level == max(water, half_level(counted))
    assert level_of(data.draw(st.permutations(totals)), share) == level
    assert level_of([*totals, 0, 0], share) == level


# Few heavy and many light, or anything: the first is where half binds.
MIXED = st.builds(
    lambda heavy, light, any_: dict(enumerate([*heavy, *light, *any_])),
    st.lists(st.integers(10**6, 10**9), max_size=4),
    st.lists(st.integers(0, 10**5), max_size=40),
    st.lists(st.integers(0, 10**9), max_size=6),
)


@given(weights=MIXED, spread=st.integers(1, 50), share=st.integers(1, MILLION))
def test_no_share_more_than_doubles_by_a_cap(
    weights: dict[int, int], spread: int, share: int
) -> None:
    groups = {member: member % spread for member in weights}
    found = cap(weights, groups, share)
    before, after = sum(weights.values()), sum(found.values())

    # Each member's division may lose less than one.
    assert 2 * (after + len(weights)) >= before
    for member, w in weights.items():
        assert found[member] * before <= 2 * w * (after + len(weights))
    for group in set(groups.values()):
        own = [member for member in weights if groups[member] == group]
        held, kept = sum(weights[one] for one in own), sum(found[one] for one in own)
        assert kept * before <= 2 * held * (after + len(weights))


@given(weights=MIXED, share=st.integers(1, MILLION))
def test_the_cap_holds_exactly_where_it_takes_no_more_than_half(
    weights: dict[int, int], share: int
) -> None:
    totals = [w for w in weights.values() if w]
    limit = effective_share(share, len(totals))
    level = level_of(totals, share)
    counted = sum(min(total, level) for total in totals)
    heaviest = min(level, max(totals, default=0))
    found = cap(weights, {member: member for member in weights}, share)

    assert found == {member: min(w, level) for member, w in weights.items()}
    if not stops_at_half([*totals, 0], share):
        assert MILLION * heaviest <= limit * counted
    else:
        # Then the cap would have left less than half, and this leaves half and no more than that
        # but for the rounding of the level.
        assert 2 * counted >= sum(totals) > 2 * (counted - len(totals))


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
    sums = {
        group: sum(w for member, w in weights.items() if groups[member] == group)
        for group in set(groups.values())
    }
    limit = effective_share(share, len(sums))
    total = sum(found.values())
    halves = half_level(sums.values())
    for group in sums:
        held = sum(w for member, w in found.items() if groups[member] == group)
        # Each member's division may lose less than one.
        assert held <= halves or MILLION * held <= limit * (total + len(weights))


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


AGENTS = st.integers(0, 40).map(lambda n: bytes([n]))
CAST = st.dictionaries(AGENTS, st.integers(0, MILLION), max_size=25)
GROUP = st.integers(0, 6).map(lambda n: bytes([n]))


@given(weights=CAST, groups=st.fixed_dictionaries({bytes([n]): GROUP for n in range(41)}))
def test_a_cluster_never_outweighs_its_heaviest_member(
    weights: dict[bytes, int], groups: dict[bytes, bytes]
) -> None:
    found = as_heaviest(weights, groups, own=weights)

    assert as_heaviest(found, groups, own=weights) == found
    assert all(found[agent] <= w for agent, w in weights.items())
    for group in {groups[agent] for agent in weights}:
        members = [agent for agent in weights if groups[agent] == group]
        heaviest = max(weights[agent] for agent in members)
        # Nothing is lost but by rounding: the cluster counts as one, not as less.
        total = sum(found[agent] for agent in members)
        assert heaviest - len(members) < total <= heaviest


@given(weights=CAST, data=st.data())
def test_all_caps_together_hold_and_leave_something(
    weights: dict[bytes, int], data: st.DataObject
) -> None:
    models, keepers, operators, instances = (
        {agent: data.draw(GROUP) for agent in weights} for _ in range(4)
    )
    found = capped(
        TRUST, weights, models=models, keepers=keepers, operators=operators, instances=instances
    ).weights
    total = sum(found.values())

    assert all(0 <= found[agent] <= w for agent, w in weights.items())
    assert list(found) == list(weights)
    # Feasible always: whoever counts keeps a voice, up to the rounding of each of four steps.
    if max(weights.values(), default=0) > 1_000:
        assert total > 0
    for groups in (models, keepers):
        for group in set(groups.values()):
            members = [agent for agent in weights if groups[agent] == group]
            assert sum(found[one] for one in members) <= max(weights[one] for one in members)
    limit = effective_share(TRUST.instance_cap, len({instances[a] for a, w in found.items() if w}))
    share = {
        group: sum(w for agent, w in found.items() if instances[agent] == group)
        for group in set(instances.values())
    }
    # What an instance holds beyond its cap is what the cap could not take without taking over half.
    by_operator = cap(
        as_heaviest(as_heaviest(weights, models, own=weights), keepers, own=weights),
        operators,
        TRUST.operator_cap,
    )
    halves = half_level(
        sum(w for agent, w in by_operator.items() if instances[agent] == group) for group in share
    )
    for held in share.values():
        assert held <= halves or MILLION * held <= limit * (total + len(weights))
