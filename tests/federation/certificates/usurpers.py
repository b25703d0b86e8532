"""Leaders that lie by a script, and the runs of a network in which they do it."""

from collections.abc import Callable

from federation.certificates import (
    Cosign,
    Heard,
    ListValue,
    ListWitness,
    Lock,
    MessagePacket,
    Packet,
    Part,
    Promise,
    Propose,
    Quorum,
    Seal,
    hear,
    message_for,
    signing_payload,
    value_digest,
)
from federation.certificates.proofs import Endorsement, lock_hash
from tests.federation.certificates import hall as hall_of
from tests.federation.certificates.hall import (
    index_of,
    lock_part_of,
    name,
    pinned,
    promise,
    propose,
    signer,
    slot,
    value_part_of,
    verify,
    voice,
    witness,
)
from tests.federation.certificates.network import Hall

LIAR = index_of(pinned(4).leader(2))
STOLEN = ListValue(records=(name("stolen"),))
STOLEN_DIGEST = value_digest(slot(), STOLEN)


class Usurper:
    """Helps to decide at fence 0, then leads fence 2 and proposes something else there."""

    def __init__(self, hall: Hall, who: int, *, forge: bool) -> None:
        self.hall, self.who, self.forge = hall, who, forge
        self.counter = 0
        self.heard: dict[bytes, Heard] = {}
        self.done = False

    def hears(self, sender: int, packet: Packet) -> None:
        assert sender != self.who
        if not isinstance(packet, MessagePacket):
            return
        heard = hear(packet.raw, packet.signature, self.hall.where, verify=verify)
        fresh = heard.hash not in self.heard
        self.heard[heard.hash] = heard
        match heard.body:
            case Cosign() | Seal() if fresh:
                self.say(heard.body)
            case Promise(fence=2) if not self.done:
                self.usurp()
            case _:
                pass

    def say(self, body: ListWitness | Cosign | Seal | Promise | Propose, *parts: Part) -> Heard:
        self.counter += 1
        raw = message_for(self.hall.where, voice(self.who), self.counter, body)
        heard = hear(raw, signer(self.who).sign(signing_payload(raw)), self.hall.where)
        self.heard[heard.hash] = heard
        self.hall.auditor.signed(heard)
        packet = MessagePacket(raw=raw, signature=heard.signature, parts=parts)
        for _ in range(2):
            self.hall.broadcast(self.who, packet)
        return heard

    def usurp(self) -> None:
        """Use two honest promises, and a claim of one's own that outbids their lock."""
        honest = [
            heard
            for heard in self.heard.values()
            if isinstance(heard.body, Promise) and heard.body.fence == 2
        ][:2]
        if len(honest) < 2:
            return
        self.done = True
        endorsement = Endorsement(voice=voice(self.who), counter=1, signature=bytes(64))
        forged = Lock(fence=1, digest=STOLEN_DIGEST, cosigns=(endorsement,))
        mine = self.say(promise(2, forged if self.forge else None))
        behind = [*honest, mine]
        value = value_part_of(self.hall.where, STOLEN)
        if self.forge:
            body = propose(2, STOLEN_DIGEST, (), behind, lock_hash(forged))
            self.say(body, value, lock_part_of(forged))
        else:
            seen = [one for one in self.heard.values() if isinstance(one.body, ListWitness)]
            self.say(propose(2, STOLEN_DIGEST, [*seen[:2], self.say(witness())], behind), value)


def usurped(*, forge: bool) -> Hall:
    """Let fence 0 decide without anybody learning of it, and fence 1 fail; then the usurper."""

    def gate(sender: int, _: int, packet: Packet) -> bool:
        if hall.now > 6_000 or sender == LIAR or not isinstance(packet, MessagePacket):
            return True
        body = hear(packet.raw, packet.signature, hall.where, verify=verify).body
        at_first = isinstance(body, Seal) and body.fence == 0
        return not at_first and not (isinstance(body, Propose | Cosign) and body.fence == 1)

    hall = Hall(
        4,
        1,
        liar=lambda hall, who: Usurper(hall, who, forge=forge),
        who_lies=LIAR,
        loss=0,
        crashes=0,
        gate=gate,
    )
    # The usurper knows the honest seals of fence 0 and can show a certificate at any time.
    return hall.run(20_000)


def divided(make: Callable[[], Quorum]) -> Hall:
    """Let the home show one half of the members another value than the other half."""
    of = make()
    where = hall_of.pinned(4)
    assert where.quorum == of

    class Divider(Usurper):
        def hears(self, sender: int, packet: Packet) -> None:
            assert sender != self.who
            if not isinstance(packet, MessagePacket) or self.done:
                return
            heard = hear(packet.raw, packet.signature, self.hall.where, verify=verify)
            self.heard[heard.hash] = heard
            seen = [one for one in self.heard.values() if isinstance(one.body, ListWitness)]
            if len({one.voice for one in seen}) == 3:
                self.done = True
                self.divide(seen)

        def divide(self, seen: list[Heard]) -> None:
            q = self.hall.where.quorum.q
            empty, full = self.say(witness()), self.say(witness(*self.hall.common))
            values = (ListValue(records=()), ListValue(records=tuple(sorted(self.hall.common))))
            for mine, value in zip((empty, full), values, strict=True):
                digest = value_digest(slot(), value)
                part = value_part_of(self.hall.where, value)
                self.say(propose(0, digest, [mine, *seen[: q - 1]]), part)
                self.say(Cosign(fence=0, digest=digest), part)
                self.say(Seal(fence=0, digest=digest), part)

    def gate(sender: int, to: int, packet: Packet) -> bool:
        if hall.now > 6_000 or sender != 0 or not isinstance(packet, MessagePacket):
            return True
        body = hear(packet.raw, packet.signature, hall.where, verify=verify).body
        first = to < 2
        is_empty = value_digest(slot(), ListValue(records=()))
        return not isinstance(body, Propose) or (body.digest == is_empty) == first

    hall = Hall(
        4,
        1,
        liar=lambda hall, who: Divider(hall, who, forge=False),
        who_lies=0,
        loss=0,
        crashes=0,
        gate=gate,
    )
    return hall.run(20_000)
