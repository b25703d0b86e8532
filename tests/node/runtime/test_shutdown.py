"""SIGTERM ends a node with 0 within 5 s, whatever others are in the middle of."""

import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest
import trio

from node.base.entropy import random_bytes
from node.demo.cruxeval import load
from node.demo.instance import Instance
from node.demo.over_network import Stage, stage

LONG = 90.0
"""Seconds for what includes the start of three processes on a busy machine."""
PROMISED = 5.0
MANY = 10
HALF_A_HEAD = b"GET /v1/agents HTTP/1.1\r\nHost: localhost\r\nX-"
HALF_A_BODY = (
    b"POST /v1/admin/peers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000\r\n\r\n{"
)


@asynccontextmanager
async def started(root: Path) -> AsyncIterator[Stage]:
    """Run three instances; none outlives the block, not even a frozen one."""
    made = stage(root, load(), reviewers=3, entropy=random_bytes)
    try:
        await made.start()
        yield made
    finally:
        for one in made.instances:
            if one.process is not None and one.process.poll() is None:
                one.kill()
        await made.stop()


async def connect(address: tuple[str, int], words: bytes, stack: AsyncExitStack) -> None:
    """Connect to a port, say no more than this, and stay."""
    stream = await trio.open_tcp_stream(*address)
    stack.push_async_callback(stream.aclose)
    if words:
        await stream.send_all(words)


def ports(one: Instance) -> tuple[tuple[str, int], tuple[str, int]]:
    """Give where its API and its libp2p host listen."""
    assert one.address is not None
    url = httpx.URL(one.address.url)
    assert url.port is not None
    _, _, host, _, port, *_ = one.address.addresses[0].split("/")
    return (url.host, url.port), (host, int(port))


async def connected(one: Instance, count: int) -> None:
    while json.loads(await one.get("/v1/peers"))["connected"] < count:  # noqa: ASYNC110 # a process gives no event
        await trio.sleep(0.1)


@pytest.mark.trio
async def test_it_ends_in_time_though_a_member_is_frozen_and_requests_are_half_sent(
    tmp_path: Path,
) -> None:
    with trio.fail_after(LONG):
        async with started(tmp_path) as made, AsyncExitStack() as stack:
            one, frozen, _ = made.instances
            await connected(one, 2)
            assert frozen.process is not None
            os.kill(frozen.process.pid, signal.SIGSTOP)
            api, host = ports(one)
            for number in range(MANY):
                await connect(host, b"", stack)
                await connect(api, HALF_A_BODY if number % 2 else HALF_A_HEAD, stack)
            events = await stack.enter_async_context(
                one.client.stream("GET", f"{one.url}/v1/events", headers=one.headers)
            )
            assert events.status_code == httpx.codes.OK
            began = trio.current_time()
            code = await one.stop()

            took = trio.current_time() - began

            assert code == 0, one.log.read_text()
            assert took < PROMISED
