from typing import Any

import pytest
from msgspec.structs import replace

from federation.charter import Charter, Finding, FindingCode, Genesis, Severity, preset
from federation.charter.trust_findings import trust_findings
from tests.federation.charter.founding import founded, genesis_of


def charter_of(genesis: Genesis, **changes: Any) -> Charter:  # noqa: ANN401
    return founded("test", genesis, trust=replace(preset("test").trust, **changes))


def found(charter: Charter, code: FindingCode) -> list[Finding]:
    return [finding for finding in trust_findings(charter) if finding.code is code]


@pytest.mark.parametrize(
    ("founders", "warned"), [(24, True), (25, False), (200, False), (201, True)]
)
def test_members_outside_a_quarter_and_twice_the_seats_are_warned_of(
    founders: int, warned: bool
) -> None:
    assert bool(found(charter_of(genesis_of([founders])), FindingCode.SEATS)) is warned


def test_what_a_ticket_costs_and_brings_is_told_in_seats() -> None:
    (ticket,) = found(charter_of(genesis_of([100])), FindingCode.TICKET)

    assert ticket.severity is Severity.INFO
    assert "by an average seed brings one; at most 1999 agents" in ticket.what
    assert "a seat is 1/100 of all trust" in ticket.why
    assert "w_min / w_max of it: 50000 ppm" in ticket.why
    assert "one of 100 seeds carries 93750 ppm of a seat" in ticket.why


def test_how_many_must_judge_where_one_is_not_enough_is_told() -> None:
    (ticket,) = found(charter_of(genesis_of([200, 200])), FindingCode.TICKET)

    assert ticket.severity is Severity.INFO
    assert "by each of 3 average seeds" in ticket.what


def test_a_ticket_that_no_newcomer_could_get_is_warned_of() -> None:
    (ticket,) = found(charter_of(genesis_of([2]), seats=1, w_min=1_000_000), FindingCode.TICKET)

    # Two seeds pass on an eighth of three quarters of one half each: no whole seat.
    assert ticket.severity is Severity.WARNING
    assert "each of 22 average seeds" in ticket.what


def test_an_edge_narrower_than_a_ticket_takes_more_judgements() -> None:
    (ticket,) = found(charter_of(genesis_of([8]), kappa=1, w_min=499_000), FindingCode.TICKET)

    assert "by each of 2 average seeds" in ticket.what


@pytest.mark.parametrize(("founders", "warned"), [(499, False), (500, True)])
def test_seeds_that_may_fall_below_a_ticket_are_warned_of(founders: int, warned: bool) -> None:
    # A quarter of all trust shared by n seeds is a ticket while n is below 5 seats.
    seeds = found(charter_of(genesis_of([200, 200, founders - 400])), FindingCode.SEEDS)

    assert [finding.severity for finding in seeds] == [Severity.WARNING] * warned
    assert all("may fall below a ticket" in finding.what for finding in seeds)


@pytest.mark.parametrize(("named", "warned"), [(1, True), (2, True), (3, False), (None, False)])
def test_fewer_than_three_seeds_are_warned_of(named: int | None, warned: bool) -> None:
    genesis = genesis_of([5])
    seeds = named and tuple(founder.agent for founder in genesis.founders[:named])
    some = found(charter_of(replace(genesis, seeds=seeds)), FindingCode.SEEDS)

    assert bool(some) is warned
    assert all(f"at {named} of the founders" in finding.what for finding in some)


@pytest.mark.parametrize("kappa", [1, 16])
def test_what_one_edge_can_bring_is_told(kappa: int) -> None:
    (sybils,) = found(charter_of(genesis_of([100]), kappa=kappa), FindingCode.SYBILS)

    assert sybils.severity is Severity.INFO
    assert f"at most the weight of {kappa} seats, however many" in sybils.what


@pytest.mark.parametrize(("kappa", "tickets"), [(16, 320), (256, 1_999)])
def test_a_blend_is_said_to_bound_no_sybils(kappa: int, tickets: int) -> None:
    blend = charter_of(genesis_of([100]), voting="blend", kappa=kappa)
    (sybils,) = found(blend, FindingCode.SYBILS)

    assert sybils.severity is Severity.WARNING
    assert "nothing bounds what Sybils weigh" in sybils.what
    assert f"as many as {tickets} tickets" in sybils.why


@pytest.mark.parametrize(("competence", "warned"), [("audited", True), ("agreement", False)])
def test_audits_that_are_not_drawn_are_told_where_they_are_all_that_counts(
    competence: str, warned: bool
) -> None:
    audits = found(charter_of(genesis_of([100]), competence=competence), FindingCode.NO_AUDITS)

    assert [finding.severity for finding in audits] == [Severity.WARNING] * warned
    assert all("stays at the prior" in finding.why for finding in audits)
