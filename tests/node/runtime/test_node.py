"""Three real nodes in one process decide together."""

from pathlib import Path

import pytest
import trio

from federation.certificates import Phase
from federation.crypto import Ballot, Basis, Choice, Reason
from federation.protocol import custody
from federation.records import ArtifactText
from tests.node.runtime.realm import realm, until


@pytest.mark.trio
async def test_three_nodes_decide_on_an_artifact(tmp_path: Path) -> None:
    town = realm(tmp_path)
    async with town.nodes() as nodes:
        await until(lambda: all(node.health().state == "ready" for node in nodes))
        author = town.agents_of(0)[0]
        text = ArtifactText(title="t", prose="p", claims=("c",), falsification=("f",), sources=())
        proposed = await nodes[0].sign(
            author,
            lambda world, ring, now: custody.propose(
                world, ring, text, topics=("a/b",), salt=bytes(16), now=now
            ),
        )
        await until(lambda: all(node.world.rounds for node in nodes))
        (name,) = nodes[0].world.rounds
        print("round open", trio.current_time(), nodes[0].world.rounds[name].phase)
        await until(lambda: all(n.world.rounds[name].phase is Phase.COMMIT for n in nodes))
        ballot = Ballot(choice=Choice.FOR, reason=Reason.ACCURATE, basis=Basis.DERIVATION)
        for place, node in enumerate(nodes):
            for agent in town.agents_of(place):
                if agent != author:
                    await node.sign(
                        agent,
                        lambda world, ring, now: custody.cast(
                            world, ring, name, ballot,
                            nonce=node.entropy(32), salt=node.entropy(24), now=now,
                        ),
                    )
        await until(
            lambda: all(
                (a := n.world.state.artifacts.get(proposed.id)) and a.verdict for n in nodes
            )
        )

        assert len({n.world.state.artifacts[proposed.id].verdict for n in nodes}) == 1
