"""However much is read, the write-ahead log stays bounded."""

import os
from pathlib import Path

import pytest
import trio

from federation.protocol import effects as fx
from node.store import open_store
from node.store.wal import PATIENCE
from tests.node.store.ledger import REALM

READ = (
    "WITH RECURSIVE n(i) AS (SELECT count(*) FROM blobs UNION ALL SELECT i + 1 FROM n LIMIT 20000)"
    " SELECT max(i) FROM n"
)
MEGABYTE = 1024 * 1024


@pytest.mark.trio
async def test_the_log_stays_short_under_a_stream_of_overlapping_readers(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    wal = path.with_name("store.db-wal")
    each, most = 128 * 1024, MEGABYTE
    sizes: list[int] = []
    with trio.fail_after(60):
        async with open_store(path, realm=REALM, most_wal=most) as store:
            await store.write([fx.StoreBlob(content=b"first")])
            async with trio.open_nursery() as nursery:

                async def read_on() -> None:
                    while True:
                        await store._fetch(READ, ())

                for _ in range(4):
                    nursery.start_soon(read_on)
                for _ in range(5 * PATIENCE):
                    await store.write([fx.StoreBlob(content=os.urandom(each))])
                    sizes.append(wal.stat().st_size)
                nursery.cancel_scope.cancel()

    written = 5 * PATIENCE * each
    bound = most + (PATIENCE + 2) * (each + 32 * 1024)
    assert max(sizes) < bound < written / 2
