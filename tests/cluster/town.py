"""A realm of real nodes that is listened to: every random byte, every frame, every log line."""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import msgspec
import trio

from federation.charter import preset
from federation.records import Kind
from node.api import Limits, serve
from node.api.limits import Rate
from node.base.entropy import random_bytes
from node.base.settings import Settings
from node.keys import Cost
from node.runtime import Node
from node.setup.founding import Founder, found_realm
from node.setup.instance import write_instance
from tests.node.runtime.realm import CHEAP, PASSPHRASE, Realm, introduce, until

OPEN = Limits(
    by_token=Rate(per_second=10_000, burst=100_000),
    by_address=Rate(per_second=10_000, burst=100_000),
)
"""Nobody here is in a hurry but the test."""
LONG = 40_000
"""A box that stays open, in ms, until the last vote is in."""


@dataclass(slots=True)
class Ear:
    """Everything that one instance sent or received, by stream or topic, and drew at random."""

    heard: dict[str, bytearray] = field(default_factory=dict)
    drawn: list[bytes] = field(default_factory=list)

    def tap(self, direction: str, peer: bytes, protocol: str, payload: bytes) -> None:
        name = f"{direction} {protocol} {peer.hex()[:8]}"
        self.heard.setdefault(name, bytearray()).extend(payload)

    def entropy(self, count: int) -> bytes:
        drawn = random_bytes(count)
        self.drawn.append(drawn)
        return drawn

    def hay(self, direction: str = "") -> dict[str, bytes]:
        return {
            name: bytes(content)
            for name, content in self.heard.items()
            if name.startswith(direction)
        }


class Lines(logging.Handler):
    """Every line that any logger writes, with its arguments and its error."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{self.format(record)} {record.args!r}")

    @property
    def content(self) -> bytes:
        return "\n".join(self.lines).encode("utf-8", "surrogateescape")


def town(
    root: Path,
    *,
    instances: int = 3,
    agents: int = 6,
    commit: int = LONG,
    homes: int | None = None,
    cost: Cost = CHEAP,
    review: Mapping[str, object] | None = None,
    disputes: Mapping[str, object] | None = None,
) -> Realm:
    """Found a realm whose box stays open until all have voted.

    The agents live on the first `homes` instances; left out, on all. `review` and `disputes`
    replace fields of the test preset.
    """
    rules = preset("test")
    owners = [f"owner {number}" for number in range(agents)]
    hosts = [f"host {number}" for number in range(instances)]
    founded = found_realm(
        name="town",
        preset="test",
        operators=[*owners, *hosts],
        instances=[(f"instance {place}", agents + place) for place in range(instances)],
        founders=[
            Founder(name=f"agent {number}", operator=number, instance=number % (homes or instances))
            for number in range(agents)
        ],
        review=msgspec.structs.replace(
            rules.review, **{"commit": commit, "deadline": 10 * commit, **(review or {})}
        ),
        disputes=msgspec.structs.replace(rules.disputes, **(disputes or {})),
    )
    places = tuple(
        write_instance(
            root / f"instance{number}",
            founded,
            passphrase=PASSPHRASE,
            settings=Settings(
                name=f"instance {number}",
                http_port=0,
                listen=("/ip4/127.0.0.1/tcp/0",),
                sync_every_ms=500,
            ),
            instance=number,
            cost=cost,
        )
        for number in range(instances)
    )
    return Realm(founded=founded, places=places)


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """A running node with its HTTP surface."""

    node: Node
    client: httpx.AsyncClient
    """Holds the operator's token."""


@asynccontextmanager
async def opened(node: Node) -> AsyncIterator[Open]:
    """Serve a node over HTTP."""
    stop, listening = trio.Event(), trio.Event()
    urls: list[str] = []

    def ready(url: str) -> None:
        urls.append(url)
        listening.set()

    async def run() -> None:
        await serve(node, host="127.0.0.1", port=0, ready=ready, stop=stop, limits=OPEN)

    token = node.data.operator_token.read_text(encoding="ascii").strip()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        with trio.fail_after(10):
            await listening.wait()
        async with httpx.AsyncClient(
            base_url=urls[0],
            headers={"authorization": f"Bearer {token}"},
            timeout=15,
            trust_env=False,
        ) as client:
            yield Open(node=node, client=client)
        stop.set()


@asynccontextmanager
async def all_opened(realm: Realm) -> AsyncIterator[tuple[Open, ...]]:
    """Run all instances of a realm, connected with each other and served over HTTP."""
    async with AsyncExitStack() as stack:
        nodes = [
            await stack.enter_async_context(realm.node(index)) for index in range(len(realm.places))
        ]
        introduce(nodes)
        await until(lambda: all(node.health().state == "ready" for node in nodes))
        yield tuple([await stack.enter_async_context(opened(node)) for node in nodes])


def commits_of(node: Node, name: bytes) -> frozenset[bytes]:
    """Give the ids of the commit records of a round that a node holds."""
    return frozenset(one.id for one in node.world.log.by_round(name).get(Kind.COMMIT, ()))


def holds_same(nodes: tuple[Node, ...]) -> bool:
    """Tell whether all logs hold the same."""
    return len({tuple(sorted(node.world.log.author_heads().items())) for node in nodes}) == 1
