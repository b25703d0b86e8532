"""The five messages of an agreement, their bytes and their signatures.

A message is canonical `[1, step, realm, charter hash, slot, voice, counter, fields…]`, signed over
`"folkmoot/1/message" ‖ SHA-256(message)` and detached from every author chain: anyone may relay
it, and repeats are harmless (design: federation, messages). `hear` is the only door: what comes
out of it is canonical, of this slot, by a member, and signed by the member's pinned key.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from federation.certificates.membership import MOST_MEMBERS, Pinned
from federation.certificates.slots import CutSlot, Slot, slot_from_plain, slot_plain
from federation.codec import LIMITS, encode, find_fault
from federation.core import (
    Code,
    Digest,
    InstanceId,
    PeerError,
    Realm,
    RecordId,
    Signature,
)
from federation.crypto import Domain, Verify, is_signed_by, plain_hash

MOST_LISTED: Final = 900
"""Records that one witness may name and one value may list.

Two witnesses of this length fit one `log.fault` record: an instance that signs two different ones
can always be convicted.
"""
_VERSION: Final = 1
_HEAD: Final = 7

Fence: TypeAlias = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Counter: TypeAlias = Annotated[int, Meta(ge=0, le=2**53 - 1)]
"""The instance's running count of signatures: a later signature carries a higher one."""
Hashes: TypeAlias = Annotated[tuple[Digest, ...], Meta(max_length=MOST_MEMBERS)]


class Step(StrEnum):
    """The five things a member can say."""

    WITNESS = "witness"
    PROPOSE = "propose"
    COSIGN = "cosign"
    SEAL = "seal"
    PROMISE = "promise"


