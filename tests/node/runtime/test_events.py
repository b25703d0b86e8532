"""Events are numbered once, shown when stored, and a cursor means the same after a restart."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
import trio.testing

from federation.certificates import Phase
from federation.protocol import effects as fx
from node.runtime import events as module
from node.runtime.events import EventFeed
from node.store import Store, open_store
from tests.builders import REALM, named

CUT, ROUND, PHASE = fx.Happening.CUT, fx.Happening.ROUND, fx.Happening.PHASE


def told(number: int, event: fx.Happening = CUT, phase: Phase | None = None) -> fx.Tell:
    return fx.Tell(event=event, subject=named(number), phase=phase)


@asynccontextmanager
async def feed(root: Path) -> AsyncIterator[tuple[EventFeed, Store]]:
    async with open_store(root / "store.db", realm=REALM) as store:
        last = await store.last_cursor()
        recent = await store.events(last - module.RECENT, module.RECENT)
        yield EventFeed(store, recent=recent, wall=lambda: 5), store


async def happen(feed: EventFeed, store: Store, *effects: fx.Tell) -> None:
    events = [feed.number(effect) for effect in effects]
    await store.write(events)
    for event in events:
        feed.announce(event)


@pytest.mark.trio
async def test_events_are_numbered_in_order_and_tell_what_happened(tmp_path: Path) -> None:
    async with feed(tmp_path) as (one, store):
        assert one.last == 0
        await happen(one, store, told(1), told(2, PHASE, Phase.COMMIT))
        first, second = await one.after(0, 10)

        assert (first.cursor, first.at, first.event, first.phase) == (1, 5, "cut", None)
        assert (second.cursor, second.subject, second.phase) == (2, named(2), "commit")
        assert one.last == 2


@pytest.mark.trio
async def test_a_numbered_event_is_not_shown_before_it_is_announced(tmp_path: Path) -> None:
    async with feed(tmp_path) as (one, store):
        event = one.number(told(1))

        assert (one.last, await one.after(0, 10)) == (0, [])

        await store.write([event])
        one.announce(event)

        assert (one.last, await one.after(0, 10)) == (1, [event])


@pytest.mark.trio
async def test_whoever_waits_is_woken_by_something_newer_and_by_nothing_else(
    tmp_path: Path,
) -> None:
    async with feed(tmp_path) as (one, store):
        woken: list[int] = []

        async def wait(cursor: int) -> None:
            await one.wait(cursor)
            woken.append(cursor)

        with trio.fail_after(5):
            async with trio.open_nursery() as nursery:
                for cursor in (0, 1, 2):
                    nursery.start_soon(wait, cursor)
                await trio.testing.wait_all_tasks_blocked()
                for number, expected in ((1, [0]), (2, [0, 1]), (3, [0, 1, 2])):
                    await happen(one, store, told(number))
                    await trio.testing.wait_all_tasks_blocked()
                    assert woken == expected
            await one.wait(0)


@pytest.mark.trio
async def test_memory_is_bounded_and_older_events_come_from_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RECENT", 4)
    async with feed(tmp_path) as (one, store):
        await happen(one, store, *(told(number) for number in range(1, 11)))
        for cursor in range(12):
            for most in (1, 3, 100):
                found = [event.cursor for event in await one.after(cursor, most)]
                assert found == list(range(cursor + 1, 11))[:most]


@pytest.mark.trio
async def test_a_cursor_means_the_same_after_a_restart(tmp_path: Path) -> None:
    async with feed(tmp_path) as (one, store):
        await happen(one, store, told(1), told(2))
    async with feed(tmp_path) as (one, store):
        assert one.last == 2
        await happen(one, store, told(3))

        assert [event.subject for event in await one.after(1, 10)] == [named(2), named(3)]
        assert [event.cursor for event in await one.after(0, 10)] == [1, 2, 3]


@pytest.mark.trio
async def test_what_a_restart_tells_again_is_left_out_and_what_is_new_stays(
    tmp_path: Path,
) -> None:
    async with feed(tmp_path) as (one, store):
        await happen(one, store, told(1), told(2, ROUND), told(3))
    async with feed(tmp_path) as (one, _):
        wake = fx.WakeAt(at=1)
        # The phase of round 2 was passed through on the way: it was never told by itself.
        again = [told(1), wake, told(2, ROUND), told(2, PHASE, Phase.FAST), told(3), told(4)]

        assert one.unheard(again) == [wake, told(4)]
        assert one.unheard([wake, told(5)]) == [wake, told(5)]
