"""Members that tell one what they keep from the others: certificates, forgeries, late votes."""

from typing import TYPE_CHECKING

from federation.certificates import (
    Certificate,
    CertificatePacket,
    Endorsement,
    ListValue,
    RoundSlot,
    Seal,
    message_for,
    packet_bytes,
    signing_payload,
    value_digest,
)
from federation.core import InstanceId, Millis
from federation.crypto import KeySigner, plain_hash
from federation.protocol import World
from federation.records import Commit, Record
from federation.simulation.network.adversaries.liar import Liar, Spoken
from federation.simulation.network.letters import GiveMissing, Gossip, Letter, Packet

if TYPE_CHECKING:
    from federation.simulation.network.node import SimNode


class CertificateWithholder(Liar):
    """Shows its seals and every certificate to one instance only."""

    def __init__(self, favourite: int) -> None:
        """Name the one, by its place in the founding."""
        super().__init__()
        self._favourite = favourite

    def says(
        self, node: "SimNode", to: InstanceId, packet: Packet, spoken: Spoken
    ) -> Packet | None:
        """Keep seals from the others."""
        return packet if self._likes(node, to) or not isinstance(spoken.heard.body, Seal) else None

    def certifies(self, node: "SimNode", to: InstanceId, packet: Packet) -> Packet | None:
        """Keep certificates from the others."""
        return packet if self._likes(node, to) else None

    def _likes(self, node: "SimNode", to: InstanceId) -> bool:
        return node.founding.instances[self._favourite] == to


class ForgedMembers(Liar):
    """Shows a victim certificates sealed by members that do not exist, under keys it made up."""

    def __init__(self, victim: int) -> None:
        """Name the victim, by its place in the founding."""
        super().__init__()
        self._victim = victim

    def pulse(self, node: "SimNode") -> None:
        """Forge the certificate of every live slot of a round."""
        for live in list(node.world.slots.values()) if node.world else []:
            if isinstance(live.slot, RoundSlot):
                pinned, value = live.pinned, ListValue(records=())
                body = Seal(fence=0, digest=value_digest(live.slot, value))
                seals = []
                for number in range(pinned.quorum.q):
                    voice = plain_hash(b"invented" + bytes([number]))
                    payload = signing_payload(message_for(pinned, voice, 0, body))
                    signature = KeySigner(plain_hash(voice)).sign(payload)
                    seals.append(Endorsement(voice=voice, counter=0, signature=signature))
                forged = Certificate(
                    slot=live.slot,
                    value=value,
                    fence=0,
                    seals=tuple(sorted(seals, key=lambda seal: seal.voice)),
                )
                packet = packet_bytes(pinned, CertificatePacket(certificate=forged))
                self.whisper(node, node.founding.instances[self._victim], Packet(packet=packet))


class LateFeeder(Liar):
    """Keeps its own agents' commitments, and feeds them to one member just before its time ends."""

    def __init__(self, victim: int, *, margin: Millis = 1) -> None:
        """Name the victim; feed it `margin` ms before the commit window ends here."""
        super().__init__()
        self._victim = victim
        self._margin = margin
        self._fed: set[bytes] = set()

    def outgoing(self, node: "SimNode", to: InstanceId, letter: Letter) -> Letter | None:
        """Take own commitments out of every letter."""
        match letter:
            case Gossip(records=records):
                kept = tuple(one for one in records if not self._keeps(node, one))
                return Gossip(records=kept) if kept else None
            case GiveMissing(records=records):
                kept = tuple(one for one in records if not self._keeps(node, one))
                return GiveMissing(
                    asked=letter.asked, records=kept, pages=letter.pages, more=letter.more
                )
            case _:
                return super().outgoing(node, to, letter)

    def _keeps(self, node: "SimNode", record: Record) -> bool:
        world = node.world
        if world is None or not isinstance(record.body, Commit):
            return False
        agent = world.state.agents.get(record.author)
        if agent is None or agent.instance != node.instance:
            return False
        if record.id not in self._fed:
            self._fed.add(record.id)
            self._plan(node, world, record, record.body)
        return True

    def _plan(self, node: "SimNode", world: World, record: Record, body: Commit) -> None:
        one = world.rounds.get(body.round)
        live = [slot for slot in world.slots.values() if isinstance(slot.slot, RoundSlot)]
        started = max((slot.started for slot in live), default=node.local())
        window = one.pin.charter.review.commit if one else 0
        victim = node.founding.instances[self._victim]
        when = node.clock.when(started + window - self._margin)
        node.host.timeline.at(when, lambda: self.whisper(node, victim, Gossip(records=(record,))))
