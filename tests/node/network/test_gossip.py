"""Topics: who said what, how large, and what the tap sees."""

import pytest
import trio
from multiaddr import Multiaddr

from node.base.errors import NetworkError, NodeCode
from node.network.identity import PeerKey
from node.network.limits import GOSSIP
from tests.node.network.hosts import TOPIC, WITHIN, crowd, hears, host, muxer, until


@pytest.mark.trio
async def test_a_payload_comes_with_the_key_that_signed_it_also_over_others() -> None:
    async with crowd(3) as (one, between, other):
        await one.connect(between.addresses[0])
        await other.connect(between.addresses[0])
        topics = [await each.join(TOPIC) for each in (one, between, other)]
        await until(lambda: len(between.gossip.router.mesh[TOPIC]) == 2)

        await topics[0].publish(b"words")

        assert await anext(topics[2]) == (one.key, b"words")
        assert await anext(topics[1]) == (one.key, b"words")


@pytest.mark.trio
async def test_the_largest_payload_arrives_and_a_larger_one_is_refused() -> None:
    async with crowd(2) as (one, other):
        await one.connect(other.addresses[0])
        mine, theirs = await one.join(TOPIC), await other.join(TOPIC)
        await until(lambda: len(one.gossip.router.mesh[TOPIC]) == 1)

        await mine.publish(bytes(GOSSIP))
        with pytest.raises(NetworkError) as caught:
            await mine.publish(bytes(GOSSIP + 1))

        assert caught.value.code is NodeCode.FRAME_TOO_LARGE
        await hears(theirs, bytes(GOSSIP))


@pytest.mark.trio
async def test_joining_twice_gives_the_same_topic_and_topics_do_not_mix() -> None:
    async with crowd(2) as (one, other):
        await one.connect(other.addresses[0])
        first, second = await one.join("first"), await one.join("second")
        assert await one.join("first") is first
        theirs = await other.join("first")
        await other.join("second")
        await until(lambda: len(one.gossip.router.mesh["first"]) == 1)
        await until(lambda: len(one.gossip.router.mesh["second"]) == 1)
        await second.publish(b"on the second")
        await first.publish(b"on the first")
        assert await anext(theirs) == (one.key, b"on the first")


@pytest.mark.trio
async def test_one_does_not_hear_oneself() -> None:
    async with crowd(2) as (one, other):
        await one.connect(other.addresses[0])
        mine, theirs = await one.join(TOPIC), await other.join(TOPIC)
        await until(lambda: len(one.gossip.router.mesh[TOPIC]) == 1)
        await until(lambda: len(other.gossip.router.mesh[TOPIC]) == 1)
        await mine.publish(b"mine")
        await hears(theirs, b"mine")
        await theirs.publish(b"theirs")
        assert await anext(mine) == (other.key, b"theirs")


@pytest.mark.trio
async def test_the_tap_sees_gossip_in_both_directions() -> None:
    seen: list[tuple[str, PeerKey, str, bytes]] = []
    with trio.fail_after(2 * WITHIN):
        async with host(1, tap=lambda *what: seen.append(what)) as one, host(2) as other:
            await one.connect(other.addresses[0])
            mine, theirs = await one.join(TOPIC), await other.join(TOPIC)
            await until(lambda: len(one.gossip.router.mesh[TOPIC]) == 1)
            await until(lambda: len(other.gossip.router.mesh[TOPIC]) == 1)
            await mine.publish(b"out")
            await hears(theirs, b"out")
            await theirs.publish(b"in")
            await hears(mine, b"in")
            assert seen == [
                ("out", one.key, TOPIC, b"out"),
                ("in", other.key, TOPIC, b"in"),
            ]


@pytest.mark.trio
async def test_who_joins_late_hears_what_comes_then() -> None:
    async with crowd(2) as (one, other):
        mine = await one.join(TOPIC)
        await one.connect(other.addresses[0])
        theirs = await other.join(TOPIC)
        await until(lambda: len(one.gossip.router.mesh[TOPIC]) == 1)
        await mine.publish(b"late")
        await hears(theirs, b"late")


@pytest.mark.trio
async def test_a_neighbour_whose_older_connection_ends_stays_in_the_mesh() -> None:
    async with crowd(2) as (one, other):
        mine, theirs = await one.join(TOPIC), await other.join(TOPIC)
        await other.connect(one.addresses[0])
        await until(lambda: len(one.gossip.router.mesh[TOPIC]) == 1)
        await until(lambda: len(other.gossip.router.mesh[TOPIC]) == 1)
        older = one.gossip.pubsub.peers[other._host.get_id()]
        # As after a restart: the new connection is up before the old one is known to be dead.
        await other._swarm.dial_addr(Multiaddr(one.addresses[0]), one._host.get_id())
        await until(lambda: len(one._swarm.get_connections()) == 2)
        await muxer(one, other.key).abandon()

        await until(lambda: len(one._swarm.get_connections()) == 1)
        await until(lambda: one.gossip.pubsub.peers.get(other._host.get_id(), older) is not older)
        await until(lambda: len(one.gossip.router.mesh[TOPIC]) == 1)
        await mine.publish(b"still there")
        await hears(theirs, b"still there")


@pytest.mark.trio
async def test_what_a_neighbour_subscribed_to_survives_the_end_of_our_stream_to_it() -> None:
    async with crowd(2) as (one, other):
        await one.join(TOPIC)
        await other.join(TOPIC)
        await other.connect(one.addresses[0])
        await until(lambda: len(one.gossip.router.mesh[TOPIC]) == 1)
        neighbour, pubsub = other._host.get_id(), one.gossip.pubsub

        # A neighbour that restarted said so on its new connection; then the old one is found dead.
        pubsub._handle_dead_peer(neighbour)

        assert neighbour in pubsub.peer_topics[TOPIC]
        assert pubsub._peer_subscription_count[neighbour] == 1
