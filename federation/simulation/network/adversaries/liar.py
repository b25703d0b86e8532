"""The liar: what all lying members have in common, and the tools of the trade.

A liar runs the shipped core and departs from it at the door: it rewrites, withholds or adds what
it sends, and signs whatever it likes with its real keys. It never shows its core what it said
beside it, so the core goes on as if it were honest.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from federation.certificates import (
    Body,
    CertificatePacket,
    Heard,
    MessagePacket,
    Part,
    PartKind,
    Pinned,
    Slot,
    Value,
    WantPacket,
    hear,
    message_for,
    message_hash,
    packet_bytes,
    packet_from_bytes,
    part_address,
    signing_payload,
    value_bytes,
)
from federation.core import Digest, InstanceId, PeerError, PublicKey, Signature
from federation.simulation.network.conduct import Conduct
from federation.simulation.network.letters import Letter, Packet

if TYPE_CHECKING:
    from federation.simulation.network.node import SimNode

_LIES_FROM = 1 << 40
"""Lies count from here: the core's own counter never comes so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A signed message on its way, read with the sender's own pinned world."""

    pinned: Pinned
    heard: Heard
    parts: tuple[Part, ...]

    @property
    def slot(self) -> Slot:
        """Name its slot."""
        return self.pinned.slot


class Liar(Conduct):
    """A member that lies in some way of its own."""

    is_honest = False

    def __init__(self) -> None:
        """Begin without a lie."""
        self._lies = _LIES_FROM
        self._told: dict[Digest, Packet] = {}
        """Lies by the hashes under which they, and what travels with them, can be asked for."""

    @property
    def lies(self) -> int:
        """Count the messages signed beside the core."""
        return self._lies - _LIES_FROM

    def outgoing(self, node: "SimNode", to: InstanceId, letter: Letter) -> Letter | None:
        """Let `says` and `certifies` decide about packets; send everything else as it is."""
        if isinstance(letter, Packet):
            spoken = spoken_in(node, letter)
            if spoken is not None:
                return self.says(node, to, letter, spoken)
            if is_certificate(letter):
                return self.certifies(node, to, letter)
        return letter

    def incoming(self, node: "SimNode", sender: InstanceId, letter: Letter) -> Letter | None:
        """Keep from the core what was said in its own name beside it; answer for the lies."""
        if isinstance(letter, Packet):
            self._stand_by(node, sender, letter)
            spoken = spoken_in(node, letter)
            if spoken is not None and spoken.heard.voice == node.instance:
                return None
        return letter

    def says(
        self, node: "SimNode", to: InstanceId, packet: Packet, spoken: Spoken
    ) -> Packet | None:
        """Give what really goes out instead of a signed message."""
        del node, to, spoken
        return packet

    def certifies(self, node: "SimNode", to: InstanceId, packet: Packet) -> Packet | None:
        """Give what really goes out instead of a certificate."""
        del node, to
        return packet

    def lie(
        self, node: "SimNode", pinned: Pinned, body: Body, parts: tuple[Part, ...] = ()
    ) -> Packet:
        """Sign anything in a slot."""
        self._lies += 1
        raw = message_for(pinned, node.instance, self._lies, body)
        signature = node.signer.sign(signing_payload(raw))
        packet = Packet(
            packet=packet_bytes(pinned, MessagePacket(raw=raw, signature=signature, parts=parts))
        )
        self._told[message_hash(raw)] = packet
        for part in parts:
            self._told[part_address(part)] = packet
        return packet

    def _stand_by(self, node: "SimNode", sender: InstanceId, packet: Packet) -> None:
        """Hand over lies that somebody asks for by hash: a lie must be as credible as the truth."""
        for name in wanted_in(packet):
            told = self._told.get(name)
            if told is not None:
                self.whisper(node, sender, told)

    def whisper(self, node: "SimNode", to: InstanceId, letter: Letter) -> None:
        """Send a letter past this conduct."""
        node.host.post(node, to, letter)


def spoken_in(node: "SimNode", packet: Packet) -> Spoken | None:
    """Read the signed message in a packet; None if there is none, or its slot is not known."""
    if node.world is None:
        return None
    try:
        routed = packet_from_bytes(packet.packet)
        pinned = node.world.pinned(routed.slot)
        if pinned is None or not isinstance(routed.packet, MessagePacket):
            return None
        heard = hear(routed.packet.raw, routed.packet.signature, pinned, verify=_unseen)
    except PeerError:
        return None
    return Spoken(pinned=pinned, heard=heard, parts=routed.packet.parts)


def is_certificate(packet: Packet) -> bool:
    """Tell whether a packet carries a certificate."""
    try:
        return isinstance(packet_from_bytes(packet.packet).packet, CertificatePacket)
    except PeerError:
        return False


def wanted_in(packet: Packet) -> tuple[Digest, ...]:
    """List the hashes that a packet asks for."""
    try:
        routed = packet_from_bytes(packet.packet)
    except PeerError:
        return ()
    return routed.packet.hashes if isinstance(routed.packet, WantPacket) else ()


def value_part_of(slot: Slot, value: Value) -> Part:
    """Give a value as the part that travels with a message."""
    return Part(kind=PartKind.VALUE, content=value_bytes(slot, value))


def _unseen(key: PublicKey, payload: bytes, signature: Signature) -> bool:
    """Read without verifying: a liar looks at letters, it does not judge them."""
    del key, payload, signature
    return True
