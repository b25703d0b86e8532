"""Rows become values again, page by page."""

from pathlib import Path

import pytest
import trio

from federation.protocol import effects as fx
from node.base.errors import NodeCode, StoreError
from node.store import open_store
from node.store.loading import BLOBS, PAGE, as_bytes, as_int, read_all
from tests.node.store.ledger import REALM


@pytest.mark.trio
async def test_more_rows_than_a_page_are_read_in_order_up_to_a_number(tmp_path: Path) -> None:
    contents = [str(number).encode() for number in range(2 * PAGE)]
    with trio.fail_after(20):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:
            await store.write([fx.StoreBlob(content=content) for content in contents])
            everything = (await store.load()).durable.blobs
            first = await read_all(store._fetch, BLOBS, lambda row: as_bytes(row[2]), upto=3)
            most = await read_all(store._fetch, BLOBS, lambda row: as_int(row[0]), upto=PAGE + 1)

    assert everything == contents
    assert first == contents[:3]
    assert most == list(range(1, PAGE + 2))


def test_a_cell_of_another_type_is_damage() -> None:
    for act in (lambda: as_bytes(1), lambda: as_int(b"1"), lambda: as_int(None)):
        with pytest.raises(StoreError) as caught:
            act()  # type: ignore[no-untyped-call]
        assert caught.value.code is NodeCode.STORE_DAMAGED


@pytest.mark.trio
async def test_a_page_that_is_destroyed_is_told_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with trio.fail_after(20):
        async with open_store(path, realm=REALM) as store:
            await store.write([fx.StoreBlob(content=bytes([one]) * 4096) for one in range(60)])
        destroy(path)
        async with open_store(path, realm=REALM) as store:
            with pytest.raises(StoreError, match="SQLITE_CORRUPT") as caught:
                await store.load()

    assert caught.value.code is NodeCode.STORE_DAMAGED


def destroy(path: Path) -> None:
    """Overwrite the second half of a database."""
    half = path.stat().st_size // 2 // 4096 * 4096
    path.write_bytes(path.read_bytes()[:half].ljust(path.stat().st_size, b"\xa5"))
