"""The timeline: in which cut and at which tick something came into the certified world."""

import pytest

from federation.certificates import CutValue
from node.queries import timeline
from node.queries.timeline import cut_value, cuts_of, tick_of
from tests.federation.protocol.town import Town


def test_the_cut_of_every_record_is_the_first_that_contains_it() -> None:
    town = Town.of(3, 6)
    town.propose(0, "First")
    world = town.world()
    before = set(ids(town))
    seen: dict[bytes, int] = {}
    for number in range(1, 4):
        town.in_cut(number)
        for here in world.positions.values():
            for held in world.log.path(here.head, -1):
                if held.id not in before:
                    seen.setdefault(held.id, world.state.cut)
        before.update(seen)
        town.propose(number, f"After cut {number}")

    assert len(set(seen.values())) > 1
    assert cuts_of(world, seen, first=1) == seen
    later = cuts_of(world, seen, first=2)
    assert later == {name: cut for name, cut in seen.items() if cut > 1}


def ids(town: Town) -> list[bytes]:
    return [record.id for record in town.founding.records]


def test_a_record_that_no_cut_contains_has_no_cut() -> None:
    town = Town.of(1, 1)
    town.in_cut(1)
    record = town.propose(0)

    assert cuts_of(town.world(), [record.id, bytes(32)], first=0) == {}


def test_ticks_are_counted_back_from_the_last_cut() -> None:
    town = Town.of(1, 1)
    world = town.world()
    ticks = {0: 0}
    for number in range(1, 5):
        town.in_cut(number)
        if number == 2:
            town.propose(0)
        ticks[number] = world.state.tick

    assert {number: tick_of(world, number) for number in ticks} == ticks
    assert len(set(ticks.values())) < len(ticks), "one of the cuts was no tick"
    assert tick_of(world, 5) is None


def test_ticks_of_cuts_long_past_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    town = Town.of(1, 1).in_cut(4)
    monkeypatch.setattr(timeline, "FAR", 2)

    assert tick_of(town.world(), 2) == 2
    assert tick_of(town.world(), 1) is None


def test_the_value_of_a_cut_is_found_by_its_number() -> None:
    town = Town.of(1, 1).in_cut(2)
    world = town.world()
    value = cut_value(world, 1)

    assert isinstance(value, CutValue)
    assert value.number == 1
    assert cut_value(world, 0) is None
    assert cut_value(world, 3) is None


def test_a_certificate_that_is_not_held_ends_the_count() -> None:
    town = Town.of(1, 1).in_cut(3)
    world = town.world()
    keys = list(world.certificates)
    for key in keys:
        del world.certificates[key]

    assert tick_of(world, 1) is None
    assert cuts_of(world, [world.positions[town.agent(0)].head], first=1) == {}
