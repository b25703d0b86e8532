import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.charter import preset
from federation.core import MILLION
from federation.trust import (
    Graph,
    M,
    blended,
    edge_cap,
    has_ticket,
    reckon,
    ticket_price,
    ticketed,
    trust_ref,
    unpack,
    weight,
)

TRUST = preset("community").trust
BLEND = replace(TRUST, voting="blend")
SEAT, PRICE = trust_ref(TRUST), ticket_price(TRUST)


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


def test_a_ticket_is_trust_of_at_least_its_price() -> None:
    assert has_ticket(TRUST, PRICE)
    assert not has_ticket(TRUST, PRICE - 1)


def test_nothing_is_no_ticket_even_where_tickets_are_free() -> None:
    free = replace(TRUST, w_min=1, w_max=MILLION, seats=1_000_000)

    assert has_ticket(free, ticket_price(free))
    assert not has_ticket(replace(free, w_min=0), 0)
    assert has_ticket(replace(free, w_min=0), 1)


def test_without_a_ticket_there_is_no_weight_and_with_one_there_is_the_least() -> None:
    assert weight(TRUST, t=0, competence=MILLION, r=MILLION) == 0
    assert weight(TRUST, t=PRICE - 1, competence=MILLION, r=MILLION) == 0
    assert weight(TRUST, t=PRICE, competence=700_000, r=0) == TRUST.w_min


def test_a_full_seat_weighs_its_competence_and_more_trust_adds_nothing() -> None:
    assert weight(TRUST, t=SEAT, competence=700_000, r=0) == 700_000
    assert weight(TRUST, t=M, competence=700_000, r=0) == 700_000


def test_reputation_does_not_enter_a_ticketed_weight_nor_competence_a_blended_one() -> None:
    assert weight(TRUST, t=SEAT, competence=700_000, r=1) == 700_000
    assert weight(BLEND, t=SEAT, competence=1, r=500_000) == 650_000


@pytest.mark.parametrize(
    ("t", "r", "plain", "squared"),
    [
        (0, 500_000, 350_000, 122_500),
        (SEAT, MILLION, MILLION, MILLION),
        (M, 800_000, 860_000, 739_600),
        # Half a seat is 499,999 ppm of one, rounded down.
        (SEAT // 2, 333_333, 383_332, 146_943),
        (0, 0, 50_000, 50_000),
        (0, 200_000, 140_000, 50_000),
    ],
)
def test_the_blend_is_the_papers_mixture(t: int, r: int, plain: int, squared: int) -> None:
    assert weight(BLEND, t=t, competence=0, r=r) == plain
    assert weight(replace(BLEND, squared=True), t=t, competence=0, r=r) == squared


def test_the_blend_lets_identities_without_any_trust_vote() -> None:
    # What the paper wants, and why the blend bounds no Sybils.
    assert blended(BLEND, r=500_000, seats=0) > BLEND.w_min
    assert weight(BLEND, t=0, competence=0, r=0) == BLEND.w_min


TRUSTS = st.integers(0, M) | st.integers(0, 2 * SEAT) | st.integers(PRICE - 3, PRICE + 3)


@given(competence=st.integers(1, MILLION), seats=st.integers(0, 10**9))
def test_a_ticket_holders_weight_stays_within_its_bounds(competence: int, seats: int) -> None:
    assert TRUST.w_min <= ticketed(TRUST, competence=competence, seats=seats) <= TRUST.w_max


@given(
    t=TRUSTS,
    competence=st.integers(1, MILLION),
    seats=st.integers(1, MILLION),
    least=st.integers(1, MILLION),
    most=st.integers(1, MILLION),
)
def test_weight_is_never_above_its_share_of_trust(
    t: int, competence: int, seats: int, least: int, most: int
) -> None:
    # The line on which the Sybil bound rests, for every charter.
    trust = replace(TRUST, seats=seats, w_min=min(least, most), w_max=max(least, most))
    found = weight(trust, t=t, competence=competence, r=MILLION)

    assert found * trust_ref(trust) <= trust.w_max * t


@given(seats=st.integers(1, MILLION), least=st.integers(1, MILLION), most=st.integers(1, MILLION))
def test_a_bare_ticket_of_any_charter_weighs_no_more_than_it_carries(
    seats: int, least: int, most: int
) -> None:
    trust = replace(TRUST, seats=seats, w_min=min(least, most), w_max=max(least, most))
    price = ticket_price(trust)
    found = weight(trust, t=price, competence=1, r=0)

    assert found == trust.w_min
    assert found * trust_ref(trust) <= trust.w_max * price
    assert not has_ticket(trust, price - 1)


@given(t=TRUSTS, more=TRUSTS, competence=st.integers(1, MILLION), r=st.integers(0, MILLION))
def test_more_trust_never_weighs_less(t: int, more: int, competence: int, r: int) -> None:
    for trust in (TRUST, BLEND, replace(BLEND, squared=True)):
        before = weight(trust, t=t, competence=competence, r=r)

        assert weight(trust, t=t + more, competence=competence, r=r) >= before


# The worked cases of the design.


def _reckoned(graph: Graph, seeds: list[bytes]) -> dict[bytes, int]:
    problem = graph.problem(seeds=seeds, silent=(), edge_cap=edge_cap(TRUST))
    return graph.named(problem, unpack(problem, reckon(problem)))


def _founders(count: int) -> list[bytes]:
    return [bytes([n]) * 32 for n in range(count)]


@pytest.mark.parametrize("vouch", [1, 100, 255])
def test_the_first_vouch_of_an_average_founder_is_a_ticket(vouch: int) -> None:
    newcomer = b"n" * 31 + b"!"
    seeds = _founders(TRUST.seats)
    graph = Graph(TRUST.approval)
    graph.vouch(seeds[3], newcomer, vouch)
    t = _reckoned(graph, seeds)[newcomer]

    # 3/4 of a seat over 8: .09375, and a little more since the founders hold what comes back.
    assert 0.093 < t / SEAT < 0.0945
    assert has_ticket(TRUST, t)
    assert TRUST.w_min <= weight(TRUST, t=t, competence=TRUST.prior_b, r=0) <= 66_000


def test_fifty_one_founders_of_a_realm_for_a_hundred_weigh_the_same_at_first() -> None:
    trusts = _reckoned(Graph(TRUST.approval), _founders(51))

    assert len(trusts) == 51
    assert {weight(TRUST, t=t, competence=TRUST.prior_b, r=0) for t in trusts.values()} == {700_000}
