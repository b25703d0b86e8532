"""The table says for every part what follows its failure, and that is what happens."""

import pytest
import trio
import trio.testing

from node.base.errors import NodeCode, StoreError
from node.runtime import supervision
from node.runtime.supervision import AFTER_FAILURE, CALM_S, FIRST_S, LONGEST_S, Part, Then, run

STOPPING = [part for part, then in AFTER_FAILURE.items() if then is Then.STOP]
RESTARTING = [part for part, then in AFTER_FAILURE.items() if then is Then.RESTART]


class Failing:
    """Work that fails a few times, after some time, and remembers when it began."""

    def __init__(self, times: int, *, after: float = 0.0) -> None:
        self.times, self.after = times, after
        self.began: list[float] = []

    async def __call__(self) -> None:
        self.began.append(trio.current_time())
        await trio.sleep(self.after)
        if len(self.began) <= self.times:
            raise OSError("it failed")


def test_every_part_has_a_row() -> None:
    assert set(AFTER_FAILURE) == set(Part)


def test_what_leaves_the_memory_in_doubt_stops_the_node() -> None:
    assert set(STOPPING) == {Part.DRIVER, Part.TIMERS, Part.PERFORMERS, Part.CLOCK}


@pytest.mark.trio
@pytest.mark.parametrize("part", STOPPING)
async def test_a_part_that_must_not_fail_stops_the_node_with_its_reason(part: Part) -> None:
    error = StoreError("no", why="the disk is full", fix="f", code=NodeCode.STORE_FAILED)

    async def work() -> None:
        raise error

    with pytest.raises(StoreError) as raised:
        await run(part, work)

    assert raised.value is error


@pytest.mark.trio
@pytest.mark.parametrize("part", RESTARTING)
async def test_a_part_that_carries_things_starts_again(
    part: Part, autojump_clock: trio.testing.MockClock
) -> None:
    del autojump_clock
    work = Failing(2)
    await run(part, work)

    assert len(work.began) == 3


@pytest.mark.trio
async def test_each_wait_is_longer_up_to_a_bound(autojump_clock: trio.testing.MockClock) -> None:
    del autojump_clock
    work = Failing(9)
    await run(Part.DIALER, work)
    waits = [later - sooner for sooner, later in zip(work.began, work.began[1:], strict=False)]

    assert waits == [min(FIRST_S * 2**number, LONGEST_S) for number in range(9)]
    assert waits[-1] == LONGEST_S


@pytest.mark.trio
async def test_a_part_that_ran_calmly_starts_again_soon(
    autojump_clock: trio.testing.MockClock,
) -> None:
    del autojump_clock
    work = Failing(5, after=CALM_S + 1)
    await run(Part.DIALER, work)
    waits = [
        later - sooner - work.after
        for sooner, later in zip(work.began, work.began[1:], strict=False)
    ]

    assert waits == pytest.approx([FIRST_S] * 5)


@pytest.mark.trio
async def test_a_cancelled_part_is_not_a_failed_one(
    autojump_clock: trio.testing.MockClock,
) -> None:
    del autojump_clock
    for part in Part:
        began = 0

        async def work() -> None:
            nonlocal began
            began += 1
            await trio.sleep_forever()

        with trio.move_on_after(100) as scope:
            await run(part, work)
        assert scope.cancelled_caught
        assert began == 1


@pytest.mark.trio
async def test_a_failure_is_logged_by_name_and_without_its_text(
    autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    del autojump_clock
    raised = [
        ExceptionGroup(
            "",
            [
                ValueError("what a peer sent"),
                ExceptionGroup(
                    "", [StoreError("no", why="w", fix="f", code=NodeCode.STORE_FAILED)]
                ),
            ],
        )
    ]

    async def work() -> None:
        if raised:
            raise raised.pop()

    with caplog.at_level("WARNING", logger="folkmoot"):
        await run(Part.LINKS, work)

    assert caplog.messages == ["part.failed part=links error=STORE_FAILED,ValueError"]
    assert supervision.__doc__ is not None
