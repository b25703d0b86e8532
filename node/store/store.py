"""The store: everything a node must find again, and the only way to it (design: the node).

`write` returns when what it was given is durable; callers that come at the same time share a
transaction. Reads see only what is durable. The database belongs to one process at a time
(`node.base.paths.hold`); others may read it.
"""

import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

import trio

from federation.core import Millis, Realm, RecordId
from node.base.clock import ClockState
from node.store import loading, searching
from node.store.bridge import Bridge, open_bridge
from node.store.engine import Engine, open_engine
from node.store.failures import closed, failed
from node.store.indexed import Hidden, Indexed
from node.store.invites import KeptInvites
from node.store.loading import Counts, Loaded, SnapshotHead
from node.store.notice_reads import NoticeReads
from node.store.readers import Found
from node.store.statements import Cell
from node.store.wal import MOST_WAL
from node.store.writer import Job
from node.store.writes import SaveClock, SaveEvent, SaveSnapshot, Write, rows_of

QUEUED: Final = 2_048
"""Calls of `write` that may wait at once; further callers wait for room."""


class Store:
    """One open database; use it on the trio thread that opened it."""

    def __init__(self, path: Path, realm: Realm, bridge: Bridge, engine: Engine) -> None:
        """Only `open_store` makes one."""
        self.path: Final = path
        self.realm: Final = realm
        self._bridge = bridge
        self._engine = engine
        self._room = trio.Semaphore(QUEUED)
        self._is_open = True
        self.notices: Final = NoticeReads(self._fetch)
        """Reads of notices and webhooks."""

    @property
    def tick(self) -> Callable[[], Millis] | None:
        """If set, each commit also stores what it gives, as the latest time that was lived.

        It is called on another thread.
        """
        return self._engine.writer.tick

    @tick.setter
    def tick(self, give: Callable[[], Millis] | None) -> None:
        self._engine.writer.tick = give

    # Writing ------------------------------------------------------------------------------------

    async def write(self, writes: Sequence[Write]) -> None:
        """Make writes durable, all or none; they are when this returns.

        A cancelled caller does not know the outcome; writing the same again does no harm. Raises
        StoreError: WRITE_REFUSED if a row breaks a rule (nothing of this call was written),
        STORE_FAILED if the database fails, now and ever after; STOPPING once it is closed.
        """
        rows, size = rows_of(writes)
        if not rows:
            return
        await self._room.acquire()
        if not self._is_open:
            self._room.release()
            raise closed(self.path)
        job = Job(rows, size, free=self._room.release)
        self._bridge.soon(partial(self._engine.writer.put, job))
        await job.done.wait()
        if job.error is not None:
            raise job.error

    async def save_clock(self, state: ClockState) -> None:
        """Keep how this instance's clock counts."""
        await self.write([SaveClock(state=state)])

    # Reading ------------------------------------------------------------------------------------

    async def load(self) -> Loaded:
        """Give everything that a restart needs; raises StoreError STORE_DAMAGED if it cannot."""
        return await loading.load(self._fetch, self.realm)

    async def record(self, name: RecordId) -> bytes | None:
        """Give the wire bytes of a record, with its text if that is held."""
        return await loading.record(self._fetch, self.realm, name)

    async def snapshots(self, after: int, most: int) -> list[SnapshotHead]:
        """List snapshots of cuts above `after`, in order; their content may be gone."""
        return await loading.snapshots(self._fetch, after, most)

    async def latest_snapshot(self) -> SaveSnapshot | None:
        """Give the snapshot of the highest cut; None if there is none."""
        return await loading.latest_snapshot(self._fetch)

    async def events(self, after: int, most: int) -> list[SaveEvent]:
        """List events above a cursor, in order; only the newest 100,000 are kept."""
        return await loading.events(self._fetch, after, most)

    async def last_cursor(self) -> int:
        """Give the cursor of the newest event, 0 if there was none."""
        return await loading.last_cursor(self._fetch)

    async def invites(self) -> KeptInvites:
        """Give all invites, and who came by them."""
        return await loading.invites(self._fetch)

    async def counts(self) -> Counts:
        """Count what is held."""
        return await loading.counts(self._fetch)

    async def search(self, expression: str, most: int) -> list[RecordId]:
        """Find proposals whose text matches an expression of `node.store.words`, the best first.

        Cancelling it interrupts the query.
        """
        return await searching.search(self._fetch, expression, most)

    async def indexed(self) -> Indexed:
        """Tell how far the search index is known to be whole."""
        return await searching.indexed(self._fetch)

    async def last_text(self) -> int:
        """Give the number of the newest text, 0 if there is none."""
        return await searching.last_text(self._fetch)

    async def not_indexed(
        self, after: int, upto: int, most: int
    ) -> list[tuple[int, RecordId, bytes]]:
        """List proposals whose text is not in the search index: number, id and text, in order.

        Only those with a number above `after` and no higher than `upto`.
        """
        return await searching.lacking(self._fetch, after, upto, most)

    async def hidden(self) -> list[Hidden]:
        """List what is hidden on this node alone."""
        return await searching.hidden(self._fetch)

    async def _fetch(self, query: str, values: Sequence[Cell]) -> Found:
        if not self._is_open:
            raise closed(self.path)
        try:
            return await self._bridge.run(partial(self._engine.readers.fetch, query, values))
        except sqlite3.Error as error:
            raise failed(self.path, error) from error

    # Closing ------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Take no more writes, make durable what waits, and close the database."""
        self._is_open = False
        with trio.CancelScope(shield=True):
            await self._bridge.run(self._engine.close)


@asynccontextmanager
async def open_store(
    path: Path, *, realm: Realm, readers: int = 2, most_wal: int = MOST_WAL
) -> AsyncIterator[Store]:
    """Hold the store of a realm open; it is made if it is not there.

    `readers` is the number of reading connections; above `most_wal` bytes the write-ahead log is
    cut. Raises StoreError: STORE_UNKNOWN, STORE_NEWER, STORE_OF_ANOTHER_REALM, STORE_FAILED.
    """
    token = trio.lowlevel.current_trio_token()

    def settle(group: list[Job]) -> None:
        """Wake the callers of a group; nobody waits once the trio run is over."""
        with suppress(trio.RunFinishedError):
            token.run_sync_soon(_wake, group)

    async with open_bridge() as bridge:
        with trio.CancelScope(shield=True):
            try:
                engine = await bridge.run(
                    partial(
                        open_engine, path, realm, readers=readers, most_wal=most_wal, settle=settle
                    )
                )
            except (sqlite3.Error, OSError) as error:
                raise failed(path, error) from error
        store = Store(path, realm, bridge, engine)
        try:
            yield store
        finally:
            await store.close()


def _wake(group: list[Job]) -> None:
    for job in group:
        job.settle()
