"""A small simulated network of one slot: seeded, lossy, with crashes and one lying voice.

Every honest member is the real machine over a real journal. The auditor sees every signature
that any member ever made, and checks what the design promises, however the network behaves.
"""

import heapq
import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from federation.certificates import (
    Action,
    Certificate,
    CertificateEntry,
    Cosign,
    CutSlot,
    Entry,
    Event,
    FaultFound,
    FetchRecords,
    Final,
    Heard,
    JournalEntry,
    KeepCertificate,
    KeepLock,
    LockEntry,
    MessagePacket,
    Packet,
    Pinned,
    Received,
    Reconcile,
    Reconciled,
    RecordsArrived,
    Seal,
    Send,
    Sign,
    SignedEntry,
    Slot,
    SlotState,
    Wake,
    WakeAt,
    Want,
    WantPacket,
    WindowEnded,
    contradiction,
    entry_bytes,
    entry_from_bytes,
    event_of,
    hear,
    message_for,
    packet_bytes,
    packet_from_bytes,
    restore,
    signing_payload,
    step,
)
from federation.certificates.messages import Fenced
from federation.core import PeerError
from tests.federation.certificates.hall import (
    PACE,
    ChainDesk,
    ListDesk,
    index_of,
    name,
    pinned,
    signer,
    verify,
    voice,
)

GOOD_AT = 3_000
"""From here on the network loses nothing and nobody crashes."""


class Liar(Protocol):
    """Whoever holds the key of a lying voice."""

    def hears(self, sender: int, packet: Packet) -> None:
        """Take a packet; what it does with it is its own business."""
        ...


@dataclass
class Auditor:
    """Sees every signature ever made, and what became of it."""

    where: Pinned
    liars: frozenset[int]
    cosigned: dict[int, dict[bytes, set[bytes]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(set))
    )
    sealed: dict[tuple[int, bytes], set[bytes]] = field(default_factory=lambda: defaultdict(set))
    honest: dict[bytes, list[Heard]] = field(default_factory=lambda: defaultdict(list))
    fences: dict[bytes, int] = field(default_factory=dict)
    finals: dict[int, bytes] = field(default_factory=dict)

    def signed(self, heard: Heard) -> None:
        body = heard.body
        honest = index_of(heard.voice) not in self.liars
        if isinstance(body, Cosign):
            self.cosigned[body.fence][body.digest].add(heard.voice)
        if isinstance(body, Seal):
            self.sealed[body.fence, body.digest].add(heard.voice)
        if honest:
            for before in self.honest[heard.voice]:
                assert contradiction(before, heard) is None, "an honest member contradicts itself"
            self.honest[heard.voice].append(heard)
        if honest and isinstance(body, Fenced):
            assert body.fence >= self.fences.get(heard.voice, 0), "a signed fence fell"
            self.fences[heard.voice] = body.fence

    def final(self, who: int, certificate: Certificate) -> None:
        assert self.finals.setdefault(who, certificate.digest) == certificate.digest
        self.check()

    def fault(self, found: FaultFound) -> None:
        assert index_of(found.a.voice) in self.liars, f"an honest member is accused: {found.why}"

    def check(self) -> None:
        """One lock digest per fence, one digest over all certificates anybody could show."""
        q = self.where.quorum.q
        for fence, by_digest in self.cosigned.items():
            locked = [one for one, voices in by_digest.items() if len(voices) >= q]
            assert len(locked) <= 1, f"two locks at fence {fence}"
        final = {one for (_, one), voices in self.sealed.items() if len(voices) >= q}
        assert len(final | set(self.finals.values())) <= 1, "two certificates"


