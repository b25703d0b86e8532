import pytest

from federation.certificates import (
    Certificate,
    CertificatePacket,
    Cosign,
    ListValue,
    MessagePacket,
    Part,
    PartKind,
    PartsPacket,
    Received,
    ReceivedCertificate,
    ReceivedParts,
    Wanted,
    WantPacket,
    event_of,
)
from federation.core import PeerError
from tests.federation.certificates.hall import pinned, said, slot, voice

PART = Part(kind=PartKind.BLOB, content=b"x")


def test_every_packet_becomes_its_event() -> None:
    where = pinned(4)
    heard = said(where, 1, Cosign(fence=0, digest=b"d" * 32))
    proof = Certificate(slot=slot(), value=ListValue(records=()), fence=0, seals=())
    message = MessagePacket(raw=heard.raw, signature=heard.signature, parts=(PART,))

    assert event_of(message, voice(2), where) == Received(
        heard=heard, parts=(PART,), sender=voice(2)
    )
    assert event_of(PartsPacket(parts=(PART,)), voice(2), where) == ReceivedParts(
        parts=(PART,), sender=voice(2)
    )
    assert event_of(WantPacket(hashes=(b"h" * 32,)), voice(2), where) == Wanted(
        hashes=(b"h" * 32,), sender=voice(2)
    )
    assert event_of(CertificatePacket(certificate=proof), voice(2), where) == ReceivedCertificate(
        certificate=proof, sender=voice(2)
    )


def test_a_message_is_verified_at_the_door() -> None:
    where = pinned(4)
    heard = said(where, 1, Cosign(fence=0, digest=b"d" * 32))
    forged = MessagePacket(raw=heard.raw, signature=bytes(64))

    with pytest.raises(PeerError):
        event_of(forged, voice(2), where)
