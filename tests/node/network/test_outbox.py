"""What waits for a peer: each record once, packets whole, and bounded."""

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from federation.codec import LIMITS
from node.network import outbox as module
from node.network.messages import MOST_RECORDS, ROOM, PacketPart, Records, frame
from node.network.outbox import Outbox, parts_of


def name(number: int) -> bytes:
    return number.to_bytes(32, "big")


async def drained(outbox: Outbox) -> tuple[list[bytes], list[bytes]]:
    """Take everything out as a link would; gives packets, joined again, and records."""
    packets, records, packet = [], [], b""
    while len(outbox):
        for message in await outbox.next():
            assert len(frame(message)) <= LIMITS.frame
            if isinstance(message, PacketPart):
                packet += message.content
                if not message.more:
                    packets.append(packet)
                    packet = b""
            else:
                records += message.records
    assert packet == b""
    return packets, records


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("record"), st.integers(0, 12)),
            st.tuples(st.just("held"), st.integers(0, 12)),
            st.tuples(st.just("packet"), st.integers(1, 3 * ROOM)),
            st.tuples(st.just("send"), st.just(0)),
        ),
        max_size=30,
    )
)
def test_each_record_goes_once_and_each_packet_whole_and_in_order(
    acts: list[tuple[str, int]],
) -> None:
    async def play() -> None:
        outbox = Outbox()
        packets: list[bytes] = []
        sent: tuple[list[bytes], list[bytes]] = ([], [])
        held: set[int] = set()
        wanted: set[int] = set()
        for act, number in acts:
            if act == "record":
                outbox.put_record(name(number), b"wire" + name(number))
                wanted |= {number} - held
            elif act == "held":
                outbox.peer_holds(name(number))
                held.add(number)
            elif act == "packet":
                packets.append(bytes([len(packets)]) * number)
                outbox.put_packet(packets[-1])
            else:
                for one, more in zip(sent, await drained(outbox), strict=True):
                    one.extend(more)
                held |= {int.from_bytes(raw[4:], "big") for raw in sent[1]}
        for one, more in zip(sent, await drained(outbox), strict=True):
            one.extend(more)

        assert sent[0] == packets
        numbers = [int.from_bytes(raw[4:], "big") for raw in sent[1]]
        assert len(numbers) == len(set(numbers))
        assert set(numbers) <= wanted
        assert wanted - held <= set(numbers)

    trio.run(play)


@given(st.integers(0, 4 * ROOM))
def test_a_packet_is_cut_exactly(size: int) -> None:
    packet = bytes(size)
    parts = parts_of(packet)

    assert b"".join(part.content for part in parts if isinstance(part, PacketPart)) == packet
    assert len(parts) == -(-size // ROOM)
    assert [part.more for part in parts] == [True] * (len(parts) - 1) + [False] * bool(parts)


@pytest.mark.trio
async def test_packets_come_before_records() -> None:
    outbox = Outbox()
    outbox.put_record(name(1), b"record")
    outbox.put_packet(b"packet")

    assert await outbox.next() == [PacketPart(more=False, content=b"packet")]
    assert await outbox.next() == [Records(records=(b"record",))]


@pytest.mark.trio
async def test_a_record_that_arrived_from_the_peer_meanwhile_is_not_sent() -> None:
    outbox = Outbox()
    outbox.put_record(name(1), b"record")
    outbox.peer_holds(name(1))

    assert len(outbox) == 0


@pytest.mark.trio
async def test_a_frame_holds_no_more_records_than_fit() -> None:
    outbox = Outbox()
    for number in range(MOST_RECORDS + 1):
        outbox.put_record(name(number), b"x")
    (first,), (second,) = await outbox.next(), await outbox.next()

    assert isinstance(first, Records)
    assert isinstance(second, Records)
    assert (len(first.records), len(second.records)) == (MOST_RECORDS, 1)


@pytest.mark.trio
async def test_the_oldest_records_give_way_and_are_counted() -> None:
    outbox = Outbox()
    for number in range(module.MOST_QUEUED + 3):
        outbox.put_record(name(number), name(number))
    _, records = await drained(outbox)

    assert outbox.dropped == 3
    assert records == [name(number) for number in range(3, module.MOST_QUEUED + 3)]


@pytest.mark.trio
async def test_large_records_give_way_by_their_bytes() -> None:
    outbox, size = Outbox(), 60_000
    fitting = module.MOST_QUEUED_BYTES // size
    assert fitting < module.MOST_QUEUED
    for number in range(fitting + 2):
        outbox.put_record(name(number), name(number) + bytes(size - 32))
    # What is sent, or known there, makes room again.
    outbox.peer_holds(name(2))
    await outbox.next()
    before = len(outbox)
    for number in range(fitting + 2, 2 * fitting + 2 - before):
        outbox.put_record(name(number), name(number) + bytes(size - 32))

    assert outbox.dropped == 2
    assert len(outbox) == fitting
    outbox.put_record(b"one more".ljust(32), bytes(size))
    assert outbox.dropped == 3
    assert len((await drained(outbox))[1]) == fitting


@pytest.mark.trio
async def test_a_record_that_gave_way_may_be_queued_again() -> None:
    outbox = Outbox()
    for number in range(module.MOST_QUEUED + 1):
        outbox.put_record(name(number), name(number))
    await drained(outbox)
    outbox.put_record(name(0), name(0))

    assert (await drained(outbox))[1] == [name(0)]


@pytest.mark.trio
async def test_the_oldest_packets_give_way_by_number_and_by_bytes() -> None:
    many, large = Outbox(), Outbox()
    for number in range(module.MOST_PACKETS + 2):
        many.put_packet(name(number))
    mebi = 1024 * 1024
    for number in range(module.MOST_PACKET_BYTES // mebi + 1):
        large.put_packet(bytes([number]) * mebi)

    assert many.dropped == 2
    assert (await drained(many))[0][0] == name(2)
    assert large.dropped == 1
    assert (await drained(large))[0][0][0] == 1


@pytest.mark.trio
async def test_what_the_peer_holds_is_remembered_within_bounds() -> None:
    outbox = Outbox()
    for number in range(module.REMEMBERED + 1):
        outbox.peer_holds(name(number))
    outbox.put_record(name(0), b"forgotten")
    outbox.put_record(name(1), b"remembered")

    assert (await drained(outbox))[1] == [b"forgotten"]


@pytest.mark.trio
async def test_whoever_waits_is_woken_by_a_record_and_by_a_packet() -> None:
    outbox = Outbox()
    found: list[object] = []

    async def take() -> None:
        for _ in range(2):
            found.extend(await outbox.next())

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(take)
            await trio.testing.wait_all_tasks_blocked()
            outbox.put_packet(b"p")
            await trio.testing.wait_all_tasks_blocked()
            outbox.put_record(name(1), b"r")

    assert found == [PacketPart(more=False, content=b"p"), Records(records=(b"r",))]
