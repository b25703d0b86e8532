"""Peers that are killed, frozen, restarted, or whose clock is set back."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
import trio.testing

from node.base.errors import NetworkError
from node.network.gossip import Topic
from node.network.host import Host
from node.network.limits import HostLimits
from tests.node.network.hosts import HOLD, TOPIC, ask, code_of, fill, host, until

ROOT = Path(__file__).parents[3]
LONG = 60.0
"""Seconds for what includes the start of a process on a busy machine."""


@asynccontextmanager
async def process(number: int, *addresses: str, off_s: int = 0) -> AsyncIterator[trio.Process]:
    """Run a peer in a process, and kill it at the end."""
    started = await trio.lowlevel.open_process(
        [sys.executable, "-m", "tests.node.network.peer", str(number), *addresses],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PEER_CLOCK": str(off_s)},
    )
    try:
        yield started
    finally:
        started.kill()
        with trio.CancelScope(shield=True):
            await started.wait()
        for pipe in (started.stdin, started.stdout):
            assert pipe is not None
            with trio.CancelScope(shield=True):
                await pipe.aclose()


async def line(started: trio.Process) -> str:
    """Read the next line that a process prints."""
    assert started.stdout is not None
    read = b""
    while not read.endswith(b"\n"):
        part = await started.stdout.receive_some(1)
        assert part, "the process has ended"
        read += part
    return read.decode().strip()


async def say(started: trio.Process, words: bytes) -> None:
    assert started.stdin is not None
    await started.stdin.send_all(words + b"\n")


async def neighbours(one: Host, count: int = 1) -> None:
    """Wait until so many neighbours are in the mesh of the topic."""
    await until(lambda: len(one.gossip.router.mesh.get(TOPIC, ())) >= count)


@asynccontextmanager
async def listening(limits: HostLimits | None = None) -> AsyncIterator[tuple[Host, Topic]]:
    with trio.fail_after(3 * LONG):
        async with host(1, limits=limits) as one:
            yield one, await one.join(TOPIC)


@pytest.mark.trio
async def test_a_peer_that_is_killed_in_mid_transfer_is_noticed_at_once() -> None:
    async with listening() as (one, _), process(5) as peer:
        key = await one.connect(await line(peer))
        stream = await one.open(key, HOLD)
        async with trio.open_nursery() as nursery:

            async def write() -> None:
                with pytest.raises(NetworkError) as caught:
                    await fill(stream)
                assert code_of(caught.value) == "STREAM_LOST"

            nursery.start_soon(write)
            await trio.testing.wait_all_tasks_blocked(0.05)
            peer.send_signal(signal.SIGKILL)
        assert await one.changed(frozenset({key})) == frozenset()
        await until(lambda: not one.gossip.pubsub.peers)


@pytest.mark.trio
async def test_a_peer_that_is_stopped_is_disconnected_and_welcome_when_it_goes_on() -> None:
    limits = HostLimits(ping_every_s=0.2, ping_within_s=1, open_s=0.2)
    async with listening(limits) as (one, _), process(5) as peer:
        address = await line(peer)
        key = await one.connect(address)
        peer.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(NetworkError) as caught:
                await one.open(key, HOLD)
            assert code_of(caught.value) in {"TIMED_OUT", "STREAM_LOST"}
            assert await one.changed(frozenset({key})) == frozenset()
        finally:
            peer.send_signal(signal.SIGCONT)

        async def again() -> bool:
            try:
                await one.connect(address)
                return await ask(one, key, b"awake") == b"awake"
            except NetworkError:
                return False

        while not await again():  # noqa: ASYNC110 # a process gives no event
            await trio.sleep(0.05)


@pytest.mark.trio
async def test_a_peer_that_was_killed_and_comes_back_is_heard_and_hears() -> None:
    async with listening() as (one, topic):
        for words in (b"first life", b"second life"):
            async with process(5, one.addresses[0]) as peer:
                await line(peer)
                await neighbours(one)
                await say(peer, words)
                assert (await anext(topic))[1] == words
                await topic.publish(b"heard " + words)
                # A newcomer is also told what was said shortly before it came.
                while await line(peer) != f"heard {words.decode()}":
                    pass
                peer.send_signal(signal.SIGKILL)
            await one.changed(one.connected() or frozenset({b""}))


@pytest.mark.slow
@pytest.mark.trio
async def test_a_peer_whose_clock_is_set_back_is_heard() -> None:
    async with listening() as (one, topic):
        for off_s in (0, -3600, 7200):
            async with process(5, one.addresses[0], off_s=off_s) as peer:
                await line(peer)
                await neighbours(one)
                for place in range(5):
                    await say(peer, b"%d of %d" % (place, off_s))
                heard = [(await anext(topic))[1] for _ in range(5)]
                assert heard == [b"%d of %d" % (place, off_s) for place in range(5)]
            await until(lambda: not one.connected())
