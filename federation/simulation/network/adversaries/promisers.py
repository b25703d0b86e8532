"""Members that lie about what they promised: locks they withhold or deny, fences out of reach."""

from typing import TYPE_CHECKING

from federation.certificates import Cosign, PartKind, Promise, Seal, slot_key
from federation.certificates.packets import MessagePacket, packet_bytes
from federation.core import InstanceId
from federation.crypto import plain_hash
from federation.simulation.network.adversaries.liar import Liar, Spoken
from federation.simulation.network.letters import Packet

if TYPE_CHECKING:
    from federation.simulation.network.node import SimNode

FAR: int = 2**31


class LockWithholder(Liar):
    """Claims its lock in a promise, and never hands it over."""

    def says(
        self, node: "SimNode", to: InstanceId, packet: Packet, spoken: Spoken
    ) -> Packet | None:
        """Take the lock out of every message."""
        del node, to
        kept = tuple(part for part in spoken.parts if part.kind is not PartKind.LOCK)
        if len(kept) == len(spoken.parts):
            return packet
        heard = spoken.heard
        return Packet(
            packet=packet_bytes(
                spoken.pinned, MessagePacket(raw=heard.raw, signature=heard.signature, parts=kept)
            )
        )


class LockDenier(Liar):
    """Seals a value and then promises as if it had never held a lock."""

    def says(
        self, node: "SimNode", to: InstanceId, packet: Packet, spoken: Spoken
    ) -> Packet | None:
        """Deny the lock in every promise."""
        del to
        body = spoken.heard.body
        if not isinstance(body, Promise) or body.lock_fence is None:
            return packet
        denied = Promise(fence=body.fence, lock_fence=None, lock_digest=None)
        return self.lie(node, spoken.pinned, denied)


class FenceRaiser(Liar):
    """Promises, cosigns and seals at a fence that nobody will ever reach."""

    def __init__(self) -> None:
        """Start with no slot raised."""
        super().__init__()
        self._raised: set[bytes] = set()

    def pulse(self, node: "SimNode") -> None:
        """Raise the fence of every live slot, once."""
        for live in list(node.world.slots.values()) if node.world else []:
            key = slot_key(live.slot)
            if key in self._raised:
                continue
            self._raised.add(key)
            wish = plain_hash(key)
            for body in (
                Promise(fence=FAR, lock_fence=None, lock_digest=None),
                Cosign(fence=FAR, digest=wish),
                Seal(fence=FAR, digest=wish),
            ):
                packet = self.lie(node, live.pinned, body)
                for peer in node.peers:
                    self.whisper(node, peer, packet)
