"""One running instance, as API, command line and tests see it; `opening` builds it.

Everything here is a question about the world, or a wish of somebody local. A wish is judged,
signed and stepped without an await in between, so two of one agent never take the same place in
its chain; it is answered when it is durable.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from federation.core import (
    AgentId,
    Code,
    FederationError,
    InstanceId,
    Millis,
    RecordId,
    short,
)
from federation.protocol import Fate, Keyring, World, judge
from federation.protocol import effects as fx
from federation.protocol.inputs import Arrived
from federation.records import ArtifactText, Record, parse_record
from node.base.clock import Clock
from node.base.entropy import Entropy
from node.base.errors import NodeCode, NodeError, RequestError
from node.base.paths import DataDir
from node.base.settings import Settings
from node.keys import Keystore
from node.network.host import Host
from node.network.identity import read_address
from node.network.worlds import Difference
from node.notification import Notification
from node.queries.texts import text_of
from node.recruitment import Recruitment
from node.recruitment.nearness import Near
from node.runtime import admission, comparing
from node.runtime.core import Core
from node.runtime.events import EventFeed
from node.runtime.finding import with_finding
from node.runtime.health import Health, health
from node.runtime.inviting import Inviting
from node.runtime.network import Network
from node.runtime.peers import MOST_ADDED, PeerView, peer_views, read_addresses, write_addresses
from node.runtime.revealing import keyring_of
from node.setup.genesis import GenesisFile
from node.store import Hidden, KeptInvites, Store

Say: TypeAlias = Callable[[World, Keyring, Millis], Record]
"""Signs a record for an agent through the local door; `Millis` is the time to claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What became of a record that an agent posted."""

    id: RecordId | None
    """None if its bytes are no record."""
    stored: bool
    code: str | None = None
    """Why it was refused, or why it does not count."""
    why: str = ""
    fix: str = ""


class Node:
    """One running instance."""

    def __init__(
        self,
        *,
        data: DataDir,
        settings: Settings,
        genesis: GenesisFile,
        keystore: Keystore,
        instance: InstanceId,
        clock: Clock,
        entropy: Entropy,
        store: Store,
        core: Core,
        events: EventFeed,
        invites: KeptInvites,
        hidden: Iterable[Hidden],
    ) -> None:
        """Put the parts together; `open_node` makes them."""
        self.data = data
        self.settings = settings
        self.genesis = genesis
        self.keystore = keystore
        self.instance = instance
        self.clock = clock
        self.entropy = entropy
        self.store = store
        self.events = events
        self.links = core.links
        self.driver = core.driver
        self.proofs = core.proofs
        """Verifies proofs of work for whoever knocks, and searches for them."""
        self._stopping = False
        self.network: Network | None = None
        """None before the host listens, and while the node stops."""
        self.invites = Inviting(self, invites)
        self.notification = Notification(self)
        self.recruitment = Recruitment(store, lambda: self.world, clock.wall, hidden)
        self._ingest = core.ingest

    @property
    def stopping(self) -> bool:
        """Whether the node is shutting down: it takes no wish any more, and searches for no proof."""
        return self._stopping

    @stopping.setter
    def stopping(self, stopping: bool) -> None:
        self._stopping = stopping
        if stopping:
            # Whoever waits for a search hears at once that it is over: it could last too long.
            self.proofs.minting.close()

    @property
    def world(self) -> World:
        """The world; look at it between two awaits, and never change it."""
        return self.driver.world

    @property
    def host(self) -> Host | None:
        """The libp2p host; None while it does not listen."""
        return self.network.host if self.network else None

    async def flushed(self) -> None:
        """Wait until everything that the world shows now is durable."""
        await self.driver.flushed()

    # Signing and storing --------------------------------------------------------------------------

    async def near(self, text: ArtifactText) -> tuple[Near, ...]:
        """List artifacts that a text nearly repeats, the nearest first."""
        return await self.recruitment.nearness.find(text)

    async def sign(self, agent: AgentId, say: Say, *, near: Sequence[Near] = ()) -> Record:
        """Sign for an agent whose key is kept here; the record is durable when this returns.

        `near` is what the text of a proposal nearly repeats: a finding of this instance goes with it.
        Raises RefusedError with the code of its fate, and RequestError NOT_IN_CUSTODY.
        """
        keyring = self._keyring(agent)
        if self.stopping:
            raise _stopping()
        self.check_settled()
        record = say(self.world, keyring, self.clock.wall())
        self._take(record, near)
        await self.driver.flushed()
        return record

    def _take(self, record: Record, near: Sequence[Near]) -> list[fx.Effect]:
        """Give the core a record, in one step with the finding about it."""
        records = with_finding(
            self.world, self.keystore, self.instance, record, near, now=self.clock.wall()
        )
        return self.driver.take(Arrived(records=records, peer=None))

    def check_settled(self) -> None:
        """Raise RequestError SETTLING while this instance may have forgotten what it signed last.

        That holds for its own chain and for those of the agents whose keys it keeps: after a
        restart from an old backup the next record of each would be a fork.
        """
        me = self.world.me
        if me is not None and not me.settled:
            raise RequestError(
                "not signed",
                why="after a restart the instance signs nothing until a quorum has told what it "
                "has seen of it",
                fix="wait until the node is ready",
                code=NodeCode.SETTLING,
            )

    def _keyring(self, agent: AgentId) -> Keyring:
        keyring = keyring_of(self.world, self.keystore, agent)
        if keyring is None:
            raise RequestError(
                "not signed",
                why="this instance does not keep the agent's key",
                fix="sign the record yourself and post it to /v1/records",
                code=NodeCode.NOT_IN_CUSTODY,
            )
        return keyring

    async def admit(self, name: str) -> AgentId:
        """Make an agent whose key this instance keeps, and admit it (see `admission`)."""
        return await admission.admit(self, name)

    async def submit(self, raws: Sequence[bytes]) -> tuple[Receipt, ...]:
        """Take finished records of agents that keep their own keys; durable when this returns."""
        if self.stopping:
            raise _stopping()
        receipts = []
        for raw in raws:
            read = await self._ingest.read((raw,))
            texts = [one for record in read.records if (one := text_of(record, ArtifactText))]
            near = await self.near(texts[0]) if texts else ()
            receipts.append(self._receipt(raw, read.records, read.refused, near))
        await self.driver.flushed()
        return tuple(receipts)

    def _receipt(
        self,
        raw: bytes,
        records: Sequence[Record],
        refused: Sequence[FederationError],
        near: Sequence[Near],
    ) -> Receipt:
        if refused:
            error = refused[0]
            return Receipt(id=None, stored=False, code=error.code, why=error.why, fix=error.fix)
        if not records:
            return Receipt(
                id=parse_record(self.world.realm, raw).id, stored=True, why="it was stored before"
            )
        record = records[0]
        effects = self._take(record, near)
        if record.id not in self.world.log:
            return self._not_stored(record, effects)
        judgement = judge(self.world, record)
        if judgement.fate is Fate.VOID:
            return Receipt(
                id=record.id,
                stored=True,
                code=judgement.code,
                why=judgement.why,
                fix="it is stored and does not count",
            )
        return Receipt(id=record.id, stored=True, why=judgement.why)

    def _not_stored(self, record: Record, effects: Sequence[fx.Effect]) -> Receipt:
        no = next((one for one in effects if isinstance(one, fx.Refused)), None)
        if no is not None:
            code, why, fix = no.code, no.why, "correct the record and sign it again"
        elif record.prev is None or record.prev in self.world.log:
            code = Code.OVER_QUOTA
            why = "its author is not admitted, and there is no room for more of such records"
            fix = "let an operator delegate to it and an instance admit it, then send it again"
        else:
            code = Code.WAITS_FOR_PREV
            why = "its predecessor is not stored here"
            fix = "send its predecessors first"
        return Receipt(id=record.id, stored=False, code=code, why=why, fix=fix)

    # Looking --------------------------------------------------------------------------------------

    def peers(self) -> tuple[PeerView, ...]:
        """Tell of every other instance of the realm."""
        dialer = self.network.dialer if self.network else None
        return peer_views(self.world, self.links, dialer)

    def health(self) -> Health:
        """Tell how this instance is, with reasons."""
        return health(self.world, self.links.connected, stopping=self.stopping)

    async def diff(self, instance: InstanceId) -> Difference:
        """Find where a peer's certified world differs from ours (see `comparing`).

        Raises RequestError NOT_FOUND if it is no other instance of the realm.
        """
        self._peer(instance)
        return await comparing.diff(lambda: self.world, self.store, self.links, instance)

    # Peers ----------------------------------------------------------------------------------------

    def add_peer(self, address: str) -> None:
        """Keep a conversation with an address from now on, also after a restart."""
        read_address(address)
        kept = read_addresses(self.data.peers)
        if len(kept) >= MOST_ADDED and address not in kept:
            raise RequestError(
                "peer not added",
                why=f"{MOST_ADDED} addresses were added already",
                fix="drop peers that are gone, or name them in folkmoot.toml",
                code=NodeCode.BUSY,
            )
        if address not in (*kept, *self.settings.peers):
            write_addresses(self.data.peers, (*kept, address))
        if self.network is not None:
            self.network.dialer.add(address)

    def remove_peer(self, instance: InstanceId) -> None:
        """Call an instance no more; it may still call here, unless it is banned."""
        key = self._peer(instance).key
        kept = read_addresses(self.data.peers)
        theirs = [one for one in (*self.settings.peers, *kept) if read_address(one)[1] == key]
        if any(one in self.settings.peers for one in theirs):
            raise RequestError(
                "peer not dropped",
                why="its address stands in folkmoot.toml",
                fix="take it out there and start the node again",
                code=NodeCode.NOT_ALLOWED,
            )
        write_addresses(self.data.peers, [one for one in kept if one not in theirs])
        if self.network is not None:
            for one in theirs:
                self.network.dialer.drop(one)

    def ban_peer(self, instance: InstanceId, *, minutes: int) -> None:
        """Talk with an instance no more for a while, whoever calls; 0 ends a ban."""
        key = self._peer(instance).key
        self.links.book.ban(key, minutes=minutes, why="the operator said so")
        if self.network is not None:
            self.network.dialer.hurry()

    def _peer(self, instance: InstanceId) -> PeerView:
        for view in self.peers():
            if view.instance == instance:
                return view
        raise RequestError(
            "no such peer",
            why=f"the realm has no other instance {short(instance)}",
            fix="list them with `folkmoot peer list`",
            code=NodeCode.NOT_FOUND,
        )


def _stopping() -> NodeError:
    return NodeError(
        "not done",
        why="the node is shutting down",
        fix="try again when it is back",
        code=NodeCode.STOPPING,
    )
