"""A new agent is kept, admitted, and takes part from the next tick on."""

import threading
from pathlib import Path

import pytest
import trio

from federation.core import Code, RefusedError
from federation.records import Role
from node.base.errors import NodeCode, RequestError
from node.base.paths import DataDir
from node.base.settings import Settings
from node.keys import Keystore
from node.keys.directory import KeyDirectory
from node.setup.instance import write_instance
from tests.node.runtime.quick import propose, quick
from tests.node.runtime.realm import CHEAP, PASSPHRASE, Realm, until


@pytest.mark.trio
async def test_a_new_agent_proposes_after_the_next_cut(tmp_path: Path) -> None:
    # Its admission calls a cut, which may not come before a moment after the last.
    town = quick(tmp_path, timing={"epoch": 2_000, "cut_min": 2_000})
    with trio.fail_after(30):
        async with town.node(0) as node:
            await until(lambda: node.world.state.cut)
            agent = await node.admit("newcomer")
            with pytest.raises(RefusedError) as early:
                await propose(node, agent)
            await until(lambda: agent in node.world.state.agents)
            proposed = await propose(node, agent)
            await until(lambda: proposed.id in node.world.state.artifacts)

            assert early.value.code is Code.NOT_ADMITTED
            assert node.world.is_admitted(agent)


@pytest.mark.trio
async def test_it_is_kept_and_admitted_after_a_restart(tmp_path: Path) -> None:
    town = quick(tmp_path)
    with trio.fail_after(30):
        async with town.node(0) as node:
            agents = [await node.admit(f"newcomer {number}") for number in range(3)]
        keystore = town.keystore(0)
        async with town.node(0) as node:
            await until(lambda: all(node.world.is_admitted(agent) for agent in agents))
            proposed = await propose(node, agents[2])
            await until(lambda: proposed.id in node.world.state.artifacts)

    names = {kept.id: (kept.name, kept.role) for kept in keystore.identities()}
    assert [names[agent] for agent in agents] == [
        (f"newcomer {number}", Role.AGENT) for number in range(3)
    ]


@pytest.mark.trio
async def test_agents_that_are_admitted_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    town = quick(tmp_path)
    made = set[bytes]()
    with trio.fail_after(30):
        async with town.node(0) as node:

            async def admit(number: int) -> None:
                made.add(await node.admit(f"newcomer {number}"))

            async with trio.open_nursery() as nursery:
                for number in range(3):
                    nursery.start_soon(admit, number)
            await until(lambda: all(node.world.is_admitted(agent) for agent in made))

    assert len(made) == 3
    assert made <= {one.id for one in town.keystore(0).identities()}


@pytest.mark.trio
async def test_a_command_that_works_on_the_keys_holds_up_nothing_but_the_admission(
    tmp_path: Path,
) -> None:
    town = quick(tmp_path)
    held, release = threading.Event(), threading.Event()
    in_time: list[bool] = []

    def command() -> None:
        with KeyDirectory(town.places[0].keys).hold():
            held.set()
            # It gives up by itself: an event loop that is held up could not tell it to.
            in_time.append(release.wait(5))

    with trio.fail_after(30):
        async with town.node(0) as node, trio.open_nursery() as nursery:
            nursery.start_soon(trio.to_thread.run_sync, command)
            await trio.to_thread.run_sync(held.wait)
            admitted = list[bytes]()

            async def admit() -> None:
                admitted.append(await node.admit("newcomer"))

            nursery.start_soon(admit)
            tick = node.world.state.tick
            await until(lambda: node.world.state.tick > tick)
            assert not admitted
            release.set()
            await until(lambda: bool(admitted))

    assert in_time == [True]


@pytest.mark.trio
async def test_without_the_operators_key_it_refuses_and_keeps_nothing(tmp_path: Path) -> None:
    town = quick(tmp_path)
    place = write_instance(
        tmp_path / "without",
        town.founded,
        passphrase=PASSPHRASE,
        settings=Settings(name="w", http_port=0, listen=("/ip4/127.0.0.1/tcp/0",)),
        keep=(town.founded.instances[0], *town.founded.agents),
        cost=CHEAP,
    )
    lacking = Realm(founded=town.founded, places=(place,))
    before = len(lacking.keystore(0).identities())
    with trio.fail_after(30):
        async with lacking.node(0) as node:
            records = len(node.world.log)
            with pytest.raises(RequestError) as refused:
                await node.admit("newcomer")
            assert len(node.world.log) == records

    assert refused.value.code is NodeCode.NOT_IN_CUSTODY
    assert len(lacking.keystore(0).identities()) == before


@pytest.mark.trio
async def test_an_instance_that_is_not_settled_admits_nobody_and_keeps_nothing(
    tmp_path: Path,
) -> None:
    town = quick(tmp_path, instances=3, agents=3)
    with trio.fail_after(30):
        async with town.node(0) as node:
            with pytest.raises(RequestError) as refused:
                await node.admit("newcomer")
            ours = node.world.log.count_of(node.instance)
        async with town.node(0) as node:
            assert node.world.log.count_of(node.instance) == ours

    assert refused.value.code is NodeCode.SETTLING
    assert {one.name for one in kept(town.places[0])} == {"instance 0", "host 0", "agent 0"}


def kept(place: DataDir) -> tuple[object, ...]:
    return Keystore.unlock(place.keys, PASSPHRASE, least=CHEAP).identities()
