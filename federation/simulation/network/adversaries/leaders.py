"""Lying leaders: they ignore locks, invent them, propose to a few only, or stall.

A leader can waste the fences that it leads and nothing else (design: federation, leader): what
it proposes is checked by everybody, and its silence ends with the timer.
"""

from collections import defaultdict
from typing import TYPE_CHECKING

from federation.certificates import (
    Cosign,
    Endorsement,
    ListValue,
    ListWitness,
    Lock,
    Part,
    PartKind,
    Pinned,
    Promise,
    Propose,
    RoundSlot,
    Seal,
    slot_key,
    value_digest,
)
from federation.certificates.proofs import lock_bytes, lock_hash
from federation.core import Digest, InstanceId, Millis
from federation.simulation.network.adversaries.liar import (
    Liar,
    Spoken,
    spoken_in,
    value_part_of,
)
from federation.simulation.network.letters import Letter, Packet

if TYPE_CHECKING:
    from federation.simulation.network.node import SimNode


class LockIgnorer(Liar):
    """Proposes what it likes at every fence above 0 that it leads, whatever locks were promised.

    It strikes in the slots of rounds; its wish is the empty list, which would drop every vote.
    """

    def __init__(self) -> None:
        """Start with nothing gathered."""
        super().__init__()
        self._promises: defaultdict[tuple[bytes, int], dict[InstanceId, Digest]] = defaultdict(dict)
        self._witnesses: defaultdict[bytes, dict[InstanceId, Digest]] = defaultdict(dict)
        self._struck: set[tuple[bytes, int]] = set()

    def incoming(self, node: "SimNode", sender: InstanceId, letter: Letter) -> Letter | None:
        """Gather what others promise."""
        spoken = spoken_in(node, letter) if isinstance(letter, Packet) else None
        heard = super().incoming(node, sender, letter)
        if spoken is not None:
            self._gather(node, spoken)
        return heard

    def says(
        self, node: "SimNode", to: InstanceId, packet: Packet, spoken: Spoken
    ) -> Packet | None:
        """Hold back what the core says at the fences that it leads above 0."""
        del to
        self._gather(node, spoken)
        body = spoken.heard.body
        leads = (
            isinstance(body, Propose | Cosign | Seal)
            and isinstance(spoken.slot, RoundSlot)
            and body.fence > 0
            and spoken.pinned.leader(body.fence) == node.instance
        )
        return None if leads else packet

    def _gather(self, node: "SimNode", spoken: Spoken) -> None:
        body, pinned, voice = spoken.heard.body, spoken.pinned, spoken.heard.voice
        key = slot_key(spoken.slot)
        if isinstance(body, ListWitness):
            self._witnesses[key].setdefault(voice, spoken.heard.hash)
        if not isinstance(body, Promise) or pinned.leader(body.fence) != node.instance:
            return
        self._promises[key, body.fence].setdefault(voice, spoken.heard.hash)
        q = pinned.quorum.q
        ready = min(len(self._promises[key, body.fence]), len(self._witnesses[key])) >= q
        if ready and isinstance(spoken.slot, RoundSlot) and (key, body.fence) not in self._struck:
            self._struck.add((key, body.fence))
            self.strike(node, pinned, body.fence)

    def strike(self, node: "SimNode", pinned: Pinned, fence: int) -> None:
        """Propose the empty list as if nobody had claimed a lock."""
        key, q = slot_key(pinned.slot), pinned.quorum.q
        wish = ListValue(records=())
        body = Propose(
            fence=fence,
            digest=value_digest(pinned.slot, wish),
            witnesses=tuple(self._witnesses[key].values())[:q],
            promises=self.promised(pinned, fence),
            lock=None,
        )
        self.press(node, pinned, body, (value_part_of(pinned.slot, wish),))

    def press(
        self, node: "SimNode", pinned: Pinned, proposal: Propose, parts: tuple[Part, ...]
    ) -> None:
        """Propose, cosign and seal in one breath."""
        fence, wish = proposal.fence, proposal.digest
        packets = [self.lie(node, pinned, proposal, parts)]
        packets += [self.lie(node, pinned, Cosign(fence=fence, digest=wish))]
        packets += [self.lie(node, pinned, Seal(fence=fence, digest=wish))]
        for packet in packets:
            for peer in node.peers:
                self.whisper(node, peer, packet)

    def promised(self, pinned: Pinned, fence: int) -> tuple[Digest, ...]:
        """Name q promises for a fence."""
        held = self._promises[slot_key(pinned.slot), fence]
        return tuple(held.values())[: pinned.quorum.q]


