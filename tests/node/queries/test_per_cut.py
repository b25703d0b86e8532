"""A look at everything is taken once for each cut of each world."""

from federation.protocol import World
from node.queries.per_cut import PerCut
from tests.federation.protocol.town import Town


def test_between_two_cuts_nothing_is_worked_out_again() -> None:
    asked: list[World] = []

    def work(world: World) -> int:
        asked.append(world)
        return len(asked)

    town = Town.of(2, 2)
    one, other = town.world(0), town.world(1)
    look = PerCut(work)

    assert [look(one), look(one), look(one)] == [1, 1, 1]
    town.settled()
    one.state.cut += 1
    assert [look(one), look(one)] == [2, 2]
    assert [look(other), look(one)] == [3, 4]
    one.state.graph.vouch(town.agent(0), town.agent(1), 9)
    assert look(one) == 5
    one.state.tick += 1
    assert look(one) == 6


def test_what_could_not_be_worked_out_is_tried_again() -> None:
    answers = iter(("", "found"))

    def work(world: World) -> str:
        del world
        if found := next(answers):
            return found
        raise LookupError("not yet")

    world = Town.of(1, 1).world()
    look = PerCut(work)
    failed = False
    try:
        look(world)
    except LookupError:
        failed = True

    assert failed
    assert look(world) == "found"
