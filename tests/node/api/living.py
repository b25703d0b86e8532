"""One real instance with its HTTP surface: real keys, store, sockets; it decides by itself."""

import queue
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import httpx
import msgspec
import trio

from federation.charter import Admission, preset
from node.access.tokens import act, create_token
from node.api import Limits, serve
from node.base.entropy import Entropy, random_bytes
from node.base.paths import DataDir
from node.base.settings import Settings, load
from node.keys import Cost, Keystore
from node.runtime import Node, open_node
from node.setup import found_solo, write_instance

T = TypeVar("T")

CHEAP = Cost(memory=64, passes=1)
PASSPHRASE = b"correct horse"
AGENTS = ("alice", "bert", "cleo", "dora", "emil")
QUICK = Limits(body_s=0.6, idle_s=0.8, send_s=0.6, linger_s=0.3, heartbeat_s=0.2, drain_s=0.4)
"""Patience of a test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Living:
    """A running instance and the tokens to it."""

    node: Node
    url: str
    data: DataDir
    operator: str
    stop: trio.Event

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def agents(self) -> tuple[bytes, ...]:
        """The agents in the order of `AGENTS`."""
        names = {kept.name: kept.id for kept in self.node.keystore.identities()}
        return tuple(names[name] for name in AGENTS)

    def token(self, *scopes: str) -> str:
        """Make a token."""
        clear, _ = create_token(self.data, scopes=scopes, entropy=random_bytes, now=0)
        return clear

    def client(self, token: str | None = None) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=10, trust_env=False)

    def acting(self, index: int) -> httpx.AsyncClient:
        """Give a client that acts for one agent."""
        return self.client(self.token(act(self.agents[index])))


def found(
    root: Path,
    *,
    admission: Admission | None = None,
    timing: Mapping[str, int] | None = None,
    **settings: str,
) -> DataDir:
    """Found a realm of one instance with five agents that counts in seconds."""
    rules = preset("test")
    founded = found_solo(
        name="town",
        preset="test",
        agents=AGENTS,
        review=msgspec.structs.replace(rules.review, contest=0, rule=0),
        timing=msgspec.structs.replace(rules.timing, **(timing or {})),
        admission=admission,
    )
    return write_instance(
        root / "instance",
        founded,
        passphrase=PASSPHRASE,
        settings=Settings(
            name="town hall", http_port=0, listen=("/ip4/127.0.0.1/tcp/0",), **settings
        ),
        cost=CHEAP,
    )


@asynccontextmanager
async def living(
    root: Path,
    *,
    limits: Limits = QUICK,
    entropy: Entropy = random_bytes,
    names: frozenset[str] = frozenset(),
    data: DataDir | None = None,
) -> AsyncIterator[Living]:
    """Run an instance with its HTTP surface."""
    data = data or found(root)
    keystore = Keystore.unlock(data.keys, PASSPHRASE, least=CHEAP)
    async with open_node(data, load(data.settings, {}), keystore, entropy=entropy) as node:
        stop, listening = trio.Event(), trio.Event()
        urls: list[str] = []

        def ready(url: str) -> None:
            urls.append(url)
            listening.set()

        async def run() -> None:
            await serve(
                node, host="127.0.0.1", port=0, ready=ready, stop=stop, limits=limits, names=names
            )

        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            with trio.fail_after(5):
                await listening.wait()
            yield Living(
                node=node,
                url=urls[0],
                data=data,
                operator=data.operator_token.read_text().strip(),
                stop=stop,
            )
            stop.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """A running instance in a thread of its own, for tests that speak to it by plain sockets."""

    it: Living
    token: trio.lowlevel.TrioToken

    @property
    def authored(self) -> int:
        """Count the records of agents: what only a request can add to."""
        log = self.it.node.world.log
        return sum(log.count_of(author) for author in self.it.agents) + len(log.authors())


@contextmanager
def background(root: Path, *, limits: Limits = QUICK) -> Iterator[Background]:
    """Run an instance in a thread until the context is left."""

    async def run(show: Callable[[Background], None], over: trio.Event) -> None:
        async with living(root, limits=limits) as it:
            show(Background(it=it, token=trio.lowlevel.current_trio_token()))
            await over.wait()

    with in_thread(run, within=20) as found:
        yield found


@contextmanager
def in_thread(
    run: Callable[[Callable[[T], None], trio.Event], Awaitable[None]], *, within: float
) -> Iterator[T]:
    """Run something with trio in a thread until the context is left; gives what it shows.

    It shows that within so many seconds, goes on until its event is set, and must then end.
    """
    made: queue.Queue[tuple[T, trio.lowlevel.TrioToken] | BaseException] = queue.Queue()
    over = trio.Event()

    async def whole() -> None:
        token = trio.lowlevel.current_trio_token()
        await run(lambda shown: made.put((shown, token)), over)

    def main() -> None:
        try:
            trio.run(whole)
        except BaseException as error:  # noqa: BLE001 # the test's thread raises it
            made.put(error)

    thread = threading.Thread(target=main)
    thread.start()
    found = made.get(timeout=within)
    if isinstance(found, BaseException):
        raise found
    shown, token = found
    try:
        yield shown
    finally:
        token.run_sync_soon(over.set)
        thread.join(timeout=60)
        assert not thread.is_alive(), "the instance does not stop"
        while not made.empty():
            failed = made.get()
            assert isinstance(failed, BaseException)
            raise failed


async def until(claim: Callable[[], object], *, within: float = 15.0) -> None:
    """Wait until a claim about a node holds."""
    with trio.fail_after(within):
        while not claim():  # noqa: ASYNC110 # a claim about a node is no event of its own
            await trio.sleep(0.02)


def proposal(**changes: object) -> dict[str, object]:
    """Give the body of a good proposal."""
    return {
        "title": "Water boils at 100 °C at sea level",
        "prose": "It does.",
        "claims": ["Water boils at 100 °C at 101,325 Pa."],
        "falsification": ["A measurement that differs by more than 1 °C."],
        "sources": ["https://example.org/water"],
        "topics": ["science/physics"],
        **changes,
    }
