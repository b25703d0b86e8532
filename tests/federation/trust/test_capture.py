"""The capture table, against brute force and against trust itself."""

from collections.abc import Iterable
from functools import partial
from itertools import pairwise, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.charter import PRESETS, Charter
from federation.core import MILLION, AgentId
from federation.trust import Graph, capped, edge_cap, reckon, unpack, weight
from federation.trust.capture import (
    CAPTURE_SHARES,
    Aim,
    CapturePlan,
    capture_plan,
    capture_reach,
    edge_worth,
    edges_worth,
    most_weight,
)
from federation.trust.capture_community import (
    Community,
    electorate_of,
    firm_weight,
    first_day_community,
    grown_community,
)
from federation.trust.capture_share import Cell, Electorate, share_of
from node.cli.charter_cmd import imagined
from tests.builders import named

COMMUNITY = imagined("community", operators=4, founders=12)


def with_trust(charter: Charter = COMMUNITY, **changes: object) -> Charter:
    return replace(charter, trust=replace(charter.trust, **changes))


def planned(
    charter: Charter, share: int, aim: Aim = Aim.FOOLED, community: Community | None = None
) -> CapturePlan:
    found = capture_plan(charter, community or grown_community(charter), share, aim)
    assert found is not None
    return found


# What trust itself gives to who fools some.


