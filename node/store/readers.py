"""Read-only connections, and how the write-ahead log is kept from growing.

Each read is one query that is fetched whole in one hop, so no read transaction ever spans an
await: a snapshot that somebody holds on to keeps SQLite from starting its write-ahead log over,
and that log then grows without end. Two readers whose queries overlap all the time do the same
together; therefore `paused` lets the writer wait for a moment without any reader.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import aiosqlite

from node.store.connecting import connect
from node.store.statements import Cell

Found: TypeAlias = Sequence[tuple[Cell, ...]]


class Readers:
    """A few read-only connections; lives on the asyncio side."""

    def __init__(self) -> None:
        """Start with none."""
        self._all: list[aiosqlite.Connection] = []
        self._free: asyncio.Queue[aiosqlite.Connection] = asyncio.Queue()

    async def open(self, path: Path, count: int) -> None:
        """Open so many connections to a database that is there."""
        for _ in range(count):
            connection = await connect_read_only(path)
            self._all.append(connection)
            self._free.put_nowait(connection)

    async def fetch(self, query: str, values: Sequence[Cell] = ()) -> Found:
        """Give all rows of one query. Cancelling it interrupts the query."""
        connection = await self._free.get()
        try:
            return await fetch(connection, query, values)
        finally:
            self._free.put_nowait(connection)

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Hold all connections: nobody reads inside, and those who want to wait their turn."""
        held = [await self._free.get() for _ in self._all]
        try:
            yield
        finally:
            for connection in held:
                self._free.put_nowait(connection)

    async def close(self) -> None:
        """Close the connections once nobody reads any more."""
        async with self.paused():
            for connection in self._all:
                await connection.close()


def read_only(path: Path) -> str:
    """Name a database for opening it read-only."""
    return f"{path.absolute().as_uri()}?mode=ro"


async def connect_read_only(path: Path) -> aiosqlite.Connection:
    """Open one read-only connection."""
    return await connect(read_only(path), uri=True, isolation_level=None)


async def fetch(connection: aiosqlite.Connection, query: str, values: Sequence[Cell] = ()) -> Found:
    """Give all rows of one query; if cancelled, interrupt it and wait until it has ended.

    The connection must be idle before anybody else uses it, so the wait itself is not cancelled.
    """
    running = asyncio.ensure_future(connection.execute_fetchall(query, values))
    try:
        rows = await asyncio.shield(running)
    except asyncio.CancelledError:
        await connection.interrupt()
        await asyncio.wait({running})
        # Retrieved here, or asyncio complains of an error that nobody looked at.
        _ = running.cancelled() or isinstance(running.exception(), sqlite3.Error)
        raise
    return [tuple(row) for row in rows]
