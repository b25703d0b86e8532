"""What is answered of the certified world: rows as they are hashed, within bounds, at one cut."""

import pytest
import trio
import trio.testing

from federation.codec import LIMITS
from federation.core import Code, PeerError
from federation.protocol import World
from federation.protocol.digest import TableName, bucket_of
from node.network.heads import HeadsCache
from node.network.messages import (
    MOST_ROWS,
    ROOM,
    Answer,
    AskBuckets,
    AskRows,
    AskWorld,
    Buckets,
    Elsewhere,
    Former,
    Question,
    Rows,
    WorldAt,
    frame,
)
from node.network.serving import Serving
from tests.federation.protocol.town import Town
from tests.node.network.differing import durable

ME = b"me".ljust(32)
FORMER = Former(digest=b"d" * 32, world_digest=b"w" * 32)


@pytest.fixture(name="world")
def made() -> World:
    return Town.of(2, 4, seed="serving worlds").in_cut(1).world(0)


async def former(cut: int) -> Former | None:
    del cut
    return FORMER


async def answer(world: World, question: Question) -> Answer:
    serving = Serving(lambda: world, HeadsCache(), durable, former=former, version="1.2")
    (found,) = await serving.answer(question, ME)
    assert len(frame(found)) <= LIMITS.frame
    return found


@pytest.mark.trio
async def test_the_newest_cut_is_told_with_what_it_amounts_to(world: World) -> None:
    found = await answer(world, AskWorld(cut=1))

    assert isinstance(found, WorldAt)
    assert (found.cut, found.digest, found.world_digest) == (1, world.state.digest, world.digest)
    assert found.agents == world.state.tables.agents.root()
    assert (found.version, found.former) == ("1.2", None)


@pytest.mark.trio
@pytest.mark.parametrize(("cut", "expected"), [(0, FORMER), (1, None), (2, None), (2**53, None)])
async def test_the_digests_of_an_older_cut_are_told_if_they_are_held(
    world: World, cut: int, expected: Former | None
) -> None:
    found = await answer(world, AskWorld(cut=cut))

    assert isinstance(found, WorldAt)
    assert found.former == expected


@pytest.mark.trio
async def test_nothing_of_the_world_leaves_before_it_is_durable(world: World) -> None:
    gate = trio.Event()
    found: list[Answer] = []

    async def ask() -> None:
        serving = Serving(lambda: world, HeadsCache(), gate.wait)
        found.extend(await serving.answer(AskWorld(cut=1), ME))

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await trio.testing.wait_all_tasks_blocked()
            assert found == []
            gate.set()

    assert len(found) == 1


@pytest.mark.trio
@pytest.mark.parametrize("cut", [0, 2, 2**53])
async def test_tables_of_another_cut_are_not_to_be_had(world: World, cut: int) -> None:
    for question in (
        AskBuckets(cut=cut, table=TableName.AGENTS),
        AskRows(cut=cut, table=TableName.AGENTS, buckets=(1,)),
    ):
        assert await answer(world, question) == Elsewhere(cut=1)


@pytest.mark.trio
async def test_buckets_and_rows_are_those_of_the_table(world: World) -> None:
    table = world.state.tables.agents
    buckets = tuple(sorted({bucket_of(name) for name in table.rows()}))

    assert await answer(world, AskBuckets(cut=1, table=TableName.AGENTS)) == Buckets(
        hashes=table.hashes()
    )
    rows = await answer(world, AskRows(cut=1, table=TableName.AGENTS, buckets=buckets))
    assert rows == Rows(rows=tuple(row for _, row in sorted(table.rows().items())), more=False)
    empty = next(number for number in range(4_096) if number not in buckets)
    assert await answer(world, AskRows(cut=1, table=TableName.AGENTS, buckets=(empty,))) == Rows(
        rows=(), more=False
    )


async def every_row(world: World, *buckets: int) -> list[list[bytes]]:
    """Ask until there is no more."""
    frames: list[list[bytes]] = []
    after: bytes | None = None
    while True:
        found = await answer(
            world, AskRows(cut=1, table=TableName.ROUNDS, buckets=buckets, after=after)
        )
        assert isinstance(found, Rows)
        frames.append(list(found.rows))
        if not found.more:
            return frames
        after = found.rows[-1][3:35]


@pytest.mark.trio
@pytest.mark.parametrize(("count", "size"), [(1_300, 1), (20, 60_000)])
async def test_many_rows_come_in_several_frames_each_once(
    world: World, count: int, size: int
) -> None:
    for number in range(count):
        name = bytes([0, 0x10 * (number % 3)]) + number.to_bytes(30, "big")
        world.state.tables.rounds.put(name, [bytes(size)])
    frames = await every_row(world, 0, 1, 2)
    rows = [row for one in frames for row in one]

    assert len(frames) > 2
    assert all(len(one) <= MOST_ROWS and sum(map(len, one)) <= ROOM for one in frames)
    assert rows == [row for _, row in sorted(world.state.tables.rounds.rows().items())]


@pytest.mark.trio
@pytest.mark.parametrize("buckets", [(2, 1), (1, 1), (1, 2, 2)])
async def test_buckets_out_of_order_are_the_askers_fault(
    world: World, buckets: tuple[int, ...]
) -> None:
    with pytest.raises(PeerError) as refused:
        await answer(world, AskRows(cut=1, table=TableName.ROUNDS, buckets=buckets))

    assert refused.value.code is Code.NOT_CANONICAL
