"""Counts the votes of every slot by itself: one value per slot, one lock per fence.

Independent of the core on purpose: the table of quorums stands here a second time, messages are
taken apart and put together here, and every signature that is seen anywhere counts, whoever was
meant to see it. Two values with q seals each are a disagreement even if no instance noticed it.
"""

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from federation.certificates import (
    Certificate,
    CertificateEntry,
    CertificatePacket,
    MessagePacket,
    Part,
    PartKind,
    PartsPacket,
    SignedEntry,
    packet_from_bytes,
    slot_plain,
    value_plain,
)
from federation.charter import charter_hash
from federation.codec import encode
from federation.core import Digest, InstanceId, PeerError, RecordId, Signature, short
from federation.crypto import Verify
from federation.protocol import effects as fx
from federation.simulation.network.letters import Packet, Sent
from federation.simulation.network.monitors.monitor import Monitor

if TYPE_CHECKING:
    from federation.simulation.network.community import Community
    from federation.simulation.network.node import SimNode

QUORUMS: Final = {1: 1, 2: 2, 3: 3, 4: 3, 5: 4, 6: 4, 7: 5, 10: 7}
"""n members, q of which must agree (design: federation, the table of what each n survives)."""
THREE_AVAILABLE: Final = 2

SlotName: TypeAlias = bytes
"""Canonical bytes of a slot."""
Ids: TypeAlias = tuple[RecordId, ...] | None
"""A certified list; None for void."""
_Fenced: TypeAlias = tuple[int, Digest]
_Valued: TypeAlias = tuple[str, object, tuple[bytes, ...] | None]
"""A value of a round under its tag and slot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A signed message as the monitor reads it."""

    step: str
    slot: SlotName
    voice: bytes
    counter: int
    rest: tuple[object, ...]
    """What follows the counter: fence and digest, for a cosign or a seal."""


def quorum_of(community: "Community") -> int:
    """Give q of a community from the monitor's own table."""
    charter = community.founding.charter
    members = len({member.operator for member in charter.genesis.instances})
    available = members == 3 and charter.timing.three == "available"  # noqa: PLR2004 # the table's odd row
    return THREE_AVAILABLE if available else QUORUMS[members]


def read(raw: bytes) -> Said | None:
    """Take a message apart; None for bytes that are none: a liar may send anything."""
    try:
        items = msgspec.msgpack.decode(raw, type=list[object])
    except (msgspec.DecodeError, UnicodeError):
        return None
    match items:
        case [_, str(step), _, _, slot, bytes(voice), int(counter), *rest]:
            return Said(
                step=step, slot=encode(slot), voice=voice, counter=counter, rest=tuple(rest)
            )
        case _:
            return None


