"""The urgent first, first come first served within a class, and bounded."""

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from federation.protocol.inputs import Arrived, Input, Wake
from node.runtime.inbox import Inbox, Urgency


def batch(number: int) -> Input:
    """Give an input that can be told from others."""
    return Arrived(records=(), peer=number.to_bytes(32, "big"))


@given(st.lists(st.sampled_from(Urgency), max_size=30))
def test_the_urgent_come_first_and_within_a_class_who_came_first(said: list[Urgency]) -> None:
    async def play() -> list[Input]:
        inbox = Inbox()
        for number, urgency in enumerate(said):
            await inbox.put(batch(number), urgency)
        assert len(inbox) == len(said)
        return [(await inbox.get())[0] for _ in said]

    numbers = sorted(range(len(said)), key=lambda number: (said[number], number))

    assert trio.run(play) == [batch(number) for number in numbers]


@pytest.mark.trio
async def test_a_full_class_makes_its_senders_wait_in_order_and_no_others() -> None:
    inbox = Inbox(room=2)
    put: list[int] = []

    async def send(number: int) -> None:
        await inbox.put(batch(number), Urgency.REST)
        put.append(number)

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            for number in range(5):
                nursery.start_soon(send, number)
                await trio.testing.wait_all_tasks_blocked()
            assert put == [0, 1]
            # A certificate is not held up by what is not urgent.
            await inbox.put(batch(9), Urgency.CERTIFICATE)
            assert len(inbox) == 3
            assert (await inbox.get())[0] == batch(9)
            for number in range(5):
                assert (await inbox.get())[0] == batch(number)
                await trio.testing.wait_all_tasks_blocked()
                assert put == list(range(min(number + 3, 5)))


@pytest.mark.trio
async def test_a_sender_that_gives_up_takes_no_room() -> None:
    inbox = Inbox(room=1)
    await inbox.put(batch(0), Urgency.REST)
    with trio.move_on_after(0):
        await inbox.put(batch(1), Urgency.REST)
    await inbox.get()
    with trio.fail_after(5):
        await inbox.put(batch(2), Urgency.REST)

    assert (await inbox.get())[0] == batch(2)
    assert len(inbox) == 0


@pytest.mark.trio
async def test_whoever_waits_for_the_first_input_is_woken() -> None:
    inbox = Inbox()
    found: list[Input] = []

    async def take() -> None:
        event, taken = await inbox.get()
        found.append(event)
        taken.set()

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(take)
            await trio.testing.wait_all_tasks_blocked()
            taken = await inbox.put(Wake(), Urgency.VOTE)
            assert not taken.is_set()
            await taken.wait()

    assert found == [Wake()]


@pytest.mark.trio
async def test_a_cancelled_reader_loses_nothing() -> None:
    inbox = Inbox()
    with trio.move_on_after(0):
        await inbox.get()
    await inbox.put(batch(1), Urgency.REST)
    with trio.move_on_after(0) as scope:
        await inbox.get()

    assert scope.cancelled_caught
    assert (await inbox.get())[0] == batch(1)
