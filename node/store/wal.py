"""Keeps the write-ahead log short while others read.

SQLite starts its log over when all of it is in the database and no reader stands in it. Under
steady reading that moment may never come by itself, so the guard makes it: above `MOST_WAL` it
waits until no reader runs, moves the log into the database, and lets the readers go on. The next
commit then starts the log over and cuts the file (`journal_size_limit`). A reader in another
process cannot be waited for; then the guard tries again later.
"""

from pathlib import Path
from typing import Final

import aiosqlite

from node.store.readers import Readers

MOST_WAL: Final = 64 * 1024 * 1024
"""Bytes of write-ahead log from which on the guard acts."""
PATIENCE: Final = 64
"""Commits between two attempts."""


class WalGuard:
    """Looks at the size of the log after each commit."""

    def __init__(
        self, database: aiosqlite.Connection, path: Path, readers: Readers, *, most: int = MOST_WAL
    ) -> None:
        """Guard the log of `database`, the only writer of `path`."""
        self._database = database
        self._wal = path.with_name(path.name + "-wal")
        self._readers = readers
        self._most = most
        self._rest = 0

    async def check(self) -> None:
        """Move the log into the database if it has grown too long."""
        if self._rest:
            self._rest -= 1
        elif self._wal.stat().st_size > self._most:
            self._rest = PATIENCE
            async with self._readers.paused():
                await self._database.execute_fetchall("PRAGMA wal_checkpoint(PASSIVE)")
