"""One input, one step, effects in order; and nothing gets far ahead of the disk."""

from pathlib import Path

import pytest
import trio
import trio.testing

from federation.protocol import World
from federation.protocol import effects as fx
from federation.protocol.inputs import Wake
from node.runtime.driver import AHEAD, Outcome
from node.runtime.inbox import Urgency
from node.store import SaveSnapshot
from tests.node.runtime.drive import Drive, arrived, drive, said


@pytest.mark.trio
async def test_an_outcome_holds_the_stores_and_after_them_the_rest_in_order(
    tmp_path: Path,
) -> None:
    async with drive(tmp_path) as it:
        (record,) = said(it.pen(), 1)
        effects = it.driver.take(arrived(record))
        outcome = it.driver.outcomes.receive_nowait()

        assert outcome.writes == (fx.StoreRecord(record=record),)
        assert list(outcome.others) == [one for one in effects if one not in outcome.writes]
        assert record.id in it.driver.world.log
        assert it.driver.mark == 1


@pytest.mark.trio
async def test_a_step_without_effects_is_no_outcome(tmp_path: Path) -> None:
    async with drive(tmp_path) as it:
        (record,) = said(it.pen(), 1)
        it.driver.take(arrived(record))
        before = it.driver.mark

        assert it.driver.take(arrived(record)) == []
        assert it.driver.mark == before


@pytest.mark.trio
async def test_a_cut_brings_its_snapshot_into_the_same_outcome(tmp_path: Path) -> None:
    async with drive(tmp_path) as it:
        while it.driver.world.state.cut == 0:
            it.time[0] += 500
            it.driver.take(Wake())
        waiting = it.driver.outcomes.statistics().current_buffer_used
        outcomes: list[Outcome] = [it.driver.outcomes.receive_nowait() for _ in range(waiting)]
        (cut,) = [
            one
            for one in outcomes
            if any(isinstance(told, fx.Tell) and told.event == "cut" for told in one.others)
        ]
        state = it.driver.world.state

        assert cut.writes[-1] == SaveSnapshot(
            cut=1,
            tick=state.tick,
            digest=state.digest,
            world_digest=it.driver.world.digest,
            content=None,
        )
        assert not any(isinstance(write, SaveSnapshot) for write in cut.writes[:-1])


@pytest.mark.trio
async def test_listeners_see_every_step_at_once_and_may_take_the_next(tmp_path: Path) -> None:
    async with drive(tmp_path) as it:
        first, second = said(it.pen(), 2)
        seen: list[int] = []

        def listen(effects: list[fx.Effect]) -> None:
            seen.append(len(effects))
            if len(seen) == 1:
                it.driver.take(arrived(second))

        it.driver.listeners.append(listen)
        it.driver.take(arrived(first))

        assert len(seen) == 2
        # What the listener caused stands behind what caused it.
        writes = [it.driver.outcomes.receive_nowait().writes for _ in range(2)]
        assert writes == [(fx.StoreRecord(record=first),), (fx.StoreRecord(record=second),)]


@pytest.mark.trio
async def test_flushed_returns_when_its_mark_is_durable_and_not_before(tmp_path: Path) -> None:
    async with drive(tmp_path, is_open=False) as it:
        returned: list[str] = []

        async def wait(name: str, mark: int | None) -> None:
            await it.driver.flushed(mark)
            returned.append(name)

        with trio.fail_after(10):
            await it.driver.flushed()
            async with trio.open_nursery() as nursery:
                first, second = said(it.pen(), 2)
                it.driver.take(arrived(first))
                mark = it.driver.mark
                nursery.start_soon(wait, "first", None)
                await trio.testing.wait_all_tasks_blocked()
                it.driver.take(arrived(second))
                nursery.start_soon(wait, "both", None)
                nursery.start_soon(wait, "again first", mark)
                nursery.start_soon(wait, "nothing", 0)
                await trio.testing.wait_all_tasks_blocked()
                assert returned == ["nothing"]
                await it.driver.is_durable(1)
                await trio.testing.wait_all_tasks_blocked()
                assert sorted(returned) == ["again first", "first", "nothing"]
                await it.driver.is_durable(1)
        assert returned[-1] == "both"


@pytest.mark.trio
async def test_what_flushed_has_promised_can_be_read_from_the_disk(tmp_path: Path) -> None:
    async with drive(tmp_path) as it:
        pens = [it.pen(index) for index in range(5)]
        checked: list[bool] = []

        async def act(index: int) -> None:
            for _ in range(8):
                (record,) = said(pens[index], 1)
                it.driver.take(arrived(record))
                await it.driver.flushed()
                checked.extend(await it.stored(record))

        with trio.fail_after(20):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(it.performers.run)
                async with trio.open_nursery() as people:
                    for index in range(5):
                        people.start_soon(act, index)
                nursery.cancel_scope.cancel()

        assert checked == [True] * 40


