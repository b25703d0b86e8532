"""Sanctions are told to whom they hold down, and to whom has something to repair; once each."""

import msgspec

from federation.protocol import discipline
from federation.records import Health
from node.notification.notices import About, Notices
from node.notification.sanctions import of_sanctions
from node.store.notices import SaveNotice
from tests.federation.protocol.docket import REALM, Docket


def told(docket: Docket, since: int, instance: bytes | None = None) -> list[SaveNotice]:
    world = docket.world
    return list(of_sanctions(world, Notices(world, instance or REALM.instances[0], 1), since))


def why(one: SaveNotice) -> str:
    return msgspec.json.decode(one.body, type=About).why


def test_a_violation_and_the_warning_after_it_are_told_once() -> None:
    docket = Docket()
    docket.frivolous(1)
    early = told(docket, 0)
    docket.tick()
    first = told(docket, 0)
    assert told(docket, docket.state.tick) == []
    docket.frivolous(1)
    docket.tick()
    second = told(docket, docket.state.tick - 1)

    assert early == [], "it counts from the next tick on"
    assert [one.about for one in first] == ["violation"]
    assert [one.agent for one in first] == [docket.name(1)]
    assert "hardly any weight" in why(first[0])
    assert [one.about for one in second] == ["violation", f"level 1@{docket.state.tick}"]


def test_from_probation_on_the_operator_is_told_too() -> None:
    docket = Docket()
    for _ in range(6):
        docket.frivolous(1)
    docket.tick()
    rows = told(docket, 0)
    operators = [one for one in rows if one.agent == docket.operator(1)]

    assert [one.about for one in operators] == ["probation@1"]
    assert msgspec.json.decode(operators[0].body, type=About).agent == docket.name(1).hex()
    assert {one.agent for one in rows} == {docket.name(1), docket.operator(1)}


def test_a_quarantine_is_told_to_both() -> None:
    docket = Docket()
    docket.says(1, Health.BROKEN)
    docket.tick()
    assert discipline.held(docket.state, docket.name(1)).quarantined
    rows = told(docket, 0)

    assert {one.agent for one in rows} == {docket.name(1), docket.operator(1)}
    assert {one.about for one in rows} == {"quarantine@1"}


def test_another_instance_tells_nobody() -> None:
    docket = Docket()
    for _ in range(6):
        docket.frivolous(1)
    docket.tick()

    assert told(docket, 0, bytes(32)) == []
