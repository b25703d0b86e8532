"""The core of a node with everything around it that needs no socket: built from what was stored.

A node always comes back as from a crash, the first time too: an instance that finds nothing stored
may be new, or may have lost its disk, and only its peers can tell (design: amnesia).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from federation.charter import charter_hash
from federation.core import InstanceId
from federation.protocol import effects as fx
from federation.protocol import restore
from node.base.clock import Clock
from node.keys import Keystore
from node.network.book import PeerBook
from node.network.heads import HeadsCache
from node.network.hints import Hints
from node.network.links import Links
from node.network.reconcile import ByHeads
from node.network.serving import Serving
from node.runtime.comparing import VERSION, former_at
from node.runtime.driver import Driver
from node.runtime.events import EventFeed
from node.runtime.inbox import Inbox
from node.runtime.ingest import Ingest
from node.runtime.intake import PeerIntake
from node.runtime.performers import Performers
from node.runtime.proofs import Proofs
from node.runtime.reckoning import Reckoning, small_only
from node.runtime.revealing import Revealing
from node.runtime.snapshots import Snapshots
from node.runtime.timers import Timers
from node.setup.genesis import GenesisFile
from node.store import Loaded, SaveEvent, SaveSnapshot, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """The parts, wired."""

    driver: Driver
    performers: Performers
    ingest: Ingest
    intake: PeerIntake
    links: Links
    hints: Hints
    serving: Serving
    revealing: Revealing
    reckoning: Reckoning
    proofs: Proofs
    events: EventFeed


def build(
    genesis: GenesisFile,
    loaded: Loaded,
    store: Store,
    keystore: Keystore,
    instance: InstanceId,
    *,
    clock: Clock,
    pause: Callable[[], float],
    recent: Sequence[SaveEvent],
    newest: SaveSnapshot | None,
) -> Core:
    """Bring the world back and put its shell around it; nothing runs yet.

    `recent` are the newest stored events, `newest` is the newest stored snapshot. The store vouches
    for the signatures of its records: they were checked before it took them, and the doctor
    checks them again.
    """
    inbox = Inbox()
    timers = Timers(clock.now)
    ingest = Ingest(genesis.realm, lambda: world.log)
    reckoning, proofs = Reckoning(inbox), Proofs(inbox)
    world, effects = restore(
        genesis.charter,
        genesis.records,
        loaded.durable,
        instance=instance,
        signer=keystore.signer(instance),
        former=keystore.former(instance),
        now=clock.now(),
        epoch=clock.wall() - clock.now(),
        verify=ingest.verify,
        snapshot=newest.content if newest else None,
        trusted=True,
        solve=reckoning.at_once,
        prove=proofs.at_once,
    )
    # What was stored is folded at once; from here on the loop must not stand still for a large
    # graph or a proof of work.
    world.solve = small_only
    world.prove = proofs.known
    refused = any(
        isinstance(one, fx.Tell) and one.event is fx.Happening.SNAPSHOT_REFUSED for one in effects
    )
    snapshots = Snapshots(len(world.log) if newest and not refused else 0)
    driver = Driver(world, now=clock.now, inbox=inbox, timers=timers, snapshot=snapshots.take)
    events = EventFeed(store, recent=recent, wall=clock.wall)
    heads, hints = HeadsCache(), Hints()
    book = PeerBook(now=clock.now, wall=clock.wall)
    intake = PeerIntake(
        ingest,
        inbox,
        # Links and intake need each other; by the time a peer speaks both are there.
        refused=lambda effect: links.refused(effect),  # noqa: PLW0108
        heard_from=lambda peer, names: links.heard_from(peer, names),  # noqa: PLW0108
    )
    links = Links(
        world=lambda: driver.world,
        genesis=charter_hash(genesis.charter),
        intake=intake,
        book=book,
        hints=hints,
        reconciler=ByHeads(lambda: driver.world, heads, driver.flushed),
        now=clock.now,
        wall=clock.wall,
        pause=pause,
        flushed=driver.flushed,
    )
    performers = Performers(
        driver,
        store,
        links,
        told=events.number,
        announce=events.announce,
        reckon=reckoning.ask,
        prove=proofs.ask,
    )
    revealing = Revealing(driver, keystore, wall=clock.wall)
    driver.listeners.append(revealing.after)
    driver.carry_out(events.unheard(effects))
    return Core(
        driver=driver,
        performers=performers,
        ingest=ingest,
        intake=intake,
        links=links,
        hints=hints,
        serving=Serving(
            lambda: driver.world,
            heads,
            driver.flushed,
            former=partial(former_at, store),
            version=VERSION,
        ),
        revealing=revealing,
        reckoning=reckoning,
        proofs=proofs,
        events=events,
    )
