"""Proofs beside the core: always an answer, the right one, cuts first, the door bounded."""

import os
import threading
from pathlib import Path

import msgspec
import pytest
import trio
import trio.testing

from federation import admission
from node.base.errors import NodeCode, NodeError, RequestError
from node.runtime.inbox import Inbox
from node.runtime.proofs import Proofs
from tests.federation.admission.proofs import blank
from tests.node.runtime.problems import children_of, is_running
from tests.node.runtime.proving import (
    EASY,
    FALSE,
    LONG,
    SLOW,
    TRUE,
    answer,
    answered,
    asked,
    others,
    running,
)
from tests.node.runtime.realm import realm, until

# The door ---------------------------------------------------------------------------------------


@pytest.mark.trio
async def test_a_proof_gets_its_verdict_and_one_process_gives_them_all() -> None:
    async with running(Proofs(Inbox())) as part:
        assert part.pids == ()
        assert await part.verify(TRUE) is True
        pids = part.pids

        assert await part.verify(FALSE) is False
        assert [await part.verify(raw) for raw in others(3)] == [False] * 3
        assert len(pids) == 1
        assert part.pids == pids
        assert part.failures == 0


@pytest.mark.trio
@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"junk",
        TRUE[:-1],
        TRUE + b"\0",
        bytes(2**20),
        admission.work_bytes(msgspec.structs.replace(blank(EASY), memory_kib=2**40)),
        admission.work_bytes(msgspec.structs.replace(blank(EASY), passes=0)),
    ],
)
async def test_what_is_no_proof_starts_no_process(junk: bytes) -> None:
    async with running(Proofs(Inbox())) as part:
        assert await part.verify(junk) is False
        assert part.pids == ()


@pytest.mark.trio
async def test_a_verdict_is_remembered_and_asked_of_nobody_again() -> None:
    part = Proofs(Inbox())
    async with running(part):
        assert (part.known(TRUE), part.known(FALSE)) == (None, None)
        await part.verify(TRUE)
        await part.verify(FALSE)

    # It is closed, and asks nobody any more.
    assert (part.known(TRUE), part.known(FALSE)) == (True, False)
    assert await part.verify(TRUE) is True
    assert part.pids == ()


@pytest.mark.trio
async def test_the_verdict_that_was_used_longest_ago_makes_room() -> None:
    one, two, three = others(3)
    async with running(Proofs(Inbox(), known=2)) as part:
        for raw in (one, two):
            await part.verify(raw)
        part.known(one)
        await part.verify(three)

        assert [part.known(raw) for raw in (one, two, three)] == [False, None, False]


@pytest.mark.trio
async def test_all_who_ask_for_one_proof_at_the_same_time_share_one_answer() -> None:
    got = list[bool]()
    part = Proofs(Inbox())

    async def ask() -> None:
        got.append(await part.verify(TRUE))

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()

        assert part.waiting == 1
        async with running(part):
            await until(lambda: len(got) == 10, within=LONG)

    assert got == [True] * 10
    assert part.waiting == 0


@pytest.mark.trio
async def test_a_full_door_refuses_and_takes_again_what_was_answered() -> None:
    part = Proofs(Inbox(), room=3)
    *some, late = others(4)
    got = list[bool]()

    async def ask(raw: bytes) -> None:
        got.append(await part.verify(raw))

    async with trio.open_nursery() as nursery:
        for raw in some:
            nursery.start_soon(ask, raw)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(RequestError) as refused:
            await part.verify(late)
        # One more for a proof that waits already costs nothing.
        nursery.start_soon(ask, some[0])
        await trio.testing.wait_all_tasks_blocked()
        async with running(part):
            await until(lambda: len(got) == 4, within=LONG)

            assert await part.verify(late) is False

    assert refused.value.code is NodeCode.BUSY
    assert got == [False] * 4


@pytest.mark.trio
async def test_what_nobody_waits_for_any_more_is_not_verified() -> None:
    part = Proofs(Inbox())
    left, kept = others(2)
    with trio.move_on_after(0.05):
        await part.verify(left)
    async with running(part):
        assert await part.verify(kept) is False
        assert part.known(left) is None
        assert part.waiting == 0


