"""A connection that cannot be opened leaves no thread behind."""

import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest

from node.store.connecting import connect


def test_a_database_that_is_opened_can_be_used() -> None:
    async def use() -> object:
        connection = await connect(":memory:", isolation_level=None)
        try:
            return list(await connection.execute_fetchall("SELECT 1"))
        finally:
            await connection.close()

    assert asyncio.run(use()) == [(1,)]


@pytest.mark.parametrize("attempt", range(20))
def test_no_thread_outlives_a_failure(attempt: int, tmp_path: Path) -> None:
    # Others may end meanwhile; none may be new.
    before = set(threading.enumerate())

    async def fail() -> set[threading.Thread]:
        with pytest.raises(sqlite3.OperationalError):
            await connect(tmp_path / "nowhere" / f"{attempt}.db")
        return set(threading.enumerate())

    assert asyncio.run(fail()) <= before
