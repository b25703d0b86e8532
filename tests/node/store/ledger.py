"""Small things to store, and what a real core asked to store."""

import sqlite3
import stat
from functools import cache
from pathlib import Path

from federation.protocol import effects as fx
from federation.records import Record, Role
from node.store import SaveEvent, SaveSnapshot, Store
from node.store.statements import Cell
from tests.builders import REALM, Chain, argue, named, person
from tests.federation.protocol.trial import Trial

__all__ = [
    "REALM",
    "counted",
    "event",
    "files",
    "held",
    "played",
    "query",
    "say",
    "snapshot",
    "stored",
]


@cache
def played() -> Trial:
    """Three instances decide on one artifact; shared and only read."""
    town = Trial.of(3, 4, seed="store", operators=4)
    town.vote(town.propose(1), {2: 1, 3: 1, 0: 1})
    return town.settled()  # type: ignore[return-value]


def stored(index: int = 0) -> list[fx.Effect]:
    """List what instance `index` was asked to store, in order."""
    town = played()
    return list(town.stored[town.founding.instances[index]])


@cache
def say(author: int, count: int) -> tuple[Record, ...]:
    """Give an inception and arguments, with texts, of one author: one chain of `count` records."""
    chain = Chain(person(Role.AGENT, author))
    for number in range(count - 1):
        chain.say(*argue(named("round"), f"argument {number} of {author}"))
    return tuple(chain.records)


def snapshot(cut: int, content: bytes = b"world") -> SaveSnapshot:
    """Make a snapshot."""
    return SaveSnapshot(
        cut=cut,
        tick=cut // 2,
        digest=named("cut", cut),
        world_digest=named("world", cut),
        content=content,
    )


def event(cursor: int) -> SaveEvent:
    """Make an event."""
    phase = "commit" if cursor % 2 else None
    return SaveEvent(cursor=cursor, at=cursor, event="phase", subject=named(cursor), phase=phase)


def counted(store: Store) -> list[int]:
    """Give a list that grows by one with each commit of a store from now on."""
    commits: list[int] = []

    def tick() -> int:
        commits.append(len(commits))
        return 0

    store.tick = tick
    return commits


def query(path: Path, sql: str, *values: Cell) -> list[tuple[Cell, ...]]:
    """Look into a database past the store, or damage it."""
    connection = sqlite3.connect(path)
    try:
        with connection:
            return connection.execute(sql, values).fetchall()
    finally:
        connection.close()


def held(path: Path) -> set[Cell]:
    """Give the ids of the records in a database, which must be sound."""
    assert query(path, "PRAGMA integrity_check") == [("ok",)]
    return {row[0] for row in query(path, "SELECT id FROM records")}


def files(directory: Path) -> dict[str, int]:
    """List a directory's files with their modes."""
    return {one.name: stat.S_IMODE(one.stat().st_mode) for one in directory.iterdir()}
