"""Which files are opened, which are brought forward, and which are left alone."""

import hashlib
from pathlib import Path

import pytest
import trio

from federation.protocol import effects as fx
from node.base.errors import NodeCode, StoreError
from node.store import KeptInvites, open_store
from node.store.schema import MIGRATIONS, VERSION
from tests.builders import OTHER_REALM
from tests.node.store.ledger import REALM, event, held, query, say

RELEASED = (
    "7538342449a45bebf81a536ed6c091efd5ba184f0b2dcf8235ac1f715c282b4c",
    "ffe97f66b4a229442b0416d8b8d5ce8d5ee8b62de0140a2edd3d6fc21a858b39",
    "e0dc00bfa629c2b79d3f2d2990b2a0d4281999b92856b0bf0702110e80d68cb9",
    "038fe9b36b9726341236cfb12984f5f614d5874488562da7a5a1c19b9d71d3c2",
)
"""What each step is, for ever: databases of users were made by it."""


def content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


async def refusal(path: Path, realm: bytes = REALM) -> NodeCode:
    """Tell why a file is not opened, and make sure that nothing of it was touched."""
    before = content(path)
    with trio.fail_after(10), pytest.raises(StoreError) as caught:
        async with open_store(path, realm=realm):
            pass
    assert content(path) == before
    return caught.value.code


async def make(path: Path) -> None:
    """Make a store with two records."""
    with trio.fail_after(10):
        async with open_store(path, realm=REALM) as store:
            await store.write([fx.StoreRecord(record=one) for one in say(1, 2)])


def version(path: Path) -> object:
    return query(path, "PRAGMA user_version")[0][0]


def test_a_step_that_was_released_is_never_edited() -> None:
    found = tuple(hashlib.sha256("\n".join(step).encode()).hexdigest() for step in MIGRATIONS)

    assert found == RELEASED
    assert len(found) == VERSION


@pytest.mark.trio
async def test_a_store_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await make(path)
    query(path, f"PRAGMA user_version = {VERSION + 1}")

    assert await refusal(path) is NodeCode.STORE_NEWER


@pytest.mark.trio
async def test_a_store_of_another_realm_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await make(path)

    assert await refusal(path, OTHER_REALM) is NodeCode.STORE_OF_ANOTHER_REALM
    query(path, "DELETE FROM meta")
    assert await refusal(path) is NodeCode.STORE_OF_ANOTHER_REALM


@pytest.mark.trio
async def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    query(path, "CREATE TABLE recipes (name TEXT)")

    assert await refusal(path) is NodeCode.STORE_UNKNOWN


@pytest.mark.trio
async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"Dear diary, " * 1_000)

    assert await refusal(path) is NodeCode.STORE_UNKNOWN


@pytest.mark.trio
async def test_a_place_where_nothing_can_be_made_is_told(tmp_path: Path) -> None:
    assert await refusal(tmp_path / "nowhere" / "store.db") is NodeCode.STORE_FAILED
    assert await refusal(tmp_path) is NodeCode.STORE_FAILED


@pytest.mark.trio
async def test_a_store_of_an_earlier_version_is_brought_forward_with_all_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    await make(path)
    later = (("CREATE TABLE more (x INTEGER) STRICT", "INSERT INTO more VALUES (7)"),)
    monkeypatch.setattr("node.store.migrations.MIGRATIONS", MIGRATIONS + later)
    monkeypatch.setattr("node.store.migrations.VERSION", VERSION + 1)
    with trio.fail_after(10):
        for _ in range(2):
            async with open_store(path, realm=REALM) as store:
                await store.write([event(1)])

    assert version(path) == VERSION + 1
    assert query(path, "SELECT x FROM more") == [(7,)]
    assert held(path) == {one.id for one in say(1, 2)}


@pytest.mark.trio
async def test_a_store_of_every_earlier_version_is_brought_forward_and_is_as_a_new_one(
    tmp_path: Path,
) -> None:
    for old in range(1, VERSION):
        path, fresh = tmp_path / f"{old}.db", tmp_path / f"{old}-fresh.db"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("node.store.migrations.MIGRATIONS", MIGRATIONS[:old])
            patch.setattr("node.store.migrations.VERSION", old)
            await make(path)
            assert version(path) == old
        await make(fresh)
        with trio.fail_after(10):
            async with open_store(path, realm=REALM) as store:
                await store.write([event(1)])
                kept = await store.invites()

        tables = "SELECT name, sql FROM sqlite_schema ORDER BY name"
        assert version(path) == VERSION
        assert query(path, tables) == query(fresh, tables)
        assert held(path) == {one.id for one in say(1, 2)}
        assert kept == KeptInvites()


@pytest.mark.trio
async def test_a_step_that_fails_leaves_the_version_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    await make(path)
    broken = (("CREATE TABLE more (x INTEGER) STRICT", "INSERT INTO nowhere VALUES (7)"),)
    monkeypatch.setattr("node.store.migrations.MIGRATIONS", MIGRATIONS + broken)
    monkeypatch.setattr("node.store.migrations.VERSION", VERSION + 1)

    with trio.fail_after(10), pytest.raises(StoreError, match="nowhere") as caught:
        async with open_store(path, realm=REALM):
            pass
    assert caught.value.code is NodeCode.STORE_FAILED
    assert version(path) == VERSION
    assert query(path, "SELECT name FROM sqlite_schema WHERE name = 'more'") == []


@pytest.mark.trio
async def test_two_who_make_the_store_at_once_make_one(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def take(number: int) -> None:
        async with open_store(path, realm=REALM) as store:
            await store.write([event(number)])

    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            for number in range(1, 5):
                nursery.start_soon(take, number)

    assert query(path, "SELECT cursor FROM events") == [(1,), (2,), (3,), (4,)]
    assert query(path, "SELECT count(*) FROM meta") == [(1,)]
