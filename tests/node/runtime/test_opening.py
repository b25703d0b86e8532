"""A node comes up from its directory, and goes down without losing what it has answered."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from federation.protocol import custody
from federation.protocol import effects as fx
from federation.protocol.inputs import Arrived
from federation.records import AgentSubscribe
from node.base.clock import ClockState, SteadyClock
from node.base.errors import LockedError, NetworkError, NodeCode, NodeError, StoreError
from node.base.paths import DataDir
from node.base.settings import Settings
from node.keys import Keystore
from node.runtime import Node, opening
from node.runtime.opening import instance_of, jitter
from node.setup.instance import write_instance
from node.store import open_store
from tests.node.runtime.drive import break_disk
from tests.node.runtime.quick import agents_of, propose, quick
from tests.node.runtime.realm import CHEAP, PASSPHRASE, Realm, introduce, until


@contextmanager
def fails(kind: type[NodeError]) -> Iterator[list[NodeError]]:
    """Expect an error of a kind, by itself or in groups; gives it."""
    found: list[NodeError] = []
    try:
        yield found
    except kind as error:
        found.append(error)
    except BaseExceptionGroup as group:
        error: BaseException | None = group.subgroup(kind)
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        assert isinstance(error, NodeError)
        found.append(error)
    assert found, "nothing was raised"


# Coming up ----------------------------------------------------------------------------------------


@pytest.mark.trio
async def test_a_directory_without_an_instance_is_refused(tmp_path: Path) -> None:
    town = quick(tmp_path)
    nowhere = Realm(founded=town.founded, places=(DataDir(tmp_path),))
    with pytest.raises(NodeError) as refused:
        async with opening.open_node(nowhere.places[0], Settings(), town.keystore(0)):
            pytest.fail("it runs")  # pragma: no cover # it must not come to this

    assert refused.value.code is NodeCode.NOT_INITIALISED


@pytest.mark.trio
async def test_a_second_process_is_refused_with_the_pid_of_the_first(tmp_path: Path) -> None:
    town = quick(tmp_path)
    with trio.fail_after(20):
        async with town.node(0):
            with pytest.raises(LockedError, match=f"process {os.getpid()} "):
                async with town.node(0):
                    pytest.fail("both run")  # pragma: no cover # it must not come to this
        async with town.node(0):
            pass


def test_a_node_is_exactly_one_instance(tmp_path: Path) -> None:
    town = quick(tmp_path, instances=2)
    founded = town.founded
    settings = Settings(http_port=0)

    def keystore(name: str, *members: int) -> Keystore:
        keep = (founded.operators[0], *(founded.instances[one] for one in members))
        place = write_instance(
            tmp_path / name,
            founded,
            passphrase=PASSPHRASE,
            settings=settings,
            keep=keep,
            cost=CHEAP,
        )
        return Keystore.unlock(place.keys, PASSPHRASE, least=CHEAP)

    assert instance_of(keystore("one", 1)) == founded.instances[1].id
    for name, members in (("none", ()), ("two", (0, 1))):
        with pytest.raises(NodeError, match=f"{len(members)} instances") as refused:
            instance_of(keystore(name, *members))
        assert refused.value.code is NodeCode.NOT_INITIALISED


@pytest.mark.trio
async def test_an_address_that_is_taken_is_told_and_everything_is_closed(tmp_path: Path) -> None:
    town = quick(tmp_path)
    with trio.fail_after(20):
        taken = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = taken[0].socket.getsockname()[1]
        settings = Settings(http_port=0, listen=(f"/ip4/127.0.0.1/tcp/{port}",))
        with pytest.raises(NetworkError) as failed:
            async with opening.open_node(town.places[0], settings, town.keystore(0)):
                pytest.fail("it runs")  # pragma: no cover # it must not come to this
        await taken[0].aclose()
        async with town.node(0):
            pass

    # By itself, not in a group: nothing was running yet.
    assert failed.value.code is NodeCode.NOT_BOUND


@pytest.mark.trio
async def test_a_damaged_file_of_peers_is_told(tmp_path: Path) -> None:
    town = quick(tmp_path)
    town.places[0].peers.write_text('["somewhere"]')
    with trio.fail_after(20), pytest.raises(NodeError) as failed:
        async with town.node(0):
            pytest.fail("it runs")  # pragma: no cover # it must not come to this

    assert failed.value.code is NodeCode.BAD_SETTINGS


# Coming back --------------------------------------------------------------------------------------


@pytest.mark.trio
async def test_what_was_answered_is_there_after_a_restart(tmp_path: Path) -> None:
    town = quick(tmp_path)
    agents = agents_of(town)
    with trio.fail_after(30):
        async with town.node(0) as node:
            said = [await propose(node, agent, f"by {agent.hex()}") for agent in agents]
            await until(lambda: node.world.state.cut >= 1)
            before = node.world.state.cut
        async with town.node(0) as node:
            assert all(one.id in node.world.log for one in said)
            assert node.world.state.cut >= before


@pytest.mark.trio
@pytest.mark.parametrize("cancelled", [False, True])
async def test_what_was_decided_in_the_last_moment_is_drained(
    tmp_path: Path, cancelled: bool
) -> None:
    town = quick(tmp_path)
    agent = agents_of(town)[0]
    with trio.fail_after(30):
        with trio.CancelScope() as scope:
            async with town.node(0) as node:
                began = trio.current_time()
                ring = node.keystore.keyring(agent)
                assert ring is not None
                record = custody.author(
                    node.world,
                    ring,
                    AgentSubscribe(topics=("a",), keywords=(), on=True),
                    now=node.clock.wall(),
                )
                # It has been stepped, and nobody waits for the disk.
                node.driver.take(Arrived(records=(record,), peer=None))
                if cancelled:
                    scope.cancel()
                    await trio.lowlevel.checkpoint()
        assert trio.current_time() - began < 5
        async with town.node(0) as node:
            assert record.id in node.world.log


@pytest.mark.trio
async def test_a_restart_tells_no_event_again(tmp_path: Path) -> None:
    town = quick(tmp_path)
    with trio.fail_after(30):
        async with town.node(0) as node:
            await propose(node, agents_of(town)[0])
            await until(lambda: node.events.last >= 3)
        for _ in range(2):
            async with town.node(0) as node:
                await node.flushed()
                cut = node.world.state.cut
                await until(lambda: node.world.state.cut > cut)  # noqa: B023 # awaited at once
                await until(lambda: node.events.last > 3)  # as above
                told = await node.store.events(0, 10_000)

                assert [one.cursor for one in told] == list(range(1, len(told) + 1))
                names = [(one.event, one.subject, one.phase) for one in told]
                assert len(set(names)) == len(names)


@pytest.mark.trio
async def test_what_the_node_lets_out_after_a_restart_is_stored(tmp_path: Path) -> None:
    town = quick(tmp_path)
    with trio.fail_after(30):
        async with town.node(0) as node:
            await until(lambda: node.world.state.cut >= 1)
        async with town.node(0) as node:
            await until(lambda: node.world.state.cut >= 2)
            await node.flushed()
            heads = await node.store.snapshots(0, 100)

            assert [one.cut for one in heads] == list(range(1, len(heads) + 1))


# The clock ----------------------------------------------------------------------------------------


@pytest.mark.trio
async def test_the_clock_goes_on_over_a_restart(tmp_path: Path) -> None:
    town = quick(tmp_path)
    with trio.fail_after(20):
        async with town.node(0) as node:
            assert isinstance(node.clock, SteadyClock)
            before, offset = node.clock.now(), node.clock.offset
        async with town.node(0) as node:
            assert isinstance(node.clock, SteadyClock)

            assert node.clock.now() >= before
            assert node.clock.offset == offset


@pytest.mark.trio
@pytest.mark.parametrize("last", [7_000_000, 0])
async def test_after_a_reboot_it_goes_on_from_what_was_stored_never_behind_a_start(
    tmp_path: Path, last: int
) -> None:
    town = quick(tmp_path)
    data = town.places[0]
    realm = town.founded.founding.realm
    started = 5_000_000
    with trio.fail_after(20):
        async with open_store(data.database, realm=realm) as store:
            await store.write([fx.StoreStart(slot=b"s" * 32, at=started)])
            await store.save_clock(ClockState(boot_id="another", offset=-(10**12), last=last))
        async with town.node(0) as node:
            now = node.clock.now()

    assert max(last, started) <= now <= max(last, started) + 20_000


@pytest.mark.trio
async def test_the_clock_is_stored_although_nothing_else_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "CLOCK_S", 0.05)
    # Nothing happens here: the next cut is an hour away.
    town = quick(tmp_path, timing={"epoch": 3_600_000})
    with trio.fail_after(20):
        async with town.node(0) as node:
            first = (await node.store.load()).clock
            assert first is not None

            async def later() -> int:
                found = (await node.store.load()).clock
                return 0 if found is None else found.last

            while await later() < first.last + 100:  # noqa: ASYNC110 # a file gives no event
                await trio.sleep(0.02)


# Failing ------------------------------------------------------------------------------------------


@pytest.mark.trio
async def test_a_store_that_fails_stops_the_node_with_the_reason(tmp_path: Path) -> None:
    town = quick(tmp_path)
    agents = agents_of(town)
    acknowledged: list[bytes] = []
    with trio.fail_after(20):
        with fails(StoreError) as failed:
            async with town.node(0) as node:
                acknowledged.append((await propose(node, agents[0])).id)
                break_disk(node.store)
                lost = propose(node, agents[1], "lost")
                await lost
                pytest.fail("it was answered")  # pragma: no cover # it must not come to this
        async with town.node(0) as node:
            assert acknowledged[0] in node.world.log

    assert failed[0].code is NodeCode.STORE_FAILED
    assert "no space left" in failed[0].why


# Amnesia ------------------------------------------------------------------------------------------


def signed(node: Node) -> int:
    """Count what an instance has signed: its chain, and its messages."""
    me = node.world.me
    assert me is not None
    return node.world.log.count_of(node.instance) + max(me.counter, 0)


@pytest.mark.trio
async def test_an_instance_of_three_that_restarts_signs_nothing_before_it_has_met_a_quorum(
    tmp_path: Path,
) -> None:
    town = quick(tmp_path, instances=3, agents=3)
    with trio.fail_after(40):
        async with town.nodes() as nodes:
            await until(lambda: all(node.world.state.cut >= 1 for node in nodes))
        async with town.node(0) as one, town.node(1) as two:
            before = signed(one)
            introduce([one, two])
            await until(lambda: two.instance in one.links.connected)
            # Two of three have met; the window of the next cut has long run out.
            await trio.sleep(1.0)
            assert one.world.me is not None
            assert not one.world.me.settled
            assert signed(one) == before
            assert one.health().state == "waiting_for_quorum"
            cut = one.world.state.cut
            async with town.node(2) as three:
                introduce([one, two, three])
                await until(lambda: all(n.world.state.cut > cut for n in (one, two, three)))

                assert one.world.me.settled
                assert not one.world.me.amnesia
                assert signed(one) > before


def test_no_two_instances_keep_step() -> None:
    spans = [jitter(2.0) for _ in range(200)]

    assert all(1.0 <= span <= 3.0 for span in spans)
    assert len(set(spans)) > 100
