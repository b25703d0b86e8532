"""SQLite's errors in words: what happened, why, what to do."""

import sqlite3
from pathlib import Path
from typing import Final

from node.base.errors import EXPLAINED, NodeCode, StoreError

ROW_FAULTS: Final = (
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    OverflowError,
    UnicodeError,
)
"""What a row can do wrong by itself; every other error is the database's."""


def failed(path: Path, error: BaseException) -> StoreError:
    """Say that the database cannot be read or written any more, or is damaged."""
    # The low byte is the error, the others say more of it.
    number = getattr(error, "sqlite_errorcode", 0) & 0xFF
    code = NodeCode.STORE_DAMAGED if number == sqlite3.SQLITE_CORRUPT else NodeCode.STORE_FAILED
    told = StoreError(
        f"the store {path.name} failed", why=_reason(error), fix=EXPLAINED[code][1], code=code
    )
    told.__cause__ = error
    return told


def refused(error: BaseException) -> StoreError:
    """Say that a write breaks a rule of the schema; other writes are not concerned."""
    return StoreError(
        "a write was refused",
        why=f"it breaks a rule of the store: {_reason(error)}",
        fix=EXPLAINED[NodeCode.WRITE_REFUSED][1],
        code=NodeCode.WRITE_REFUSED,
    )


def damaged(what: str, why: str) -> StoreError:
    """Say that something in the store is not what was written."""
    fix = EXPLAINED[NodeCode.STORE_DAMAGED][1]
    return StoreError(what, why=why, fix=fix, code=NodeCode.STORE_DAMAGED)


def unknown(path: Path, why: str) -> StoreError:
    """Say that a file is no store of ours."""
    fix = EXPLAINED[NodeCode.STORE_UNKNOWN][1]
    return StoreError(f"{path.name} was not opened", why=why, fix=fix, code=NodeCode.STORE_UNKNOWN)


def closed(path: Path) -> StoreError:
    """Say that the store takes no more writes because it is being closed."""
    return StoreError(
        f"the store {path.name} is closed",
        why="the node is shutting down",
        fix="write again when it is back; writing twice does no harm",
        code=NodeCode.STOPPING,
    )


def _reason(error: BaseException) -> str:
    name = getattr(error, "sqlite_errorname", None)
    return f"{error} ({name})" if name else str(error)
