import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.charter import Charter, preset
from federation.charter.tickets import FEWEST_EDGES, MASS, tickets_of
from federation.trust.eigentrust import (
    M,
    Problem,
    edge_cap,
    reckon,
    ticket_price,
    trust_ref,
    unpack,
)
from tests.federation.charter.founding import founded, genesis_of


def test_the_numbers_of_the_presets_are_those_of_the_design() -> None:
    tickets = tickets_of(founded("community", genesis_of([10] * 10)))

    assert tickets.seat == 2**60 // 100
    assert tickets.ticket == -(-tickets.seat * 50_000 // 1_000_000)
    assert tickets.seeds == 100
    # The first vouch by an average founder carries .094 of a seat: 3/4 of 1/8.
    assert tickets.judgement * 1_000 // tickets.seat == 93
    assert tickets.seeds_for_one == 1
    assert tickets.most == 1_999
    assert tickets.seed_least == MASS // 400


def test_named_seeds_share_the_trust_among_themselves() -> None:
    genesis = genesis_of([10])
    seeds = tuple(founder.agent for founder in genesis.founders[:4])
    tickets = tickets_of(founded("solo", replace(genesis, seeds=seeds)))

    assert tickets.seeds == 4
    assert tickets.seed_least == MASS // 16


def test_an_edge_carries_no_more_than_kappa_allows() -> None:
    trust = replace(preset("test").trust, kappa=1)
    tickets = tickets_of(founded("test", genesis_of([1]), trust=trust))

    assert tickets.judgement == tickets.seat // 4


def test_a_judgement_of_many_seeds_makes_a_ticket_where_one_is_too_little() -> None:
    tickets = tickets_of(founded("test", genesis_of([200, 200])))

    # 3/32 of a quarter of a seat is less than the twentieth that a ticket costs.
    assert tickets.seeds_for_one == 3


@settings(max_examples=60, deadline=None)
@given(
    seats=st.integers(1, 1_000_000),
    kappa=st.integers(1, 256),
    w_max=st.integers(1, 1_000_000),
    w_min=st.integers(1, 1_000_000),
    founders=st.integers(1, 40),
)
def test_the_numbers_are_those_of_the_computation_of_trust(
    *, seats: int, kappa: int, w_max: int, w_min: int, founders: int
) -> None:
    trust = replace(preset("test").trust, seats=seats, kappa=kappa, w_max=w_max, w_min=w_min)
    tickets = tickets_of(founded("test", genesis_of([founders]), trust=trust))

    assert (MASS, tickets.seat, tickets.ticket) == (M, trust_ref(trust), ticket_price(trust))
    assert 0 < tickets.judgement <= edge_cap(trust)
    assert tickets.judgement * FEWEST_EDGES <= MASS // founders
    assert tickets.seeds_for_one >= 1


def reckoned(charter: Charter, judges: int) -> int:
    """Compute the trust of one newcomer that so many of the founders judge, and nobody else."""
    founders = len(charter.genesis.founders)
    problem = Problem(
        nodes=founders + 1,
        sources=b"".join(judge.to_bytes(4, "little") for judge in range(judges)),
        targets=founders.to_bytes(4, "little") * judges,
        weights=bytes([charter.trust.approval]) * judges,
        seeds=tuple(range(founders)),
        silent=(),
        edge_cap=edge_cap(charter.trust),
    )
    return unpack(problem, reckon(problem))[founders]


@pytest.mark.parametrize(
    ("sizes", "changes"),
    [
        ([30], {}),
        ([200], {}),
        ([200, 200], {}),
        ([8], {"kappa": 1, "w_min": 300_000}),
        ([200], {"w_min": 500_000}),
    ],
)
def test_as_many_judgements_as_are_said_make_a_ticket_and_no_fewer(
    sizes: list[int], changes: dict[str, int]
) -> None:
    charter = founded("test", genesis_of(sizes), trust=replace(preset("test").trust, **changes))
    tickets = tickets_of(charter)
    needed = tickets.seeds_for_one

    assert reckoned(charter, needed) >= tickets.ticket
    assert reckoned(charter, needed - 1) < tickets.ticket