def attacked(
    charter: Charter, *, fooled: int, sybils: int, operators: int, seed: int, seeds_too: bool = True
) -> tuple[dict[AgentId, int], dict[AgentId, bytes], dict[AgentId, bytes]]:
    """Weigh everybody in a realm in which `fooled` edges lead to `sybils`; by real trust.

    Gives weights, operators and instances; names of honest agents come first. Everybody vouches as
    heavily as can be, so that a fooled vouch displaces no more than it brings.
    """
    random = Random(seed)
    honest = [named("honest", n) for n in range(30)]
    bad = [named("sybil", n) for n in range(sybils)]
    graph = Graph(charter.trust.approval)
    for by in honest:
        for other in random.sample(honest, 10):
            graph.vouch(by, other, 255)
    for at, by in enumerate(bad):
        for step in range(1, 10):
            graph.vouch(by, bad[(at + step) % sybils], 255)
    pairs = list(product(honest if seeds_too else honest[12:], bad))
    for by, target in random.sample(pairs, min(fooled, len(pairs))):
        graph.vouch(by, target, 255)
    problem = graph.problem(
        seeds=frozenset(honest[:12]), silent=frozenset(), edge_cap=edge_cap(charter.trust)
    )
    trust = graph.named(problem, unpack(problem, reckon(problem)))
    weights = {
        name: weight(charter.trust, t=trust.get(name, 0), competence=MILLION, r=MILLION)
        for name in (*honest, *bad)
    }
    owners = {name: named("operator", n % 4) for n, name in enumerate(honest)}
    owners |= {name: named("bad operator", n % operators) for n, name in enumerate(bad)}
    places = {name: named("instance", n % 4) for n, name in enumerate(honest)}
    places |= {name: named("instance", n // operators % 4) for n, name in enumerate(bad)}
    return weights, owners, places


def honest_before(charter: Charter, seed: int) -> Community:
    """Measure the same realm before anybody is fooled."""
    weights, owners, places = attacked(charter, fooled=0, sybils=0, operators=1, seed=seed)
    numbers = {name: n for n, name in enumerate(sorted({*owners.values(), *places.values()}))}
    at = {name: n for n, name in enumerate(sorted(set(places.values())))}
    seeds = {named("honest", n) for n in range(12)}
    return replace_voters(
        charter,
        (
            Cell(
                operator=numbers[owners[name]],
                instance=at[places[name]],
                weight=each,
                firm=firm_weight(charter, each, competence=MILLION, is_seed=name in seeds),
            )
            for name, each in weights.items()
        ),
    )


def replace_voters(charter: Charter, cells: Iterable[Cell]) -> Community:
    """Give a grown realm of four instances with other voters."""
    grown = grown_community(charter)
    voters = electorate_of(charter.trust, tuple(cells), instances=4)
    return Community(voters=voters, door=grown.door, trusts=grown.trusts)


@given(
    seed=st.integers(0, 2**32),
    fooled=st.integers(0, 40),
    sybils=st.integers(1, 60),
    operators=st.integers(1, 20),
    kappa=st.sampled_from((1, 2, 4, 16)),
    seats=st.sampled_from((30, 100, 300)),
)
def test_trust_gives_no_attacker_more_than_the_table_says(  # noqa: PLR0917 # by name
    seed: int, fooled: int, sybils: int, operators: int, kappa: int, seats: int
) -> None:
    charter = with_trust(kappa=kappa, seats=seats)
    weights, owners, places = attacked(
        charter, fooled=fooled, sybils=sybils, operators=operators, seed=seed
    )
    bad = [named("sybil", n) for n in range(sybils)]
    alone = {name: name for name in weights}
    counted = capped(
        charter.trust, weights, models=alone, keepers=alone, operators=owners, instances=places
    ).weights
    share = sum(counted[name] for name in bad) * MILLION // sum(counted.values())
    told = capture_reach(
        charter.trust, honest_before(charter, seed).voters, fooled=fooled, operators=operators
    )

    assert sum(weights[name] for name in bad) <= edges_worth(charter.trust, fooled)
    assert share <= told + 100  # millionths; ballots are rounded one by one


def test_without_a_fooled_vouch_a_thousand_identities_have_nothing() -> None:
    weights, _, _ = attacked(COMMUNITY, fooled=0, sybils=1_000, operators=300, seed=1)

    assert not any(weights[named("sybil", n)] for n in range(1_000))
    assert edges_worth(COMMUNITY.trust, 0) == 0
    assert (
        capture_reach(COMMUNITY.trust, grown_community(COMMUNITY).voters, fooled=0, operators=300)
        == 0
    )


# The table, against brute force.


def cheapest_by_force(charter: Charter, community: Community, share: int) -> tuple[int, int, int]:
    """Try all numbers of fooled vouches, then of operators, then of identities."""
    trust = charter.trust
    for fooled in range(1, 60):
        for operators in range(1, 60):
            most = edges_worth(trust, fooled)
            if share_of(community.voters, most, operators=operators, doors=None) < share:
                continue
            for identities in range(operators, 120):
                weighs = min(edges_worth(trust, fooled), identities * trust.w_max)
                enough = weighs >= operators * trust.w_min
                reached = share_of(community.voters, weighs, operators=operators, doors=None)
                if enough and reached >= share:
                    return fooled, operators, identities
    raise AssertionError


@pytest.mark.parametrize(
    ("operators", "kappa", "share"),
    [(1, 1, 100_000), (3, 2, 250_000), (4, 16, 333_333), (12, 4, 500_000), (12, 1, 100_000)],
)
def test_no_other_way_is_cheaper(operators: int, kappa: int, share: int) -> None:
    # Nobody is likelier to be fooled than proven: all trust is one agent's.
    charter = with_trust(imagined("community", operators=operators, founders=12), kappa=kappa)
    grown = grown_community(charter)
    community = Community(voters=grown.voters, door=grown.door, trusts=(2**62,) * 99)
    found = planned(charter, share, community=community)

    assert (found.fooled, found.operators, found.identities) == cheapest_by_force(
        charter, community, share
    )


def reach(voters: Electorate, weighs: int, operators: int, doors: int | None = None) -> int:
    return share_of(voters, weighs, operators=operators, doors=doors)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("operators", [1, 2, 4, 9, 12, 30])
def test_what_a_row_names_reaches_its_share_and_less_does_not(preset: str, operators: int) -> None:
    charter = imagined(preset, operators=operators, founders=max(12, operators))
    trust = charter.trust
    for community, aim, share in product(
        (grown_community(charter), first_day_community(charter)), Aim, CAPTURE_SHARES
    ):
        found = planned(charter, share, aim, community)
        reached = partial(reach, community.voters)

        assert found.weight <= found.identities * trust.w_max
        assert found.operators * trust.w_min <= found.weight <= edges_worth(trust, found.fooled)
        assert reached(found.weight, found.operators, found.instances) >= share
        assert found.likely is None or found.likely >= found.fooled
        if found.fooled > 1:
            assert found.weight > edges_worth(trust, found.fooled - 1)
        if found.weight > found.operators * trust.w_min:
            assert reached(found.weight - 1, found.operators) < share
        if found.instances > 1:
            assert reached(found.weight, found.operators, found.instances - 1) < share
        if aim is Aim.OPERATORS and found.operators > 1:
            assert reached(most_weight(trust), found.operators - 1) < share
        if aim is Aim.FOOLED and found.fooled > 1:
            less = edges_worth(trust, found.fooled - 1)
            assert all(reached(less, n) < share for n in range(1, less // trust.w_min + 1, 7))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("aim", Aim)
def test_a_larger_share_never_takes_less(preset: str, aim: Aim) -> None:
    for operators in (1, 4, 12):
        charter = imagined(preset, operators=operators, founders=12)
        rows = [planned(charter, share, aim) for share in range(20_000, 600_000, 37_000)]
        for less, more in pairwise(rows):
            if aim is Aim.OPERATORS:
                assert less.operators <= more.operators
                if less.operators < more.operators:
                    # Who may use one more may need less weight: the cap leaves two of them more.
                    continue
                assert less.weight <= more.weight
            assert less.fooled <= more.fooled
            assert (less.likely or 0) <= (more.likely or 10**9)


def test_a_smaller_kappa_makes_each_fooled_vouch_worth_less() -> None:
    rows = [
        planned(with_trust(kappa=kappa), 333_333, Aim.OPERATORS).fooled for kappa in (1, 2, 4, 16)
    ]

    assert rows == [34, 17, 9, 3]


def test_few_operators_are_worth_half_their_weight_to_many_small_ones() -> None:
    """Below 1 / operator_cap operators the honest are cut too, but to no less than half of all."""
    few = planned(COMMUNITY, 500_000)
    many = planned(imagined("community", operators=12, founders=12), 500_000)

    assert (few.fooled, few.operators, few.identities) == (2, 12, 25)
    assert (many.fooled, many.operators, many.identities) == (4, 4, 50)


@pytest.mark.parametrize("operators", [1, 4, 12, 30])
def test_what_any_operators_reach_is_fourfold_their_share_at_the_most(operators: int) -> None:
    charter = imagined("community", operators=operators, founders=30)
    voters = grown_community(charter).voters
    for fooled, others in product((1, 2, 3), (1, 4, 20, 100, 320)):
        weight = edges_worth(charter.trust, fooled)
        reached = capture_reach(charter.trust, voters, fooled=fooled, operators=others)
        # Trust is conserved: what they weigh the honest lose.
        assert reached <= 4 * weight * MILLION // voters.weight + 4


def test_with_one_operator_vouches_reach_no_more_than_the_cap_or_what_is_above_half_twice() -> None:
    for charter in (COMMUNITY, imagined("federation", operators=30, founders=30)):
        voters = grown_community(charter).voters
        honest = len({cell.operator for cell in voters.cells})
        most = max(100_000, 2 * MILLION // (honest + 1))

        # Each edge brings 16 of a hundred seats, and all trust that is not the seeds' is 75.
        for fooled, share in ((1, 160_000), (3, 480_000), (4, 640_000), (10**6, 750_000)):
            reached = capture_reach(charter.trust, voters, fooled=fooled, operators=1)
            assert reached <= max(most, 2 * share - MILLION) + 1
            assert reached >= min(most, share) - 1
        assert capture_reach(charter.trust, voters, fooled=10**6, operators=1) >= 500_000


def test_operators_without_growth_have_room_for_a_few_each() -> None:
    open_ = imagined("community", operators=12, founders=12)
    admission = replace(open_.admission, operator_growth=0, operator_agents=3)
    closed = replace(open_, admission=admission)
    found = planned(closed, 333_333, Aim.OPERATORS)
    voters = grown_community(closed).voters

    # With two thirds of all weight one operator holds a third: a cap takes at most half.
    assert planned(open_, 333_333, Aim.OPERATORS).operators == 1
    assert (found.operators, found.identities) == (12, 34)
    assert found.fast is not None
    assert reach(voters, 33 * MILLION, 11) < 333_333 <= reach(voters, 36 * MILLION, 12)


def test_what_nobody_can_reach_is_said_so() -> None:
    # Without a seed there is a seat and a half: one ticket, so one operator. It has three quarters
    # of the weight and, since a cap takes at most half, two of the remaining four.
    narrow = with_trust(w_min=MILLION, seats=2)
    grown = grown_community(narrow)

    assert most_weight(COMMUNITY.trust) == 75 * MILLION
    assert most_weight(narrow.trust) == 1_500_000
    for aim in Aim:
        assert capture_plan(narrow, grown, 500_000, aim) is not None
        assert capture_plan(narrow, grown, 510_000, aim) is None
        assert capture_plan(COMMUNITY, grown_community(COMMUNITY), MILLION, aim) is None
        # Of one seat they have three quarters: no ticket, and no weight.
        lone = with_trust(w_min=MILLION, seats=1)
        assert capture_plan(lone, grown_community(lone), 1, aim) is None


def test_blend_has_no_bound_to_rely_on_but_without_a_ticket_there_is_no_tier() -> None:
    blend = imagined("released", operators=4, founders=12)
    found = planned(blend, 500_000)

    assert edge_worth(blend.trust) == 1_999 * MILLION
    assert (found.fooled, found.identities) == (1, 100)
    assert edges_worth(blend.trust, 0) == 0


def test_the_likely_number_falls_with_the_trust_of_who_is_fooled() -> None:
    grown = grown_community(COMMUNITY)

    def likely(*trusts: int) -> int | None:
        community = Community(voters=grown.voters, door=grown.door, trusts=trusts)
        return planned(COMMUNITY, 333_333, Aim.OPERATORS, community).likely

    seat = 2**60 // 100
    assert likely(*[seat] * 100) == 89
    assert likely(*[10 * seat] * 10) == 9
    # Over one edge flows no more than the cap, whoever is fooled.
    assert likely(2**60) == likely(90 * seat) == 3
    assert likely(*[seat] * 11) is None
    assert likely() is None


def test_a_realm_that_nobody_honest_votes_in_is_anybodys() -> None:
    grown = grown_community(COMMUNITY)
    empty = Community(
        voters=electorate_of(COMMUNITY.trust, (), instances=1), door=grown.door, trusts=()
    )
    found = planned(COMMUNITY, 500_000, community=empty)

    assert (found.fooled, found.likely, found.operators, found.identities) == (1, None, 1, 1)


def test_times_and_work_are_those_of_the_pace() -> None:
    found = planned(COMMUNITY, 500_000, Aim.OPERATORS)

    assert found.fast is not None
    assert found.cheap is not None
    assert found.epochs == 2 + found.fast.epochs - 1
    assert found.cheap_epochs == 2 + found.cheap.epochs - 1
    assert found.cheap.hashes == 75 * 2_048 + 16_384
    assert found.fast.proofs == 76