class Votes(Monitor):
    """One digest per slot over all certificates, one lock digest per fence."""

    def __init__(self, community: "Community", verify: Verify, *, q: int | None = None) -> None:
        """Count with the founding members; `q` overrules the table (to see what that breaks)."""
        super().__init__()
        self.q = q or quorum_of(community)
        founding = community.founding
        self._realm, self._charter = founding.realm, charter_hash(founding.charter)
        self._keys = {row.instance: row.key for row in founding.charter.genesis.instances}
        self._verify = verify
        self._seen: set[bytes] = set()
        self._cosigns: defaultdict[tuple[SlotName, _Fenced], set[bytes]] = defaultdict(set)
        self._seals: defaultdict[tuple[SlotName, _Fenced], set[bytes]] = defaultdict(set)
        self.locked: dict[tuple[SlotName, int], Digest] = {}
        """Per slot and fence the digest that q members cosigned."""
        self.certified: dict[SlotName, Digest] = {}
        """Per slot the digest that q members sealed."""
        self.accepted: set[tuple[InstanceId, SlotName]] = set()
        """Which instance has made the certificate of which slot durable."""
        self.lists: dict[Digest, Ids] = {}
        """What is behind the digests of round slots."""

    def sent(self, node: "SimNode", sent: Sent) -> None:
        """Count what is in a packet, once."""
        del node
        letter = sent.letter
        if not isinstance(letter, Packet) or letter.packet in self._seen:
            return
        self._seen.add(letter.packet)
        try:
            packet = packet_from_bytes(letter.packet).packet
        except PeerError:
            # A liar may send anything; the core will say so.
            return
        match packet:
            case MessagePacket():
                self._count(packet.raw, packet.signature)
                self._learn(packet.parts)
            case PartsPacket():
                self._learn(packet.parts)
            case CertificatePacket():
                self.is_proven(packet.certificate)
            case _:
                pass

    def stored(self, node: "SimNode", effect: fx.Effect) -> None:
        """Count what an instance signed, and see that it accepts only what is proven."""
        if not isinstance(effect, fx.StoreJournal):
            return
        match effect.entry:
            case SignedEntry(raw=raw, signature=signature, parts=parts):
                self._count(raw, signature)
                self._learn(parts)
            case CertificateEntry(certificate=certificate):
                self.accepted.add((node.instance, encode(slot_plain(certificate.slot))))
                if not self.is_proven(certificate) and node.conduct.is_honest:
                    self.broke("certificate without a quorum", f"accepted by {node.name}")
            case _:
                pass

    def is_proven(self, certificate: Certificate) -> bool:
        """Verify q seals of distinct members, and count the certificate if they are there."""
        plain = slot_plain(certificate.slot)
        value = value_plain(certificate.value)
        slot, name = encode(plain), _sha(encode(["folkmoot/1/value", plain, value]))
        voices = set()
        for seal in certificate.seals:
            raw = encode(
                [
                    1,
                    "seal",
                    self._realm,
                    self._charter,
                    plain,
                    seal.voice,
                    seal.counter,
                    certificate.fence,
                    name,
                ]
            )
            if self._is_signed(seal.voice, raw, seal.signature):
                voices.add(seal.voice)
        if len(voices) < self.q:
            return False
        if value is None or isinstance(value, tuple):
            self.lists[name] = value
        self._certify(slot, name)
        return True

    def _count(self, raw: bytes, signature: Signature) -> None:
        said = read(raw)
        if said is None or said.step not in {"cosign", "seal"}:
            return
        match said.rest:
            case (int(fence), bytes(name)) if self._is_signed(said.voice, raw, signature):
                self._vote(said, fence, name)
            case _:
                pass

    def _vote(self, said: Said, fence: int, name: Digest) -> None:
        votes = self._cosigns if said.step == "cosign" else self._seals
        voices = votes[said.slot, (fence, name)]
        voices.add(said.voice)
        if len(voices) >= self.q:
            if said.step == "seal":
                self._certify(said.slot, name)
            elif self.locked.setdefault((said.slot, fence), name) != name:
                self.broke("two locks at one fence", f"fence {fence} of {_shown(said.slot)}")

    def _certify(self, slot: SlotName, name: Digest) -> None:
        known = self.certified.setdefault(slot, name)
        if known != name:
            self.broke(
                "two values certified",
                f"{short(known)} and {short(name)} in {_shown(slot)}",
            )

    def _learn(self, parts: tuple[Part, ...]) -> None:
        for part in parts:
            if part.kind is not PartKind.VALUE:
                continue
            try:
                *_, value = msgspec.msgpack.decode(part.content, type=_Valued)
            except (msgspec.DecodeError, UnicodeError):
                # The value of a cut, or no value at all.
                continue
            self.lists[_sha(part.content)] = value

    def _is_signed(self, voice: bytes, raw: bytes, signature: Signature) -> bool:
        key = self._keys.get(voice)
        return key is not None and self._verify(key, b"folkmoot/1/message" + _sha(raw), signature)


def _sha(content: bytes) -> Digest:
    return hashlib.sha256(content).digest()


def _shown(slot: SlotName) -> str:
    first, *rest = msgspec.msgpack.decode(slot, type=list[object])
    name = short(first) if isinstance(first, bytes) else first
    return f"{name} {rest[0]}"
