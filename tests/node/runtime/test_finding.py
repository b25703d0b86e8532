"""A near copy is found by its author's home and goes to a vote; nothing else is held up by that."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
import trio

from federation.artifacts import Flag
from federation.artifacts import State as ArtifactState
from federation.artifacts.near import likeness
from federation.certificates import Phase
from federation.charter import TopicClass
from federation.core import ArtifactId
from federation.protocol import custody
from federation.records import Kind, NearDuplicate, Record, wire
from node.commands.artifacts import Proposal, propose
from node.commands.subscriptions import subscribe
from node.queries.texts import shown
from node.runtime import Node
from node.runtime.revealing import keyring_of
from tests.node.runtime.quick import in_phase, quick
from tests.node.runtime.realm import until

ABOUT_WATER = (
    "Water boils at one hundred degrees Celsius at the pressure of the sea. On a mountain it "
    "boils at less, because the air presses less. Salt raises the point by about half a degree."
)
COPIED = ABOUT_WATER.replace("about half", "roughly half")
FAST = {"fast_low": 400, "topics": (TopicClass(prefix="notes", sensitivity="low"),)}


def proposal(prose: str = ABOUT_WATER, title: str = "Boiling water") -> Proposal:
    return Proposal(title=title, topics=("notes",), prose=prose)


@asynccontextmanager
async def standing(root: Path) -> AsyncIterator[tuple[Node, tuple[bytes, ...], ArtifactId]]:
    """Run a node whose low topics are watched, and where one artifact stands that nobody voted on."""
    town = quick(root, review=FAST)  # type: ignore[arg-type]
    agents = town.agents_of(0)
    async with town.node(0) as node:
        await until(lambda: node.health().state == "ready")
        for agent in agents[1:]:
            await subscribe(node, agent, topics=("notes",), keywords=())
        await until(
            lambda: all(node.world.state.agents[agent].offer for agent in agents[1:]), within=10
        )
        first = await propose(node, agents[0], proposal())
        await in_state(node, first, ArtifactState.ACTIVE)
        yield node, agents, first.id


async def in_state(node: Node, record: Record, state: ArtifactState) -> None:
    def has_come() -> bool:
        artifact = node.world.state.artifacts.get(record.id)
        return artifact is not None and artifact.state is state

    await until(has_come, within=20)


def findings(node: Node) -> list[NearDuplicate]:
    said = (record.body for record in node.world.log.by_kind(Kind.NEAR))
    return [body for body in said if isinstance(body, NearDuplicate)]


@pytest.mark.trio
async def test_a_near_copy_in_a_low_topic_is_voted_on_and_another_text_is_not(
    tmp_path: Path,
) -> None:
    with trio.fail_after(60):
        async with standing(tmp_path) as (node, agents, first):
            copy = await propose(node, agents[1], proposal(COPIED))
            other = await propose(
                node, agents[0], proposal("Iron rusts where it is wet.", "Rusting iron")
            )
            name = await in_phase(node, copy.id, Phase.COMMIT)
            await in_state(node, other, ArtifactState.ACTIVE)
            world = node.world
            pinned = world.rounds[name].pin.flags
            state = world.state.artifacts[copy.id].state
            refused = dict(world.state.refused)

    (said,) = findings(node)
    assert (said.artifact, said.of) == (copy.id, first)
    assert 950_000 <= said.likeness < 1_000_000
    assert pinned == {Flag.NEAR_DUPLICATE}
    assert state is ArtifactState.UNDER_REVIEW
    assert not refused


@pytest.mark.trio
async def test_a_copy_that_an_agent_has_signed_itself_is_found_too(tmp_path: Path) -> None:
    with trio.fail_after(60):
        async with standing(tmp_path) as (node, agents, first):
            keyring = keyring_of(node.world, node.keystore, agents[2])
            assert keyring is not None
            text = shown(node.world, first)[1]
            assert text is not None
            record = custody.propose(
                node.world,
                keyring,
                msgspec.structs.replace(text, prose=COPIED),
                topics=("notes",),
                salt=bytes(16),
                now=node.clock.wall(),
            )
            (receipt,) = await node.submit([wire(record)])
            await in_phase(node, record.id, Phase.COMMIT)

    assert receipt.stored
    assert [one.artifact for one in findings(node)] == [record.id]


@pytest.mark.trio
async def test_a_revision_of_the_text_that_it_resembles_is_no_near_duplicate(
    tmp_path: Path,
) -> None:
    with trio.fail_after(60):
        async with standing(tmp_path) as (node, agents, first):
            revised = await propose(node, agents[0], proposal(COPIED), revises=first)
            await in_state(node, revised, ArtifactState.ACTIVE)

    assert findings(node) == []


@pytest.mark.trio
async def test_who_says_the_same_twice_files_one_proposal_and_one_finding(tmp_path: Path) -> None:
    names = []
    with trio.fail_after(60):
        async with standing(tmp_path) as (node, agents, _), trio.open_nursery() as nursery:

            async def say() -> None:
                names.append((await propose(node, agents[1], proposal(COPIED))).id)

            for _ in range(4):
                nursery.start_soon(say)

    assert len(names) == 4
    assert len(set(names)) == 1
    assert len(findings(node)) == 1


def test_the_copy_of_these_tests_is_as_near_as_the_charter_asks() -> None:
    assert likeness(ABOUT_WATER, COPIED) >= 950_000
