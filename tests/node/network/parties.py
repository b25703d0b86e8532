"""Instances of a town on real hosts: everything of a node but its store, which forgets at once."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trio
import trio.testing

from federation.protocol import World
from federation.protocol import inputs as ins
from node.network.book import PeerBook
from node.network.budgets import Allowance, Budgets
from node.network.heads import HeadsCache
from node.network.hello import Self
from node.network.hints import Hints
from node.network.host import Host, open_host
from node.network.inbound import Inbound
from node.network.link import Link
from node.network.links import Links
from node.network.messages import (
    HELLO,
    PROTOCOL,
    Answer,
    Compare,
    Hello,
    Meet,
    Meeting,
    Question,
    Records,
    Same,
    frame,
    read_greeting,
    read_question,
)
from node.network.reconcile import ByHeads
from node.network.serving import Serving
from node.network.streams import Stream, Tap
from node.runtime.driver import Driver
from node.runtime.inbox import Inbox
from node.runtime.ingest import Ingest
from node.runtime.intake import PeerIntake
from node.runtime.snapshots import Snapshots
from node.runtime.timers import Timers
from tests.federation.protocol.town import Town, keys
from tests.node.network.hosts import LOOPBACK

PLENTY = Allowance(
    messages_per_s=100_000,
    messages_at_once=100_000,
    bytes_per_s=1 << 30,
    bytes_at_once=1 << 30,
)


def seed_of(town: Town, index: int) -> bytes:
    """Give the seed that an instance's host and chain share."""
    return keys(town.seed, "instance", index).current


@dataclass(kw_only=True)
class Party:
    """One instance."""

    town: Town
    instance: bytes
    host: Host
    links: Links
    inbox: Inbox
    driver: Driver
    book: PeerBook
    hints: Hints
    heard: list[ins.Input] = field(default_factory=list)
    """What the core was told, in order."""

    @property
    def world(self) -> World:
        return self.driver.world

    @property
    def me(self) -> Self:
        return self.links.myself()

    def link(self, other: bytes) -> Link:
        return self.links._links[other]


@asynccontextmanager
async def party(
    town: Town,
    index: int,
    *,
    pause: Callable[[], float] = lambda: 30.0,
    listen: tuple[str, ...] = LOOPBACK,
    allowance: Allowance = PLENTY,
    tap: Tap | None = None,
) -> AsyncIterator[Party]:
    """Run an instance of a town; nobody knows it yet."""
    world, inbox, heads, hints = town.world(index), Inbox(), HeadsCache(), Hints()
    began = trio.current_time()

    def now() -> int:
        return town.now + int((trio.current_time() - began) * 1_000)

    driver = Driver(world, now=now, inbox=inbox, timers=Timers(now), snapshot=Snapshots(0).take)
    book = PeerBook(now=now, wall=now)
    ingest = Ingest(world.realm, lambda: driver.world.log)
    intake = PeerIntake(
        ingest,
        inbox,
        refused=lambda effect: links.refused(effect),  # noqa: PLW0108 # it is made below
        heard_from=lambda peer, names: links.heard_from(peer, names),  # noqa: PLW0108 # as above
    )
    links = Links(
        world=lambda: driver.world,
        genesis=world.state.charter_hash,
        intake=intake,
        book=book,
        hints=hints,
        reconciler=ByHeads(lambda: driver.world, heads, driver.flushed),
        now=now,
        wall=now,
        pause=pause,
        flushed=driver.flushed,
    )
    async with open_host(seed_of(town, index), listen=listen, tap=tap) as host:
        found = Party(
            town=town,
            instance=town.founding.instances[index],
            host=host,
            links=links,
            inbox=inbox,
            driver=driver,
            book=book,
            hints=hints,
        )
        _overhear(found)
        Inbound(
            me=links.myself(),
            welcome=links,
            intake=intake,
            serving=Serving(lambda: driver.world, heads, driver.flushed),
            book=book,
            budgets=Budgets(allowance),
            now=now,
        ).serve(host)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(links.run, host)
                nursery.start_soon(driver.run)
                nursery.start_soon(_forget, driver)
                await trio.testing.wait_all_tasks_blocked()
                yield found
                nursery.cancel_scope.cancel()
        finally:
            ingest.close()


def _overhear(it: Party) -> None:
    """Note every input that the core is given."""
    take = it.driver.take

    def noted(event: ins.Input) -> list[object]:
        it.heard.append(event)
        return take(event)  # type: ignore[return-value] # passed on as it is

    it.driver.take = noted  # type: ignore[assignment, method-assign] # only noted


async def _forget(driver: Driver) -> None:
    async for _ in driver.outcomes:
        await driver.is_durable(1)


# A peer that is played by hand --------------------------------------------------------------------


def hello_of(town: Town, index: int, **changes: object) -> Hello:
    """Give the hello of an instance, changed as told."""
    world = town.world(index)
    said: dict[str, object] = {
        "realm": world.realm,
        "charter_hash": world.state.charter_hash,
        "low": PROTOCOL,
        "high": PROTOCOL,
        "instance": town.founding.instances[index],
        "cut": world.state.cut,
        "heads": len(world.log.authors()),
    }
    return Hello(**{**said, **changes})  # type: ignore[arg-type] # fields by name


@asynccontextmanager
async def hand(
    town: Town, index: int, *, listen: tuple[str, ...] = LOOPBACK
) -> AsyncIterator[Host]:
    """Open a bare host with the key of an instance; it answers nothing by itself."""
    async with open_host(seed_of(town, index), listen=listen) as host:
        yield host


async def greet(host: Host, other: Party, hello: Hello) -> object:
    """Say hello by hand; gives what was answered."""
    await host.connect(other.host.addresses[0])
    stream = await host.open(other.host.key, HELLO)
    try:
        await stream.send(frame(hello))
        return read_greeting(await stream.receive(deadline_s=5))
    finally:
        await stream.close()


Script = Callable[[Question], list[Answer]]


def same_as_you(question: Question) -> list[Answer]:
    """Answer like somebody who holds exactly the same and heard nothing."""
    match question:
        case Compare():
            return [Same(same=True)]
        case Meet():
            return [Meeting(cut=3, seen=None)]
        case _:
            return [Records(records=())]


async def answer_by(script: Script, stream: Stream) -> None:
    """Answer questions on a sync stream for as long as they come."""
    while True:
        for answer in script(read_question(await stream.receive(deadline_s=30))):
            await stream.send(frame(answer))
