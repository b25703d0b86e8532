"""Work crosses to asyncio and comes back, and cancellation never leaves anything hanging."""

import asyncio
import threading
from functools import partial

import pytest
import trio

from node.store.bridge import open_bridge


async def add(one: int, two: int) -> int:
    await asyncio.sleep(0)
    return one + two


async def fail(text: str) -> None:
    await asyncio.sleep(0)
    raise LookupError(text)


@pytest.mark.trio
async def test_work_gives_what_it_gives_and_raises_what_it_raises() -> None:
    with trio.fail_after(5):
        async with open_bridge() as bridge:
            assert await bridge.run(partial(add, 2, 3)) == 5
            with pytest.raises(LookupError, match="nothing there"):
                await bridge.run(partial(fail, "nothing there"))


@pytest.mark.trio
async def test_many_pieces_of_work_run_side_by_side() -> None:
    found: list[int] = []
    with trio.fail_after(5):
        async with open_bridge() as bridge:

            async def one(number: int) -> None:
                found.append(await bridge.run(partial(add, number, 0)))

            async with trio.open_nursery() as nursery:
                for number in range(100):
                    nursery.start_soon(one, number)

    assert sorted(found) == list(range(100))


@pytest.mark.trio
async def test_work_is_told_that_nobody_waits_and_ends_before_the_bridge_does() -> None:
    story: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            story.append("ended")

    with trio.fail_after(5):
        async with open_bridge() as bridge:
            with trio.move_on_after(0.01):
                await bridge.run(work)
            story.append("left")

    assert story == ["left", "ended"]


@pytest.mark.trio
async def test_a_caller_cancelled_at_once_leaves_nothing_behind() -> None:
    with trio.fail_after(5):
        async with open_bridge() as bridge:
            for _ in range(20):
                with trio.CancelScope() as scope:
                    scope.cancel()
                    await bridge.run(partial(add, 1, 1))
            assert await bridge.run(partial(add, 1, 1)) == 2


@pytest.mark.trio
async def test_the_thread_is_gone_afterwards_whatever_happened_inside() -> None:
    before = threading.active_count()
    with trio.fail_after(5):
        with pytest.raises(LookupError):
            async with open_bridge():
                raise LookupError
        with trio.CancelScope() as scope:
            async with open_bridge():
                scope.cancel()
                await trio.lowlevel.checkpoint()
        # The worker thread that waited for the bridge's may idle for a moment longer.
        names = {thread.name for thread in threading.enumerate()}

    assert "folkmoot-store" not in names
    assert threading.active_count() <= before + 2
