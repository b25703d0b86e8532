"""Faults 7 to 17 and 23 of ADR 23: gossip that repeats, disappears, or remembers everything."""

import time

import pytest
import trio
import trio.testing
from libp2p.pubsub.gossipsub import PROTOCOL_ID_V11
from libp2p.pubsub.pb import rpc_pb2

from node.network.gossip import Topic
from node.network.host import Host
from node.network.limits import HostLimits
from node.network.pubsub import RecentIds, router
from tests.node.network.hosts import (
    TOPIC,
    crowd,
    gossip_stream,
    hears,
    host,
    packet,
    published,
    scene,
    signed,
    until,
)


async def meshed(*hosts: Host) -> list[Topic]:
    """Join the topic everywhere and wait until each neighbour is in each mesh."""
    topics = [await one.join(TOPIC) for one in hosts]
    for one in hosts:
        await until(
            lambda one=one: (  # type: ignore[misc] # bound at once
                len(one.gossip.router.mesh[TOPIC]) >= len(one.connected()) > 0
            )
        )
    return topics


async def a_heartbeat(one: Host) -> None:
    """Wait for the next one: each begins a new page of the history."""
    page = one.gossip.router.mcache.history[0]
    await until(lambda: one.gossip.router.mcache.history[0] is not page)


@pytest.mark.trio
async def test_fault_07_a_restarted_node_s_messages_arrive() -> None:
    async with crowd(1) as (one,):
        topic = await one.join(TOPIC)
        for word in (b"before", b"after"):
            async with host(5) as other:
                await other.connect(one.addresses[0])
                mine = (await meshed(one, other))[1]
                await mine.publish(word)
                await hears(topic, word)
            await one.changed(frozenset({other.key}))


@pytest.mark.trio
async def test_fault_07_sequence_numbers_start_from_the_time_in_nanoseconds() -> None:
    async with crowd(1) as (one,):
        off = abs(one.gossip.pubsub.counter - time.time_ns())
        assert off < 60 * 10**9


@pytest.mark.trio
@pytest.mark.parametrize("record", [b"", b"junk"])
async def test_fault_08_no_signed_record_silences_its_peer(record: bytes) -> None:
    async with scene() as played:
        stream = await gossip_stream(played.evil, played.victim.key)
        message = signed(played.evil, b"words")
        spoken = rpc_pb2.RPC(publish=[message], senderRecord=record)
        await stream.write(packet(spoken.SerializeToString()))
        await hears(played.topic, b"words")


@pytest.mark.trio
async def test_fault_08_our_own_record_is_made_once() -> None:
    async with crowd(2) as (one, other):
        await one.connect(other.addresses[0])
        mine, _ = await meshed(one, other)
        first = one._host.signed_record
        assert first
        await mine.publish(b"words")
        assert one._host.signed_record is first


@pytest.mark.trio
async def test_fault_09_more_than_ten_messages_a_second_arrive() -> None:
    async with crowd(2, HostLimits(gossip_per_s=200)) as (one, other):
        await one.connect(other.addresses[0])
        mine, theirs = await meshed(one, other)
        words = [b"%d" % place for place in range(40)]
        async with trio.open_nursery() as nursery:

            async def speak() -> None:
                for word in words:
                    assert await mine.publish(word)

            nursery.start_soon(speak)
            heard = [(await anext(theirs))[1] for _ in words]
        assert heard == words


def test_fault_09_to_11_and_17_the_settings_are_those_that_were_measured() -> None:
    made = router()
    assert made.spam_protection_enabled is False  # 9
    assert made.heartbeat_interval == 1  # 10
    assert made.adaptive_gossip_enabled is False  # 10
    assert (made.degree_low, made.degree, made.degree_high) == (6, 8, 64)  # 11
    assert made.eclipse_protection_enabled is False
    assert made.do_px is False
    assert made.heartbeat_initial_delay == 0.1
    assert made.get_protocols() == [PROTOCOL_ID_V11]  # 17


@pytest.mark.trio
async def test_fault_10_a_failed_heartbeat_is_followed_by_the_next() -> None:
    made = router()
    beats = 0

    class Broken(dict[str, set[object]]):
        def __iter__(self) -> object:  # type: ignore[override] # it never gives anything
            nonlocal beats
            beats += 1
            raise KeyError(beats)

    async with crowd(1) as (one,):
        running = one.gossip.router
        whole = running.mesh
        running.mesh = Broken()  # type: ignore[assignment] # the fault is played
        running.heartbeat_interval = 0
        await until(lambda: beats > 2)
        running.mesh = whole
    assert made.dropped == 0


@pytest.mark.trio
async def test_fault_11_more_neighbours_than_the_degree_are_not_pruned() -> None:
    count = 12
    async with crowd(count) as hosts:
        async with trio.open_nursery() as nursery:
            for one in hosts[1:]:
                nursery.start_soon(one.connect, hosts[0].addresses[0])
        topics = await meshed(*hosts)
        for _ in range(2):
            await a_heartbeat(hosts[0])
        for one in hosts[1:]:
            assert hosts[0]._host.get_id() in one.gossip.router.mesh[TOPIC]
        assert len(hosts[0].gossip.router.mesh[TOPIC]) == count - 1

        await topics[1].publish(b"to all")
        for topic in (topics[0], *topics[2:]):
            await hears(topic, b"to all")
        assert not any(one.gossip.router.back_off for one in hosts)


