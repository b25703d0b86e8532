"""The urgent first, first come first served within a class, and bounded."""

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from federation.protocol.inputs import Arrived, Input, Wake
from node.runtime.inbox import ROOM_BYTES, RUN, Inbox, Urgency


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


@pytest.mark.trio
async def test_a_large_input_that_is_taken_makes_room_for_all_that_fit() -> None:
    inbox = Inbox()
    await inbox.put(batch(0), Urgency.REST, size=ROOM_BYTES)
    put: list[int] = []

    async def send(number: int) -> None:
        await inbox.put(batch(number), Urgency.REST, size=1)
        put.append(number)

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            for number in range(1, 4):
                nursery.start_soon(send, number)
                await trio.testing.wait_all_tasks_blocked()
            assert put == []
            assert (await inbox.get())[0] == batch(0)
            await trio.testing.wait_all_tasks_blocked()

            assert put == [1, 2, 3]


@pytest.mark.trio
async def test_a_flood_of_the_urgent_does_not_silence_the_others() -> None:
    inbox = Inbox()
    for number in range(3):
        await inbox.put(batch(1_000 + number), Urgency.VOTE)
        await inbox.put(batch(2_000 + number), Urgency.REST)
    taken: list[Input] = []
    for number in range(3 * RUN):
        # A member that has always one more packet.
        await inbox.put(batch(number), Urgency.CERTIFICATE)
        taken.append((await inbox.get())[0])
    others = [place for place, one in enumerate(taken) if one not in map(batch, range(3 * RUN))]

    assert others[:2] == [RUN, RUN + 1]
    assert taken[RUN : RUN + 2] == [batch(1_000), batch(2_000)]
    assert [b - a for a, b in zip(others, others[2:], strict=False)] == [RUN + 2] * (
        len(others) - 2
    )
    assert len(others) >= 4


@given(st.lists(st.sampled_from(Urgency), max_size=200))
def test_within_a_class_who_came_first_is_first_whoever_has_a_turn(said: list[Urgency]) -> None:
    async def play() -> list[Input]:
        inbox = Inbox()
        for number, urgency in enumerate(said):
            await inbox.put(batch(number), urgency)
        return [(await inbox.get())[0] for _ in said]

    order = trio.run(play)

    for urgency in Urgency:
        numbers = [batch(number) for number, one in enumerate(said) if one is urgency]
        assert [one for one in order if one in numbers] == numbers
