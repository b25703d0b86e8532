"""The one task that writes: jobs that have piled up share a transaction.

A disk takes milliseconds to make anything durable, however little it is. So the writer takes all
jobs that wait, writes them in one transaction with `synchronous=FULL`, and wakes their callers
after COMMIT, never before. The task lives on the asyncio side, where no caller's cancellation
reaches it: a transaction that was begun is ended.

A row that breaks a rule of the schema fails its own job: the group is rolled back and written
again job by job, each under a savepoint. When the database itself fails (disk full, I/O) the whole
group fails, and from then on every write is refused: the world in memory is ahead of the disk by
an unknown amount, and only a restart brings the two together.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Final

import aiosqlite
import trio

from federation.core import Millis
from node.base.errors import StoreError
from node.store.failures import ROW_FAULTS, failed, refused
from node.store.statements import Row, Statement
from node.store.wal import WalGuard
from node.store.writes import TICK, Rows

MOST_JOBS: Final = 512
"""Jobs in one transaction."""
MOST_BYTES: Final = 8 * 1024 * 1024
"""Bytes in one transaction; a single job may be larger."""
BUSY_S: Final = 0.02
"""Transactions that begin closer together than this are many small ones."""
GATHER_S: Final = 0.008
"""Then the next one waits so long for more to come: each costs the disk a flush, and writes the
same pages of the indices again."""
ENOUGH: Final = 1024 * 1024
"""Bytes that do not wait."""
AT_ONCE: Final = 1_000
"""Rows in one statement. Python lets go of its lock around each statement and must win it back
from busy threads afterwards, which can take 5 ms: with one row a statement, 500 rows took seconds
beside a busy core. So many rows are one statement, and one hop to the database's thread."""


class Job:
    """The rows of one call, and what became of them."""

    __slots__ = ("done", "error", "free", "rows", "size")

    def __init__(self, rows: Rows, size: int, *, free: Callable[[], None]) -> None:
        """Wait to be written; `size` is about how many bytes it holds, `free` gives back room."""
        self.rows = rows
        self.size = size
        self.free = free
        self.error: StoreError | None = None
        self.done = trio.Event()

    def settle(self) -> None:
        """Wake who waits for it, if anybody still does; call it on the trio side."""
        self.free()
        self.done.set()


class Writer:
    """Owns the writing connection."""

    def __init__(
        self,
        database: aiosqlite.Connection,
        path: Path,
        guard: WalGuard,
        *,
        settle: Callable[[list[Job]], None],
    ) -> None:
        """`settle` hears, on the asyncio side, of each group that is done."""
        self.tick: Callable[[], Millis] | None = None
        self.broken: BaseException | None = None
        """Why nothing can be written any more."""
        self._database = database
        self._path = path
        self._guard = guard
        self._settle = settle
        self._jobs: deque[Job] = deque()
        self._wake = asyncio.Event()
        self._closing = False
        self._began = 0.0
        """When the last transaction began."""

    def put(self, job: Job) -> None:
        """Queue a job; call it on the asyncio side."""
        self._jobs.append(job)
        self._wake.set()

    def stop(self) -> None:
        """Let `run` return once the queue is empty."""
        self._closing = True
        self._wake.set()

    async def run(self) -> None:
        """Write groups until told to stop; every job is settled in the end."""
        while self._jobs or not self._closing:
            if not self._jobs:
                self._wake.clear()
                await self._wake.wait()
                continue
            await self._gather()
            group = self._take()
            try:
                await self._write(group)
            except Exception as error:  # noqa: BLE001 # whatever it is, its callers must hear of it
                self.broken = error
                await self._give_up()
            if self.broken is not None:
                for job in group:
                    job.error = job.error or failed(self._path, self.broken)
            self._settle(group)

    async def _gather(self) -> None:
        """Wait a moment for more jobs while there is much to do and little at hand."""
        now = asyncio.get_running_loop().time
        busy = now() - self._began < BUSY_S and not self._closing
        if busy and sum(job.size for job in self._jobs) < ENOUGH:
            await asyncio.sleep(GATHER_S)
        self._began = now()

    def _take(self) -> list[Job]:
        """Take the jobs of the next group: at least one, no more than fit."""
        group, size = [self._jobs.popleft()], 0
        size += group[0].size
        while self._jobs and len(group) < MOST_JOBS and size + self._jobs[0].size <= MOST_BYTES:
            size += self._jobs[0].size
            group.append(self._jobs.popleft())
        return group

    async def _write(self, group: list[Job]) -> None:
        if self.broken is not None:
            return
        try:
            await self._insert(together(group))
            await self._commit()
        except ROW_FAULTS:
            await self._database.rollback()
            await self._one_by_one(group)
        await self._guard.check()

    async def _one_by_one(self, group: list[Job]) -> None:
        """Write each job under a savepoint, so that only those fail that are at fault."""
        database = self._database
        await database.execute("BEGIN IMMEDIATE")
        for job in group:
            await database.execute("SAVEPOINT job")
            try:
                await self._insert(job.rows)
            except ROW_FAULTS as error:
                job.error = refused(error)
                await database.execute("ROLLBACK TO job")
            await database.execute("RELEASE job")
        await self._commit()

    async def _insert(self, rows: Rows) -> None:
        for statement, some in rows.items():
            if statement.tail is None:
                await self._database.executemany(statement.head, some)
                continue
            for at in range(0, len(some), AT_ONCE):
                part = some[at : at + AT_ONCE]
                await self._database.execute(statement.sql(len(part)), flat(part))

    async def _commit(self) -> None:
        if self.tick is not None:
            await self._database.execute(TICK.head, (self.tick(),))
        await self._database.commit()

    async def _give_up(self) -> None:
        """Leave no transaction open; that the database refuses even this changes nothing."""
        with suppress(sqlite3.Error):
            await self._database.rollback()


def together(group: Iterable[Job]) -> Rows:
    """Join the rows of a group by statement, in order."""
    rows: dict[Statement, list[Row]] = {}
    for job in group:
        for statement, some in job.rows.items():
            rows.setdefault(statement, []).extend(some)
    return rows


def flat(rows: Iterable[Row]) -> Row:
    """Join rows into the values of one statement."""
    return tuple(chain.from_iterable(rows))