@pytest.mark.trio
async def test_fault_12_what_nobody_reads_gives_way_and_is_counted() -> None:
    async with scene(HostLimits(gossip_queue=3)) as played:
        stream = await gossip_stream(played.evil, played.victim.key)
        for place in range(10):
            await stream.write(published(signed(played.evil, b"%d" % place, number=place)))
        await until(lambda: played.topic.dropped == 7)
        assert [(await anext(played.topic))[1] for _ in range(3)] == [b"7", b"8", b"9"]


@pytest.mark.trio
async def test_fault_12_publications_wait_for_their_turn_and_the_overflow_is_told() -> None:
    limits = HostLimits(gossip_per_s=100, gossip_waiting=5)
    async with crowd(1, limits) as (one,):
        topic = await one.join(TOPIC)
        said: list[bool] = []

        async def speak(place: int) -> None:
            said.append(await topic.publish(b"%d" % place))

        # Ten may go at once; the eleventh waits, and so do four behind it.
        began = trio.current_time()
        for place in range(10):
            await speak(place)
        async with trio.open_nursery() as nursery:
            for place in range(10):
                nursery.start_soon(speak, place)
        assert said.count(True) == 15
        assert said.count(False) == 5
        assert trio.current_time() - began >= 0.04


@pytest.mark.trio
async def test_fault_12_payloads_that_a_neighbour_s_queue_has_no_room_for_are_counted() -> None:
    async with crowd(2) as (one, other):
        await one.connect(other.addresses[0])
        await meshed(one, other)
        pubsub, routing = one.gossip.pubsub, one.gossip.router
        queue = pubsub.peer_queues[other._host.get_id()]
        queue._queue.max_size = 0
        await pubsub.publish(TOPIC, b"no room")
        assert routing.dropped == 1


@pytest.mark.trio
async def test_fault_13_messages_come_once_and_in_order_over_two_ways() -> None:
    async with crowd(3, HostLimits(gossip_per_s=300)) as (one, other, third):
        await one.connect(other.addresses[0])
        await other.connect(third.addresses[0])
        await third.connect(one.addresses[0])
        mine, theirs, _ = await meshed(one, other, third)
        words = [b"%d" % place for place in range(30)]
        async with trio.open_nursery() as nursery:

            async def speak() -> None:
                for word in words:
                    await mine.publish(word)

            nursery.start_soon(speak)
            heard = [(await anext(theirs))[1] for _ in words]
        await mine.publish(b"last")
        heard.append((await anext(theirs))[1])
        assert sorted(heard) == sorted([*words, b"last"])


@pytest.mark.trio
async def test_fault_14_whom_we_do_not_hear_is_not_heard_through_others_either() -> None:
    async with crowd(3) as (one, between, banned):
        await one.connect(between.addresses[0])
        await banned.connect(between.addresses[0])
        mine, middle, theirs = await meshed(one, between, banned)
        one.gossip.pubsub.hears = lambda peer: peer != banned.key
        await theirs.publish(b"not for you")
        await hears(middle, b"not for you")
        await middle.publish(b"for you")
        assert await anext(mine) == (between.key, b"for you")


@pytest.mark.trio
async def test_fault_15_and_16_ids_are_the_default_and_messages_are_signed() -> None:
    async with crowd(1) as (one,):
        pubsub = one.gossip.pubsub
        message = rpc_pb2.Message(from_id=b"from", seqno=b"number")
        assert pubsub.get_message_id(message) == b"fromnumber"
        assert pubsub.strict_signing


@pytest.mark.trio
async def test_fault_23_what_was_seen_is_remembered_for_a_while_and_within_bounds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    del autojump_clock
    seen = RecentIds()
    assert seen.add(b"one")
    assert not seen.add(b"one")
    assert seen.has(b"one")
    await trio.sleep(121)
    assert not seen.has(b"one")
    assert seen.add(b"one")

    for place in range(70_000):
        seen.add(b"%d" % place)
    assert seen.length() == 65_536
    assert not seen.has(b"one")
    assert seen.has(b"69999")
    seen.stop()


@pytest.mark.trio
async def test_fault_23_what_is_cheap_to_refuse_is_refused_before_a_signature_is_checked() -> None:
    async with scene(HostLimits(gossip_in_per_s=1)) as played:
        stream = await gossip_stream(played.evil, played.victim.key)
        for place in range(40):
            await stream.write(published(signed(played.evil, b"%d" % place, number=place)))
        pubsub = played.victim.gossip.pubsub
        await until(lambda: pubsub.refused >= 29)
        # Beyond the budget of its neighbour a message is not even looked at.
        assert pubsub.seen_messages.length() <= 11


@pytest.mark.trio
async def test_the_times_of_deliveries_are_not_remembered_for_ever() -> None:
    async with crowd(1) as (one,):
        topic = await one.join(TOPIC)
        for _ in range(5):
            await topic.publish(b"x")
        assert not one.gossip.router.recent_message_deliveries[TOPIC]
