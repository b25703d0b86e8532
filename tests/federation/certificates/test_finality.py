from federation.certificates import (
    Certificate,
    CertificatePacket,
    CutHolding,
    CutValue,
    Final,
    KeepCertificate,
    ListValue,
    Part,
    PartKind,
    ReceivedCertificate,
    ReceivedParts,
    Seal,
    Send,
    Want,
    Wanted,
    blob_hash,
    value_digest,
    verify_certificate,
)
from federation.certificates.proofs import endorsements
from tests.federation.certificates.hall import (
    CutDesk,
    ListDesk,
    Seat,
    cut_slot,
    name,
    pinned,
    said,
    seals_of,
    slot,
    value_part_of,
    voice,
)

WHERE = pinned(4)
A = name("a")
VALUE = ListValue(records=(A,))
DIGEST = value_digest(slot(), VALUE)


def seat() -> Seat:
    return Seat(WHERE, 1, ListDesk(WHERE, held={A}))


def certificate(*members: int) -> Certificate:
    seals = tuple(seals_of(WHERE, 2, DIGEST, members))
    return Certificate(slot=slot(), value=VALUE, fence=2, seals=endorsements(seals, len(seals)))


def final_seat() -> Seat:
    me = seat()
    me.feed(ReceivedCertificate(certificate=certificate(0, 2, 3), sender=voice(0)))
    return me


def sends(actions: list[object]) -> list[Send]:
    return [one for one in actions if isinstance(one, Send)]


def test_q_seals_are_final_at_any_fence_and_are_told_to_everybody() -> None:
    me = seat()
    seals = seals_of(WHERE, 6, DIGEST, (0, 2, 3))
    actions = me.hears(*seals, parts=(value_part_of(WHERE, VALUE),))
    done = [one for one in actions if isinstance(one, KeepCertificate | Send | Final)]

    assert [type(one) for one in done] == [KeepCertificate, Send, Final]
    keep, send, final = done
    assert isinstance(keep, KeepCertificate)
    verify_certificate(keep.certificate, WHERE)
    assert keep.certificate.digest == DIGEST
    assert send == Send(to=None, packet=CertificatePacket(certificate=keep.certificate))
    assert final == Final(certificate=keep.certificate)
    assert me.state.is_final


def test_seals_of_different_fences_are_no_certificate() -> None:
    me = seat()
    seals = [said(WHERE, who, Seal(fence=who, digest=DIGEST)) for who in (0, 2, 3)]
    me.hears(*seals, parts=(value_part_of(WHERE, VALUE),))

    assert not me.state.is_final


def test_a_certificate_is_accepted_at_any_time_and_only_once() -> None:
    me = seat()
    proof = certificate(0, 2, 3)
    actions = me.feed(ReceivedCertificate(certificate=proof))

    assert actions == [KeepCertificate(certificate=proof), Final(certificate=proof)]
    assert me.feed(ReceivedCertificate(certificate=certificate(1, 2, 3))) == []
    assert me.state.certificate == proof


def test_a_cut_is_final_only_with_its_positions_and_hands_them_on() -> None:
    where = pinned(4, cut_slot())
    blob = Part(kind=PartKind.BLOB, content=b"\x90")
    value = CutValue(number=5, tick=False, positions=blob_hash(b"\x90"), world=A, secrets=())
    digest = value_digest(where.slot, value)
    seals = tuple(seals_of(where, 0, digest, (0, 2, 3)))
    proof = Certificate(slot=where.slot, value=value, fence=0, seals=endorsements(seals, 3))
    holding = CutHolding(chains=b"\x90", tick=False, world=A, secret=A, next_hash=A)
    me = Seat(where, 1, CutDesk(holding))

    actions = me.feed(ReceivedCertificate(certificate=proof, sender=voice(0)))
    (want,) = [one for one in actions if isinstance(one, Want)]
    assert want.hashes == (blob_hash(b"\x90"),)
    assert not me.state.is_final
    # A second proof while the first waits changes nothing.
    assert me.feed(ReceivedCertificate(certificate=proof, sender=voice(2))) == []
    assert me.feed(ReceivedParts(parts=(blob,), sender=voice(0))) == [
        KeepCertificate(certificate=proof, parts=(blob,)),
        Final(certificate=proof, parts=(blob,)),
    ]
    assert me.feed(Wanted(hashes=(blob_hash(b"\x90"),), sender=voice(2))) == [
        Send(to=voice(2), packet=CertificatePacket(certificate=proof, parts=(blob,)))
    ]
    at_once = Seat(where, 1, CutDesk(holding))
    at_once.feed(ReceivedCertificate(certificate=proof, parts=(blob,)))
    assert at_once.state.is_final
