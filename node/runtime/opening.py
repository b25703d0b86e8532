"""Builds a node from its data directory, and takes it down in the reverse order.

Down means: first nothing new is heard, then what was decided becomes durable, then the store
closes. The lock of the data directory is held from the first moment to the last.
"""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import trio

from federation.core import InstanceId
from federation.records import Role
from node.base.clock import SteadyClock
from node.base.entropy import Entropy, random_bytes
from node.base.errors import NodeCode, NodeError
from node.base.paths import DataDir, hold
from node.base.settings import Settings
from node.keys import Keystore
from node.network.budgets import Allowance, Budgets
from node.network.limits import HostLimits
from node.network.streams import Tap
from node.runtime import supervision
from node.runtime.collector import calm_collector
from node.runtime.core import Core, build
from node.runtime.events import RECENT
from node.runtime.network import Network, open_network
from node.runtime.node import Node
from node.runtime.peers import read_addresses
from node.runtime.supervision import Part
from node.setup.genesis import read_genesis
from node.store import SaveEvent, Store, open_store
from node.telemetry import log

DRAIN_S: Final = 1.0
"""How long a stopping node may take to make durable what it has decided."""
CLOCK_S: Final = 10.0
"""How often the clock is stored although nothing else is."""
ALLOWANCE: Final = Allowance(
    messages_per_s=2_000,
    messages_at_once=20_000,
    bytes_per_s=8 * 1024 * 1024,
    bytes_at_once=64 * 1024 * 1024,
)
"""What one peer may send and have answered."""
_SECOND: Final = 1_000


@asynccontextmanager
async def open_node(
    data: DataDir,
    settings: Settings,
    keystore: Keystore,
    *,
    entropy: Entropy = random_bytes,
    tap: Tap | None = None,
    limits: HostLimits | None = None,
) -> AsyncIterator[Node]:
    """Run an instance while the context is open.

    Raises LockedError, StoreError, NetworkError and NodeError with the reason if it cannot start,
    and, as part of a group, if one of its parts fails later. `tap` sees all traffic; it
    and `limits`, which are the host's, are for tests.
    """
    data.check()
    with hold(data):
        genesis = read_genesis(data.genesis)
        instance = instance_of(keystore)
        addresses = (*settings.peers, *read_addresses(data.peers))
        async with open_store(data.database, realm=genesis.realm) as store:
            loaded = await store.load()
            clock = SteadyClock(
                loaded.clock, at_least=max(loaded.durable.starts.values(), default=0)
            )
            store.tick = clock.now
            state = clock.state()
            await store.save_clock(state)
            core = build(
                genesis,
                loaded,
                store,
                keystore,
                instance,
                clock=clock,
                pause=lambda: jitter(settings.sync_every_ms / _SECOND),
                recent=await _recent(store),
                newest=await store.latest_snapshot(),
            )
            node = Node(
                data=data,
                settings=settings,
                genesis=genesis,
                keystore=keystore,
                instance=instance,
                clock=clock,
                entropy=entropy,
                store=store,
                core=core,
                events=core.events,
                invites=await store.invites(),
                hidden=await store.hidden(),
            )
            await node.notification.load()
            core.driver.listeners.append(node.invites.after)
            calm_collector()
            async with (
                _performing(core),
                _talking(node, core, tap, limits) as network,
                # It ends before the conversations do: one of them may wait for such a process.
                _with_children(core),
            ):
                for address in addresses:
                    network.dialer.add(address)
                node.network = network
                try:
                    async with _working(
                        core,
                        network,
                        (Part.CLOCK, partial(_keep_time, store, clock)),
                        (Part.INVITING, node.invites.run),
                        (Part.INDEXING, node.recruitment.run),
                        (Part.NOTICING, node.notification.notice),
                        (Part.DELIVERING, node.notification.deliver),
                    ):
                        yield node
                finally:
                    node.stopping = True
                    node.network = None
                    node.recruitment.close()


async def _recent(store: Store) -> list[SaveEvent]:
    """Give the newest events, as many as the feed keeps in memory."""
    return await store.events(await store.last_cursor() - RECENT, RECENT)


@asynccontextmanager
async def _with_children(core: Core) -> AsyncIterator[None]:
    """Have processes that check signatures, compute trust, verify proofs; they end with the node."""
    try:
        yield
    finally:
        core.ingest.close()
        core.reckoning.close()
        core.proofs.close()


@asynccontextmanager
async def _performing(core: Core) -> AsyncIterator[None]:
    """Carry out what the core decides, until the last of it is durable."""
    scope = trio.CancelScope(shield=True)
    done = trio.Event()
    refused: NodeError | None = None

    async def perform() -> None:
        try:
            # Whoever cancels the node must not cancel this: it ends below, when it is done.
            with scope:
                await supervision.run(Part.PERFORMERS, core.performers.run)
        finally:
            done.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(perform)
        try:
            yield
        except NodeError as error:
            # It could not start: its reason passes below, outside the group.
            refused = error
        finally:
            if not done.is_set():
                with trio.CancelScope(shield=True), trio.move_on_after(DRAIN_S) as patience:
                    await core.driver.drained()
                if patience.cancelled_caught:
                    log.warning("node.not_drained")
            scope.cancel()
    if refused is not None:
        raise refused


@asynccontextmanager
async def _talking(
    node: Node, core: Core, tap: Tap | None, limits: HostLimits | None
) -> AsyncIterator[Network]:
    async with open_network(
        seed=node.keystore.transport_seed(node.instance),
        addresses=node.settings.listen,
        links=core.links,
        hints=core.hints,
        intake=core.intake,
        serving=core.serving,
        budgets=Budgets(ALLOWANCE),
        now=node.clock.now,
        jitter=jitter,
        realm=node.genesis.realm,
        tap=tap,
        limits=limits,
    ) as network:
        yield network


@asynccontextmanager
async def _working(
    core: Core, network: Network, *more: tuple[Part, Callable[[], Awaitable[None]]]
) -> AsyncIterator[None]:
    """Run everything that hears, and `more` parts beside the core: it ends first."""
    async with trio.open_nursery() as nursery:
        for part, run in (
            (Part.DRIVER, core.driver.run),
            (Part.TIMERS, core.driver.run_timers),
            (Part.REVEALING, core.revealing.run),
            (Part.RECKONING, core.reckoning.run),
            (Part.PROOFS, core.proofs.run),
            *more,
            *network.parts(),
        ):
            nursery.start_soon(supervision.run, part, run)
        yield
        nursery.cancel_scope.cancel()


async def _keep_time(store: Store, clock: SteadyClock) -> None:
    """Store the clock every now and then: a node that is idle before a reboot lived, too."""
    while True:
        await trio.sleep(CLOCK_S)
        await store.save_clock(clock.state())


def instance_of(keystore: Keystore) -> InstanceId:
    """Give the one instance whose keys are kept; raises NodeError if there is none or several."""
    found = [kept.id for kept in keystore.identities() if kept.role is Role.INSTANCE]
    if len(found) != 1:
        raise NodeError(
            "no instance to run",
            why=f"the keystore holds the keys of {len(found)} instances, a node is one",
            fix="keep the keys of one instance in a data directory",
            code=NodeCode.NOT_INITIALISED,
        )
    return found[0]


def jitter(seconds: float) -> float:
    """Give a duration between half and one and a half of this: no two instances keep step."""
    return seconds * random.uniform(0.5, 1.5)  # noqa: S311 # nothing secret depends on it
