"""Packets: what members of a slot send each other, and their bytes.

A packet travels as canonical `[realm, charter hash, slot, kind, …]`, so that a node can route it
to its slot before anything else is looked at. A packet that does not fit one frame of the
transport is the transport's business to split.
"""

from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from federation.certificates.membership import MOST_MEMBERS, Pinned
from federation.certificates.parts import Part
from federation.certificates.proofs import (
    Certificate,
    certificate_from_plain,
    certificate_plain,
)
from federation.certificates.slots import Slot, slot_from_plain, slot_plain
from federation.codec import LIMITS, encode, find_fault
from federation.core import Code, Digest, PeerError, Realm, Signature

MOST_PARTS: Final = 16
"""Parts in one packet."""
MOST_WANTED: Final = 2 * MOST_MEMBERS + 16
"""Hashes in one request: a proposal's witnesses and promises, and its parts."""
MOST_BYTES: Final = 2 * LIMITS.blob
"""Bytes of one packet."""

_Parts: TypeAlias = Annotated[tuple[Part, ...], Meta(max_length=MOST_PARTS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePacket:
    """A signed message, and parts that it names."""

    raw: bytes
    signature: Signature
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsPacket:
    """Parts that were asked for."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WantPacket:
    """A request for messages and parts by hash."""

    hashes: tuple[Digest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificatePacket:
    """The slot is final: here is the proof."""

    certificate: Certificate
    parts: tuple[Part, ...] = ()


Packet: TypeAlias = MessagePacket | PartsPacket | WantPacket | CertificatePacket


class _Routed(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    realm: Digest
    charter_hash: Digest
    slot: object
    body: object


class _Message(
    msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="message"
):
    raw: Annotated[bytes, Meta(max_length=LIMITS.record)]
    signature: Signature
    parts: _Parts


class _Shared(
    msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="parts"
):
    parts: _Parts


class _Wanted(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="want"):
    hashes: Annotated[tuple[Digest, ...], Meta(max_length=MOST_WANTED)]


class _Final(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="final"):
    certificate: object
    parts: _Parts


_Body: TypeAlias = _Message | _Shared | _Wanted | _Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """A packet and the slot it is for."""

    realm: Realm
    charter_hash: Digest
    slot: Slot
    packet: Packet


def packet_bytes(pinned: Pinned, packet: Packet) -> bytes:
    """Give the canonical bytes of a packet of a slot."""
    return _packed(
        Routed(
            realm=pinned.realm,
            charter_hash=pinned.charter_hash,
            slot=pinned.slot,
            packet=packet,
        )
    )


def packet_from_bytes(raw: bytes) -> Routed:
    """Read a packet; messages and proofs inside are not verified yet.

    Raises PeerError TOO_LARGE or NOT_CANONICAL.
    """
    if len(raw) > MOST_BYTES:
        raise _refused(f"it has {len(raw)} bytes, the limit is {MOST_BYTES}", Code.TOO_LARGE)
    try:
        wire = msgspec.msgpack.decode(raw, type=_Routed)
        body: _Body = msgspec.convert(wire.body, _Body)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeError) as error:
        raise _refused(find_fault(raw) or str(error), Code.NOT_CANONICAL) from error
    packet: Packet
    match body:
        case _Message():
            packet = MessagePacket(raw=body.raw, signature=body.signature, parts=body.parts)
        case _Shared():
            packet = PartsPacket(parts=body.parts)
        case _Wanted():
            packet = WantPacket(hashes=body.hashes)
        case _:
            certificate = certificate_from_plain(body.certificate)
            packet = CertificatePacket(certificate=certificate, parts=body.parts)
    routed = Routed(
        realm=wire.realm,
        charter_hash=wire.charter_hash,
        slot=slot_from_plain(wire.slot),
        packet=packet,
    )
    # What was read is encoded again, never what came: a stranger's maps need not even have keys
    # that can be sorted.
    if _packed(routed) != raw:
        raise _refused("its bytes are not canonical", Code.NOT_CANONICAL)
    return routed


def _packed(routed: Routed) -> bytes:
    body: _Body
    packet = routed.packet
    match packet:
        case MessagePacket():
            body = _Message(packet.raw, packet.signature, packet.parts)
        case PartsPacket():
            body = _Shared(packet.parts)
        case WantPacket():
            body = _Wanted(packet.hashes)
        case _:
            body = _Final(certificate_plain(packet.certificate), packet.parts)
    return encode([routed.realm, routed.charter_hash, slot_plain(routed.slot), body])


def _refused(why: str, code: Code) -> PeerError:
    return PeerError(
        "packet refused",
        why=why,
        fix="send one canonical packet of a slot",
        code=code,
    )
