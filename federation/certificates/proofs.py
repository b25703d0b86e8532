"""Locks and certificates: q signatures over one digest at one fence, in compact form.

A proof lists `[voice, counter, signature]`, in ascending order of voices; everything else of the
q messages follows from the slot, the fence and the digest, so a verifier rebuilds their exact
bytes. A *lock* is q cosigns: a proof that a value is the only one its fence can decide. A
*certificate* is q seals: final (design: federation, messages).
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from federation.certificates.membership import MOST_MEMBERS, Pinned
from federation.certificates.messages import (
    Body,
    Cosign,
    Counter,
    Fence,
    Heard,
    Seal,
    message_for,
    signing_payload,
)
from federation.certificates.slots import Slot, SlotPlain, slot_from_plain, slot_plain
from federation.certificates.values import (
    Value,
    ValuePlain,
    value_digest,
    value_from_plain,
    value_plain,
)
from federation.codec import LIMITS, decode, encode, find_fault
from federation.core import Code, Digest, InstanceId, PeerError, Signature
from federation.crypto import Domain, Verify, digest, is_signed_by


class Endorsement(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """One member's signature in a proof: canonical [voice, counter, signature]."""

    voice: InstanceId
    counter: Counter
    signature: Signature


Endorsements: TypeAlias = Annotated[tuple[Endorsement, ...], Meta(max_length=MOST_MEMBERS)]


class Lock(msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True):
    """q cosigns of one fence and digest: canonical [fence, digest, cosigns]."""

    fence: Fence
    digest: Digest
    cosigns: Endorsements


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A value made final by q seals of one fence."""

    slot: Slot
    value: Value
    fence: int
    seals: tuple[Endorsement, ...]

    @property
    def digest(self) -> Digest:
        """Digest of slot and value: what ids, lots and state use."""
        return value_digest(self.slot, self.value)


class _Wire(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    slot: object
    value: object
    fence: Fence
    seals: Endorsements


def endorsement(heard: Heard) -> Endorsement:
    """Take the compact form of a cosign or a seal."""
    return Endorsement(voice=heard.voice, counter=heard.header.counter, signature=heard.signature)


def endorsements(votes: tuple[Heard, ...], q: int) -> tuple[Endorsement, ...]:
    """Take the q lowest voices of votes that agree; the votes are by distinct members."""
    return tuple(sorted(map(endorsement, votes), key=lambda one: one.voice)[:q])


def lock_bytes(lock: Lock) -> bytes:
    """Give the canonical bytes of a lock."""
    return encode(lock)


def lock_hash(lock: Lock) -> Digest:
    """Name a lock: two locks of one fence and digest may differ in their signers."""
    return digest(Domain.LOCK, lock_bytes(lock))


def lock_from_bytes(raw: bytes) -> Lock:
    """Read a lock; nothing is verified yet. Raises PeerError TOO_LARGE or NOT_CANONICAL."""
    return decode(raw, Lock, what="lock")


def certificate_plain(
    certificate: Certificate,
) -> tuple[SlotPlain, ValuePlain, int, tuple[Endorsement, ...]]:
    """Give the plain form [slot, value, fence, seals] that a `certificate.final` stores."""
    return (
        slot_plain(certificate.slot),
        value_plain(certificate.value),
        certificate.fence,
        certificate.seals,
    )


def certificate_bytes(certificate: Certificate) -> bytes:
    """Give the canonical bytes of a certificate."""
    return encode(certificate_plain(certificate))


def certificate_from_plain(plain: object) -> Certificate:
    """Read a certificate's plain form (lists as msgpack decodes them); verifies nothing yet.

    Raises PeerError NOT_CANONICAL.
    """
    try:
        wire = msgspec.convert(plain, _Wire)
    except msgspec.ValidationError as error:
        raise _refused(str(error), Code.NOT_CANONICAL) from error
    slot = slot_from_plain(wire.slot)
    return Certificate(
        slot=slot,
        value=value_from_plain(slot, wire.value),
        fence=wire.fence,
        seals=wire.seals,
    )


def certificate_from_bytes(raw: bytes) -> Certificate:
    """Read a certificate's bytes; verifies nothing yet.

    Raises PeerError TOO_LARGE or NOT_CANONICAL.
    """
    if len(raw) > LIMITS.record:
        raise _refused(f"it has {len(raw)} bytes", Code.TOO_LARGE)
    try:
        plain = msgspec.msgpack.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise _refused(find_fault(raw) or str(error), Code.NOT_CANONICAL) from error
    certificate = certificate_from_plain(plain)
    if certificate_bytes(certificate) != raw:
        raise _refused("its bytes are not canonical", Code.NOT_CANONICAL)
    return certificate


def verify_lock(lock: Lock, pinned: Pinned, *, verify: Verify = is_signed_by) -> None:
    """Check that at least q distinct members cosigned the lock's digest at its fence.

    Raises PeerError: NOT_PROVEN (too few, or not in ascending order of voices), NOT_ELIGIBLE,
    BAD_SIGNATURE.
    """
    _verify(Cosign(fence=lock.fence, digest=lock.digest), lock.cosigns, pinned, verify)


def verify_certificate(
    certificate: Certificate, pinned: Pinned, *, verify: Verify = is_signed_by
) -> None:
    """Check that at least q distinct members of the pinned slot sealed the value.

    Raises PeerError: UNKNOWN_ROUND (another slot), NOT_PROVEN, NOT_ELIGIBLE, BAD_SIGNATURE.
    """
    if certificate.slot != pinned.slot:
        raise _refused("it belongs to another slot", Code.UNKNOWN_ROUND)
    body = Seal(fence=certificate.fence, digest=certificate.digest)
    _verify(body, certificate.seals, pinned, verify)


def _verify(body: Body, votes: tuple[Endorsement, ...], pinned: Pinned, verify: Verify) -> None:
    if len(votes) < pinned.quorum.q:
        raise _refused(f"{len(votes)} signatures of {pinned.quorum.q}", Code.NOT_PROVEN)
    # Strict order makes voices distinct: one member's signature cannot be counted twice.
    if any(low.voice >= high.voice for low, high in pairwise(votes)):
        raise _refused("its voices are not in ascending order", Code.NOT_PROVEN)
    for vote in votes:
        member = pinned.member(vote.voice)
        if member is None:
            raise _refused("one of its signers is no voice of this slot", Code.NOT_ELIGIBLE)
        payload = signing_payload(message_for(pinned, vote.voice, vote.counter, body))
        if not verify(member.key, payload, vote.signature):
            raise _refused("one of its signatures does not verify", Code.BAD_SIGNATURE)


def _refused(why: str, code: Code) -> PeerError:
    return PeerError(
        "proof refused",
        why=why,
        fix="send q signatures of distinct voices of the pinned slot, sorted by voice",
        code=code,
    )