@pytest.mark.trio
async def test_one_asker_that_gives_up_takes_the_answer_from_no_other() -> None:
    part = Proofs(Inbox())
    got = list[bool]()

    async def ask() -> None:
        got.append(await part.verify(TRUE))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        with trio.move_on_after(0.05):
            await part.verify(TRUE)
        async with running(part):
            await until(lambda: got, within=LONG)

    assert got == [True]


@pytest.mark.trio
async def test_who_waits_when_the_node_ends_is_told_so_and_who_comes_later_too() -> None:
    part = Proofs(Inbox())
    codes = list[NodeCode]()

    async def ask(raw: bytes) -> None:
        with pytest.raises(NodeError) as refused:
            await part.verify(raw)
        codes.append(refused.value.code)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask, TRUE)
        nursery.start_soon(ask, FALSE)
        await trio.testing.wait_all_tasks_blocked()
        part.close()
    part.close()
    await ask(TRUE)

    assert codes == [NodeCode.STOPPING] * 3


# Cuts -------------------------------------------------------------------------------------------


@pytest.mark.trio
async def test_what_a_cut_asks_is_answered_in_order_under_its_name() -> None:
    inbox = Inbox()
    async with running(Proofs(inbox)) as part:
        part.ask(asked("one", TRUE, FALSE, b"junk", TRUE))

        assert await answered(inbox) == answer("one", True, False, False, True)
        part.ask(asked("two"))

        assert await answered(inbox) == answer("two")
    assert len(inbox) == 0


@pytest.mark.trio
async def test_a_cut_goes_before_all_that_wait_at_the_door() -> None:
    inbox = Inbox()
    part = Proofs(inbox)
    done = list[bytes]()

    async def ask(raw: bytes) -> None:
        await part.verify(raw)
        done.append(raw)

    async with trio.open_nursery() as nursery:
        for raw in others(20):
            nursery.start_soon(ask, raw)
        await trio.testing.wait_all_tasks_blocked()
        part.ask(asked("cut", TRUE, FALSE))
        async with running(part):
            await answered(inbox)
            # None of them, or those few that were done while this task was on its way.
            assert len(done) < 10
            await until(lambda: len(done) == 20, within=LONG)

    assert sorted(done) == others(20)


@pytest.mark.trio
async def test_a_newer_question_takes_the_place_of_one_that_nobody_has_begun_with() -> None:
    inbox = Inbox()
    part = Proofs(inbox)
    part.ask(asked("old", FALSE))
    part.ask(asked("new", TRUE))
    async with running(part):
        assert await answered(inbox) == answer("new", True)
    assert len(inbox) == 0


@pytest.mark.trio
async def test_a_part_that_was_stopped_in_the_middle_begins_with_what_has_no_answer() -> None:
    inbox = Inbox()
    part = Proofs(inbox)
    part.ask(asked("cut", SLOW))
    with trio.move_on_after(LONG) as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(part.run)
            await until(lambda: part.pids, within=LONG)
            await trio.sleep(0.1)
            scope.cancel()

    assert part.pids == ()
    async with running(part):
        assert await answered(inbox) == answer("cut", True)


@pytest.mark.trio
async def test_a_proof_that_was_minted_here_is_known_to_be_true() -> None:
    inbox = Inbox()
    part = Proofs(inbox)
    work = await part.mint(blank(EASY))
    part.close()

    assert part.known(admission.work_bytes(work)) is True


def test_at_a_start_a_proof_is_verified_here_and_now_and_remembered() -> None:
    part = Proofs(Inbox())

    assert [part.at_once(raw) for raw in (TRUE, FALSE, b"junk")] == [True, False, False]
    assert [part.known(raw) for raw in (TRUE, FALSE, b"junk")] == [True, False, False]
    assert part.pids == ()


# In a node --------------------------------------------------------------------------------------


@pytest.mark.trio
async def test_a_node_answers_and_leaves_neither_process_nor_thread_behind(tmp_path: Path) -> None:
    town = realm(tmp_path, instances=1)
    async with town.node(0) as node:
        assert node.world.prove == node.proofs.known
        assert children_of(os.getpid(), "prover.py") == []
        # No cut has this name: the core does not care for the answer.
        node.driver.carry_out([asked("no cut", TRUE)])
        await until(lambda: node.proofs.known(TRUE), within=LONG)
        (pid,) = children_of(os.getpid(), "prover.py")

        assert await node.proofs.verify(FALSE) is False

    assert not is_running(pid)
    assert not any("prover" in one.name for one in threading.enumerate())
