"""The asyncio side of a store: its connections and the task that writes."""

import asyncio
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import aiosqlite

from federation.core import Realm
from node.store.connecting import connect
from node.store.migrations import identify, migrate
from node.store.readers import Readers
from node.store.wal import WalGuard
from node.store.writer import Job, Writer

_PRIVATE: Final = 0o600
_ATTEMPTS: Final = 5
_PAUSE_S: Final = 0.1
_SETTINGS: Final = (
    # Ids are hashes, so each new record touches a page of its own in their index; with 4 KiB a
    # page, writing these cost more than writing the records.
    "page_size = 8192",
    "journal_mode = WAL",
    # NORMAL would acknowledge what a power failure takes back.
    "synchronous = FULL",
    "wal_autocheckpoint = 4000",
    "busy_timeout = 5000",
    "cache_size = -32768",
    "temp_store = MEMORY",
    "trusted_schema = OFF",
)


class Engine:
    """An open database; everything here runs on the asyncio side."""

    def __init__(
        self,
        database: aiosqlite.Connection,
        readers: Readers,
        writer: Writer,
    ) -> None:
        """Only `open_engine` makes one."""
        self.readers: Final = readers
        self.writer: Final = writer
        self._database = database
        self._running = asyncio.create_task(writer.run())

    async def close(self) -> None:
        """Write what waits, move the write-ahead log into the database, and close it."""
        self.writer.stop()
        await self._running
        await self.readers.close()
        # Where that fails nothing is lost: the next start reads the log.
        with suppress(sqlite3.Error):
            await self._database.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")
        await self._database.close()


async def open_engine(
    path: Path, realm: Realm, *, readers: int, most_wal: int, settle: Callable[[list[Job]], None]
) -> Engine:
    """Open or make the database; `settle` hears of each group of jobs that is done.

    Raises StoreError as `migrate` does, and sqlite3.Error or OSError if it cannot be opened.
    """
    attempts = _ATTEMPTS
    while True:
        try:
            return await _open(path, realm, readers, most_wal, settle)
        except sqlite3.OperationalError as error:
            # While another process (an audit, say) opens or closes the file, SQLite may refuse at
            # once, without the patience that `busy_timeout` asks for.
            attempts -= 1
            if not attempts or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
        await asyncio.sleep(_PAUSE_S)


async def _open(
    path: Path, realm: Realm, readers: int, most_wal: int, settle: Callable[[list[Job]], None]
) -> Engine:
    # Made here, because SQLite would let everybody read it.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, _PRIVATE))
    # Few statements are kept ready, because one of a thousand rows is large; to read it anew costs
    # a fraction of carrying it out.
    database = await connect(path, isolation_level="IMMEDIATE", cached_statements=16)
    pool = Readers()
    try:
        # Before any setting: a file that is not ours must not be touched.
        await identify(database, path)
        for setting in (*_SETTINGS, f"journal_size_limit = {most_wal}"):
            await database.execute_fetchall(f"PRAGMA {setting}")
        await migrate(database, path, realm)
        await pool.open(path, readers)
    except BaseException:
        await pool.close()
        await database.close()
        raise
    guard = WalGuard(database, path, pool, most=most_wal)
    return Engine(database, pool, Writer(database, path, guard, settle=settle))
