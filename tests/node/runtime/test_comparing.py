"""Two real nodes compare their certified worlds over their live conversation."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
import trio

from federation.protocol.digest import TableName
from federation.protocol.rows import COLUMNS
from node.base.errors import NetworkError, NodeCode, RequestError
from node.cli import client
from node.network.messages import Former
from node.queries.causes import CauseCode
from node.queries.differences import differences
from node.runtime import Node, comparing
from node.runtime.comparing import former_at
from tests.node.runtime.quick import agents_of, propose, quick
from tests.node.runtime.realm import Realm, introduce, realm, until

DAY = 86_400_000


@asynccontextmanager
async def pair(town: Realm) -> AsyncIterator[tuple[Node, Node]]:
    """Run both instances of a realm until both are ready."""
    with trio.fail_after(40):
        async with town.node(0) as one, town.node(1) as two:
            introduce([one, two])
            await until(lambda: all(node.health().state == "ready" for node in (one, two)))
            await until(lambda: two.instance in one.links.connected)
            yield one, two


def still(root: Path) -> Realm:
    """Found a realm of two instances whose next cut is far away."""
    return realm(root, instances=2, agents=4, epoch=DAY)


@pytest.mark.trio
async def test_two_nodes_hold_the_same_world_and_a_damaged_row_is_found_and_explained(
    tmp_path: Path,
) -> None:
    town = still(tmp_path)
    agent = town.agents_of(1)[0]
    async with pair(town) as (one, two):
        same = await one.diff(two.instance)

        assert same.is_level
        assert same.is_same
        assert same.theirs.version == comparing.VERSION

        table = two.world.state.tables.named(TableName.AGENTS)
        name, columns = msgspec.msgpack.decode(table.rows()[agent])
        places = {column: number for number, column in enumerate(COLUMNS["agents"])}
        columns[places["trust"]] += 5
        table.put(name, columns)
        found = await one.diff(two.instance)
        back = await two.diff(one.instance)
        page = differences(one.world, two.instance, found)
        (row,) = page.rows
        (field,) = row.fields

        assert (row.table, row.id, row.name) == ("agents", agent.hex(), "agent 1")
        assert (field.field, int(str(field.theirs)) - int(str(field.ours))) == ("trust", 5)
        assert [cause.code for cause in page.causes] == [CauseCode.TRUST]
        # Seen from there, the damage is their own.
        (pair_there,) = back.rows
        assert (pair_there.ours, pair_there.theirs) == (found.rows[0].theirs, found.rows[0].ours)
        assert [cause.code for cause in differences(two.world, one.instance, back).causes] == [
            CauseCode.OWN_DAMAGE,
            CauseCode.TRUST,
        ]
        # Nobody is scored for damage, and the conversation goes on.
        assert [peer.score for node in (one, two) for peer in node.peers()] == [0, 0]
        assert two.instance in one.links.connected


@pytest.mark.trio
async def test_a_peer_that_is_gone_and_one_that_is_none_are_told_apart(tmp_path: Path) -> None:
    town = still(tmp_path)
    with trio.fail_after(20):
        async with town.node(0) as one:
            other = next(iter(peer.instance for peer in one.peers()))
            with pytest.raises(NetworkError) as gone:
                await one.diff(other)
            for nobody in (bytes(32), one.instance, town.agents_of(0)[0]):
                with pytest.raises(RequestError) as none:
                    await one.diff(nobody)
                assert none.value.code is NodeCode.NOT_FOUND

    assert gone.value.code is NodeCode.UNREACHABLE


async def never(mark: int | None = None) -> None:
    del mark
    await trio.sleep_forever()


@pytest.mark.trio
async def test_a_peer_that_takes_too_long_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "WITHIN_S", 0.3)
    async with pair(still(tmp_path)) as (one, two):
        with monkeypatch.context() as patch:
            # Its disk never catches up, so it answers nothing.
            patch.setattr(two.driver, "drained", never)
            with pytest.raises(NetworkError) as late:
                await one.diff(two.instance)

        assert late.value.code is NodeCode.TIMED_OUT


@pytest.mark.trio
async def test_what_a_cut_amounted_to_is_remembered(tmp_path: Path) -> None:
    town = quick(tmp_path, instances=2, agents=4)
    async with pair(town) as (one, two):
        await propose(one, agents_of(town)[0])
        await until(lambda: min(node.world.state.cut for node in (one, two)) >= 2)
        await one.flushed()
        await two.flushed()
        first = await former_at(one.store, 1)

        assert first is not None
        assert first == await former_at(two.store, 1)
        assert first.digest == one.world.state.cuts[1]
        assert await former_at(one.store, 10**6) is None
        assert await former_at(one.store, -1) is None
        # Whatever cuts come meanwhile: they agree about the newest that both have reached.
        found = await one.diff(two.instance)
        assert found.is_same


@pytest.mark.trio
async def test_a_peer_at_an_older_cut_is_compared_with_what_was_stored_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    town = quick(tmp_path, instances=2, agents=4, timing={"epoch": DAY})
    async with pair(town) as (one, two):
        await propose(one, agents_of(town)[0])
        await until(lambda: min(node.world.state.cut for node in (one, two)) >= 1)
        await one.flushed()
        cut = one.world.state.cut
        state = one.world.state
        was = await former_at(one.store, cut)
        assert was == Former(digest=state.digest, world_digest=one.world.digest)
        # As if this instance had gone on by a cut that the peer has not seen.
        state.turn_to(cut + 1, b"n" * 32)
        found = await one.diff(two.instance)

        assert (found.is_level, found.is_same) == (False, True)
        assert found.common is not None
        assert found.common.cut == cut
        # And as if that cut had been another world.
        monkeypatch.setattr(
            comparing, "former_at", lambda _store, _cut: other_world(state.cuts[cut])
        )
        found = await one.diff(two.instance)
        assert not found.is_same
        assert found.rows == ()


async def other_world(digest: bytes) -> Former:
    return Former(digest=digest, world_digest=bytes(32))


def test_a_command_waits_longer_than_a_comparison_may_take() -> None:
    assert comparing.WITHIN_S < client._WAIT
