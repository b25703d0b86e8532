"""Stores first; nothing that others can notice leaves before what it stands on is durable."""

from pathlib import Path

import pytest
import trio
import trio.testing

from federation.protocol import effects as fx
from federation.protocol.inputs import Wake
from node.base.errors import NodeCode, StoreError
from node.runtime import performers as module
from node.store import SaveEvent, open_store
from tests.node.runtime.drive import Drive, arrived, break_disk, drive, said
from tests.node.runtime.problems import problem

ANNE, BEA = b"a" * 32, b"b" * 32


def outcome(*others: object) -> list[fx.Effect]:
    return list(others)  # type: ignore[arg-type] # effects, whatever their kind


async def performed(it: Drive) -> None:
    """Carry out everything, and return once it has left."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(it.performers.run)
        await it.driver.flushed()
        await trio.testing.wait_all_tasks_blocked(0.02)
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_nothing_leaves_before_its_stores_are_durable(tmp_path: Path) -> None:
    async with drive(tmp_path, is_open=False) as it:
        records = said(it.pen(), 3)
        with trio.fail_after(10):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(it.performers.run)
                for record in records:
                    it.driver.take(arrived(record))
                await trio.testing.wait_all_tasks_blocked(0.05)
                assert it.held.waiting == 1
                assert it.network.left == []
                assert it.shown == []
                it.held.gate.set()
                await it.driver.flushed()
                assert await it.stored(*records) == [True] * 3
                await trio.testing.wait_all_tasks_blocked(0.02)
                nursery.cancel_scope.cancel()

        assert it.network.left == [("relay", (record.id,)) for record in records]


@pytest.mark.trio
async def test_what_needs_no_disk_still_waits_for_what_came_before_it(tmp_path: Path) -> None:
    async with drive(tmp_path, is_open=False) as it:
        (record,) = said(it.pen(), 1)
        with trio.fail_after(10):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(it.performers.run)
                it.driver.take(arrived(record))
                await trio.testing.wait_all_tasks_blocked(0.02)
                it.driver.carry_out(outcome(fx.SendPacket(to=None, packet=b"p")))
                await trio.testing.wait_all_tasks_blocked(0.02)
                assert it.network.left == []
                it.held.gate.set()
                await it.driver.flushed()
                await trio.testing.wait_all_tasks_blocked(0.02)
                nursery.cancel_scope.cancel()

        assert [name for name, _ in it.network.left] == ["relay", "packet"]


@pytest.mark.trio
async def test_every_effect_goes_where_it_belongs_and_in_order(tmp_path: Path) -> None:
    async with drive(tmp_path) as it:
        it.driver.carry_out(
            outcome(
                fx.SendPacket(to=ANNE, packet=b"p"),
                fx.Reconcile(slot=b"slot", voices=(ANNE, BEA)),
                fx.FetchRecords(records=(BEA,), voices=(ANNE,)),
                fx.FetchBlob(blob=ANNE, voices=(BEA,)),
                fx.Refused(peer=ANNE, code="BAD_CHAIN", why="w"),
                fx.WakeAt(at=77),
                fx.Reckon(cut=BEA, problem=problem(0)),
                fx.Prove(cut=ANNE, proofs=(b"proof",)),
                fx.Relay(records=()),
            )
        )
        with trio.fail_after(10):
            await performed(it)

        assert it.network.left == [
            ("packet", (ANNE, b"p")),
            ("reconcile", (b"slot", (ANNE, BEA))),
            ("fetch", ((BEA,), (ANNE,))),
            ("blob", (ANNE, (BEA,))),
            ("refused", "BAD_CHAIN"),
            ("reckon", BEA),
            ("prove", ANNE),
            ("relay", ()),
        ]
        assert it.driver.timers.next == 77
        # Nothing of it needs the disk.
        assert it.held.written == []


@pytest.mark.trio
async def test_an_event_is_stored_with_what_it_tells_of_and_shown_afterwards(
    tmp_path: Path,
) -> None:
    async with drive(tmp_path) as it:
        while it.world.state.cut == 0:
            it.time[0] += 500
            it.driver.take(Wake())
        with trio.fail_after(10):
            await performed(it)
        stored = await it.store.events(0, 10)

        assert stored == it.shown
        assert [(one.cursor, one.event, one.subject) for one in stored] == [
            (1, "cut", it.world.state.digest)
        ]
        # One transaction: a killed instance has both or neither.
        kinds = [type(write) for write in it.held.written]
        assert kinds[-1] is SaveEvent
        assert [one.cut for one in await it.store.snapshots(0, 10)] == [1]


@pytest.mark.trio
async def test_what_has_piled_up_shares_a_transaction_up_to_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TOGETHER", 10)
    async with drive(tmp_path) as it:
        records = said(it.pen(), 40)
        for record in records:
            it.driver.take(arrived(record))
        with trio.fail_after(10):
            await performed(it)

        assert 40 / 10 <= it.held.calls <= 40 / 4
        assert it.network.left == [("relay", (record.id,)) for record in records]


@pytest.mark.trio
async def test_a_store_that_fails_lets_nothing_out_and_stops_with_its_reason(
    tmp_path: Path,
) -> None:
    async with drive(tmp_path) as it:
        (record,) = said(it.pen(), 1)
        it.driver.take(arrived(record))
        break_disk(it.store)
        with trio.fail_after(10), pytest.raises(StoreError) as failed:
            await it.performers.run()

        assert failed.value.code is NodeCode.STORE_FAILED
        assert it.network.left == []
        with trio.move_on_after(0.05) as scope:
            await it.driver.flushed()
        assert scope.cancelled_caught


@pytest.mark.trio
async def test_what_was_flushed_is_there_after_the_store_is_opened_again(tmp_path: Path) -> None:
    async with drive(tmp_path) as it:
        records = said(it.pen(), 20)
        for record in records:
            it.driver.take(arrived(record))
        with trio.fail_after(10):
            await performed(it)
        realm = it.world.realm
    async with open_store(tmp_path / "store.db", realm=realm) as store:
        loaded = await store.load()

    assert [record.id for record in loaded.durable.records] == [record.id for record in records]


@pytest.mark.trio
async def test_a_step_that_fails_ends_everything_after_what_came_before_it(
    tmp_path: Path,
) -> None:
    async with drive(tmp_path) as it:
        first, second, third = said(it.pen(), 3)
        it.driver.take(arrived(first))
        it.driver.take(arrived(second))
        # A bug of ours, met by whoever asks for something: here a clock that fails.
        it.driver.now = dict[str, int]().popitem  # type: ignore[assignment] # it raises KeyError
        with pytest.raises(KeyError):
            it.driver.take(arrived(third))
        with trio.fail_after(10), pytest.raises(KeyError):
            await it.performers.run()

        assert await it.stored(first, second, third) == [True, True, False]
        assert it.network.left == [("relay", (first.id,)), ("relay", (second.id,))]


@pytest.mark.trio
async def test_what_fails_on_its_way_to_the_network_is_logged_and_holds_up_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with drive(tmp_path) as it:
        (record,) = said(it.pen(), 1)
        # A bug of ours: there is no such peer.
        it.network.send_packet = dict[str, int]().__getitem__  # type: ignore[assignment, method-assign] # it raises
        it.driver.take(arrived(record))
        it.driver.carry_out(outcome(fx.SendPacket(to=ANNE, packet=b"a secret"), fx.WakeAt(at=77)))
        with caplog.at_level("WARNING", logger="folkmoot"), trio.fail_after(10):
            await performed(it)

        assert await it.stored(record) == [True]
        assert it.network.left == [("relay", (record.id,))]
        assert it.driver.timers.next == 77
        assert caplog.messages == ["effect.failed effect=SendPacket error=TypeError"]


@pytest.mark.trio
async def test_a_wake_up_that_cannot_be_planned_stops_the_node(tmp_path: Path) -> None:
    async with drive(tmp_path) as it:
        it.driver.carry_out(outcome(fx.WakeAt(at="never")))  # type: ignore[arg-type] # a bug of ours
        it.driver.carry_out(outcome(fx.WakeAt(at=7)))
        with trio.fail_after(10), pytest.raises(TypeError):
            await it.performers.run()
