"""Violations as pages and lists, and what operators are told."""

import pytest

from federation.protocol import discipline
from federation.records import Health
from federation.sanctions import Event, RuleId, ViolationClass
from node.base.errors import RequestError
from node.queries import sanctions
from node.queries.sanctions import NoticeCause, listing, named, notices, notices_since
from tests.federation.protocol.docket import Docket
from tests.node.queries.scenes import plain


def test_a_violation_says_what_it_rests_on_and_how_to_appeal() -> None:
    docket = Docket(window=10)
    docket.frivolous(1)
    docket.tick()
    (one,) = docket.state.discipline.of(docket.name(1))
    found = sanctions.violation_page(docket.world, one)

    assert (found.rule, found.kind, found.points) == (RuleId.FRIVOLOUS, ViolationClass.CONDUCT, 1)
    assert (found.tick, found.until, found.counts, found.void) == (1, 11, True, False)
    assert found.agent.name == "agent 1"
    assert found.operator.id == docket.operator(1).hex()
    assert found.evidence == tuple(name.hex() for name in one.evidence)
    assert found.may_appeal
    assert "sanction.appeal" in found.how_to_appeal
    assert isinstance(plain(found), dict)

    docket.appeal(1, one.id)
    appealed = sanctions.violation_page(docket.world, docket.state.discipline.violations[one.id])
    assert appealed.appeal is not None
    assert not appealed.may_appeal


def test_the_list_is_newest_first_and_goes_on_behind_its_last_row() -> None:
    docket = Docket()
    for who in (1, 2, 3):
        docket.frivolous(who)
        docket.tick()
    first = listing(docket.world, most=2)
    assert [one.agent.name for one in first.items] == ["agent 3", "agent 2"]
    assert first.next is not None
    second = listing(docket.world, after=first.next, most=2)

    assert [one.agent.name for one in second.items] == ["agent 1"]
    assert second.next is None
    assert listing(Docket().world).items == ()


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("", "BAD_REQUEST"),
        ("abc", "BAD_REQUEST"),
        ("nothex", "BAD_REQUEST"),
        ("0" * 64, "NOT_FOUND"),
    ],
)
def test_a_violation_is_found_by_its_id_or_the_beginning_of_it(said: str, code: str) -> None:
    docket = Docket()
    docket.frivolous(1)
    (one,) = docket.state.discipline.of(docket.name(1))

    assert named(docket.world, one.id.hex()[:8].upper()).id == one.id
    with pytest.raises(RequestError) as refused:
        named(docket.world, said)
    assert refused.value.code == code


def test_an_operator_hears_of_its_agents_from_probation_up_and_in_quarantine() -> None:
    docket = Docket(window=10, quarantine=5)
    docket.frivolous(1, times=4)
    docket.frivolous(2, times=6)
    docket.frivolous(3, times=10)
    docket.frivolous(6, times=16)
    docket.says(5, Health.BROKEN)
    docket.tick(by=2)
    operators = {who: notices(docket.world, docket.operator(who)).items for who in range(4)}

    assert operators[0] == ()
    assert [(one.agent.name, one.cause) for one in operators[1]] == [
        ("agent 5", NoticeCause.QUARANTINE)
    ]
    assert {(one.agent.name, one.cause, one.ends) for one in operators[2]} == {
        ("agent 2", NoticeCause.PROBATION, 11),
        ("agent 6", NoticeCause.BAN, None),
    }
    (suspended,) = operators[3]
    assert (suspended.cause, suspended.since, suspended.points) == (NoticeCause.SUSPENSION, 1, 10)
    assert len(suspended.violations) == 10
    assert "repaired" in suspended.says


def test_whoever_sends_notices_asks_for_those_of_the_newest_tick() -> None:
    docket = Docket()
    docket.frivolous(2, times=6)
    docket.tick()
    docket.frivolous(3, times=6)
    docket.tick()

    assert [one.agent.name for one in notices_since(docket.world, 2)] == ["agent 3"]
    assert [one.agent.name for one in notices_since(docket.world, 1)] == ["agent 3", "agent 2"]
    assert notices_since(docket.world, 3) == ()


def test_an_identity_that_is_no_operator_has_no_notices() -> None:
    docket = Docket()

    with pytest.raises(RequestError) as refused:
        notices(docket.world, docket.name(1))
    assert refused.value.code == "NOT_FOUND"


def test_a_quarantine_says_what_ends_it() -> None:
    docket = Docket(quarantine=5, extensions=1)
    docket.says(5, Health.BROKEN)
    docket.tick()
    one = docket.state.discipline.quarantines[docket.name(5)]
    found = sanctions.quarantine_page(docket.world, one)

    assert (found.event, found.since, found.until, found.extended) == (Event.BROKEN, 1, 6, 0)
    assert "extended" in found.says
    docket.tick(by=5)
    longer = docket.state.discipline.quarantines[docket.name(5)]
    assert "violation" in sanctions.quarantine_page(docket.world, longer).says


def test_a_void_violation_stays_in_the_list() -> None:
    docket = Docket()
    docket.frivolous(1)
    (one,) = docket.state.discipline.of(docket.name(1))
    discipline.reclassify(docket.state, one.id)

    (row,) = listing(docket.world).items
    assert (row.void, row.counts, row.may_appeal) == (True, False, False)
