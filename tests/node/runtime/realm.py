"""Small realms of real nodes: real sockets, real databases, real key files, one trio run."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import trio

from federation.charter import Admission, preset
from node.base.entropy import Entropy, random_bytes
from node.base.paths import DataDir
from node.base.settings import Settings, load
from node.keys import Cost, Keystore
from node.network.streams import Tap
from node.runtime import Node, open_node
from node.setup.founding import Founded, Founder, found_realm
from node.setup.instance import write_instance

CHEAP = Cost(memory=64, passes=1)
PASSPHRASE = b"correct horse"


@dataclass(kw_only=True)
class Realm:
    """A founded realm and the data directories of its instances."""

    founded: Founded
    places: tuple[DataDir, ...]
    taps: dict[int, Tap] = field(default_factory=dict)
    entropies: dict[int, Entropy] = field(default_factory=dict)

    def settings(self, index: int) -> Settings:
        return load(self.places[index].settings, {})

    def keystore(self, index: int) -> Keystore:
        return Keystore.unlock(self.places[index].keys, PASSPHRASE, least=CHEAP)

    @asynccontextmanager
    async def node(self, index: int) -> AsyncIterator[Node]:
        """Run one instance."""
        async with open_node(
            self.places[index],
            self.settings(index),
            self.keystore(index),
            entropy=self.entropies.get(index, random_bytes),
            tap=self.taps.get(index),
        ) as node:
            yield node

    @asynccontextmanager
    async def nodes(self) -> AsyncIterator[tuple[Node, ...]]:
        """Run all instances, connected with each other."""
        async with AsyncExitStack() as stack:
            running = [
                await stack.enter_async_context(self.node(index))
                for index in range(len(self.places))
            ]
            introduce(running)
            yield tuple(running)

    def agents_of(self, index: int) -> tuple[bytes, ...]:
        return tuple(
            agent.id
            for agent, home in zip(self.founded.agents, self.founded.home_of, strict=True)
            if home == index
        )


def introduce(nodes: Sequence[Node]) -> None:
    """Let each node know the addresses of those before it."""
    for number, node in enumerate(nodes):
        for other in nodes[:number]:
            assert other.host is not None
            node.add_peer(other.host.addresses[0])


def tiny(**changes: int) -> Admission:
    """Give terms of a real puzzle that is solved in milliseconds."""
    return msgspec.structs.replace(
        preset("test").admission,
        **{
            "memory_kib": 8,
            "parts": 2,
            "agent_bits": 1,
            "operator_bits": 2,
            "most_bits": 3,
            "gate_bits": 4,
            **changes,
        },
    )


def realm(
    root: Path,
    *,
    instances: int = 3,
    agents: int = 6,
    admission: Admission | None = None,
    **timing: int,
) -> Realm:
    """Found a realm with an operator each for instances and agents, in the preset `test`."""
    rules = preset("test")
    owners = [f"owner {number}" for number in range(agents)]
    hosts = [f"host {number}" for number in range(instances)]
    founded = found_realm(
        name="town",
        preset="test",
        operators=[*owners, *hosts],
        instances=[(f"instance {place}", agents + place) for place in range(instances)],
        founders=[
            Founder(name=f"agent {number}", operator=number, instance=number % instances)
            for number in range(agents)
        ],
        timing=msgspec.structs.replace(rules.timing, **timing),
        review=msgspec.structs.replace(rules.review, topics=(), contest=0, rule=0),
        admission=admission,
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
            cost=CHEAP,
        )
        for number in range(instances)
    )
    return Realm(founded=founded, places=places)


async def until(claim: Callable[[], object], *, within: float = 20.0) -> None:
    """Wait until a claim about nodes holds; fails after `within` seconds."""
    with trio.fail_after(within):
        while not claim():  # noqa: ASYNC110 # the world of a node has no event for each claim
            await trio.sleep(0.02)
