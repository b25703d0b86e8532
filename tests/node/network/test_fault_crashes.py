"""Faults 1 to 5 of ADR 23: what any peer could end the process with."""

from contextlib import suppress

import pytest
import trio
from libp2p.network.stream.exceptions import StreamError
from libp2p.pubsub.pb import rpc_pb2
from libp2p.stream_muxer.exceptions import MuxedStreamError

from node.network import hardening
from node.network.faults import NetworkError
from tests.node.network.hosts import (
    TOPIC,
    WITHIN,
    gossip_stream,
    hears,
    muxer,
    packet,
    published,
    raw_stream,
    scene,
    signed,
    until,
)


@pytest.mark.trio
async def test_fault_01_an_exception_in_a_library_s_stream_handler_ends_its_stream_only() -> None:
    async with scene() as played:

        async def fail(stream: object) -> None:
            raise RuntimeError(stream)

        played.victim._host.set_stream_handler("/test/raw/1", fail)  # type: ignore[arg-type] # any text is one
        stream = await raw_stream(played.evil, played.victim.key, "/test/raw/1")
        with pytest.raises(StreamError), trio.fail_after(WITHIN):
            await stream.read(1)
        await played.is_heard()
        await played.still_lives()


@pytest.mark.trio
async def test_fault_01_an_exception_in_a_connection_s_own_task_ends_the_connection_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with scene() as played:
        (connection,) = played.victim._swarm.get_connections()

        async def fail() -> object:
            raise RuntimeError

        connection.muxed_conn.accept_stream = fail  # type: ignore[method-assign] # the fault is played
        connection.close = fail  # type: ignore[method-assign] # and closing fails as well
        # A stream lets the accepting task go on to its broken part.
        await muxer(played.evil, played.victim.key).open_stream()
        await until(lambda: "peer.connection_failed" in caplog.text)
        await played.still_lives()


@pytest.mark.trio
async def test_fault_02_a_malformed_packet_of_gossip_ends_its_stream_only() -> None:
    async with scene() as played:
        stream = await gossip_stream(played.evil, played.victim.key)
        await stream.write(packet(b"\xff\xff\xff\xff\xff"))
        with pytest.raises(StreamError), trio.fail_after(WITHIN):
            await stream.read(1)
        assert played.victim.gossip.pubsub.refused == 1
        await played.still_lives()


@pytest.mark.trio
async def test_fault_03_an_rsa_id_with_a_garbage_key_is_refused() -> None:
    async with scene() as played:
        stream = await gossip_stream(played.evil, played.victim.key)
        evil = signed(played.evil, b"x", signer=b"\x12\x20" + bytes(32), key=b"\x99" * 40)
        await stream.write(published(evil, signed(played.evil, b"after", number=2)))
        await hears(played.topic, b"after")
        assert played.victim.gossip.pubsub.refused == 1


@pytest.mark.trio
async def test_fault_04_a_validator_that_raises_is_never_asked() -> None:
    async with scene() as played:

        def fail(forwarder: object, message: object) -> bool:
            raise KeyError(forwarder, message)

        played.victim.gossip.pubsub.set_topic_validator(TOPIC, fail, False)
        stream = await gossip_stream(played.evil, played.victim.key)
        await stream.write(published(signed(played.evil, b"boom")))
        await hears(played.topic, b"boom")


@pytest.mark.trio
async def test_fault_04_whatever_raises_while_a_message_is_taken_in_costs_the_message_only() -> (
    None
):
    async with scene() as played:
        pubsub = played.victim.gossip.pubsub
        deliver = pubsub._deliver

        def fail(topic: str, signer: bytes, data: bytes) -> None:
            if data == b"boom":
                raise KeyError(topic)
            deliver(topic, signer, data)

        pubsub._deliver = fail
        stream = await gossip_stream(played.evil, played.victim.key)
        await stream.write(published(signed(played.evil, b"boom")))
        await stream.write(published(signed(played.evil, b"after", number=2)))
        await hears(played.topic, b"after")


@pytest.mark.trio
async def test_fault_05_negotiating_without_utf8_ends_the_stream_only() -> None:
    async with scene() as played:
        stream = await muxer(played.evil, played.victim.key).open_stream()
        await stream.write(b"\x13/multistream/1.0.0\n\x05\xff\xfe\xfd\xfc\n")
        with suppress(MuxedStreamError), trio.fail_after(WITHIN):
            while await stream.read(100):
                pass
        await played.is_heard()
        await played.still_lives()


def test_another_version_of_libp2p_is_refused_with_the_reason() -> None:
    hardening.check_version("0.8.1")
    with pytest.raises(NetworkError) as caught:
        hardening.check_version("0.8.2")
    assert caught.value.code == "WRONG_LIBP2P"
    assert "0.8.2 instead of 0.8.1" in caught.value.what


def test_patching_twice_changes_nothing() -> None:
    hardening.apply()
    first = hardening.SwarmConn.start
    hardening.apply()
    assert hardening.SwarmConn.start is first
    assert rpc_pb2.RPC().ByteSize() == 0