class LockInventor(LockIgnorer):
    """Claims a lock that it made up, in its promises and behind its proposals."""

    def __init__(self) -> None:
        """Start with nothing claimed."""
        super().__init__()
        self._claims: dict[tuple[bytes, int], Packet] = {}

    def says(
        self, node: "SimNode", to: InstanceId, packet: Packet, spoken: Spoken
    ) -> Packet | None:
        """Claim an invented lock in every promise above fence 0."""
        body = spoken.heard.body
        if isinstance(body, Promise) and isinstance(spoken.slot, RoundSlot) and body.fence > 0:
            return self._claim(node, spoken.pinned, body.fence)
        return super().says(node, to, packet, spoken)

    def _claim(self, node: "SimNode", pinned: Pinned, fence: int) -> Packet:
        """Promise a fence with an invented lock: the same promise to everybody."""
        key = (slot_key(pinned.slot), fence)
        if key not in self._claims:
            lock, parts = invented_lock(pinned, fence - 1)
            claim = Promise(fence=fence, lock_fence=lock.fence, lock_digest=lock.digest)
            self._claims[key] = self.lie(node, pinned, claim, parts)
            told = spoken_in(node, self._claims[key])
            assert told is not None, "it was just said"  # noqa: S101 # our own invariant
            self._gather(node, told)
        return self._claims[key]

    def strike(self, node: "SimNode", pinned: Pinned, fence: int) -> None:
        """Propose the value of an invented lock."""
        lock, parts = invented_lock(pinned, fence - 1)
        body = Propose(
            fence=fence,
            digest=lock.digest,
            witnesses=(),
            promises=self.promised(pinned, fence),
            lock=lock_hash(lock),
        )
        self.press(node, pinned, body, parts)


def invented_lock(pinned: Pinned, fence: int) -> tuple[Lock, tuple[Part, ...]]:
    """Make up a lock for the empty list, with the voices of real members and no signature."""
    wish = ListValue(records=())
    voices = sorted(member.voice for member in pinned.members)[: pinned.quorum.q]
    lock = Lock(
        fence=fence,
        digest=value_digest(pinned.slot, wish),
        cosigns=tuple(Endorsement(voice=voice, counter=0, signature=bytes(64)) for voice in voices),
    )
    part = Part(kind=PartKind.LOCK, content=lock_bytes(lock))
    return lock, (part, value_part_of(pinned.slot, wish))


class SelectiveLeader(Liar):
    """Proposes to one member fewer than a quorum, itself included."""

    def says(
        self, node: "SimNode", to: InstanceId, packet: Packet, spoken: Spoken
    ) -> Packet | None:
        """Send proposals to the first q - 2 others only."""
        if not isinstance(spoken.heard.body, Propose):
            return packet
        chosen = spoken.pinned.others(node.instance)[: max(spoken.pinned.quorum.q - 2, 0)]
        return packet if to in chosen else None


class StallingLeader(Liar):
    """Proposes just before the timer of its fence ends."""

    def __init__(self, margin: Millis = 15) -> None:
        """Propose `margin` ms before the timer ends."""
        super().__init__()
        self._margin = margin

    def says(
        self, node: "SimNode", to: InstanceId, packet: Packet, spoken: Spoken
    ) -> Packet | None:
        """Hold a proposal back for almost the whole timer."""
        body = spoken.heard.body
        if not isinstance(body, Propose):
            return packet
        timer = node.founding.charter.timing.leader_timer << min(body.fence, 10)
        node.host.timeline.after(
            max(timer - self._margin, 0), lambda: self.whisper(node, to, packet)
        )
        return None