class Peer:
    """One honest member: the machine, its journal, and a shell that may crash anywhere."""

    def __init__(self, hall: "Hall", who: int, held: set[bytes]) -> None:
        self.hall = hall
        self.who = who
        self.me = voice(who)
        self.desk: ListDesk | ChainDesk = ListDesk(hall.where, set(held))
        if isinstance(hall.where.slot, CutSlot):
            self.desk = ChainDesk(hall.where, who, hall.chains, set(held))
        self.state = SlotState()
        self.journal: list[bytes] = []
        self.counter = 0
        self.life = 0
        self.up = True
        self.window_over = False

    def feed(self, event: Event) -> None:
        """Take one event, carry out its actions, and feed back what was signed."""
        events = [event]
        while events and self.up:
            now = self.hall.now
            self.state, actions = step(
                self.state,
                self.hall.where,
                self.me,
                events.pop(0),
                now,
                self.desk,
                pace=PACE,
                verify=verify,
            )
            for action in actions:
                if self.hall.strikes():
                    self.crash()
                    return
                events.extend(self.perform(action))

    def perform(self, action: Action) -> list[Event]:
        hall = self.hall
        match action:
            case Sign(body=body, parts=parts):
                self.counter += 1
                raw = message_for(hall.where, self.me, self.counter, body)
                signature = signer(self.who).sign(signing_payload(raw))
                heard = hear(raw, signature, hall.where, verify=verify)
                hall.auditor.signed(heard)
                self.write(
                    SignedEntry(slot=hall.where.slot, raw=raw, signature=signature, parts=parts)
                )
                if hall.strikes():
                    self.crash()
                    return []
                hall.broadcast(self.who, MessagePacket(raw=raw, signature=signature, parts=parts))
                return [Received(heard=heard, sender=self.me)]
            case KeepLock(lock=lock, value=value, parts=parts):
                self.write(LockEntry(slot=hall.where.slot, lock=lock, value=value, parts=parts))
            case KeepCertificate(certificate=certificate, parts=parts):
                self.write(
                    CertificateEntry(slot=hall.where.slot, certificate=certificate, parts=parts)
                )
            case Send(to=None, packet=packet):
                hall.broadcast(self.who, packet)
            case Send(to=bytes(to), packet=packet):
                hall.send(self.who, index_of(to), packet)
            case Want(hashes=hashes, voice=to):
                hall.send(self.who, index_of(to), WantPacket(hashes=hashes))
            case FetchRecords(ids=ids, voices=voices):
                hall.after(hall.latency(), self.who, lambda: self.fetched(ids, voices))
            case Reconcile(voices=voices):
                began = hall.now
                for other in voices:
                    hall.after(
                        hall.latency(), self.who, lambda other=other: self.meet(other, began)
                    )
            case WakeAt(at=at):
                hall.after(at - hall.now, self.who, lambda: self.feed(Wake()))
            case Final(certificate=certificate):
                hall.auditor.final(self.who, certificate)
            case FaultFound():
                hall.auditor.fault(action)
        return []

    def write(self, entry: JournalEntry) -> None:
        raw = entry_bytes(entry)
        assert entry_from_bytes(raw) == entry
        self.journal.append(raw)

    def fetched(self, ids: tuple[bytes, ...], voices: tuple[bytes, ...]) -> None:
        for other in voices:
            peer = self.hall.peers.get(index_of(other))
            if peer is not None and peer.up:
                self.desk.held |= peer.desk.held & set(ids)
        self.feed(RecordsArrived())

    def meet(self, other: bytes, began: int) -> None:
        if self.hall.loses():
            return
        peer = self.hall.peers.get(index_of(other))
        if peer is not None and not peer.up:
            return
        if peer is not None:
            self.desk.held |= peer.desk.held
        # A liar says that we have reconciled, and hands over nothing.
        self.feed(Reconciled(voice=other, began=began))

    def end_window(self) -> None:
        self.window_over = True
        self.feed(WindowEnded())

    def crash(self) -> None:
        """Lose everything but the journal, and come back later."""
        self.up = False
        self.life += 1
        self.hall.at(self.hall.now + self.hall.chance.randint(20, 400), self.restart)

    def restart(self) -> None:
        self.up = True
        entries = [entry_from_bytes(raw) for raw in self.journal]
        self.state = restore(self.hall.where, self.me, entries, verify=verify)
        certificate = self.state.certificate
        if certificate is not None:
            self.hall.auditor.final(self.who, certificate)
        self.feed(Wake())
        if self.window_over and self.up:
            self.feed(WindowEnded())


def chains_of(chains: list[list[bytes]]) -> dict[bytes, Entry]:
    """Let one author have written each chain of records."""
    return {
        record: Entry(
            author=name("author", author),
            seq=seq,
            prev=chain[seq - 1] if seq else None,
            is_recovery=False,
            picks=None,
        )
        for author, chain in enumerate(chains)
        for seq, record in enumerate(chain)
    }


