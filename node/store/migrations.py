"""Bring a database to the version that this code knows, or refuse it.

Forward only: what a later version wrote is never read by guesswork. Each step is one transaction,
and its number changes with it, so a crash leaves the step before or the step whole.
"""

import sqlite3
from pathlib import Path
from typing import Final

import aiosqlite

from federation.core import Realm, short
from node.base.errors import EXPLAINED, NodeCode, StoreError
from node.store.failures import unknown
from node.store.schema import APPLICATION, MIGRATIONS, VERSION

# In one statement, which sees one state of the file: another process may be making the tables.
_IDENTITY: Final = """
SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
FROM pragma_application_id, pragma_user_version
"""


async def migrate(database: aiosqlite.Connection, path: Path, realm: Realm) -> None:
    """Make or upgrade the tables; raises StoreError if the file is not this realm's store.

    STORE_UNKNOWN for a file that is not ours, STORE_NEWER for a later version,
    STORE_OF_ANOTHER_REALM. Nothing was changed then.
    """
    version = await identify(database, path)
    if version > 0:
        await check_realm(database, realm)
    while version < VERSION:
        version = await _step(database, path, realm)


async def identify(database: aiosqlite.Connection, path: Path) -> int:
    """Give the version of a store, 0 for a new file; raises StoreError if it cannot be read."""
    try:
        ((application, version, tables),) = await database.execute_fetchall(_IDENTITY)
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_NOTADB:
            raise
        raise unknown(path, f"it is no SQLite database: {error}") from error
    if application != APPLICATION and (application, version, tables) != (0, 0, 0):
        raise unknown(path, "it is a database of another program")
    if version > VERSION:
        raise StoreError(
            f"{path.name} was not opened",
            why=f"its version is {version}, and this program knows versions up to {VERSION}",
            fix=EXPLAINED[NodeCode.STORE_NEWER][1],
            code=NodeCode.STORE_NEWER,
        )
    return int(version)


async def check_realm(database: aiosqlite.Connection, realm: Realm) -> None:
    """Raise StoreError STORE_OF_ANOTHER_REALM unless the store was made for this realm."""
    found = [bytes(row[0]) for row in await database.execute_fetchall("SELECT realm FROM meta")]
    if found != [realm]:
        names = ", ".join(short(one) for one in found) or "none"
        raise StoreError(
            "the store was not opened",
            why=f"it belongs to realm {names}, the genesis to realm {short(realm)}",
            fix=EXPLAINED[NodeCode.STORE_OF_ANOTHER_REALM][1],
            code=NodeCode.STORE_OF_ANOTHER_REALM,
        )


async def _step(database: aiosqlite.Connection, path: Path, realm: Realm) -> int:
    """Make one step; give the version that the database has now."""
    await database.execute("BEGIN IMMEDIATE")
    try:
        # Asked again under the lock: another process may have made this step meanwhile.
        version = await identify(database, path)
        if version == VERSION:
            await database.rollback()
            return version
        for statement in MIGRATIONS[version]:
            await database.execute(statement)
        if version == 0:
            await database.execute("INSERT INTO meta (one, realm) VALUES (1, ?)", (realm,))
            await database.execute(f"PRAGMA application_id = {APPLICATION}")
        await database.execute(f"PRAGMA user_version = {version + 1}")
        await database.commit()
    except BaseException:
        await database.rollback()
        raise
    return version + 1
