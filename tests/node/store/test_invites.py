"""Invites and those who came by them are found again as they were; two never share a place."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import trio
import trio.testing

from node.base.errors import NodeCode, StoreError
from node.store import DropInvite, Invite, Invited, KeptInvites, Write, open_store
from tests.builders import named
from tests.node.store.ledger import REALM, query


def invite(number: int, *, uses: int = 2) -> Invite:
    return Invite(
        id=f"{number:08x}",
        inviter=named("inviter", number),
        sha256=named("code", number),
        weight=255,
        uses=uses,
        created=1,
        until=2,
        deadline=3,
    )


def invited(number: int, of: Invite, place: int | None) -> Invited:
    return Invited(agent=named("agent", number), invite=of.id, place=place, at=number)


async def kept(path: Path, *groups: Sequence[Write]) -> KeptInvites:
    """Write groups one after the other, and give what another start finds."""
    with trio.fail_after(10):
        async with open_store(path, realm=REALM) as store:
            for group in groups:
                await store.write(group)
        async with open_store(path, realm=REALM) as store:
            return await store.invites()


async def refusal(path: Path, one: Write) -> StoreError:
    with trio.fail_after(10), pytest.raises(StoreError) as caught:
        async with open_store(path, realm=REALM) as store:
            await store.write([one])
    return caught.value


@pytest.mark.trio
async def test_a_new_store_has_none(tmp_path: Path) -> None:
    assert await kept(tmp_path / "store.db") == KeptInvites()


@pytest.mark.trio
async def test_they_come_back_in_the_order_in_which_they_were_made(tmp_path: Path) -> None:
    first, second = invite(9), invite(1)
    one = invited(5, first, 1)
    other = replace(
        invited(2, second, 0), is_settled=True, record=named("record"), code="X", why="ä" * 1_000
    )

    found = await kept(tmp_path / "store.db", [first, second], [one], [other])
    assert found == KeptInvites(invites=(first, second), invited=(one, other))


@pytest.mark.trio
async def test_what_is_written_again_is_the_same(tmp_path: Path) -> None:
    first = invite(1)
    one = invited(1, first, 0)

    found = await kept(tmp_path / "store.db", [first, one], [first, one], [one])
    assert found == KeptInvites(invites=(first,), invited=(one,))


@pytest.mark.trio
async def test_once_revoked_it_stays_so_and_nothing_else_of_it_changes(tmp_path: Path) -> None:
    first = invite(1)
    changed = replace(first, uses=9, revoked=8)

    found = await kept(
        tmp_path / "store.db", [first], [changed], [first], [replace(first, revoked=9)]
    )
    assert found.invites == (replace(first, revoked=8),)


@pytest.mark.trio
async def test_two_agents_never_hold_one_place(tmp_path: Path) -> None:
    path, first = tmp_path / "store.db", invite(1)
    await kept(path, [first, invited(1, first, 0)])

    assert (await refusal(path, invited(2, first, 0))).code is NodeCode.WRITE_REFUSED
    found = await kept(path, [invited(1, first, None), invited(2, first, 0)])
    assert found.invited == (invited(2, first, 0),)


@pytest.mark.trio
async def test_there_is_no_place_beyond_its_uses_and_none_without_an_invite(
    tmp_path: Path,
) -> None:
    path, first = tmp_path / "store.db", invite(1, uses=2)
    await kept(path, [first])

    for wrong in (invited(1, first, 2), invited(1, invite(2), 0), invited(1, first, -1)):
        assert (await refusal(path, wrong)).code is NodeCode.WRITE_REFUSED
    assert (await kept(path, [invited(1, first, 1)])).invited == (invited(1, first, 1),)


@pytest.mark.trio
async def test_what_is_dropped_takes_with_it_who_came_by_it(tmp_path: Path) -> None:
    first, second = invite(1), invite(2)
    some = [invited(1, first, 0), invited(2, second, 0), invited(3, second, 1)]

    found = await kept(tmp_path / "store.db", [first, second, *some], [DropInvite(id=second.id)])
    assert found == KeptInvites(invites=(first,), invited=(some[0],))
    assert query(tmp_path / "store.db", "SELECT count(*) FROM invited") == [(1,)]


@pytest.mark.trio
async def test_who_has_lost_its_invite_troubles_no_start(tmp_path: Path) -> None:
    path, first = tmp_path / "store.db", invite(1)
    await kept(path, [first, invited(1, first, 0)])
    query(path, "DROP TRIGGER invited_forgotten")
    query(path, "DELETE FROM invites")

    assert await kept(path) == KeptInvites()


@pytest.mark.trio
async def test_a_place_that_goes_from_one_to_another_at_once_is_the_last_ones(
    tmp_path: Path,
) -> None:
    path, first = tmp_path / "store.db", invite(1, uses=1)
    await kept(path, [first, invited(1, first, 0)])
    with trio.fail_after(10):
        async with open_store(path, realm=REALM) as store, trio.open_nursery() as nursery:
            # One group: the statement keeps the order of its rows.
            for one in (
                invited(1, first, None),
                invited(2, first, 0),
                invited(2, first, None),
                invited(1, first, 0),
            ):
                nursery.start_soon(store.write, [one])
                await trio.testing.wait_all_tasks_blocked()

    assert (await kept(path)).invited == (invited(1, first, 0),)
