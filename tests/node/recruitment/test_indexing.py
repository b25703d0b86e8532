"""After a start the index holds what the store holds, whatever it held before."""

from pathlib import Path

import pytest
import trio

from federation.protocol import effects as fx
from node.recruitment import indexing
from node.recruitment.indexing import Indexing
from node.store import EmptyIndex, Indexed, Store, open_store
from node.store.words import FORMAT, expression_of
from tests.node.store.ledger import REALM, query, say
from tests.node.store.test_searching import proposals


async def found(store: Store, question: str) -> int:
    expression = expression_of(question)
    assert expression is not None
    return len(await store.search(expression, 100))


async def index(store: Store) -> None:
    work = Indexing(store)
    assert not work.is_whole
    await work.run()
    assert work.is_whole


@pytest.mark.trio
async def test_a_store_of_an_earlier_version_is_searched_after_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "AT_ONCE", 2)
    path = tmp_path / "store.db"
    records = proposals(*(f"Water {number}" for number in range(5)))
    with trio.fail_after(10):
        async with open_store(path, realm=REALM) as store:
            await store.write([fx.StoreRecord(record=one) for one in (*records, *say(1, 3))])
            await store.write([EmptyIndex()])
            assert await found(store, "water") == 0
            await index(store)
            assert await found(store, "water") == 5
            upto = await store.last_text()
            assert await store.indexed() == Indexed(format=FORMAT, upto=upto)
            await index(store)

    assert query(path, "SELECT count(*) FROM words_docsize") == [(5,)]


@pytest.mark.trio
async def test_texts_prepared_in_another_way_are_all_indexed_anew(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    records = proposals("Water")
    with trio.fail_after(10):
        async with open_store(path, realm=REALM) as store:
            await store.write([fx.StoreRecord(record=one) for one in records])
            await index(store)
        query(path, "UPDATE words SET title = 'Wine'")
        async with open_store(path, realm=REALM) as store:
            await index(store)
            kept = await found(store, "wine")
            await store.write([Indexed(format=FORMAT + 1, upto=9)])
            await index(store)
            anew = (await found(store, "wine"), await found(store, "water"))

    assert kept == 1, "what is known to be whole is not looked at again"
    assert anew == (0, 1)


@pytest.mark.trio
async def test_a_start_that_is_cut_short_goes_on_the_next_time(tmp_path: Path) -> None:
    records = proposals(*(f"Water {number}" for number in range(3)))
    with trio.fail_after(10):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:
            await store.write([fx.StoreRecord(record=one) for one in records])
            await store.write([EmptyIndex()])
            with trio.CancelScope() as scope:
                scope.cancel()
                await Indexing(store).run()
            await index(store)
            assert await found(store, "water") == 3
