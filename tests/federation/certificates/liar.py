"""A voice that lies in every way the messages allow, well signed, to whomever it likes."""

from typing import TypeAlias

from federation.certificates import (
    CertificatePacket,
    Cosign,
    Fresh,
    Heard,
    ListValue,
    ListWitness,
    Looked,
    MessagePacket,
    Packet,
    Part,
    PartKind,
    PartsPacket,
    Promise,
    Propose,
    RoundSlot,
    Seal,
    Step,
    Witnessed,
    fresh_list,
    hear,
    message_for,
    part_address,
    signing_payload,
    value_bytes,
    value_digest,
    value_from_bytes,
)
from federation.certificates.proofs import Certificate, Lock, endorsements, lock_bytes, lock_hash
from tests.federation.certificates.hall import name, signer, verify, voice
from tests.federation.certificates.network import Hall

Lie: TypeAlias = ListWitness | Propose | Cosign | Seal | Promise


class Chaos:
    """Remembers all it hears, and now and then says something false or double."""

    def __init__(self, hall: Hall, who: int) -> None:
        self.hall = hall
        self.who = who
        self.counter = 0
        self.heard: dict[bytes, Heard] = {}
        self.parts: dict[bytes, Part] = {}
        self.budget = 60
        self.splits: dict[int, int] = {}
        for i in range(2):
            self.invent(ListValue(records=tuple(sorted([name("forged", i), *hall.common]))))
        hall.at(1, self.act)

    def invent(self, value: ListValue) -> None:
        part = Part(kind=PartKind.VALUE, content=value_bytes(self.hall.where.slot, value))
        self.parts[part_address(part)] = part

    def hears(self, sender: int, packet: Packet) -> None:
        match packet:
            case MessagePacket(raw=raw, signature=signature, parts=parts):
                heard = hear(raw, signature, self.hall.where, verify=verify)
                self.heard[heard.hash] = heard
                self.parts.update((part_address(part), part) for part in parts)
                self.split(heard)
                if isinstance(heard.body, Cosign | Seal) and self.hall.chance.random() < 0.5:
                    # Whatever is voted for, the liar votes for it too: it wants two of each.
                    self.say(heard.body, ())
            case CertificatePacket() | PartsPacket():
                pass
            case _:
                # A request: answered when it pleases.
                if self.hall.chance.random() < 0.7:
                    self.answer(sender, packet.hashes)

    def split(self, heard: Heard) -> None:
        """Show different members different proposals as soon as a fence of mine can be led."""
        fence = heard.body.fence if isinstance(heard.body, Promise) else 0
        kind = heard.header.step
        ready = kind in {Step.WITNESS, Step.PROMISE} and self.splits.get(fence, 0) < 4
        if not ready or self.hall.where.leader(fence) != voice(self.who):
            return
        enough = {one.voice for one in self.heard.values() if one.header.step is kind}
        if len(enough) < self.hall.where.quorum.q:
            return
        self.splits[fence] = self.splits.get(fence, 0) + 1
        for _ in range(2):
            body = ListWitness(ids=tuple(sorted(self.some_ids())), late=False)
            self.say(body, ())
            if fence:
                self.say(Promise(fence=fence, lock_fence=None, lock_digest=None), ())
            proposal, parts = self.proposal(self.hall.chance.choice(sorted(self.parts)), fence)
            self.say(proposal, parts)

    def some_ids(self) -> list[bytes]:
        """Name some true records and some that nobody wrote."""
        chance = self.hall.chance
        ids = [one for one in sorted(self.hall.common | self.hall.rare) if chance.random() < 0.6]
        return ids + [name("forged", i) for i in range(2) if chance.random() < 0.2]

    def answer(self, to: int, hashes: tuple[bytes, ...]) -> None:
        for one in hashes:
            heard = self.heard.get(one)
            if heard is not None:
                packet = MessagePacket(raw=heard.raw, signature=heard.signature)
                self.hall.send(self.who, to, packet)
        parts = tuple(self.parts[one] for one in hashes if one in self.parts)
        if parts:
            self.hall.send(self.who, to, PartsPacket(parts=parts))

    def act(self) -> None:
        """Lie once, and come back."""
        self.say(*self.body())
        self.certify()
        self.budget -= 1
        if self.budget:
            self.hall.at(self.hall.now + self.hall.chance.randint(5, 120), self.act)

    def say(self, body: Lie, parts: tuple[Part, ...]) -> None:
        """Sign and send one message to a random part of the members."""
        chance = self.hall.chance
        self.counter += chance.randint(-1, 3)
        raw = message_for(self.hall.where, voice(self.who), max(0, self.counter), body)
        signature = signer(self.who).sign(signing_payload(raw))
        heard = hear(raw, signature, self.hall.where, verify=verify)
        self.heard[heard.hash] = heard
        self.hall.auditor.signed(heard)
        packet = MessagePacket(raw=raw, signature=signature, parts=parts)
        for to in self.hall.peers:
            if chance.random() < 0.6:
                self.hall.send(self.who, to, packet)

    def body(self) -> tuple[Lie, tuple[Part, ...]]:
        chance = self.hall.chance
        fence = chance.choice([0, 0, 0, 1, 1, 2, 3, self.top(), self.top(), 2**31])
        values = [one for one, part in self.parts.items() if part.kind is PartKind.VALUE]
        digest = chance.choice(values)
        kind = chance.choice([*Step, Step.PROPOSE, Step.COSIGN, Step.SEAL])
        match kind:
            case Step.WITNESS:
                ids = tuple(sorted(self.some_ids()))
                return ListWitness(ids=ids, late=chance.random() < 0.3), ()
            case Step.COSIGN:
                return Cosign(fence=fence, digest=digest), ()
            case Step.SEAL:
                return Seal(fence=fence, digest=digest), ()
            case Step.PROMISE:
                lock = self.lock()
                if lock is None or chance.random() < 0.4:
                    return Promise(fence=fence, lock_fence=None, lock_digest=None), ()
                part = Part(kind=PartKind.LOCK, content=lock_bytes(lock))
                claim = Promise(fence=fence, lock_fence=lock.fence, lock_digest=lock.digest)
                return claim, (part,)
            case Step.PROPOSE:
                n = self.hall.where.quorum.n
                mine = next(k for k in range(n) if self.hall.where.leader(k) == voice(self.who))
                near = mine + n * chance.choice([0, 0, max(0, self.top() // n), 2**29])
                return self.proposal(digest, near)

    def proposal(self, digest: bytes, fence: int) -> tuple[Propose, tuple[Part, ...]]:
        """Propose at a fence it leads, with whatever support it can find."""
        chance, where = self.hall.chance, self.hall.where
        q = where.quorum.q
        witnesses = self.support(Step.WITNESS, None, q)
        promises = self.support(Step.PROMISE, fence, q) if fence else ()
        lock = self.lock() if fence and chance.random() < 0.4 else None
        if lock is not None and chance.random() < 0.7:
            digest = lock.digest
        elif chance.random() < 0.8:
            digest = self.plausible(witnesses) or digest
        parts = tuple(part for one, part in self.parts.items() if one == digest)
        if lock is not None:
            parts += (Part(kind=PartKind.LOCK, content=lock_bytes(lock)),)
        body = Propose(
            fence=fence,
            digest=digest,
            witnesses=() if lock is not None else witnesses,
            promises=promises,
            lock=None if lock is None else lock_hash(lock),
        )
        return body, parts

    def plausible(self, witnesses: tuple[bytes, ...]) -> bytes | None:
        """Give the digest that these witnesses truly amount to, if that can be told."""
        known = [self.heard[one] for one in witnesses if one in self.heard]
        rows = [
            Witnessed(operator=one.voice, voice=one.voice, body=one.body, chains=None)
            for one in known
            if isinstance(one.body, ListWitness)
        ]
        slot = self.hall.where.slot
        assert isinstance(slot, RoundSlot)
        outcome = fresh_list(
            slot,
            rows,
            self.hall.where.quorum,
            lambda record: Looked(voter=record, seq=0, qualifies=True, reviewer=True),
        )
        if not isinstance(outcome, Fresh) or not isinstance(outcome.value, ListValue):
            return None
        self.invent(outcome.value)
        return value_digest(slot, outcome.value)

    def support(self, kind: Step, fence: int | None, q: int) -> tuple[bytes, ...]:
        """Pick q messages of one kind, of distinct voices while there are enough."""
        by_voice: dict[bytes, list[bytes]] = {}
        for heard in self.heard.values():
            at = heard.body.fence if isinstance(heard.body, Promise) else None
            if heard.header.step is kind and (fence is None or at == fence):
                by_voice.setdefault(heard.voice, []).append(heard.hash)
        picked = [self.hall.chance.choice(ones) for ones in by_voice.values()]
        self.hall.chance.shuffle(picked)
        picked += [name("nothing", i) for i in range(q - len(picked))]
        return tuple(picked[:q])

    def lock(self) -> Lock | None:
        """Show a lock: a true one if it can be made, else a forged one."""
        groups: dict[tuple[int, bytes], dict[bytes, Heard]] = {}
        for heard in self.heard.values():
            if isinstance(heard.body, Cosign):
                key = (heard.body.fence, heard.body.digest)
                groups.setdefault(key, {})[heard.voice] = heard
        if not groups:
            return None
        q = self.hall.where.quorum.q
        true = [key for key in groups if len(groups[key]) >= q]
        fence, digest = self.hall.chance.choice(sorted(true or groups))
        votes = tuple(groups[fence, digest].values())
        return Lock(fence=fence, digest=digest, cosigns=endorsements(votes, q))

    def certify(self) -> None:
        """Hand a certificate, if one can be made, to one member only."""
        groups: dict[tuple[int, bytes], dict[bytes, Heard]] = {}
        for heard in self.heard.values():
            if isinstance(heard.body, Seal):
                key = (heard.body.fence, heard.body.digest)
                groups.setdefault(key, {})[heard.voice] = heard
        q = self.hall.where.quorum.q
        for (fence, digest), by_voice in groups.items():
            part = self.parts.get(digest)
            if len(by_voice) >= q and part is not None:
                value = next(
                    one
                    for one in self.values()
                    if value_digest(self.hall.where.slot, one) == digest
                )
                certificate = Certificate(
                    slot=self.hall.where.slot,
                    value=value,
                    fence=fence,
                    seals=endorsements(tuple(by_voice.values()), q),
                )
                victim = self.hall.chance.choice(sorted(self.hall.peers))
                self.hall.send(self.who, victim, CertificatePacket(certificate=certificate))
                return

    def values(self) -> list[ListValue]:
        return [
            value
            for part in self.parts.values()
            if part.kind is PartKind.VALUE
            for value in [value_from_bytes(part.content, self.hall.where.slot)]
            if isinstance(value, ListValue)
        ]

    def top(self) -> int:
        """Guess where the honest members stand."""
        fences = [
            heard.body.fence
            for heard in self.heard.values()
            if isinstance(heard.body, Promise) and heard.voice != voice(self.who)
        ]
        return max(fences, default=0)