class Hall:
    """The members of one slot on one virtual clock."""

    def __init__(
        self,
        n: int,
        seed: int,
        *,
        liar: Callable[["Hall", int], "Liar"] | None = None,
        who_lies: int | None = None,
        available: bool = False,
        loss: float = 0.2,
        crashes: float = 0.01,
        spread: int = 300,
        of: Slot | None = None,
        gate: Callable[[int, int, Packet], bool] | None = None,
        strike_at: int = 0,
    ) -> None:
        self.chance = random.Random(f"{n}/{seed}")
        self.where = pinned(n, of, available=available)
        self.gate = gate
        self.strike_at, self.points = strike_at, 0
        self.now = 0
        self.loss, self.crashes = loss, crashes
        self.heap: list[tuple[int, int, Callable[[], None]]] = []
        self.ticket = 0
        liars = frozenset() if who_lies is None else frozenset({who_lies})
        self.auditor = Auditor(self.where, liars)
        self.common = {name("record", i) for i in range(3)}
        self.rare = {name("rare", i) for i in range(4)}
        self.chains = chains_of([sorted(self.common), sorted(self.rare)])
        self.peers: dict[int, Peer] = {}
        for who in range(n):
            if who not in liars:
                self.peers[who] = Peer(self, who, set(self.common))
                for one in sorted(self.rare):
                    self.after(self.chance.randint(0, 900), who, self.arrival(who, one))
        self.liar = liar(self, who_lies) if liar is not None and who_lies is not None else None
        for peer in self.peers.values():
            self.after(self.chance.randint(0, spread), peer.who, peer.end_window)

    def arrival(self, who: int, record: bytes) -> Callable[[], None]:
        return lambda: self.peers[who].desk.held.add(record)

    def run(self, until: int) -> "Hall":
        """Let time pass until everybody honest is final, or until the end."""
        while self.heap and self.heap[0][0] <= until:
            self.now, _, act = heapq.heappop(self.heap)
            act()
            if all(who in self.auditor.finals for who in self.peers):
                break
        self.auditor.check()
        return self

    def at(self, when: int, act: Callable[[], None]) -> None:
        self.ticket += 1
        heapq.heappush(self.heap, (when, self.ticket, act))

    def after(self, delay: int, who: int, act: Callable[[], None]) -> None:
        """Do something in this life of a member; a crash forgets it, but not its window."""
        peer = self.peers[who]
        life = peer.life

        def alive() -> None:
            if peer.life == life and peer.up:
                act()
            elif act == peer.end_window:
                self.after(100, who, act)

        self.at(self.now + delay, alive)

    def broadcast(self, sender: int, packet: Packet) -> None:
        for who in range(self.where.quorum.n):
            if who != sender:
                self.send(sender, who, packet)

    def send(self, sender: int, to: int, packet: Packet) -> None:
        """Put a packet on the wire: it may be lost, doubled, and overtaken."""
        if self.gate is not None and not self.gate(sender, to, packet):
            return
        copies = 2 if self.now < GOOD_AT and self.chance.random() < 0.1 else 1
        for _ in range(copies):
            if not self.loses():
                self.at(self.now + self.latency(), lambda: self.deliver(sender, to, packet))

    def deliver(self, sender: int, to: int, packet: Packet) -> None:
        peer = self.peers.get(to)
        if peer is None:
            if self.liar is not None:
                self.liar.hears(sender, packet)
            return
        if not peer.up:
            return
        raw = packet_bytes(self.where, packet)
        try:
            routed = packet_from_bytes(raw)
            peer.feed(event_of(routed.packet, voice(sender), self.where, verify=verify))
        except PeerError:
            assert sender in self.auditor.liars

    def loses(self) -> bool:
        return self.now < GOOD_AT and self.chance.random() < self.loss

    def latency(self) -> int:
        return self.chance.randint(1, 120 if self.now < GOOD_AT else 15)

    def strikes(self) -> bool:
        self.points += 1
        if self.points == self.strike_at:
            return True
        return self.now < GOOD_AT and self.chance.random() < self.crashes

    @property
    def all_final(self) -> bool:
        return all(who in self.auditor.finals for who in self.peers)
