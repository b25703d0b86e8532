import pytest

from federation.certificates import (
    Certificate,
    CertificatePacket,
    Cosign,
    ListValue,
    MessagePacket,
    Packet,
    Part,
    PartKind,
    PartsPacket,
    WantPacket,
    packet_bytes,
    packet_from_bytes,
)
from federation.certificates.packets import MOST_BYTES, MOST_PARTS, MOST_WANTED
from federation.codec import encode
from federation.core import Code, PeerError
from tests.federation.certificates.hall import (
    CHARTER,
    REALM,
    ROUND,
    name,
    pinned,
    said,
    slot,
)

PART = Part(kind=PartKind.BLOB, content=b"x" * 100_000)
ADDRESS = b"\x94" + encode(REALM) + encode(CHARTER)
MIXED = b"\x82\x01\x00\xa1a\x00"
"""A map with keys of two types: 1 and "a"."""
HEARD = said(pinned(4), 1, Cosign(fence=0, digest=b"d" * 32))
CERTIFICATE = Certificate(slot=slot(), value=ListValue(records=(b"a" * 32,)), fence=0, seals=())


@pytest.mark.parametrize(
    "packet",
    [
        MessagePacket(raw=HEARD.raw, signature=HEARD.signature, parts=(PART,)),
        PartsPacket(parts=(PART, PART)),
        WantPacket(hashes=(b"h" * 32,)),
        CertificatePacket(certificate=CERTIFICATE, parts=(PART,)),
    ],
)
def test_a_packet_arrives_with_the_slot_it_is_for(packet: Packet) -> None:
    routed = packet_from_bytes(packet_bytes(pinned(4), packet))

    assert routed.packet == packet
    assert (routed.realm, routed.charter_hash, routed.slot) == (REALM, CHARTER, slot())


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        encode([REALM, CHARTER, [ROUND, "fast"], ["shout", []]]),
        encode([REALM, CHARTER, [ROUND, "fast"]]),
        encode([REALM, CHARTER, [ROUND, "slow"], ["want", []]]),
        encode([REALM, CHARTER, [ROUND, "fast"], ["want", [name(i) for i in range(600)]]]),
        encode([REALM, CHARTER, [ROUND, "fast"], ["parts", [[2, b"x"]] * (MOST_PARTS + 1)]]),
        encode([REALM, CHARTER, [ROUND, "fast"], ["final", [1], []]]),
        b"\xdc\x00\x04" + encode([REALM, CHARTER, [ROUND, "fast"], ["want", []]])[1:],
        # Maps whose keys cannot be sorted, in the slot and inside a certificate.
        ADDRESS + MIXED + encode(["want", []]),
        ADDRESS + b"\x81\x80\x00" + encode(["want", []]),
        ADDRESS
        + encode([ROUND, "fast"])
        + b"\x93"
        + encode("final")
        + b"\x94"
        + encode([ROUND, "fast"])
        + MIXED
        + encode(0)
        + encode([])
        + encode([]),
    ],
)
def test_other_bytes_are_refused(raw: bytes) -> None:
    with pytest.raises(PeerError) as refusal:
        packet_from_bytes(raw)

    assert refusal.value.code is Code.NOT_CANONICAL


def test_packets_are_bounded() -> None:
    assert MOST_WANTED < 600
    with pytest.raises(PeerError) as refusal:
        packet_from_bytes(bytes(MOST_BYTES + 1))

    assert refusal.value.code is Code.TOO_LARGE
