"""Malformed gossip from a connected peer: none of it ends the node, none of it is delivered."""

import os
from collections.abc import Callable

import pytest
import trio
from libp2p.network.stream.exceptions import StreamError
from libp2p.pubsub.pb import rpc_pb2

from node.network.host import Host
from tests.node.network.hosts import (
    TOPIC,
    WITHIN,
    gossip_stream,
    hears,
    packet,
    published,
    scene,
    signed,
)

RSA_LIKE = b"\x12\x20" + bytes(range(32))
"""A peer id that is a hash: the key would have to come beside it."""


def control(**parts: object) -> bytes:
    return packet(rpc_pb2.RPC(control=rpc_pb2.ControlMessage(**parts)).SerializeToString())  # type: ignore[arg-type] # built from a table


def prune(**fields: object) -> bytes:
    return control(prune=[rpc_pb2.ControlPrune(**fields)])  # type: ignore[arg-type] # as above


ENDS: dict[str, Callable[[Host], bytes]] = {
    "bad protobuf": lambda _: packet(b"\xff\xff\xff\xff\xff"),
    "a huge length": lambda _: b"\xff\xff\xff\xff\x7f",
    "an endless length": lambda _: b"\xff" * 64,
    "more than a packet may have": lambda _: b"\x80\x80\x80\x02" + bytes(1000),
}
"""What ends the stream it comes on."""

IGNORED: dict[str, Callable[[Host], bytes]] = {
    "a garbage key beside an RSA id": lambda me: published(
        signed(me, b"x", signer=RSA_LIKE, key=b"\x99" * 40)
    ),
    "an unknown kind of key beside an RSA id": lambda me: published(
        signed(me, b"x", signer=RSA_LIKE, key=b"\x08\x63\x12\x04abcd")
    ),
    "a short key in the id": lambda me: published(
        signed(me, b"x", signer=b"\x00\x24\x08\x01\x12\x20short", key=b"")
    ),
    "no id": lambda _: published(rpc_pb2.Message(data=b"x", topicIDs=[TOPIC], seqno=b"1")),
    "a bad signature": lambda me: published(signed(me, b"x", signature=bytes(64))),
    "no signature": lambda me: published(signed(me, b"x", signature=b"")),
    "somebody else's id": lambda me: published(
        signed(me, b"x", signer=bytes.fromhex("002408011220") + bytes(32))
    ),
    "two topics": lambda me: published(signed(me, b"x", topics=(TOPIC, "other"))),
    "no topic": lambda me: published(signed(me, b"x", topics=())),
    "more than 64 KiB": lambda me: published(signed(me, bytes(70_000))),
    "a junk sender record": lambda _: packet(rpc_pb2.RPC(senderRecord=b"junk").SerializeToString()),
    "a graft to an unknown topic": lambda _: control(graft=[rpc_pb2.ControlGraft(topicID="zzz")]),
    "junk ids": lambda _: control(
        ihave=[rpc_pb2.ControlIHave(topicID=TOPIC, messageIDs=[b"\xff\xfe" * 10] * 5000)]
    ),
    "junk wishes": lambda _: control(iwant=[rpc_pb2.ControlIWant(messageIDs=[b"abc"] * 5000)]),
    "junk peers": lambda _: prune(
        topicID=TOPIC,
        peers=[rpc_pb2.PeerInfo(peerID=b"\x01junk", signedPeerRecord=b"junk")],
        backoff=2**63,
    ),
    "an endless back-off": lambda _: prune(topicID=TOPIC, backoff=2**64 - 1),
    "6,000 topics": lambda _: packet(
        rpc_pb2.RPC(
            subscriptions=[
                rpc_pb2.RPC.SubOpts(subscribe=True, topicid=f"x{place}") for place in range(6000)
            ]
        ).SerializeToString()
    ),
}
"""What is skipped: the next message on the stream is delivered."""


@pytest.mark.trio
@pytest.mark.parametrize("name", ENDS)
async def test_what_cannot_be_read_ends_the_stream_and_nothing_else(name: str) -> None:
    async with scene() as played:
        stream = await gossip_stream(played.evil, played.victim.key)
        await stream.write(ENDS[name](played.evil))
        with pytest.raises(StreamError), trio.fail_after(WITHIN):
            await stream.read(1)
        await played.is_heard()
        await played.still_lives()


@pytest.mark.trio
@pytest.mark.parametrize("name", IGNORED)
async def test_what_is_not_acceptable_is_skipped(name: str) -> None:
    async with scene() as played:
        stream = await gossip_stream(played.evil, played.victim.key)
        await stream.write(IGNORED[name](played.evil))
        await stream.write(published(signed(played.evil, b"acceptable", number=2)))

        sender, data = await anext(played.topic)

        assert (sender, data) == (played.evil.key, b"acceptable")
        assert played.topic.dropped == 0


@pytest.mark.trio
@pytest.mark.parametrize("ending", ["closed", "reset"])
async def test_a_packet_that_ends_early_ends_its_stream_only(ending: str) -> None:
    async with scene() as played:
        stream = await gossip_stream(played.evil, played.victim.key)
        await stream.write(b"\xf4\x03" + os.urandom(100))
        await (stream.close() if ending == "closed" else stream.reset())
        again = await gossip_stream(played.evil, played.victim.key)
        await again.write(published(signed(played.evil, b"again")))
        await hears(played.topic, b"again")


@pytest.mark.trio
async def test_topics_that_a_peer_invents_are_not_remembered() -> None:
    async with scene() as played:
        stream = await gossip_stream(played.evil, played.victim.key)
        for place in range(40):
            await stream.write(prune(topicID=f"invented {place}"))
            subscribe = rpc_pb2.RPC.SubOpts(subscribe=True, topicid=f"invented {place}")
            await stream.write(packet(rpc_pb2.RPC(subscriptions=[subscribe]).SerializeToString()))
        await stream.write(published(signed(played.evil, b"done")))
        await hears(played.topic, b"done")

        pubsub, router = played.victim.gossip.pubsub, played.victim.gossip.router

        assert set(router.back_off) <= {TOPIC}
        assert len(pubsub.peer_topics) <= 16
        assert "invented 20" not in pubsub.peer_topics


@pytest.mark.trio
async def test_a_third_gossip_stream_of_one_peer_is_refused() -> None:
    async with scene() as played:
        await gossip_stream(played.evil, played.victim.key)
        streams = [await gossip_stream(played.evil, played.victim.key) for _ in range(3)]
        with pytest.raises(StreamError), trio.fail_after(WITHIN):
            await streams[-1].read(1)
        await played.still_lives()
