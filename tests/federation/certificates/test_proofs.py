from dataclasses import replace

import msgspec
import pytest

from federation.certificates import (
    Certificate,
    Endorsement,
    ListValue,
    Lock,
    certificate_bytes,
    certificate_from_bytes,
    certificate_from_plain,
    certificate_plain,
    value_digest,
    verify_certificate,
    verify_lock,
)
from federation.certificates.proofs import (
    endorsements,
    lock_bytes,
    lock_from_bytes,
    lock_hash,
)
from federation.codec import encode
from federation.core import Code, PeerError
from federation.crypto import Domain, digest
from tests.federation.certificates.hall import cut_slot, lock_of, pinned, seals_of, slot

WHERE = pinned(4)
VALUE = ListValue(records=(b"a" * 32,))
DIGEST = value_digest(slot(), VALUE)


def certificate(*members: int, fence: int = 3) -> Certificate:
    seals = seals_of(WHERE, fence, DIGEST, members)
    return Certificate(
        slot=slot(), value=VALUE, fence=fence, seals=endorsements(tuple(seals), len(seals))
    )


def code_of_lock(lock: Lock) -> Code:
    with pytest.raises(PeerError) as refusal:
        verify_lock(lock, WHERE)
    return refusal.value.code


def code_of_certificate(proof: Certificate) -> Code:
    with pytest.raises(PeerError) as refusal:
        verify_certificate(proof, WHERE)
    return refusal.value.code


def test_q_or_more_signatures_are_a_proof() -> None:
    for members in ((0, 1, 2), (1, 2, 3), (0, 1, 2, 3)):
        verify_lock(lock_of(WHERE, 3, DIGEST, members), WHERE)
        verify_certificate(certificate(*members), WHERE)


def test_too_few_or_repeated_signatures_are_none() -> None:
    lock = lock_of(WHERE, 3, DIGEST, (0, 1, 2))
    twice = msgspec.structs.replace(lock, cosigns=(lock.cosigns[0], *lock.cosigns[:2]))

    assert code_of_lock(lock_of(WHERE, 3, DIGEST, (0, 1))) is Code.NOT_PROVEN
    assert code_of_lock(twice) is Code.NOT_PROVEN
    assert code_of_certificate(certificate(0, 1)) is Code.NOT_PROVEN


def test_every_field_of_a_lock_is_covered_by_its_signatures() -> None:
    lock = lock_of(WHERE, 3, DIGEST, (0, 1, 2))
    first = lock.cosigns[0]
    counted = Endorsement(voice=first.voice, counter=9, signature=first.signature)

    assert code_of_lock(msgspec.structs.replace(lock, fence=4)) is Code.BAD_SIGNATURE
    assert code_of_lock(msgspec.structs.replace(lock, digest=b"x" * 32)) is Code.BAD_SIGNATURE
    assert (
        code_of_lock(msgspec.structs.replace(lock, cosigns=(counted, *lock.cosigns[1:])))
        is Code.BAD_SIGNATURE
    )


def test_every_field_of_a_certificate_is_covered_by_its_signatures() -> None:
    proof = certificate(0, 1, 2)

    assert code_of_certificate(replace(proof, fence=4)) is Code.BAD_SIGNATURE
    assert code_of_certificate(replace(proof, value=ListValue(records=()))) is Code.BAD_SIGNATURE
    assert code_of_certificate(replace(proof, slot=cut_slot())) is Code.UNKNOWN_ROUND


def test_cosigns_are_no_seals_and_strangers_no_signers() -> None:
    lock = lock_of(WHERE, 3, DIGEST, (0, 1, 2))
    as_seals = Certificate(slot=slot(), value=VALUE, fence=3, seals=lock.cosigns)
    strange = lock_of(pinned(7), 3, DIGEST, (4, 5, 6))

    assert code_of_certificate(as_seals) is Code.BAD_SIGNATURE
    assert code_of_lock(strange) is Code.NOT_ELIGIBLE


def test_proofs_survive_their_bytes() -> None:
    lock, proof = lock_of(WHERE, 3, DIGEST, (0, 1, 2)), certificate(0, 1, 2)

    assert lock_from_bytes(lock_bytes(lock)) == lock
    assert lock_hash(lock) == digest(Domain.LOCK, lock_bytes(lock))
    assert certificate_from_bytes(certificate_bytes(proof)) == proof
    assert proof.digest == DIGEST


def test_a_certificate_is_stored_as_slot_value_fence_and_seals() -> None:
    proof = certificate(0, 1, 2)
    plain = certificate_plain(proof)

    assert certificate_bytes(proof) == encode(plain)
    assert plain[:3] == ((b"o" * 32, "fast"), VALUE.records, 3)


@pytest.mark.parametrize("raw", [b"", b"\xc0", b"\x93\x01\x02\x03", b"\x91" * 20_000])
def test_bytes_that_are_no_certificate_are_refused(raw: bytes) -> None:
    with pytest.raises(PeerError) as refusal:
        certificate_from_bytes(raw)

    assert refusal.value.code is Code.NOT_CANONICAL


def test_certificates_are_bounded_and_have_one_spelling() -> None:
    raw = certificate_bytes(certificate(0, 1, 2))
    with pytest.raises(PeerError) as refusal:
        certificate_from_bytes(bytes(70_000))
    assert refusal.value.code is Code.TOO_LARGE

    with pytest.raises(PeerError) as refusal:
        certificate_from_bytes(b"\xdc\x00\x04" + raw[1:])
    assert refusal.value.code is Code.NOT_CANONICAL

    with pytest.raises(PeerError):
        certificate_from_plain([1, 2])
