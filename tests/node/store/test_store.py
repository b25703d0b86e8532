"""What the door promises: durable on return, all or none, the same when written twice."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from federation.core import short
from federation.crypto import KeySigner
from federation.protocol import effects as fx
from federation.protocol import restore
from federation.records import wire
from node.base.clock import ClockState
from node.base.errors import NodeCode, StoreError
from node.store import Counts, SnapshotHead, open_store
from node.store.schema import CONTENTS_KEPT, EVENTS_KEPT
from tests.builders import named
from tests.federation.protocol.town import keys, verify
from tests.federation.protocol.trial import durable_of
from tests.node.store.ledger import (
    REALM,
    counted,
    event,
    files,
    played,
    query,
    say,
    snapshot,
    stored,
)


@pytest.mark.trio
async def test_what_a_core_asked_to_store_is_loaded_in_order_and_brings_its_world_back(
    tmp_path: Path,
) -> None:
    town = played()
    effects = stored()
    realm = town.founding.realm
    with trio.fail_after(20):
        async with open_store(tmp_path / "store.db", realm=realm) as store:
            for at in range(0, len(effects), 7):
                await store.write(effects[at : at + 7])  # type: ignore[arg-type]
        async with open_store(tmp_path / "store.db", realm=realm) as store:
            loaded = await store.load()
    durable = durable_of(effects)
    world, _ = restore(
        town.founding.charter,
        town.founding.records,
        loaded.durable,
        instance=town.founding.instances[0],
        signer=KeySigner(keys(town.seed, "instance", 0).current),
        now=town.now,
        verify=verify,
    )

    assert loaded.durable == durable
    assert loaded.clock is None
    assert world.digest == town.world().digest
    assert world.state.cut == town.world().state.cut > 1


@pytest.mark.trio
async def test_writing_everything_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    realm = played().founding.realm
    with trio.fail_after(20):
        async with open_store(path, realm=realm) as store:
            writes = [*stored(), snapshot(3), event(1), fx.StoreSilence(until=4)]
            await store.write(writes)  # type: ignore[arg-type]
            first, counts = await store.load(), await store.counts()
            await store.write(writes)  # type: ignore[arg-type]

            assert await store.load() == first
            assert await store.counts() == counts


@pytest.mark.trio
async def test_a_copy_with_its_text_fills_the_text_in_and_one_without_takes_nothing_away(
    tmp_path: Path,
) -> None:
    record = say(1, 2)[1]
    bare = record.with_text(None)
    assert record.text_raw is not None
    with trio.fail_after(10):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:
            await store.write([fx.StoreRecord(record=bare)])
            assert await store.record(record.id) == wire(bare)
            await store.write([fx.StoreRecord(record=record)])
            await store.write([fx.StoreRecord(record=bare)])

            assert await store.record(record.id) == wire(record)
            assert (await store.load()).durable.records == [record]
            assert (await store.counts()).texts == 1
            assert await store.record(named("unknown")) is None


@pytest.mark.trio
async def test_the_latest_start_counts_and_silence_never_gets_shorter(tmp_path: Path) -> None:
    with trio.fail_after(10):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:
            assert (await store.load()).durable.silent_until == -1
            await store.write([fx.StoreStart(slot=b"a", at=1), fx.StoreStart(slot=b"b", at=2)])
            await store.write([fx.StoreStart(slot=b"a", at=3), fx.StoreSilence(until=9)])
            await store.write([fx.StoreSilence(until=7)])
            durable = (await store.load()).durable

    assert durable.starts == {b"a": 3, b"b": 2}
    assert durable.silent_until == 9


@pytest.mark.trio
async def test_the_clock_is_kept_and_each_commit_notes_the_latest_time(tmp_path: Path) -> None:
    state = ClockState(boot_id="boot", offset=-5, last=100)
    with trio.fail_after(10):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:
            await store.save_clock(state)
            store.tick = lambda: 250
            assert store.tick() == 250
            await store.write([fx.StoreStart(slot=b"a", at=1)])
            assert (await store.load()).clock == replace(state, last=250)
            store.tick = lambda: 240
            await store.write([fx.StoreStart(slot=b"a", at=1)])

            assert (await store.load()).clock == replace(state, last=250)


@pytest.mark.trio
async def test_all_digests_of_snapshots_stay_and_the_newest_contents(tmp_path: Path) -> None:
    most = CONTENTS_KEPT + 6
    with trio.fail_after(20):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:
            assert await store.latest_snapshot() is None
            await store.write([snapshot(cut) for cut in range(1, most + 1)])
            newest = replace(snapshot(most), content=b"folded again")
            await store.write([newest])
            heads = await store.snapshots(0, 1_000)

            assert [one.cut for one in heads] == list(range(1, most + 1))
            assert await store.snapshots(2, 1) == [
                SnapshotHead(cut=3, tick=1, digest=named("cut", 3), world_digest=named("world", 3))
            ]
            assert await store.latest_snapshot() == newest
    kept = query(tmp_path / "store.db", "SELECT cut FROM snapshot_contents ORDER BY cut")
    assert kept == [(cut,) for cut in range(7, most + 1)]


@pytest.mark.trio
async def test_events_are_read_on_from_a_cursor_and_the_oldest_go(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:
            assert await store.last_cursor() == 0
            await store.write([event(number) for number in range(1, 11)])
            assert await store.events(7, 2) == [event(8), event(9)]
            await store.write([event(EVENTS_KEPT + 5)])

            assert await store.events(0, 3) == [event(6), event(7), event(8)]
            assert await store.last_cursor() == EVENTS_KEPT + 5


@pytest.mark.trio
async def test_everything_held_is_counted(tmp_path: Path) -> None:
    with trio.fail_after(10):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:
            await store.write([fx.StoreRecord(record=one) for one in say(1, 3)])
            await store.write([fx.StoreBlob(content=b"x"), fx.StoreBlob(content=b"x"), event(1)])
            await store.write([])
            found = await store.counts()

    assert found == Counts(
        records=3,
        texts=2,
        blobs=1,
        journal=0,
        starts=0,
        snapshots=0,
        events=1,
        bytes=found.bytes,
    )
    assert found.bytes > 10_000


@pytest.mark.trio
async def test_concurrent_callers_share_transactions_and_each_is_answered(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    chains = [say(author, 4) for author in range(150)]
    with trio.fail_after(30):
        async with open_store(path, realm=REALM) as store, trio.open_nursery() as nursery:
            commits = counted(store)

            async def client(number: int) -> None:
                for record in chains[number]:
                    await store.write([fx.StoreRecord(record=record)])
                    # Another connection finds it at once: it was committed before the answer.
                    assert await store.record(record.id) is not None

            for number in range(len(chains)):
                nursery.start_soon(client, number)

    assert query(path, "SELECT count(*) FROM records") == [(600,)]
    assert 0 < len(commits) < 300


@pytest.mark.trio
async def test_callers_may_give_up_at_any_moment_and_nothing_is_half_written(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.db"
    lots = random.Random(7)
    written: list[int] = []
    chains = [say(author, 4) for author in range(80)]
    with trio.fail_after(30):
        async with open_store(path, realm=REALM) as store:

            async def client(number: int) -> None:
                with trio.move_on_after(lots.random() * 0.03):
                    await store.write([fx.StoreRecord(record=one) for one in chains[number]])
                    written.append(number)

            for _ in range(3):
                async with trio.open_nursery() as nursery:
                    for number in range(len(chains)):
                        nursery.start_soon(client, number)
            # The store goes on as if nothing had happened.
            await store.write([event(1)])
            held = {one.id for one in (await store.load()).durable.records}

    halves = [len({one.id for one in chain} & held) for chain in chains]
    assert set(halves) <= {0, 4}
    assert all(halves[number] == 4 for number in written)
    assert query(path, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.trio
async def test_a_caller_that_is_cancelled_before_there_is_room_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("node.store.store.QUEUED", 1)
    with trio.fail_after(10):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:
            await store._room.acquire()
            with trio.move_on_after(0.01) as scope:
                await store.write([event(1)])
            store._room.release()
            await store.write([event(2)])

            assert scope.cancelled_caught
            assert await store.events(0, 9) == [event(2)]


@pytest.mark.trio
async def test_a_row_against_the_rules_fails_its_own_call_only(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    outcomes: dict[int, NodeCode | None] = {}
    poison = {
        3: replace(snapshot(1), digest=b"short"),
        5: replace(event(9), cursor=2**70),
        8: fx.StoreStart(slot=b"s", at=-1),
        9: replace(event(10), event="\ud800"),
    }
    with trio.fail_after(20):
        async with open_store(path, realm=REALM) as store, trio.open_nursery() as nursery:

            async def client(number: int) -> None:
                writes: list[object] = [fx.StoreRecord(record=one) for one in say(number, 2)]
                writes += [poison[number]] if number in poison else []
                try:
                    await store.write(writes)  # type: ignore[arg-type]
                    outcomes[number] = None
                except StoreError as error:
                    outcomes[number] = error.code

            for number in range(12):
                nursery.start_soon(client, number)
    held = {row[0] for row in query(path, "SELECT author FROM records")}

    assert outcomes == {
        number: NodeCode.WRITE_REFUSED if number in poison else None for number in range(12)
    }
    assert held == {say(number, 1)[0].id for number in range(12) if number not in poison}


@pytest.mark.trio
async def test_a_second_message_under_a_counter_is_refused_before_it_could_leave(
    tmp_path: Path,
) -> None:
    entries = [
        one
        for one in stored()
        if isinstance(one, fx.StoreJournal) and hasattr(one.entry, "signature")
    ]
    again = replace(entries[1].entry, raw=entries[0].entry.raw)  # type: ignore[union-attr]
    with trio.fail_after(10):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:
            await store.write(entries)
            with pytest.raises(StoreError, match=r"journal\.counter") as caught:
                await store.write([fx.StoreJournal(entry=again)])

            assert caught.value.code is NodeCode.WRITE_REFUSED
            assert (await store.counts()).journal == len(entries)


@pytest.mark.trio
async def test_a_closed_store_takes_and_gives_nothing_more(tmp_path: Path) -> None:
    with trio.fail_after(10):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:
            await store.write([event(1)])
        with pytest.raises(StoreError) as writing:
            await store.write([event(2)])
        with pytest.raises(StoreError) as reading:
            await store.events(0, 1)

    assert writing.value.code is reading.value.code is NodeCode.STOPPING
    assert files(tmp_path) == {"store.db": 0o600}


@pytest.mark.trio
async def test_what_was_queued_is_written_although_the_owner_is_cancelled(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with trio.fail_after(20):
        with trio.CancelScope() as scope:
            async with open_store(path, realm=REALM) as store, trio.open_nursery() as nursery:
                for number in range(50):
                    nursery.start_soon(store.write, [event(number + 1)])
                await trio.lowlevel.checkpoint()
                await trio.lowlevel.checkpoint()
                scope.cancel()

    assert query(path, "SELECT count(*) FROM events") == [(50,)]
    assert files(tmp_path).keys() == {"store.db"}


@pytest.mark.trio
async def test_a_long_read_that_is_given_up_ends_and_its_connection_serves_again(
    tmp_path: Path,
) -> None:
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        " SELECT max(i) FROM n"
    )
    with trio.fail_after(20):
        async with open_store(tmp_path / "store.db", realm=REALM, readers=1) as store:
            for _ in range(3):
                with trio.move_on_after(0.05) as scope:
                    await store._fetch(endless, (10**12,))
                assert scope.cancelled_caught

            assert await store.last_cursor() == 0


@pytest.mark.trio
async def test_damage_is_told_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    record = say(1, 2)[1]
    raw = wire(record.with_text(None))
    entry = next(one for one in stored() if isinstance(one, fx.StoreJournal))
    with trio.fail_after(20):
        async with open_store(path, realm=REALM) as store:
            await store.write([fx.StoreRecord(record=record), entry])
        for column, damage, undo, what in (
            ("records.raw", raw[:50], raw, f"record {short(record.id)}"),
            ("records.id", bytes(32), record.id, "record 00000000"),
            ("journal.raw", b"\xc1", b"", "entry 1 of the signing journal"),
        ):
            damaging(path, column, damage)
            async with open_store(path, realm=REALM) as store:
                with pytest.raises(StoreError, match=what) as caught:
                    await store.load()
            assert caught.value.code is NodeCode.STORE_DAMAGED
            damaging(path, column, undo)


def damaging(path: Path, column: str, value: bytes) -> None:
    """Put another value into a column of all rows."""
    table, _, name = column.partition(".")
    query(path, f"UPDATE {table} SET {name} = ?", value)  # noqa: S608 # names of this test
