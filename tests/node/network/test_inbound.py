"""What peers open here: known by their hello, charged for what they send, scored for what is wrong."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio

from federation.certificates.packets import MOST_BYTES
from federation.protocol import inputs as ins
from federation.records import Role, wire
from node.network.budgets import Allowance
from node.network.host import Host
from node.network.messages import (
    HELLO,
    PUSH,
    ROOM,
    SYNC,
    Compare,
    Hello,
    Meet,
    Meeting,
    Message,
    PacketPart,
    Records,
    Same,
    frame,
    read_answer,
)
from node.network.outbox import parts_of
from node.network.streams import Stream
from tests.federation.protocol.town import Town
from tests.node.network.hosts import until
from tests.node.network.parties import (
    PLENTY,
    Party,
    answer_by,
    greet,
    hand,
    hello_of,
    party,
    same_as_you,
)
from tests.node.runtime.drive import said


@asynccontextmanager
async def welcomed(
    seed: str, *, allowance: Allowance = PLENTY
) -> AsyncIterator[tuple[Party, Host]]:
    """Let a peer that is played by hand say hello to an instance."""
    town = Town.of(2, 4, seed=seed)
    with trio.fail_after(30):
        async with party(town, 0, allowance=allowance) as one, hand(town, 1) as peer:

            async def answer(stream: Stream) -> None:
                await answer_by(same_as_you, stream)

            async def swallow(stream: Stream) -> None:
                while True:
                    await stream.receive(deadline_s=30)

            peer.serve(SYNC, answer)
            peer.serve(PUSH, swallow)
            assert isinstance(await greet(peer, one, hello_of(town, 1)), Hello)
            await until(lambda: one.links.connected != ())
            yield one, peer


async def push(peer: Host, one: Party, *messages: Message | bytes) -> Stream:
    stream = await peer.open(one.host.key, PUSH)
    for message in messages:
        await stream.send(message if isinstance(message, bytes) else frame(message))
    return stream


def reasons(one: Party, peer: Host) -> list[str]:
    return [reason.code for reason in one.book.why(peer.key)]


@pytest.mark.trio
@pytest.mark.parametrize("protocol", [PUSH, SYNC])
async def test_who_says_no_hello_is_cut_off_and_scored(protocol: str) -> None:
    town = Town.of(2, 2, seed="inbound strangers")
    with trio.fail_after(20):
        async with party(town, 0) as one, hand(town, 1) as peer:
            await peer.connect(one.host.addresses[0])
            await peer.open(one.host.key, protocol)
            await until(lambda: reasons(one, peer) == ["NO_HELLO"])

            assert one.book.score(peer.key) == 10
            assert one.heard == []


@pytest.mark.trio
async def test_pushed_records_reach_the_core_and_are_credited() -> None:
    async with welcomed("inbound records") as (one, peer):
        records = said(one.town.pen(Role.AGENT, 1), 3)
        # The agent lives on the other instance: only there its pen was at home.
        stream = await push(peer, one, Records(records=tuple(wire(record) for record in records)))
        await until(lambda: all(record.id in one.world.log for record in records))
        outbox = one.link(one.town.founding.instances[1]).outbox
        one.links.relay(tuple(records))

        assert len(outbox) == 0
        assert reasons(one, peer) == []
        await stream.close()


@pytest.mark.trio
@pytest.mark.parametrize("size", [1, ROOM, ROOM + 1, 3 * ROOM])
async def test_a_packet_is_put_together_from_its_parts(size: int) -> None:
    async with welcomed("inbound packets") as (one, peer):
        first, second = bytes([1]) * size, b"second"
        stream = await push(peer, one, *parts_of(first), *parts_of(second))
        packets = [first, second]
        other = one.town.founding.instances[1]
        expected = [ins.Packet(packet=packet, peer=other) for packet in packets]
        await until(
            lambda: [event for event in one.heard if isinstance(event, ins.Packet)] == expected
        )
        await stream.close()


@pytest.mark.trio
async def test_a_packet_without_end_is_refused() -> None:
    async with welcomed("inbound endless") as (one, peer):
        part = PacketPart(more=True, content=bytes(ROOM))
        count = MOST_BYTES // ROOM + 2
        with pytest.raises(Exception, match=r"frame|stream"):  # noqa: PT012 # it is cut off somewhere
            stream = await push(peer, one, *[part] * count)
            await stream.receive(deadline_s=10)

        assert reasons(one, peer) == ["TOO_LARGE"]
        assert not any(isinstance(event, ins.Packet) for event in one.heard)


@pytest.mark.trio
@pytest.mark.parametrize("protocol", [PUSH, SYNC])
async def test_noise_ends_its_stream_and_costs(protocol: str) -> None:
    async with welcomed("inbound noise") as (one, peer):
        stream = await peer.open(one.host.key, protocol)
        await stream.send(b"noise")
        await until(lambda: reasons(one, peer) == ["NOT_CANONICAL"])

        assert one.book.score(peer.key) == 25
        # The conversation goes on: one stream was at fault.
        again = await peer.open(one.host.key, SYNC)
        await again.send(frame(Meet()))
        assert isinstance(read_answer(await again.receive(deadline_s=5)), Meeting)
        await again.close()


@pytest.mark.trio
async def test_noise_instead_of_a_hello_costs_too() -> None:
    town = Town.of(2, 2, seed="inbound hello noise")
    with trio.fail_after(20):
        async with party(town, 0) as one, hand(town, 1) as peer:
            await peer.connect(one.host.addresses[0])
            stream = await peer.open(one.host.key, HELLO)
            await stream.send(b"noise")
            await stream.close()
            await until(lambda: reasons(one, peer) == ["NOT_CANONICAL"])

            assert one.links.connected == ()


@pytest.mark.trio
async def test_a_clean_end_is_no_fault() -> None:
    async with welcomed("inbound ends") as (one, peer):
        for protocol in (PUSH, SYNC, HELLO):
            stream = await peer.open(one.host.key, protocol)
            await stream.close()
            stream = await peer.open(one.host.key, protocol)
            await stream.reset()
        await trio.sleep(0.1)

        assert reasons(one, peer) == []


@pytest.mark.trio
async def test_questions_are_answered_in_turn() -> None:
    async with welcomed("inbound questions") as (one, peer):
        stream = await peer.open(one.host.key, SYNC)
        await stream.send(frame(Compare(digest=bytes(32))))
        await stream.send(frame(Meet()))

        assert read_answer(await stream.receive(deadline_s=5)) == Same(same=False)
        assert read_answer(await stream.receive(deadline_s=5)) == Meeting(cut=0, seen=None)
        await stream.close()


@pytest.mark.trio
async def test_a_peer_that_sends_too_much_waits_on_all_its_streams_together() -> None:
    tight = Allowance(
        messages_per_s=20, messages_at_once=6, bytes_per_s=1 << 24, bytes_at_once=1 << 24
    )
    async with welcomed("inbound budget", allowance=tight) as (one, peer):
        began = trio.current_time()
        answers = 0

        async def ask() -> None:
            nonlocal answers
            stream = await peer.open(one.host.key, SYNC)
            for _ in range(4):
                await stream.send(frame(Meet()))
                await stream.receive(deadline_s=10)
                answers += 1
            await stream.close()

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(ask)

        # Twelve questions and as many answers, twenty a second, a handful of them at once.
        assert answers == 12
        assert trio.current_time() - began >= (24 - 6) / 20 - 0.1
        assert reasons(one, peer) == []
