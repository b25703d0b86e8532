"""The walk from unequal digests down to rows; nothing that a peer says is believed."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from federation.codec import encode
from federation.crypto import plain_hash
from federation.protocol import World
from federation.protocol.digest import BUCKETS, TableName, bucket_of
from node.base.errors import NetworkError, NodeCode
from node.network import worlds as module
from node.network.heads import HeadsCache
from node.network.messages import (
    Answer,
    AskBuckets,
    AskRows,
    AskWorld,
    Buckets,
    Elsewhere,
    Finding,
    Former,
    Inquiry,
    Rows,
    WorldAt,
    finding,
    frame,
    read_answer,
    read_question,
)
from node.network.serving import Serving, world_at
from node.network.worlds import MOST_SHOWN, TRIES, Difference, compare
from tests.federation.protocol.town import Town
from tests.node.network.differing import durable

ME = b"me".ljust(32)
Lie = Callable[[Inquiry, Answer], Answer]


def honest(inquiry: Inquiry, answer: Answer) -> Answer:
    """Pass on what the world says."""
    del inquiry
    return answer


@dataclass(kw_only=True)
class Two:
    """Two instances of a town; the second is the peer."""

    town: Town
    lie: Lie = honest
    formers: tuple[dict[int, Former], dict[int, Former]] = field(default_factory=lambda: ({}, {}))
    asked: list[Inquiry] = field(default_factory=list)
    meanwhile: Callable[[], None] = lambda: None
    """Called after each question."""

    @property
    def ours(self) -> World:
        return self.town.world(0)

    @property
    def theirs(self) -> World:
        return self.town.world(1)

    def former(self, index: int) -> Callable[[int], Awaitable[Former | None]]:
        async def at(cut: int) -> Former | None:
            return self.formers[index].get(cut)

        return at

    async def ask(self, inquiry: Inquiry) -> Finding:
        serving = Serving(
            lambda: self.theirs, HeadsCache(), durable, former=self.former(1), version="two"
        )
        self.asked.append(inquiry)
        (answer,) = await serving.answer(read_question(frame(inquiry)), ME)
        self.meanwhile()
        found = finding(inquiry, read_answer(frame(self.lie(inquiry, answer))))
        assert found is not None
        return found

    async def compare(self) -> Difference:
        return await compare(lambda: self.ours, self.ask, former=self.former(0), version="one")


def two(seed: str = "worlds", **rest: object) -> Two:
    return Two(town=Town.of(2, 4, seed=seed).in_cut(1), **rest)  # type: ignore[arg-type] # by name


def tamper(world: World, table: TableName, name: bytes, row: object) -> None:
    world.state.tables.named(table).put(name, row)


@pytest.mark.trio
async def test_two_at_one_cut_hold_the_same_world() -> None:
    it = two()
    found = await it.compare()

    assert found.is_level
    assert found.is_same
    assert found.theirs.version == "two"
    assert (found.rows, dict(found.buckets), found.deceit) == ((), {}, "")
    # One question is enough to know it.
    assert it.asked == [AskWorld(cut=it.ours.state.cut)]


@pytest.mark.trio
@pytest.mark.parametrize("whose", [0, 1])
@pytest.mark.parametrize("table", list(TableName))
async def test_a_row_that_differs_is_found_in_every_table(table: TableName, whose: int) -> None:
    it = two()
    name = next(iter(it.ours.state.tables.named(table).rows()), b"x" * 32)
    before = it.ours.state.tables.named(table).rows().get(name)
    tamper((it.ours, it.theirs)[whose], table, name, ["other"])
    found = await it.compare()
    (pair,) = found.rows
    rows = (pair.ours, pair.theirs)

    assert (pair.table, pair.id) == (table, name)
    assert rows[whose] == encode([name, ["other"]])
    assert rows[1 - whose] == before
    assert found.buckets == {table: 1}
    assert not found.is_same
    assert (found.deceit, found.unread, found.omitted) == ("", 0, 0)


@pytest.mark.trio
async def test_a_row_that_only_one_has_is_found() -> None:
    it = two()
    ours, theirs = b"\x10" * 32, b"\xf0" * 32
    tamper(it.ours, TableName.ARTIFACTS, ours, [1])
    tamper(it.theirs, TableName.ARTIFACTS, theirs, [2])
    found = await it.compare()

    assert [(pair.id, pair.ours is None, pair.theirs is None) for pair in found.rows] == [
        (ours, False, True),
        (theirs, True, False),
    ]


def fill(world: World, count: int, *, value: int, size: int = 0) -> None:
    """Put many artifacts into a table."""
    for number in range(count):
        name = plain_hash(number.to_bytes(4, "big"))
        tamper(world, TableName.ARTIFACTS, name, [value, bytes(size)])


@pytest.mark.trio
async def test_a_table_of_many_rows_is_read_only_where_it_differs() -> None:
    it = two()
    for world in (it.ours, it.theirs):
        fill(world, 6_000, value=1)
    other = plain_hash((77).to_bytes(4, "big"))
    tamper(it.theirs, TableName.ARTIFACTS, other, [2])
    found = await it.compare()

    assert [pair.id for pair in found.rows] == [other]
    assert [type(one) for one in it.asked] == [AskWorld, AskBuckets, AskRows]
    assert it.asked[-1] == AskRows(
        cut=1, table=TableName.ARTIFACTS, buckets=(bucket_of(other),), after=None
    )


@pytest.mark.trio
async def test_what_is_shown_is_bounded_and_what_is_left_out_is_counted() -> None:
    it = two()
    fill(it.ours, 6_000, value=1)
    fill(it.theirs, 6_000, value=2)
    agent = it.town.agent(0)
    tamper(it.theirs, TableName.AGENTS, agent, [1])
    found = await it.compare()
    read = found.buckets[TableName.ARTIFACTS] - (found.unread - 1)
    rows = it.ours.state.tables.artifacts.rows()
    looked_into = sorted({bucket_of(name) for name in rows})[:read]
    there = sum(bucket_of(name) in looked_into for name in rows)

    assert len(found.rows) == MOST_SHOWN
    assert there == len(found.rows) + found.omitted
    # That the agents differ too is told, although none of their rows is read any more.
    assert found.buckets[TableName.AGENTS] == 1
    assert found.deceit == ""


@pytest.mark.trio
async def test_large_buckets_come_in_several_frames_and_are_verified_whole() -> None:
    it = two()
    for number in range(40):
        name = bytes([7, number]).ljust(32, b"\0")
        for world in (it.ours, it.theirs):
            tamper(world, TableName.ROUNDS, name, [bytes(30_000)])
    tamper(it.theirs, TableName.ROUNDS, bytes([7, 3]).ljust(32, b"\0"), [bytes(29_999)])
    tamper(it.theirs, TableName.ROUNDS, bytes([7, 39]).ljust(32, b"\0"), [bytes(29_999)])
    found = await it.compare()

    assert [pair.id[1] for pair in found.rows] == [3, 39]
    # Of the three buckets two differ: 24 rows, of which eight fit into a frame.
    assert sum(isinstance(one, AskRows) for one in it.asked) == 3
    assert found.deceit == ""


@pytest.mark.trio
async def test_what_is_read_of_a_peer_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_READ", 300_000)
    it = two()
    for number in range(200):
        tamper(it.theirs, TableName.ROUNDS, bytes([number]).ljust(32, b"\0"), [bytes(30_000)])
    found = await it.compare()
    rows = sum(isinstance(one, AskRows) for one in it.asked)

    assert rows <= 3
    assert 0 < len(found.rows) < 30
    assert found.unread == 200 - len(found.rows)


# Cuts ---------------------------------------------------------------------------------------------


def behind(it: Two) -> int:
    """Let the peer go on by a cut, and remember what the cut before amounted to."""
    cut = it.ours.state.cut
    was = Former(digest=it.ours.state.digest, world_digest=it.ours.digest)
    for formers in it.formers:
        formers[cut] = was
    it.theirs.state.turn_to(cut + 1, b"n" * 32)
    return cut


@pytest.mark.trio
async def test_at_different_cuts_the_older_one_is_compared() -> None:
    it = two()
    cut = behind(it)
    found = await it.compare()

    assert not found.is_level
    assert found.is_same
    assert found.common is not None
    assert found.common.cut == cut
    assert len(it.asked) == 1


@pytest.mark.trio
async def test_a_peer_that_is_behind_is_compared_with_what_our_cut_was() -> None:
    it = two()
    behind(it)
    one, other = it.town.founding.instances
    it.town.worlds[one], it.town.worlds[other] = it.theirs, it.ours
    found = await it.compare()

    assert (found.ours.cut, found.theirs.cut) == (2, 1)
    assert found.is_same


@pytest.mark.trio
async def test_without_the_digests_of_the_older_cut_nothing_is_claimed() -> None:
    it = two()
    behind(it)
    it.formers[1].clear()
    found = await it.compare()

    assert found.common is None
    assert not found.is_same
    assert found.rows == ()


@pytest.mark.trio
async def test_if_the_older_cut_differs_already_the_rows_are_read() -> None:
    it = two()
    cut = behind(it)
    it.formers[1][cut] = Former(digest=it.ours.state.digest, world_digest=bytes(32))
    tamper(it.theirs, TableName.AGENTS, it.town.agent(0), [1])
    found = await it.compare()

    assert not found.is_same
    assert [pair.id for pair in found.rows] == [it.town.agent(0)]


@pytest.mark.trio
async def test_a_cut_that_comes_in_the_middle_begins_the_walk_anew() -> None:
    it = two()
    tamper(it.theirs, TableName.AGENTS, it.town.agent(0), [1])
    moves = [it.theirs, it.ours]

    def move() -> None:
        if isinstance(it.asked[-1], AskBuckets) and moves:
            for world in moves:
                world.state.turn_to(world.state.cut + 1, b"n" * 32)
            moves.clear()

    it.meanwhile = move
    found = await it.compare()

    assert [pair.id for pair in found.rows] == [it.town.agent(0)]
    assert sum(isinstance(one, AskWorld) for one in it.asked) == 2
    assert found.ours.cut == found.theirs.cut == 2


@pytest.mark.trio
async def test_rows_of_ours_are_never_those_of_another_cut() -> None:
    it = two()
    tamper(it.theirs, TableName.AGENTS, it.town.agent(0), [1])
    it.formers[0][1] = Former(digest=it.ours.state.digest, world_digest=it.ours.digest)
    later = b"later".ljust(32)

    def move() -> None:
        if isinstance(it.asked[-1], AskRows) and it.ours.state.cut == 1:
            it.ours.state.turn_to(2, b"n" * 32)
            tamper(it.ours, TableName.AGENTS, later, [1])

    it.meanwhile = move
    found = await it.compare()

    assert sum(isinstance(one, AskWorld) for one in it.asked) == 2
    assert (found.ours.cut, found.theirs.cut) == (2, 1)
    assert {pair.id for pair in found.rows} == {it.town.agent(0), later}


@pytest.mark.trio
@pytest.mark.parametrize(
    ("peer", "reached", "ours", "common"),
    [
        # The peer stands where we stood, or where we stand by now: one cut.
        (1, 2, 1, 1),
        (2, 2, 2, 2),
        # It is further than both: it tells of the cut that was named.
        (3, 2, 1, 1),
        # It stands between: we remember what that cut was.
        (2, 3, 3, 2),
    ],
)
async def test_a_cut_that_comes_while_the_peer_answers_mixes_nothing_up(
    peer: int, reached: int, ours: int, common: int
) -> None:
    it = two()
    digests = {1: it.ours.state.digest, 2: b"2" * 32, 3: b"3" * 32}

    def go_to(world: World, index: int, cut: int) -> None:
        while world.state.cut < cut:
            state = world.state
            it.formers[index][state.cut] = Former(
                digest=state.digest, world_digest=world_at(world, "").world_digest
            )
            state.turn_to(state.cut + 1, digests[state.cut + 1])

    go_to(it.theirs, 1, peer)
    it.meanwhile = lambda: go_to(it.ours, 0, reached)
    found = await it.compare()

    assert found.ours.cut == ours
    assert found.common is not None
    assert found.common.cut == common
    assert found.is_same, found


@pytest.mark.trio
async def test_who_never_stands_still_is_told_so() -> None:
    it = two()
    tamper(it.theirs, TableName.AGENTS, it.town.agent(0), [1])
    it.lie = lambda inquiry, answer: answer if isinstance(inquiry, AskWorld) else Elsewhere(cut=99)
    with pytest.raises(NetworkError) as refused:
        await it.compare()

    assert refused.value.code is NodeCode.BUSY
    assert len(it.asked) == 2 * TRIES


# Lies ---------------------------------------------------------------------------------------------


async def deceived(lie: Lie) -> Difference:
    it = two()
    tamper(it.theirs, TableName.AGENTS, it.town.agent(0), [1])
    it.lie = lie
    found = await it.compare()

    assert not found.is_same
    return found


@pytest.mark.trio
async def test_roots_that_do_not_amount_to_the_digest_are_told_apart() -> None:
    def lie(inquiry: Inquiry, answer: Answer) -> Answer:
        del inquiry
        return replace(answer, agents=b"x" * 32) if isinstance(answer, WorldAt) else answer

    assert "do not amount to its world digest" in (await deceived(lie)).deceit


@pytest.mark.trio
async def test_who_claims_our_digest_over_other_tables_is_told_apart() -> None:
    it = two()
    tamper(it.theirs, TableName.AGENTS, it.town.agent(0), [1])
    it.lie = lambda _inquiry, answer: (
        replace(answer, world_digest=it.ours.digest) if isinstance(answer, WorldAt) else answer
    )
    found = await it.compare()

    assert found.deceit
    assert not found.is_same


@pytest.mark.trio
async def test_bucket_hashes_that_do_not_amount_to_the_root_are_told_apart() -> None:
    def lie(inquiry: Inquiry, answer: Answer) -> Answer:
        del inquiry
        return Buckets(hashes=bytes(BUCKETS * 32)) if isinstance(answer, Buckets) else answer

    assert "bucket hashes of its agents" in (await deceived(lie)).deceit


def swap(rows: Callable[[Rows], Rows]) -> Lie:
    return lambda _inquiry, answer: rows(answer) if isinstance(answer, Rows) else answer


def id_of(row: bytes) -> bytes:
    return row[3:35]


@pytest.mark.trio
@pytest.mark.parametrize(
    ("why", "rows"),
    [
        ("do not amount", lambda _: Rows(rows=(), more=False)),
        ("sends none", lambda _: Rows(rows=(), more=True)),
        ("that are none", lambda _: Rows(rows=(b"noise",), more=False)),
        ("that are none", lambda _: Rows(rows=(encode(7),), more=False)),
        ("that are none", lambda _: Rows(rows=(encode([bytes(31), 1]),), more=False)),
        ("that are none", lambda _: Rows(rows=(encode([bytes(32), 1, 2]),), more=False)),
        (
            "do not amount",
            lambda told: Rows(rows=(encode([id_of(told.rows[0]), [2]]),), more=False),
        ),
        ("not asked for", lambda told: Rows(rows=(told.rows[0],) * 2, more=False)),
        # Asked for what follows, it has nothing.
        ("sends none", lambda told: Rows(rows=told.rows, more=True)),
        (
            "not asked for",
            lambda told: Rows(
                rows=(encode([bytes([id_of(told.rows[0])[0] ^ 1]).ljust(32), 1]),), more=False
            ),
        ),
    ],
)
async def test_rows_that_do_not_amount_to_their_bucket_are_told_apart(
    why: str, rows: Callable[[Rows], Rows]
) -> None:
    found = await deceived(swap(rows))

    assert why in found.deceit
    assert found.rows == ()
