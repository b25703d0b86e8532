"""Gossip is packed and bounded, and what comes in is credited or ignored."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
import trio

from federation.codec import LIMITS
from federation.core import InstanceId
from federation.protocol import inputs as ins
from node.network import hints as module
from node.network.book import PeerBook
from node.network.hints import ROOM, Hints, listen, topic_of
from node.network.limits import GOSSIP
from node.network.messages import MOST_RECORDS, PacketPart, Records, frame
from tests.node.network.hosts import host, until

PEER = b"p" * 32


@dataclass
class Notes:
    """An intake that notes what it is given."""

    heard: list[tuple[tuple[bytes, ...], bytes]] = field(default_factory=list)

    async def records(self, raws: Sequence[bytes], peer: InstanceId, *, wait: bool) -> None:
        assert not wait
        self.heard.append((tuple(raws), peer))

    async def packet(self, packet: ins.Packet) -> None:
        raise AssertionError(packet)

    async def tell(self, event: ins.Input) -> None:
        raise AssertionError(event)


def batches(hints: Hints) -> list[tuple[bytes, ...]]:
    found = []
    while batch := hints._batch():
        found.append(batch)
    return found


def test_a_batch_holds_what_fits_into_a_gossip_payload_and_keeps_the_order() -> None:
    hints = Hints()
    sizes = [100, ROOM // 2, ROOM // 2, ROOM - 5, 1, 1]
    wires = [bytes([number]) * size for number, size in enumerate(sizes)]
    for wire in wires:
        hints.put(wire)
    found = batches(hints)

    assert [one for batch in found for one in batch] == wires
    assert all(len(frame(Records(records=batch))) <= GOSSIP for batch in found)
    assert len(found) < len(wires)


def test_a_batch_holds_no_more_records_than_a_frame() -> None:
    hints = Hints()
    for _ in range(MOST_RECORDS + 1):
        hints.put(b"x")

    assert [len(batch) for batch in batches(hints)] == [MOST_RECORDS, 1]


@pytest.mark.parametrize("size", [ROOM, ROOM + 1, LIMITS.record])
def test_a_record_that_no_payload_has_room_for_is_left_to_the_streams(size: int) -> None:
    hints = Hints()
    hints.put(bytes(size))
    found = batches(hints)

    assert all(len(frame(Records(records=batch))) <= GOSSIP for batch in found)
    assert len(found) == (size <= ROOM)


def test_the_oldest_give_way_and_are_counted() -> None:
    hints = Hints()
    for number in range(module.MOST_QUEUED + 2):
        hints.put(number.to_bytes(4, "big"))

    assert hints.dropped == 2
    assert hints._batch()[0] == (2).to_bytes(4, "big")


def test_large_ones_give_way_by_their_bytes() -> None:
    hints, size = Hints(), 50_000
    fitting = module.MOST_QUEUED_BYTES // size
    assert fitting < module.MOST_QUEUED
    for number in range(fitting + 2):
        hints.put(number.to_bytes(4, "big") + bytes(size - 4))

    assert hints.dropped == 2
    assert hints._batch()[0][:4] == (2).to_bytes(4, "big")
    # What is published makes room again.
    hints.put(bytes(size))
    assert hints.dropped == 2
    assert len(batches(hints)) == fitting


def test_each_realm_has_a_topic_of_its_own() -> None:
    assert topic_of(b"a" * 32) != topic_of(b"b" * 32)
    assert ("61" * 32) in topic_of(b"a" * 32)


@pytest.mark.trio
async def test_what_is_put_is_heard_and_credited_to_who_signed_it() -> None:
    name = topic_of(b"r" * 32)
    with trio.fail_after(30):
        async with host(1) as one, host(2) as two:
            speaking, listening = await one.join(name), await two.join(name)
            await one.connect(two.addresses[0])
            hints, notes = Hints(), Notes()
            book = PeerBook(now=lambda: 0, wall=lambda: 0)
            known = {one.key: PEER}
            async with trio.open_nursery() as nursery:
                nursery.start_soon(hints.publish, speaking)

                async def hear() -> None:
                    await listen(listening, instance_of=known.get, intake=notes, book=book)

                nursery.start_soon(hear)
                while not notes.heard:
                    # The mesh takes a moment to form, and gossip is lossy by design.
                    hints.put(b"hello")
                    await trio.sleep(0.1)
                notes.heard.clear()
                hints.put(b"one")
                hints.put(b"two")
                await until(lambda: any(b"two" in raws for raws, _ in notes.heard))
                assert {peer for _, peer in notes.heard} == {PEER}

                await speaking.publish(b"noise")
                await until(lambda: book.score(one.key) == 25)
                await speaking.publish(frame(PacketPart(more=False, content=b"p")))
                await until(lambda: book.score(one.key) == 50)

                known.clear()
                notes.heard.clear()
                hints.put(b"from a stranger")
                await speaking.publish(b"noise of a stranger")
                await trio.sleep(0.3)
                assert notes.heard == []
                assert book.score(one.key) == 50
                nursery.cancel_scope.cancel()
