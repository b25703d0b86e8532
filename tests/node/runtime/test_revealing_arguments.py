"""Sealed arguments open by themselves: after the certificate of the seals, also after a restart."""

from pathlib import Path

import pytest
import trio

from federation.certificates import Phase
from federation.records import Argue, Kind, Stance
from node.commands import argue, seal_argument
from node.runtime import Node
from tests.node.runtime.moot import AUTHOR, FIRST, moot
from tests.node.runtime.quick import in_phase, propose


def opened(node: Node, name: bytes) -> set[bytes]:
    """List who has opened a seal in a round."""
    return {
        one.author
        for one in node.world.log.by_round(name).get(Kind.ARGUE, ())
        if isinstance(one.body, Argue) and one.body.nonce is not None
    }


@pytest.mark.trio
async def test_seals_open_after_their_certificate_and_not_before(tmp_path: Path) -> None:
    town = moot(tmp_path, mode="sealed_first", seal=700)
    agents = town.agents_of(0)
    with trio.fail_after(40):
        async with town.node(0) as node:
            proposed = await propose(node, agents[AUTHOR])
            name = await in_phase(node, proposed.id, Phase.SEAL)
            for index in FIRST:
                note = f"Agent {index} looked first."
                await seal_argument(node, agents[index], name, stance=Stance.FOR, note=note)
            assert opened(node, name) == set()
            await in_phase(node, proposed.id, Phase.DELIBERATE)

            assert opened(node, name) == {agents[index] for index in FIRST}
            listed = node.world.rounds[name].finals[Phase.UNSEAL].records
            assert {record.author for record in listed} == opened(node, name)


@pytest.mark.trio
async def test_a_restart_between_seal_and_opening_loses_no_argument(tmp_path: Path) -> None:
    town = moot(tmp_path, mode="sealed_first", seal=2_500)
    agents = town.agents_of(0)
    with trio.fail_after(60):
        async with town.node(0) as node:
            # As if it were killed in the moment between the two.
            node.driver.listeners.clear()
            proposed = await propose(node, agents[AUTHOR])
            name = await in_phase(node, proposed.id, Phase.SEAL)
            await seal_argument(node, agents[1], name, stance=Stance.AGAINST, note="No.")
            await in_phase(node, proposed.id, Phase.UNSEAL)
            await node.flushed()
            assert opened(node, name) == set()
        async with town.node(0) as node:
            await in_phase(node, proposed.id, Phase.DELIBERATE)
            assert opened(node, name) == {agents[1]}


@pytest.mark.trio
async def test_who_has_argued_openly_has_its_seal_opened_all_the_same(tmp_path: Path) -> None:
    town = moot(tmp_path, mode="sealed_first", seal=600, deliberate=600)
    agents = town.agents_of(0)
    with trio.fail_after(60):
        async with town.node(0) as node:
            proposed = await propose(node, agents[AUTHOR])
            name = await in_phase(node, proposed.id, Phase.SEAL)
            await seal_argument(node, agents[1], name, stance=Stance.AGAINST, note="First.")
            await in_phase(node, proposed.id, Phase.DELIBERATE)
            await argue(node, agents[1], name, stance=Stance.AGAINST, note="And then.")
            await in_phase(node, proposed.id, Phase.COMMIT)

            finals = node.world.rounds[name].finals
            assert [len(finals[phase].records) for phase in (Phase.UNSEAL, Phase.DELIBERATE)] == [
                1,
                1,
            ]
