"""Wake-ups merge, come in time, and survive whatever the clock does."""

from collections.abc import Callable

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from node.runtime import timers as module
from node.runtime.timers import Timers

Clock = trio.testing.MockClock


class Own:
    """An instance's clock that goes with trio's, until somebody makes it jump."""

    def __init__(self) -> None:
        self.ahead = 0

    def __call__(self) -> int:
        return int(trio.current_time() * 1_000) + self.ahead


async def woken(timers: Timers, count: int, now: Callable[[], int]) -> list[int]:
    """Wait so many times; gives when each wait ended."""
    found = []
    for _ in range(count):
        await timers.wait()
        found.append(now())
    return found


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(0, 60))
def test_all_that_are_due_are_one_wake_up_and_later_ones_stay(planned: list[int], now: int) -> None:
    async def play() -> None:
        timers = Timers(lambda: now)
        for at in planned:
            timers.wake_at(at)
        assert len(timers) == len(set(planned))
        assert timers.next == min(planned, default=None)
        with trio.move_on_after(1) as scope:
            await timers.wait()
        due = [at for at in planned if at <= now]
        assert scope.cancelled_caught == (not due)
        assert timers.next == min((at for at in planned if at > now), default=None)

    trio.run(play, clock=trio.testing.MockClock(autojump_threshold=0))


@pytest.mark.trio
async def test_each_comes_when_it_is_due(autojump_clock: Clock) -> None:
    del autojump_clock
    own = Own()
    timers = Timers(own)
    began = own()
    for span in (300, 100, 200, 100):
        timers.wake_at(began + span)

    assert await woken(timers, 3, own) == [began + 100, began + 200, began + 300]
    assert timers.next is None


@pytest.mark.trio
async def test_a_sooner_one_that_comes_later_is_not_late(autojump_clock: Clock) -> None:
    del autojump_clock
    own = Own()
    timers = Timers(own)
    began = own()
    timers.wake_at(began + 10_000)
    ended: list[int] = []

    async def wait() -> None:
        ended.extend(await woken(timers, 1, own))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.sleep(1)
        timers.wake_at(began + 2_000)

    assert ended == [began + 2_000]


@pytest.mark.trio
async def test_one_that_was_served_can_be_planned_again(autojump_clock: Clock) -> None:
    del autojump_clock
    own = Own()
    timers = Timers(own)
    began = own()
    for _ in range(3):
        timers.wake_at(began)
        await timers.wait()

    assert own() == began


@pytest.mark.trio
async def test_a_clock_that_jumps_ahead_is_noticed_soon(autojump_clock: Clock) -> None:
    del autojump_clock
    own = Own()
    timers = Timers(own)
    began = trio.current_time()
    timers.wake_at(own() + 3_600_000)
    # The machine sleeps: its clock goes on and trio's does not.
    async with trio.open_nursery() as nursery:
        nursery.start_soon(timers.wait)
        await trio.sleep(1)
        own.ahead = 3_600_000

    assert trio.current_time() - began <= module._LONGEST + 1
    assert module._LONGEST <= 60


@pytest.mark.trio
async def test_a_clock_that_stands_still_wakes_nobody_too_early(autojump_clock: Clock) -> None:
    del autojump_clock
    own = Own()
    timers = Timers(own)
    due = own() + 1_000
    timers.wake_at(due)
    own.ahead = -5_000
    await timers.wait()

    assert own() >= due
