"""All peers of an instance: who they are, who is connected, and what the core wants of them.

Implements what the performers ask of the network. Nothing here waits on their behalf: wishes are
handed to the link of the peer, and dropped if there is none, because the core repeats what it
still needs and reconciliation repairs the rest.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import trio

from federation.core import Digest, InstanceId, Millis, PeerError, RecordId
from federation.protocol import World
from federation.protocol import effects as fx
from federation.records import Kind, Record, wire
from node.base.errors import NetworkError, NodeCode
from node.network import hello
from node.network.book import PeerBook
from node.network.costs import cost_of
from node.network.faults import PeerFault, StreamEnded
from node.network.fetches import Fetches
from node.network.hints import Hints
from node.network.host import Host
from node.network.identity import PeerKey
from node.network.link import Intake, Link
from node.network.messages import PROTOCOL, Finding, Hello, Inquiry
from node.network.reconcile import Reconciler
from node.telemetry import log

URGENT: Final = frozenset(
    {
        Kind.OBJECT,
        Kind.ARGUE,
        Kind.COMMIT,
        Kind.REVEAL,
        Kind.CONTEST,
        Kind.CERTIFICATE,
        Kind.LOG_FORK,
        Kind.LOG_FAULT,
        Kind.PROPOSE,
        Kind.AGENT_VOUCH,
        Kind.AGENT_UNVOUCH,
    }
)
"""Kinds that go straight to every instance, so that nothing depends on gossip."""
HELLO_WITHIN: Final[Millis] = 20_000
"""Who is connected so long and has not said hello loses its place to others, in ms."""
LOOK_S: Final = 0.5
"""How often the door is looked at."""


@dataclass(slots=True, kw_only=True)
class Known:
    """What is remembered of a peer, connected or not."""

    instance: InstanceId
    cut: int = 0
    last_progress: Millis | None = None
    """Unix time in ms at which it last answered a question."""
    dropped: int = 0
    """What gave way in the outboxes of conversations that ended."""


class Links:
    """The peers."""

    def __init__(
        self,
        *,
        world: Callable[[], World],
        genesis: Digest,
        intake: Intake,
        book: PeerBook,
        hints: Hints,
        reconciler: Reconciler,
        now: Callable[[], Millis],
        wall: Callable[[], Millis],
        pause: Callable[[], float],
        flushed: Callable[[], Awaitable[None]],
    ) -> None:
        """Prepare; `run` lives.

        `genesis` is the hash of the charter at genesis; `flushed` returns once what the world shows
        now is durable.
        """
        self._host: Host | None = None
        self.book = book
        self.known: dict[InstanceId, Known] = {}
        self._world = world
        self._genesis = genesis
        self._intake = intake
        self._hints = hints
        self._reconciler = reconciler
        self._now = now
        self._wall = wall
        self._pause = pause
        self._flushed = flushed
        self._links: dict[InstanceId, Link] = {}
        self._fetches = Fetches()
        self._nursery: trio.Nursery | None = None
        self._keys_at = -1
        self._keys: dict[PeerKey, InstanceId] = {}
        self.changed = trio.Event()
        """Replaced by a new event whenever a link begins or ends."""

    async def run(self, host: Host) -> None:
        """Hold conversations over a host until cancelled."""
        self._host = host
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                await self._keep_door(host, nursery)
        finally:
            self._nursery = None

    async def _keep_door(self, host: Host, nursery: trio.Nursery) -> None:
        """Hang up on the banned, the lost, and those that hold a place and say no hello; for ever."""
        since: dict[PeerKey, Millis] = {}
        while True:
            await trio.sleep(LOOK_S)
            talking = {link.key: link for link in self._links.values()}
            here = host.connected()
            for key, link in talking.items():
                # A link that has nothing to say would learn only at its next comparison that the
                # connection is gone.
                if self.book.is_banned(key) or key not in here:
                    link.scope.cancel()
            now = self._now()
            since = {key: since.get(key, now) for key in here - talking.keys()}
            for key, at in since.items():
                if now - at >= HELLO_WITHIN:
                    nursery.start_soon(host.disconnect, key)

    # Who is who -----------------------------------------------------------------------------------

    @property
    def connected(self) -> tuple[InstanceId, ...]:
        """List the peers that talk with this instance."""
        return tuple(sorted(self._links))

    def member_of(self, key: PeerKey) -> InstanceId | None:
        """Give the member whose current key this is."""
        world = self._world()
        if self._keys_at != world.state.cut:
            self._keys_at = world.state.cut
            self._keys = {}
            for instance in world.state.instances:
                self._keys[world.state.identities[instance].keys.key] = instance
        return self._keys.get(key)

    def instance_of(self, peer: PeerKey) -> InstanceId | None:
        """Give the peer's instance if it has said hello and is still connected."""
        found = self.member_of(peer)
        return found if found in self._links and not self.book.is_banned(peer) else None

    def is_welcome(self, peer: PeerKey) -> bool:
        """Tell whether a peer is an instance of the realm and not banned, connected or not."""
        return self.member_of(peer) is not None and not self.book.is_banned(peer)

    def dropped(self, instance: InstanceId) -> int:
        """Count the packets and records for a peer that gave way because it took too few."""
        known, link = self.known.get(instance), self._links.get(instance)
        return (known.dropped if known else 0) + (link.outbox.dropped if link else 0)

    def myself(self) -> hello.Self:
        """Give what hello tells of this instance and knows of others."""
        return hello.Self(
            hello=self._hello,
            instance_of=self.member_of,
            banned_why=self.book.banned_why,
            flushed=self._flushed,
        )

    def _hello(self) -> Hello:
        world = self._world()
        assert world.me is not None, "a node is an instance"  # noqa: S101 # our own invariant
        return Hello(
            realm=world.realm,
            charter_hash=self._genesis,
            low=PROTOCOL,
            high=PROTOCOL,
            instance=world.me.instance,
            cut=world.state.cut,
            heads=len(world.log.authors()),
        )

    # Conversations --------------------------------------------------------------------------------

    def greeted(self, peer: PeerKey, theirs: Hello) -> None:
        """Begin to talk with a peer that said hello; a conversation from before ends."""
        if self._nursery is None or self._host is None:
            return
        known = self.known.setdefault(theirs.instance, Known(instance=theirs.instance))
        before = self._links.pop(theirs.instance, None)
        if before is not None:
            known.dropped += before.outbox.dropped
            before.scope.cancel()
        known.cut = max(known.cut, theirs.cut)
        link = Link(
            key=peer,
            instance=theirs.instance,
            cut=theirs.cut,
            host=self._host,
            intake=self._intake,
            reconciler=self._reconciler,
            now=self._now,
            pause=self._pause,
            is_settled=self._is_settled,
            progressed=lambda: self._progressed(theirs.instance),
        )
        self._links[theirs.instance] = link
        self._announce()
        self._nursery.start_soon(self._talk, link)

    async def _talk(self, link: Link) -> None:
        try:
            await link.run()
        except* (PeerError, PeerFault) as faults:
            for error in _leaves(faults):
                if isinstance(error, PeerError | PeerFault):
                    self.book.fault(link.key, error.code, error.why, cost_of(error.code))
        except* (StreamEnded, NetworkError) as losses:
            if any(getattr(one, "code", None) is NodeCode.TIMED_OUT for one in _leaves(losses)):
                why = "it did not answer, or did not read, in time"
                self.book.fault(link.key, NodeCode.TIMED_OUT, why, cost_of(NodeCode.TIMED_OUT))
        finally:
            if self._links.get(link.instance) is link:
                del self._links[link.instance]
                self.known[link.instance].dropped += link.outbox.dropped
                self._announce()
                log.info("peer.lost", peer=link.instance.hex()[:8])
                with trio.CancelScope(shield=True), trio.move_on_after(1):
                    # The peer's own streams end too, so that it calls again.
                    await link.host.disconnect(link.key)

    def _announce(self) -> None:
        self.changed.set()
        self.changed = trio.Event()

    def _progressed(self, instance: InstanceId) -> None:
        known = self.known[instance]
        known.last_progress = self._wall()
        link = self._links.get(instance)
        if link is not None:
            known.cut = max(known.cut, link.cut)

    def _is_settled(self) -> bool:
        me = self._world().me
        return me is None or me.settled

    def heard_from(self, peer: InstanceId, names: list[RecordId]) -> None:
        """Note that a peer sent these records: they need not be sent back, nor asked for."""
        self._fetches.arrived(names)
        link = self._links.get(peer)
        if link is not None:
            for name in names:
                link.outbox.peer_holds(name)

    # What somebody here asks for ------------------------------------------------------------------

    async def ask(self, instance: InstanceId, inquiry: Inquiry) -> Finding:
        """Ask a peer about its certified world.

        Raises NetworkError UNREACHABLE if it is not connected, and what `Link.ask` raises.
        """
        link = self._links.get(instance)
        if link is None:
            raise NetworkError(
                "peer not asked",
                why="it is not connected",
                fix="`folkmoot peer list` tells why not; try again once it is",
                code=NodeCode.UNREACHABLE,
            )
        return await link.ask(inquiry)

    # What the core asks for -----------------------------------------------------------------------

    def relay(self, records: tuple[Record, ...]) -> None:
        """Push what is urgent to every peer, and hint at everything."""
        for record in records:
            raw = wire(record)
            self._hints.put(raw)
            if record.kind in URGENT:
                for link in self._links.values():
                    link.outbox.put_record(record.id, raw)

    def send_packet(self, to: InstanceId | None, packet: bytes) -> None:
        """Push a packet to one peer, or to all."""
        for link in self._links.values():
            if to is None or link.instance == to:
                link.outbox.put_packet(packet)

    def reconcile(self, slot: bytes, voices: tuple[InstanceId, ...]) -> None:
        """Compare with peers, and report it to a slot."""
        for voice in voices:
            link = self._links.get(voice)
            if link is not None:
                link.reconcile(slot)

    def fetch_records(self, records: tuple[RecordId, ...], voices: tuple[InstanceId, ...]) -> None:
        """Ask one of the peers for records."""
        for voice, names in self._choose(records, voices).items():
            for name in names:
                self._links[voice].fetch_record(name)

    def fetch_blob(self, blob: Digest, voices: tuple[InstanceId, ...]) -> None:
        """Ask one of the peers for a blob."""
        for voice in self._choose((blob,), voices):
            self._links[voice].fetch_blob(blob)

    def _choose(
        self, names: tuple[bytes, ...], voices: tuple[InstanceId, ...]
    ) -> dict[InstanceId, list[bytes]]:
        reachable = [voice for voice in voices if voice in self._links]
        return self._fetches.choose(names, reachable, self._now())

    def refused(self, effect: fx.Refused) -> None:
        """Score a peer down for what the core refused."""
        link = self._links.get(effect.peer) if effect.peer is not None else None
        if link is not None:
            self.book.fault(link.key, effect.code, effect.why, cost_of(effect.code))


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    found: list[BaseException] = []
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            found += _leaves(error)
        else:
            found.append(error)
    return found
