"""A driver with a real world and a real store, and a network that only remembers what left."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import trio

from federation.core import Millis
from federation.protocol import World
from federation.protocol import effects as fx
from federation.protocol.inputs import Arrived
from federation.records import AgentSubscribe, Record, Role
from node.runtime.driver import Driver
from node.runtime.events import EventFeed
from node.runtime.inbox import Inbox
from node.runtime.performers import Performers
from node.runtime.snapshots import Snapshots
from node.runtime.timers import Timers
from node.store import SaveEvent, Store, Write, open_store
from tests.builders import Chain
from tests.federation.protocol.town import Town

Left = tuple[str, object]


class HeldBack(Store):
    """The real store behind a gate: while it is shut, nothing becomes durable."""

    def __init__(self, store: Store) -> None:
        """Stand before a store."""
        self._real = store
        self.gate = trio.Event()
        self.waiting = 0
        self.written: list[Write] = []
        self.calls = 0

    async def write(self, writes: Sequence[Write]) -> None:
        """Write, once the gate is open."""
        self.waiting += 1
        self.calls += 1
        await self.gate.wait()
        await self._real.write(writes)
        self.waiting -= 1
        self.written += writes


@dataclass(kw_only=True)
class Network:
    """Everything that left, in order."""

    left: list[Left] = field(default_factory=list)

    def relay(self, records: tuple[Record, ...]) -> None:
        self.left.append(("relay", tuple(record.id for record in records)))

    def send_packet(self, to: bytes | None, packet: bytes) -> None:
        self.left.append(("packet", (to, packet)))

    def reconcile(self, slot: bytes, voices: tuple[bytes, ...]) -> None:
        self.left.append(("reconcile", (slot, voices)))

    def fetch_records(self, records: tuple[bytes, ...], voices: tuple[bytes, ...]) -> None:
        self.left.append(("fetch", (records, voices)))

    def fetch_blob(self, blob: bytes, voices: tuple[bytes, ...]) -> None:
        self.left.append(("blob", (blob, voices)))

    def refused(self, effect: fx.Refused) -> None:
        self.left.append(("refused", effect.code))


@dataclass(kw_only=True)
class Drive:
    """The parts."""

    town: Town
    world: World
    driver: Driver
    performers: Performers
    store: Store
    held: HeldBack
    network: Network
    events: EventFeed
    shown: list[SaveEvent]
    inbox: Inbox
    time: list[Millis]
    """The instance's own clock: one number."""

    def pen(self, index: int = 0) -> Chain:
        return self.town.pen(Role.AGENT, index)

    async def stored(self, *records: Record) -> list[bool]:
        return [await self.store.record(record.id) is not None for record in records]


def said(pen: Chain, count: int) -> list[Record]:
    """Let a pen write so many harmless records."""
    return [
        pen.say(AgentSubscribe(topics=(f"topic-{len(pen.records)}",), keywords=(), on=True))
        for _ in range(count)
    ]


def break_disk(store: Store) -> None:
    """Let the database find its disk full with the next write, and ever after."""
    store._engine.writer.broken = OSError("no space left on device")


def arrived(record: Record) -> Arrived:
    return Arrived(records=(record,), peer=None)


@asynccontextmanager
async def drive(root: Path, *, instances: int = 1, is_open: bool = True) -> AsyncIterator[Drive]:
    """Put a driver around the first world of a town; nothing runs yet but the store."""
    town = Town.of(instances, 5, seed=f"drive {instances}")
    world, time = town.world(), [town.now]
    async with open_store(root / "store.db", realm=world.realm) as store:
        held = HeldBack(store)
        if is_open:
            held.gate.set()
        inbox = Inbox()
        timers = Timers(lambda: time[0])
        driver = Driver(
            world, now=lambda: time[0], inbox=inbox, timers=timers, snapshot=Snapshots(0).take
        )
        events = EventFeed(store, recent=(), wall=lambda: 1_000_000 + time[0])
        network, shown = Network(), list[SaveEvent]()

        def announce(event: SaveEvent) -> None:
            events.announce(event)
            shown.append(event)

        performers = Performers(
            driver,
            held,
            network,
            told=events.number,
            announce=announce,
            reckon=lambda effect: network.left.append(("reckon", effect.cut)),
            prove=lambda effect: network.left.append(("prove", effect.cut)),
        )
        yield Drive(
            town=town,
            world=world,
            driver=driver,
            performers=performers,
            store=store,
            held=held,
            network=network,
            events=events,
            shown=shown,
            inbox=inbox,
            time=time,
        )
