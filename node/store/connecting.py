"""Opens a connection, and when that fails leaves nothing behind.

aiosqlite works in a thread for each connection. If the database cannot be opened it tells that
thread to end and waits for nothing; whoever then closes the loop, as an audit of a damaged file
does, is faster than the thread, which finds nobody to tell that it has ended.
"""

import asyncio
from pathlib import Path

import aiosqlite

_PAUSE_S = 0.001


async def connect(database: Path | str, **options: object) -> aiosqlite.Connection:
    """Open a connection; if that fails its thread is gone when the error is raised.

    `options` are those of `sqlite3.connect`. Raises what sqlite3 raises.
    """
    connection = aiosqlite.connect(database, **options)  # type: ignore[arg-type] # handed on
    try:
        return await connection
    except BaseException:
        while connection._thread.is_alive():  # noqa: ASYNC110, SLF001 # nothing else tells
            await asyncio.sleep(_PAUSE_S)
        raise
