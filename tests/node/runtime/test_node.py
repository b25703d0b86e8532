"""Three real nodes decide together, whatever each of them keeps keys of."""

from pathlib import Path

import pytest
import trio

from federation.certificates import Phase
from tests.node.runtime.quick import in_phase, propose, quick, vote
from tests.node.runtime.realm import until


@pytest.mark.trio
async def test_three_nodes_decide_on_an_artifact(tmp_path: Path) -> None:
    town = quick(tmp_path, instances=3, agents=6)
    author = town.agents_of(0)[0]
    with trio.fail_after(60):
        async with town.nodes() as nodes:
            await until(lambda: all(node.health().state == "ready" for node in nodes))
            proposed = await propose(nodes[0], author)
            for place, node in enumerate(nodes):
                name = await in_phase(node, proposed.id, Phase.COMMIT)
                for agent in town.agents_of(place):
                    if agent != author:
                        await vote(node, agent, name)
            for node in nodes:
                await until(
                    lambda node=node: (  # type: ignore[misc]
                        (found := node.world.state.artifacts.get(proposed.id)) and found.verdict
                    ),
                    within=30,
                )
            artifacts = [node.world.state.artifacts[proposed.id] for node in nodes]

    verdict = artifacts[0].verdict
    assert verdict is not None
    assert verdict.accepted
    assert len(verdict.ballots) == 5
    assert artifacts == [artifacts[0]] * 3
