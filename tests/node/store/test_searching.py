"""Words of proposals are found as long as their text is held, and no longer."""

from pathlib import Path

import pytest
import trio

from federation.protocol import effects as fx
from federation.records import Record, Role
from node.base.errors import StoreError
from node.store import DropText, EmptyIndex, Indexed, IndexText, SaveEvent, Store, open_store
from node.store.words import expression_of, words_of
from tests.builders import Chain, artifact_text, named, person, propose
from tests.node.store.ledger import REALM, event, query, say


def proposals(*titles: str, prose: str = "") -> list[Record]:
    """Give proposals of one author, behind its inception."""
    chain = Chain(person(Role.AGENT, 7))
    for title in titles:
        chain.say(*propose(artifact_text(title=title, prose=prose)))
    return list(chain.records)


async def keep(store: Store, *records: Record) -> None:
    await store.write([fx.StoreRecord(record=one) for one in records])


async def find(store: Store, question: str, most: int = 10) -> list[bytes]:
    expression = expression_of(question)
    assert expression is not None
    return await store.search(expression, most)


@pytest.mark.trio
async def test_a_text_that_is_stored_is_found_with_the_best_first(tmp_path: Path) -> None:
    first, water, boiling = proposals("Water", "Boiling water, water, and water", prose="Salt.")
    with trio.fail_after(10):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:
            await keep(store, first, water, boiling)
            await keep(store, *say(1, 3))
            found = await find(store, "water")
            few = await find(store, "water", 1)
            by_prose = await find(store, "salt water")
            none = await find(store, "argument")

    assert set(found) == {water.id, boiling.id}
    assert few == found[:1]
    assert set(by_prose) == set(found)
    assert none == []


@pytest.mark.trio
async def test_a_text_that_comes_later_is_found_from_then_on(tmp_path: Path) -> None:
    first, water = proposals("Water")
    with trio.fail_after(10):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:
            await keep(store, first, water.with_text(None))
            before = await find(store, "water")
            await keep(store, water)
            await keep(store, water)
            after = await find(store, "water")

    assert (before, after) == ([], [water.id])
    assert query(tmp_path / "store.db", "SELECT count(*) FROM words_docsize") == [(1,)]


@pytest.mark.trio
async def test_a_text_that_is_dropped_is_not_found_and_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    first, water, salt = proposals("Water", "Salt water")
    with trio.fail_after(10):
        async with open_store(path, realm=REALM) as store:
            await keep(store, first, water, salt)
            await store.write([DropText(record=water.id)])
            found = await find(store, "water")

    assert found == [salt.id]
    assert query(path, "SELECT rowid FROM words") == query(
        path, "SELECT number FROM texts WHERE record IN (SELECT id FROM records)"
    )


@pytest.mark.trio
async def test_words_whose_text_somebody_took_away_by_hand_show_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    first, water = proposals("Water")
    with trio.fail_after(10):
        async with open_store(path, realm=REALM) as store:
            await keep(store, first, water)
        query(path, "DELETE FROM texts")
        async with open_store(path, realm=REALM) as store:
            found = await find(store, "water")

    assert found == []


@pytest.mark.trio
async def test_what_lacks_in_the_index_is_listed_and_can_be_put_there(tmp_path: Path) -> None:
    first, water, salt = proposals("Water", "Salt")
    with trio.fail_after(10):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:
            await keep(store, first, water, salt, *say(1, 3))
            whole = await store.not_indexed(0, 100, 10)
            await store.write([EmptyIndex(), Indexed(format=1, upto=0)])
            lacking = await store.not_indexed(0, await store.last_text(), 10)
            one = await store.not_indexed(lacking[0][0], 100, 1)
            words = words_of(salt)
            assert words is not None
            put = IndexText(record=salt.id, words=words)
            await store.write([put, put, Indexed(format=1, upto=9)])
            found = await find(store, "salt")
            state = await store.indexed()

    assert whole == []
    assert [(name, text) for _, name, text in lacking] == [
        (water.id, water.text_raw),
        (salt.id, salt.text_raw),
    ]
    assert [name for _, name, _ in one] == [salt.id]
    assert found == [salt.id]
    assert state == Indexed(format=1, upto=9)


@pytest.mark.trio
async def test_a_job_at_fault_takes_no_words_of_others_with_it(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    first, water = proposals("Water")
    bad = SaveEvent(cursor=-1, at=0, event="phase", subject=named("x"), phase=None)

    async def fail(store: Store) -> None:
        with pytest.raises(StoreError):
            await store.write([bad])

    with trio.fail_after(10):
        async with open_store(path, realm=REALM) as store:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(keep, store, first, water)
                nursery.start_soon(fail, store)
                nursery.start_soon(store.write, [event(1)])
            found = await find(store, "water")

    assert found == [water.id]
    assert query(path, "SELECT cursor FROM events") == [(1,)]
