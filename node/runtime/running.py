"""Runs a node with its HTTP surface until a signal says stop: what `folkmoot run` does.

While it runs, `address.json` in the data directory tells where it listens, for the command line
and for people. A SIGTERM or SIGINT begins the drain: no new request, no new peer; what was decided
becomes durable, and the process ends with 0 within a few seconds.
"""

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import trio

from node.access.tokens import write_operator_token
from node.api import serve
from node.base.errors import NodeError
from node.base.paths import DataDir, write_private
from node.base.settings import Settings
from node.keys import Keystore
from node.runtime import supervision
from node.runtime.node import Node
from node.runtime.opening import open_node
from node.telemetry import log

GRACE_S: Final = 1.5
"""How long requests in progress may take once the drain has begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """Where a node can be reached."""

    url: str
    addresses: tuple[str, ...]
    """libp2p addresses."""
    node: Node


async def run(
    data: DataDir,
    settings: Settings,
    keystore: Keystore,
    *,
    ready: Callable[[Running], None] = lambda _: None,
    stop: trio.Event | None = None,
) -> None:
    """Run until SIGTERM, SIGINT or `stop`; raises NodeError if it cannot start or go on.

    `ready` is called once, when both the network and HTTP listen. Where the operator's token is
    gone, a new one is made.
    """
    if stop is None:
        stop = trio.Event()
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_hear_signals, stop)
            async with open_node(data, settings, keystore) as node:
                if not data.operator_token.exists():
                    write_operator_token(data, node.entropy, now=node.clock.wall())
                await _serve(data, node, ready, stop)
            nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # One reason is enough for whoever reads it; others are its consequences.
        reason = _first(group)
        if reason is None:
            raise
        raise reason from group
    log.info("node.stopped")


async def _serve(
    data: DataDir, node: Node, ready: Callable[[Running], None], stop: trio.Event
) -> None:
    listening, ended = trio.Event(), trio.Event()
    found: list[str] = []
    failed: list[NodeError] = []

    def at(url: str) -> None:
        found.append(url)
        listening.set()

    async def http() -> None:
        settings = node.settings
        # Started again, it must be where it was announced.
        port = int(found[0].rpartition(":")[2]) if found else settings.http_port
        try:
            await serve(
                node,
                host=settings.http_host,
                port=port,
                ready=at,
                stop=stop,
                names=frozenset(settings.http_names),
            )
        except NodeError as error:
            if found:
                raise
            # What could never listen is no part to start again: the operator must hear of it.
            failed.append(error)
            listening.set()
        ended.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervision.run, supervision.Part.HTTP, http)
        await listening.wait()
        if failed:
            raise failed[0]
        running = Running(
            url=found[0], addresses=node.host.addresses if node.host else (), node=node
        )
        with _announced(data, running):
            log.info("node.ready", url=running.url, cut=node.world.state.cut)
            ready(running)
            await stop.wait()
            log.info("node.stopping")
            node.stopping = True
            with trio.move_on_after(GRACE_S):
                await ended.wait()
        nursery.cancel_scope.cancel()


async def _hear_signals(stop: trio.Event) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            stop.set()


@contextmanager
def _announced(data: DataDir, running: Running) -> Iterator[None]:
    """Tell where the node listens, as long as it does."""
    told = {"url": running.url, "addresses": list(running.addresses), "pid": os.getpid()}
    write_private(data.address, json.dumps(told).encode() + b"\n")
    try:
        yield
    finally:
        data.address.unlink(missing_ok=True)


def _first(group: BaseExceptionGroup[BaseException]) -> NodeError | None:
    for error in group.exceptions:
        if isinstance(error, NodeError):
            return error
        if isinstance(error, BaseExceptionGroup):
            found = _first(error)
            if found is not None:
                return found
    return None