@pytest.mark.trio
async def test_the_inbox_waits_while_the_disk_is_too_far_behind(tmp_path: Path) -> None:
    async with drive(tmp_path, is_open=False) as it:
        records = said(it.pen(), AHEAD + 20)
        with trio.fail_after(20):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(it.driver.run)
                nursery.start_soon(it.performers.run)
                for record in records:
                    await it.inbox.put(arrived(record), Urgency.REST)
                await trio.testing.wait_all_tasks_blocked(0.05)
                assert it.driver.mark == AHEAD
                assert records[AHEAD - 1].id in it.driver.world.log
                assert records[AHEAD].id not in it.driver.world.log
                # Somebody local is not held up: it waits for its own record to become durable.
                (own,) = said(it.pen(1), 1)
                it.driver.take(arrived(own))
                assert own.id in it.driver.world.log
                it.held.gate.set()
                last = await it.inbox.put(Wake(), Urgency.REST)
                await last.wait()
                await it.driver.flushed()
                assert await it.stored(*records, own) == [True] * (len(records) + 1)
                nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_a_sender_hears_when_the_core_has_taken_its_input(tmp_path: Path) -> None:
    async with drive(tmp_path) as it:
        (record,) = said(it.pen(), 1)
        with trio.fail_after(10):
            async with trio.open_nursery() as nursery:
                taken = await it.inbox.put(arrived(record), Urgency.VOTE)
                await trio.testing.wait_all_tasks_blocked()
                assert not taken.is_set()
                nursery.start_soon(it.driver.run)
                await taken.wait()
                assert record.id in it.driver.world.log
                nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_the_core_is_woken_when_it_asked_to_be(tmp_path: Path) -> None:
    async with drive(tmp_path) as it:
        with trio.fail_after(10):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(it.performers.run)
                nursery.start_soon(it.driver.run_timers)
                it.time[0] += it.world.charter.timing.epoch + 1
                it.driver.timers.wake_at(it.time[0])
                while not it.shown:
                    it.time[0] += 100
                    await trio.sleep(0.01)
                nursery.cancel_scope.cancel()

        assert it.shown[0].event == "cut"


# Failing ------------------------------------------------------------------------------------------


async def performed(it: Drive) -> BaseException:
    """Carry out all that is left; gives why nothing more will come."""
    with pytest.raises(KeyError) as failed:
        await it.performers.run()
    return failed.value


@pytest.mark.trio
async def test_a_listener_that_fails_stops_the_node_and_loses_no_store(tmp_path: Path) -> None:
    async with drive(tmp_path) as it:
        first, second = said(it.pen(), 2)
        error = KeyError("a bug of ours")

        def listen(effects: list[fx.Effect]) -> None:
            del effects
            raise error

        it.driver.listeners.append(listen)
        with pytest.raises(KeyError):
            it.driver.take(arrived(first))
        with pytest.raises(KeyError):
            it.driver.take(arrived(second))
        with trio.fail_after(10):
            assert await performed(it) is error

        assert second.id not in it.world.log
        assert await it.stored(first, second) == [True, False]


@pytest.mark.trio
async def test_a_snapshot_that_cannot_be_taken_costs_its_content_and_no_store(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def take(world: World) -> SaveSnapshot:
        raise MemoryError(world.state.cut)

    async with drive(tmp_path) as it:
        it.driver._snapshot = take
        with caplog.at_level("WARNING", logger="folkmoot"):
            while it.world.state.cut == 0:
                it.time[0] += 500
                it.driver.take(Wake())
        with trio.fail_after(10):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(it.performers.run)
                await it.driver.flushed()
                nursery.cancel_scope.cancel()
        (kept,) = await it.store.snapshots(0, 10)

        assert it.driver.failure is None
        assert (kept.cut, kept.world_digest) == (1, it.world.digest)
        assert await it.store.latest_snapshot() is None
        assert caplog.messages == ["snapshot.failed cut=1 error=MemoryError"]


@pytest.mark.trio
async def test_once_a_step_has_failed_nobody_is_told_that_the_world_may_be_shown(
    tmp_path: Path,
) -> None:
    async with drive(tmp_path, is_open=False) as it:
        (record,) = said(it.pen(), 1)
        it.driver.take(arrived(record))
        told: list[str] = []

        async def show() -> None:
            with pytest.raises(KeyError):
                await it.driver.flushed()
            told.append("refused")

        with trio.fail_after(10):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(show)
                await trio.testing.wait_all_tasks_blocked()
                it.driver.now = dict[str, int]().popitem  # type: ignore[assignment] # it fails
                with pytest.raises(KeyError):
                    it.driver.take(Wake())
                # Also what was durable before: the world it was read from is gone.
                with pytest.raises(KeyError):
                    await it.driver.flushed(0)
                nursery.start_soon(performed, it)
                await trio.testing.wait_all_tasks_blocked()
                assert told == []
                it.held.gate.set()
                await it.driver.drained()
        assert told == ["refused"]
        assert await it.stored(record) == [True]
