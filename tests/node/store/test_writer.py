"""Group commit when things go wrong: a full disk, a killed process, a second process."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from federation.protocol import effects as fx
from node.base.errors import NodeCode, StoreError
from node.store import Store, open_store
from node.store.writer import MOST_BYTES, MOST_JOBS
from tests.node.store.ledger import REALM, counted, event, held, query, say

ROOT = Path(__file__).parents[3]
CHILD = Path(__file__).with_name("child.py")


def ids_in(output: bytes) -> set[bytes]:
    return {output[at : at + 32] for at in range(0, len(output) - 31, 32)}


async def start(*arguments: object) -> trio.Process:
    return await trio.lowlevel.open_process(
        [sys.executable, str(CHILD), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


async def read(stream: trio.abc.ReceiveStream | None, most: int = sys.maxsize) -> bytes:
    assert stream is not None
    found = b""
    while len(found) < most and (some := await stream.receive_some()):
        found += some
    return found


async def pragma(store: Store, text: str) -> None:
    """Set something on the writing connection."""
    database = store._engine._database
    await store._bridge.run(lambda: database.execute_fetchall(f"PRAGMA {text}"))


@pytest.mark.trio
async def test_a_full_disk_fails_the_call_and_every_later_one_and_loses_nothing(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.db"
    with trio.fail_after(20):
        async with open_store(path, realm=REALM) as store:
            await store.write([fx.StoreRecord(record=one) for one in say(1, 3)])
            await pragma(store, "max_page_count = 40")
            with pytest.raises(StoreError, match="SQLITE_FULL") as caught:
                await store.write([fx.StoreBlob(content=bytes(10**6))])
            await pragma(store, "max_page_count = 100000")
            # There is room again, but what is in memory and what is on disk have parted.
            with pytest.raises(StoreError, match="SQLITE_FULL") as later:
                await store.write([event(1)])
            assert len((await store.load()).durable.records) == 3

    assert caught.value.code is later.value.code is NodeCode.STORE_FAILED
    assert caught.value is not later.value
    assert held(path) == {one.id for one in say(1, 3)}
    assert query(path, "SELECT count(*) FROM events") == [(0,)]


@pytest.mark.trio
async def test_a_failing_commit_fails_its_whole_group(tmp_path: Path) -> None:
    codes: list[NodeCode] = []
    with trio.fail_after(20):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:

            def tick() -> int:
                message = "the clock of this test is broken"
                raise OSError(message)

            store.tick = tick

            async def client(number: int) -> None:
                try:
                    await store.write([event(number)])
                except StoreError as error:
                    codes.append(error.code)

            async with trio.open_nursery() as nursery:
                for number in range(1, 20):
                    nursery.start_soon(client, number)
            assert await store.events(0, 99) == []

    assert codes == [NodeCode.STORE_FAILED] * 19


@pytest.mark.trio
async def test_a_group_takes_no_more_jobs_and_bytes_than_fit(tmp_path: Path) -> None:
    with trio.fail_after(30):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:
            commits = counted(store)
            async with trio.open_nursery() as nursery:
                for number in range(MOST_JOBS * 2 + 10):
                    nursery.start_soon(store.write, [event(number + 1)])
            assert len(commits) >= 3
            commits.clear()
            async with trio.open_nursery() as nursery:
                for number in range(8):
                    content = bytes([number]) * (MOST_BYTES // 2)
                    nursery.start_soon(store.write, [fx.StoreBlob(content=content)])

            assert len(commits) >= 4


@pytest.mark.trio
async def test_thousands_of_rows_in_one_call_are_one_transaction(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with trio.fail_after(30):
        async with open_store(path, realm=REALM) as store:
            commits = counted(store)
            await store.write([event(number + 1) for number in range(2_500)])
            assert len(commits) == 1

            assert [one.cursor for one in await store.events(0, 9_999)] == list(range(1, 2_501))


async def kill_and_look(path: Path, seed: int, lots: random.Random) -> int:
    """Kill a flooding process after some acknowledgements; all acknowledged must be there."""
    process = await start("flood", path, seed, 10**6)
    output = await read(process.stdout, lots.randrange(32, 32 * 3_000))
    process.send_signal(signal.SIGKILL)
    output += await read(process.stdout)
    complaint = await read(process.stderr)
    await process.wait()
    acknowledged = ids_in(output)

    assert complaint == b""
    assert acknowledged
    assert acknowledged - held(path) == set()
    return len(acknowledged)


async def kill_often(path: Path, times: int) -> None:
    lots = random.Random(times)
    acknowledged = 0
    for seed in range(times):
        with trio.fail_after(60):
            acknowledged += await kill_and_look(path, seed, lots)
    with trio.fail_after(120):
        async with open_store(path, realm=REALM) as store:
            # Every record reads as it was written.
            assert len((await store.load()).durable.records) >= acknowledged


@pytest.mark.trio
async def test_five_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    await kill_often(tmp_path / "store.db", 5)


@pytest.mark.slow
@pytest.mark.trio
async def test_fifty_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    await kill_often(tmp_path / "store.db", 50)


@pytest.mark.trio
async def test_a_file_that_cannot_grow_fails_the_store_and_what_was_acknowledged_stays(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.db"
    with trio.fail_after(60):
        process = await start("full", path, 1, 3 * 1024 * 1024)
        output, complaint = b"", b""

        async def listen() -> None:
            nonlocal complaint
            complaint = await read(process.stderr)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(listen)
            output = await read(process.stdout)
        code = await process.wait()
    first, after = complaint.decode().splitlines()

    assert code == 0
    assert "STORE_FAILED" in first
    assert after.startswith("after: ")
    assert ids_in(output)
    assert ids_in(output) - held(path) == set()


@pytest.mark.trio
async def test_two_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    mine = [say(10_000 + number, 3) for number in range(60)]
    with trio.fail_after(60):
        process = await start("flood", path, 1, 10)
        async with open_store(path, realm=REALM) as store:
            output = await read(process.stdout, 32 * 100)
            for chain in mine:
                await store.write([fx.StoreRecord(record=one) for one in chain])
            output += await read(process.stdout)
            complaint = await read(process.stderr)
        code = await process.wait()

    assert (code, complaint) == (0, b"")
    assert len(ids_in(output)) == 1_000
    assert held(path) == ids_in(output) | {one.id for chain in mine for one in chain}
