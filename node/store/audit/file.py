"""The file itself: whether SQLite finds it whole, and whether its tables are ours."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

import aiosqlite

from federation.core import Realm
from node.base.errors import NodeCode, StoreError
from node.store.audit.findings import Damage, Report
from node.store.loading import Fetch, read_all
from node.store.migrations import check_realm, identify
from node.store.schema import MIGRATIONS, VERSION
from node.store.statements import Row

Take: TypeAlias = Callable[[Row], None]
"""Looks at one row."""

_FAULTS_MOST: Final = 50


async def examine(database: aiosqlite.Connection, path: Path, realm: Realm, report: Report) -> bool:
    """Tell whether there are tables that can be read on."""
    try:
        version = await identify(database, path)
        if version != VERSION:
            report.add(
                Damage.SCHEMA_UNKNOWN,
                f"{path.name} has version {version}",
                f"this program audits version {VERSION}; starting the node brings it there",
            )
            return False
        await _examine_integrity(database, report)
        await _examine_schema(database, report)
        await check_realm(database, realm)
    except StoreError as error:
        foreign = error.code is NodeCode.STORE_OF_ANOTHER_REALM
        code = Damage.WRONG_REALM if foreign else Damage.SCHEMA_UNKNOWN
        report.add(code, error.what, error.why)
        return False
    except sqlite3.Error as error:
        report.add(Damage.SQLITE_DAMAGED, f"{path.name} cannot be read", str(error))
        return False
    return True


async def _examine_integrity(database: aiosqlite.Connection, report: Report) -> None:
    try:
        rows = await database.execute_fetchall(f"PRAGMA integrity_check({_FAULTS_MOST})")
        faults = [str(row[0]) for row in rows if row[0] != "ok"]
    except sqlite3.Error as error:
        faults = [str(error)]
    for fault in faults:
        report.add(Damage.SQLITE_DAMAGED, "SQLite finds the file damaged", fault)


async def _examine_schema(database: aiosqlite.Connection, report: Report) -> None:
    """Compare with the tables, indices and triggers of a store that is made anew."""
    async with aiosqlite.connect(":memory:") as fresh:
        for step in MIGRATIONS:
            for statement in step:
                await fresh.execute(statement)
        expected = await _schema(fresh)
    found = await _schema(database)
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            report.add(
                Damage.SCHEMA_UNKNOWN,
                f"the schema differs at {name}",
                "somebody has changed the database by hand",
            )


async def _schema(database: aiosqlite.Connection) -> dict[str, str]:
    # Statistics of ANALYZE and the like have names that SQLite keeps for itself.
    rows = await database.execute_fetchall(
        "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'"
    )
    return {str(row[0]): str(row[1]) for row in rows}


async def read(fetch: Fetch, query: str, take: Take, upto: int, report: Report) -> None:
    """Read rows as far as the file allows; what was taken before damage is kept."""
    try:
        await read_all(fetch, query, take, upto)
    except (sqlite3.Error, StoreError) as error:
        report.add(Damage.SQLITE_DAMAGED, "some rows cannot be read", str(error))
