"""Local trust is computed on the spot where it is little, in a process where it is much."""

import threading

import pytest
import trio

from federation.protocol import Policy, World
from federation.protocol.local import look as plain_look
from federation.trust.eigentrust import Problem
from node.base.errors import NodeCode, RequestError
from node.partners import look
from node.runtime.reckoning import INLINE_NODES, Reckoner
from tests.builders import named
from tests.federation.protocol.town import Town


def crowded(world: World) -> World:
    """Give a graph so many agents that it is no small one."""
    for n in range(INLINE_NODES):
        world.state.graph.vouch(named("a", n), named("b", n), 1)
    return world


class Broken(Reckoner):
    """Answers nonsense."""

    def answer(self, problem: Problem) -> bytes:
        del problem
        return b"no trust"


@pytest.mark.trio
async def test_a_small_graph_needs_no_process() -> None:
    town = Town.of(1, 4)
    policy = Policy(seeds=frozenset({town.agent(1)}))

    def none_of_it() -> Reckoner:
        raise AssertionError("no process is needed")

    seen = await look(town.world, policy, reckoner=none_of_it)

    assert seen == plain_look(town.world().state, policy)


@pytest.mark.trio
async def test_a_large_graph_is_computed_beside_and_alike() -> None:
    town = Town.of(1, 4)
    world = crowded(town.world())
    policy = Policy(seeds=frozenset({town.agent(1)}))
    made: list[Reckoner] = []

    def reckoner() -> Reckoner:
        made.append(Reckoner())
        return made[-1]

    with trio.fail_after(60):
        seen = await look(lambda: world, policy, reckoner=reckoner)

    assert seen == plain_look(world.state, policy)
    (one,) = made
    assert (one.pids, one.failures) == ((), 0)


@pytest.mark.trio
async def test_trust_is_told_as_of_the_cut_that_it_was_asked_of() -> None:
    world = crowded(Town.of(1, 4).world())
    cut = world.state.cut

    class Slow(Reckoner):
        """Answers after the next cut has come."""

        def answer(self, problem: Problem) -> bytes:
            world.state.cut = cut + 1
            return super().answer(problem)

    with trio.fail_after(60):
        seen = await look(lambda: world, Policy(), reckoner=Slow)

    assert world.state.cut == cut + 1
    assert seen.cut == cut


@pytest.mark.trio
async def test_what_is_no_trust_is_refused() -> None:
    world = crowded(Town.of(1, 4).world())

    with pytest.raises(RequestError) as refused:
        await look(lambda: world, Policy(), reckoner=Broken)
    assert refused.value.code is NodeCode.BUSY


class Stuck(Reckoner):
    """Answers only when it is closed, as one whose process is frozen."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = threading.Event()

    def answer(self, problem: Problem) -> bytes:
        del problem
        self.closed.wait()
        raise EOFError

    def close(self) -> None:
        self.closed.set()


@pytest.mark.trio
async def test_what_takes_too_long_is_given_up_and_makes_room() -> None:
    world = crowded(Town.of(1, 4).world())
    made: list[Stuck] = []

    def stuck() -> Stuck:
        made.append(Stuck())
        return made[-1]

    with pytest.raises(RequestError) as refused, trio.fail_after(60):
        await look(lambda: world, Policy(), reckoner=stuck, within=0.2)

    assert refused.value.code is NodeCode.BUSY
    assert "longer than 0.2 s" in refused.value.why
    assert made[0].closed.is_set()
    with trio.fail_after(60):
        assert (await look(lambda: world, Policy())).trust.agents


@pytest.mark.trio
async def test_without_a_seed_nothing_is_computed() -> None:
    town = Town.of(1, 4)
    policy = Policy(observed=frozenset(town.founding.instances))
    seen = await look(town.world, policy)

    assert seen.trust.agents == {}
    assert set(seen.weights.values()) == {0}
