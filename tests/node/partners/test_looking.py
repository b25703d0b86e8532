"""Local trust is computed on the spot where it is little, in a process where it is much."""

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
    assert len(made) == 2
    assert all(one.pids == () and one.failures == 0 for one in made)


@pytest.mark.trio
async def test_what_is_no_trust_is_refused() -> None:
    world = crowded(Town.of(1, 4).world())

    with pytest.raises(RequestError) as refused:
        await look(lambda: world, Policy(), reckoner=Broken)
    assert refused.value.code is NodeCode.BUSY


@pytest.mark.trio
async def test_without_a_seed_nothing_is_computed() -> None:
    town = Town.of(1, 4)
    policy = Policy(observed=frozenset(town.founding.instances))
    seen = await look(town.world, policy)

    assert seen.trust.agents == {}
    assert set(seen.weights.values()) == {0}