class ListWitness(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """What I hold at the end of my own window of a phase; signed once."""

    ids: Annotated[tuple[RecordId, ...], Meta(max_length=MOST_LISTED)]
    """Every qualifying record, in ascending order."""
    late: bool
    """The round's deadline has passed on my clock."""


class CutWitness(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """What I hold above the last cut, and what I made of that cut; signed once."""

    chains: Digest
    """Hash of the blob of record ids by author and sequence number."""
    tick: bool
    """An epoch has passed on my clock since the last tick."""
    world: Digest
    """My digest of the world at the cut before."""
    secret: Digest
    """My beacon secret of this cut."""
    next_hash: Digest
    """SHA-256 of my secret of the next cut."""


class Propose(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """One value for one fence, and why it is permitted; signed by the fence's leader."""

    fence: Fence
    digest: Digest
    witnesses: Hashes
    """Hashes of the q witnesses of a fresh value; empty under a lock."""
    promises: Hashes
    """Hashes of q promises for this fence; empty at fence 0."""
    lock: Digest | None
    """Hash of the highest lock that the promises claim."""


class Cosign(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """First step: this value is permitted at this fence."""

    fence: Fence
    digest: Digest


class Seal(msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True):
    """Second step: I hold a lock for this value at this fence."""

    fence: Fence
    digest: Digest


class Promise(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """I sign nothing below this fence any more; my highest lock travels with it."""

    fence: Fence
    lock_fence: Fence | None
    lock_digest: Digest | None


Witness: TypeAlias = ListWitness | CutWitness
Body: TypeAlias = ListWitness | CutWitness | Propose | Cosign | Seal | Promise
Fenced: TypeAlias = Propose | Cosign | Seal | Promise

_FENCED: Final[dict[Step, type[Fenced]]] = {
    Step.PROPOSE: Propose,
    Step.COSIGN: Cosign,
    Step.SEAL: Seal,
    Step.PROMISE: Promise,
}
_STEPS: Final[dict[type[Body], Step]] = {
    ListWitness: Step.WITNESS,
    CutWitness: Step.WITNESS,
    Propose: Step.PROPOSE,
    Cosign: Step.COSIGN,
    Seal: Step.SEAL,
    Promise: Step.PROMISE,
}


class _Head(msgspec.Struct, frozen=True, array_like=True):
    version: Annotated[int, Meta(ge=_VERSION, le=_VERSION)]
    step: Step
    realm: Digest
    charter_hash: Digest
    slot: object
    voice: InstanceId
    counter: Counter


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What every message says before its fields."""

    step: Step
    realm: Realm
    charter_hash: Digest
    slot: Slot
    voice: InstanceId
    counter: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message that was parsed and verified; only `hear` makes one."""

    header: Header
    body: Body
    raw: bytes
    signature: Signature
    hash: Digest
    """SHA-256 of the raw message: its name in proposals."""

    @property
    def voice(self) -> InstanceId:
        """Who said it."""
        return self.header.voice


def message_bytes(header: Header, body: Body) -> bytes:
    """Give the canonical bytes of a message."""
    return encode(
        [
            _VERSION,
            header.step.value,
            header.realm,
            header.charter_hash,
            slot_plain(header.slot),
            header.voice,
            header.counter,
            *msgspec.structs.astuple(body),
        ]
    )


def message_for(pinned: Pinned, voice: InstanceId, counter: int, body: Body) -> bytes:
    """Give the canonical bytes of what `voice` says in a slot under its running counter."""
    header = Header(
        step=_STEPS[type(body)],
        realm=pinned.realm,
        charter_hash=pinned.charter_hash,
        slot=pinned.slot,
        voice=voice,
        counter=counter,
    )
    return message_bytes(header, body)


def message_hash(raw: bytes) -> Digest:
    """Name a message by the SHA-256 of its bytes."""
    return plain_hash(raw)


def signing_payload(raw: bytes) -> bytes:
    """Give the bytes that a voice signs for a message."""
    return Domain.MESSAGE.value + plain_hash(raw)


def peek_slot(raw: bytes) -> tuple[Realm, Digest, Slot, InstanceId, int]:
    """Read realm, charter hash, slot, voice and counter, to find out where a message belongs.

    Nothing is verified yet. Raises PeerError TOO_LARGE or NOT_CANONICAL.
    """
    header, _ = _parsed(raw)
    return header.realm, header.charter_hash, header.slot, header.voice, header.counter


def hear(
    raw: bytes, signature: Signature, pinned: Pinned, *, verify: Verify = is_signed_by
) -> Heard:
    """Parse and verify a message of the pinned slot.

    Raises PeerError: TOO_LARGE, NOT_CANONICAL, WRONG_REALM, WRONG_CHARTER, UNKNOWN_ROUND (another
    slot), NOT_ELIGIBLE (not a voice of this slot), BAD_SIGNATURE.
    """
    header, body = _parsed(raw)
    if header.realm != pinned.realm:
        raise _refused("it belongs to another realm", Code.WRONG_REALM)
    if header.charter_hash != pinned.charter_hash:
        raise _refused("it was written under another charter", Code.WRONG_CHARTER)
    if header.slot != pinned.slot:
        raise _refused("it belongs to another slot", Code.UNKNOWN_ROUND)
    member = pinned.member(header.voice)
    if member is None:
        raise _refused("its author is no voice of this slot", Code.NOT_ELIGIBLE)
    if not verify(member.key, signing_payload(raw), signature):
        raise _refused("its signature does not verify", Code.BAD_SIGNATURE)
    return Heard(header=header, body=body, raw=raw, signature=signature, hash=message_hash(raw))


def _parsed(raw: bytes) -> tuple[Header, Body]:
    if len(raw) > LIMITS.record:
        raise _refused(f"it has {len(raw)} bytes, the limit is {LIMITS.record}", Code.TOO_LARGE)
    try:
        items = msgspec.msgpack.decode(raw, type=list[object])
        head = msgspec.convert(items[:_HEAD], _Head)
        slot = slot_from_plain(head.slot)
        body = msgspec.convert(items[_HEAD:], _body_type(head.step, slot))
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeError) as error:
        fault = find_fault(raw) or str(error)
        raise _refused(f"its bytes are not a message: {fault}", Code.NOT_CANONICAL) from error
    header = Header(
        step=head.step,
        realm=head.realm,
        charter_hash=head.charter_hash,
        slot=slot,
        voice=head.voice,
        counter=head.counter,
    )
    if message_bytes(header, body) != raw:
        raise _refused("its bytes are not canonical", Code.NOT_CANONICAL)
    if isinstance(body, ListWitness) and any(low >= high for low, high in pairwise(body.ids)):
        raise _refused("its ids are not in ascending order", Code.NOT_CANONICAL)
    if isinstance(body, Promise) and (body.lock_fence is None) != (body.lock_digest is None):
        raise _refused("it names half a lock", Code.NOT_CANONICAL)
    return header, body


def _body_type(step: Step, slot: Slot) -> type[Body]:
    if step is not Step.WITNESS:
        return _FENCED[step]
    return CutWitness if isinstance(slot, CutSlot) else ListWitness


def _refused(why: str, code: Code) -> PeerError:
    return PeerError(
        "message refused",
        why=why,
        fix="send messages of this slot as its members signed them",
        code=code,
    )
