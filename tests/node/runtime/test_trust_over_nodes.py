"""Real nodes whose graph of trust is too large for the loop: a process reckons it, and they agree."""

import os
from pathlib import Path

import pytest
import trio

from federation.protocol import epochs
from federation.protocol.invariants import broken
from federation.trust import Problem, reckon, unpack
from node.commands import unvouch, vouch
from node.runtime import Node
from node.runtime.reckoning import INLINE_EDGES
from tests.node.runtime.quick import quick
from tests.node.runtime.realm import until

AGENTS = 24
"""Each vouches for all that come after it, in no circle: 276 edges."""


def afresh(node: Node) -> dict[bytes, int]:
    """Reckon a node's graph as it is now by the reference."""
    state = node.world.state
    kept, state.reckoned = state.reckoned, None
    problem = epochs.reckoning(state, lambda _: None)
    state.reckoned = kept
    assert isinstance(problem, Problem)
    return state.graph.named(problem, unpack(problem, reckon(problem)))


def held(node: Node) -> dict[bytes, int]:
    return {name: one.trust for name, one in node.world.state.agents.items() if one.trust}


def reckoners() -> list[int]:
    """List the processes of this one that reckon trust."""
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            is_ours = f"\nPPid:\t{os.getpid()}\n" in line.with_name("status").read_text()
            if is_ours and b"reckoner.py" in line.read_bytes():
                found.append(int(line.parent.name))
        except OSError:
            # It ended meanwhile.
            continue
    return found


@pytest.mark.trio
async def test_nodes_agree_on_trust_that_processes_have_reckoned(tmp_path: Path) -> None:
    town = quick(tmp_path, instances=2, agents=AGENTS)
    everybody = [agent.id for agent in town.founded.agents]
    with trio.fail_after(120):
        async with town.nodes() as nodes:
            await until(lambda: all(node.health().state == "ready" for node in nodes))
            for place, node in enumerate(nodes):
                for number, agent in enumerate(town.agents_of(place)):
                    for other, whom in enumerate(everybody):
                        if other > everybody.index(agent):
                            weight = 1 + (7 * number + 3 * other + place) % 255
                            await vouch(node, agent, whom, weight=weight, reason="knows its work")
            goal = AGENTS * (AGENTS - 1) // 2
            assert goal > INLINE_EDGES
            for node in nodes:
                await until(
                    lambda node=node: (  # type: ignore[misc]
                        node.world.state.graph.edges == goal and held(node) == afresh(node)
                    ),
                    within=60,
                )
            assert len(reckoners()) == len(nodes)
            assert held(nodes[0]) == held(nodes[1])
            assert len(set(held(nodes[0]).values())) > AGENTS // 2
            await unvouch(nodes[0], town.agents_of(0)[0], everybody[1], reason="no longer")
            for node in nodes:
                await until(
                    lambda node=node: (  # type: ignore[misc]
                        node.world.state.graph.edges == goal - 1 and held(node) == afresh(node)
                    ),
                    within=60,
                )
                assert not broken(node.world)
        assert not reckoners()
        # A restart folds the tail of the log with the same process, and comes out the same.
        async with town.node(0) as again:
            assert held(again) == held(nodes[0])
            assert again.world.state.tick == nodes[0].world.state.tick
            assert not broken(again.world)
