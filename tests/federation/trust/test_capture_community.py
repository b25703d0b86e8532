"""Whom an attacker meets in an imagined realm."""

from msgspec.structs import replace

from federation.charter import Charter
from federation.core import MILLION
from federation.trust import M, trust_ref
from federation.trust.capture_community import (
    MOST_TRUSTED,
    firm_weight,
    first_day_community,
    grown_community,
)
from node.cli.charter_cmd import imagined


def charter(preset: str = "community", *, operators: int = 4, founders: int = 12) -> Charter:
    return imagined(preset, operators=operators, founders=founders)


def with_trust(one: Charter, **changes: object) -> Charter:
    return replace(one, trust=replace(one.trust, **changes))


def test_a_grown_realm_has_its_seats_dealt_evenly() -> None:
    found = grown_community(charter(operators=3))

    assert [cell.weight for cell in found.voters.cells] == [33_333_333] * 3
    assert (found.voters.instances, found.door.agents, found.door.bits) == (3, 100, 9)
    assert found.trusts == (trust_ref(charter().trust),) * 100


def test_its_seeds_keep_their_weight_whatever_is_taken_from_the_rest() -> None:
    # Twelve seeds share a quarter of 100 seats: two seats each, and one is a full vote.
    found = grown_community(charter(operators=4))

    assert [cell.firm for cell in found.voters.cells] == [3_000_000] * 4


def test_a_first_day_has_the_founders_alone() -> None:
    found = first_day_community(charter(operators=5))

    assert sorted(cell.weight // MILLION for cell in found.voters.cells) == [2, 2, 2, 3, 3]
    assert all(cell.firm == cell.weight for cell in found.voters.cells)
    assert found.door.agents == 12
    assert found.trusts == (M // 12,) * 12


def test_founders_that_are_no_seeds_or_of_tier_0_weigh_nothing() -> None:
    one = charter()
    founders = one.genesis.founders
    seeds = tuple(sorted(founder.agent for founder in founders[:5]))
    zero = tuple(replace(f, tier=0) if f in founders[:2] else f for f in founders)
    genesis = replace(one.genesis, seeds=seeds, founders=zero)
    found = first_day_community(replace(one, genesis=genesis))

    assert found.voters.weight == 3 * MILLION
    assert len(found.trusts) == 5
    assert sum(
        cell.firm for cell in grown_community(replace(one, genesis=genesis)).voters.cells
    ) == (3 * MILLION)


def test_seeds_below_a_ticket_weigh_nothing() -> None:
    # With one seat in all, each of twelve holds a twelfth of it, and a ticket costs half of one.
    small = with_trust(charter(), seats=1, w_min=500_000)

    assert first_day_community(small).voters.weight == 0
    assert firm_weight(small, MILLION, competence=MILLION, is_seed=True) == 0


def test_what_is_firm_is_no_more_than_there_is() -> None:
    one = charter()

    assert firm_weight(one, 400_000, competence=700_000, is_seed=True) == 400_000
    assert firm_weight(one, MILLION, competence=700_000, is_seed=True) == 700_000
    assert firm_weight(one, MILLION, competence=MILLION, is_seed=False) == 0


def test_where_weight_is_no_trust_all_of_it_is_firm() -> None:
    blend = charter("released")

    assert firm_weight(blend, 123, competence=0, is_seed=False) == 123
    for found in (grown_community(blend), first_day_community(blend)):
        assert all(cell.firm == cell.weight for cell in found.voters.cells)


def test_an_operator_without_an_instance_is_admitted_by_another() -> None:
    one = charter(operators=4)
    owner = one.genesis.operators[0]
    rows = tuple(replace(row, operator=owner) for row in one.genesis.instances)
    found = grown_community(replace(one, genesis=replace(one.genesis, instances=rows)))

    assert [(cell.operator, cell.instance) for cell in found.voters.cells] == [
        *((0, place) for place in range(4)),
        *((operator, operator) for operator in (1, 2, 3)),
    ]


def test_no_more_agents_are_listed_than_are_looked_at() -> None:
    assert len(grown_community(with_trust(charter(), seats=10**6)).trusts) == MOST_TRUSTED
