"""Carries calls from trio to asyncio, where aiosqlite lives, and their outcomes back.

aiosqlite needs a running asyncio loop, and a node runs on trio. So the loop has a thread of its
own, and what crosses the bridge is a whole piece of work, never a single statement: a transaction
begins and ends on the other side, where no trio cancellation reaches it. A caller that is
cancelled abandons the wait; the work over there is told, and ends in its own way.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Generic, TypeVar

import trio

T = TypeVar("T")


class _Call(Generic[T]):
    """One piece of work on its way."""

    def __init__(self, work: Callable[[], Awaitable[T]]) -> None:
        """Remember the work and who waits for it."""
        self.work = work
        self.token = trio.lowlevel.current_trio_token()
        self.done = trio.Event()
        self.outcome: list[T] = []
        self.error: BaseException | None = None
        self.task: asyncio.Task[None]
        """Begun before anything else can be asked of it."""

    async def carry_out(self) -> None:
        """Do the work on the asyncio side and wake the caller, whatever comes of it."""
        try:
            self.outcome.append(await self.work())
        except BaseException as error:  # noqa: BLE001 # it is raised again where the caller waits
            self.error = error
        finally:
            # Nobody waits any more once the trio run is over.
            with suppress(trio.RunFinishedError):
                self.token.run_sync_soon(self.done.set)

    def abandon(self) -> None:
        """Tell the work that nobody waits for it any more."""
        self.task.cancel()


class Bridge:
    """An asyncio loop in a thread, and the way there."""

    def __init__(self) -> None:
        """Start the thread."""
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._live, name="folkmoot-store", daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do a piece of work on the asyncio side and give what it gives, or raise what it raises.

        If the caller is cancelled the work's task is cancelled too and nobody waits for it: work
        that must not stop half-way shields itself there (`Writer` runs in a task of its own).
        """
        call = _Call(work)
        self._loop.call_soon_threadsafe(self._begin, call)
        try:
            await call.done.wait()
        except trio.Cancelled:
            self._loop.call_soon_threadsafe(call.abandon)
            raise
        if call.error is not None:
            raise call.error
        return call.outcome[0]

    def soon(self, act: Callable[[], object]) -> None:
        """Call a function on the asyncio side, soon; never waits."""
        self._loop.call_soon_threadsafe(act)

    def close(self) -> None:
        """Stop the loop and wait for its thread; blocks, so call it in a worker thread."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _live(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def _begin(self, call: _Call[T]) -> None:
        call.task = self._loop.create_task(call.carry_out())
        self._tasks.add(call.task)
        call.task.add_done_callback(self._tasks.discard)

    async def _end(self) -> None:
        """Let abandoned work come to its end."""
        if self._tasks:
            await asyncio.wait(self._tasks)


@asynccontextmanager
async def open_bridge() -> AsyncIterator[Bridge]:
    """Hold a bridge open; at the end its thread is gone, also after a cancellation."""
    bridge = Bridge()
    try:
        yield bridge
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(bridge.close)
