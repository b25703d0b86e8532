"""What is durable, and the state it brings back after a crash.

The orchestrator writes one entry for each `Sign`, `KeepLock` and `KeepCertificate` before it
carries out anything later. `restore` gives a state that never signs against the journal: a crash
loses only what was not yet signed, and what will be heard again (design: federation, what a
member stores). A journal that was itself lost is amnesia: then follow the slot with `me = None`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

import msgspec

from federation.certificates.membership import Pinned
from federation.certificates.messages import (
    Cosign,
    CutWitness,
    Heard,
    ListWitness,
    Propose,
    Seal,
    hear,
)
from federation.certificates.parts import Part, PartKind, part_address
from federation.certificates.proofs import (
    Certificate,
    Lock,
    certificate_from_plain,
    certificate_plain,
    lock_from_bytes,
    lock_hash,
)
from federation.certificates.slots import Slot, slot_from_plain, slot_plain
from federation.certificates.state import SlotState, Vote, with_said
from federation.certificates.values import Value, value_from_bytes, value_from_plain, value_plain
from federation.codec import encode
from federation.core import Code, Digest, InstanceId, PeerError, Signature
from federation.crypto import Verify, is_signed_by


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedEntry:
    """One message I signed, with the parts of its `Sign`.

    The chains of a cut's witness cannot be made again: what I hold has grown since.
    """

    slot: Slot
    raw: bytes
    signature: Signature
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LockEntry:
    """My lock, its value and the value's blobs."""

    slot: Slot
    lock: Lock
    value: Value
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateEntry:
    """The certificate that ended the slot, and its value's blobs."""

    slot: Slot
    certificate: Certificate
    parts: tuple[Part, ...] = ()


JournalEntry: TypeAlias = SignedEntry | LockEntry | CertificateEntry


_Parts: TypeAlias = tuple[Part, ...]


class _Signed(msgspec.Struct, frozen=True, array_like=True, tag="signed"):
    slot: object
    raw: bytes
    signature: Signature
    parts: _Parts


class _Lock(msgspec.Struct, frozen=True, array_like=True, tag="lock"):
    slot: object
    lock: Lock
    value: object
    parts: _Parts


class _Certificate(msgspec.Struct, frozen=True, array_like=True, tag="certificate"):
    certificate: object
    parts: _Parts


_Wire: TypeAlias = _Signed | _Lock | _Certificate


def restore(
    pinned: Pinned,
    me: InstanceId,
    entries: Iterable[JournalEntry],
    *,
    verify: Verify = is_signed_by,
) -> SlotState:
    """Fold one slot's entries, in the order they were written, into the state to go on from.

    Feed `Wake` afterwards, and `WindowEnded` if my window has ended. Raises PeerError if an entry
    does not verify (the journal was damaged): then treat it as lost.
    """
    state = SlotState()
    for entry in entries:
        match entry:
            case SignedEntry():
                heard = hear(entry.raw, entry.signature, pinned, verify=verify)
                state = _signed(_holding(state, pinned, entry.parts), heard, me)
            case LockEntry(lock=lock, value=value):
                state = _holding(state, pinned, entry.parts)
                state = replace(
                    state,
                    lock=lock,
                    locks={**state.locks, lock_hash(lock): lock},
                    values={**state.values, lock.digest: value},
                )
            case _:
                state = replace(_holding(state, pinned, entry.parts), certificate=entry.certificate)
    return state


def entry_bytes(entry: JournalEntry) -> bytes:
    """Give the canonical bytes of an entry."""
    wire: _Wire
    match entry:
        case SignedEntry():
            wire = _Signed(slot_plain(entry.slot), entry.raw, entry.signature, entry.parts)
        case LockEntry():
            plain = value_plain(entry.value)
            wire = _Lock(slot_plain(entry.slot), entry.lock, plain, entry.parts)
        case _:
            wire = _Certificate(certificate_plain(entry.certificate), entry.parts)
    return encode(wire)


def entry_from_bytes(raw: bytes) -> JournalEntry:
    """Read an entry; raises PeerError NOT_CANONICAL if the journal was damaged."""
    try:
        wire: _Wire = msgspec.msgpack.decode(raw, type=_Wire)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise PeerError(
            "journal entry refused",
            why=str(error),
            fix="treat the journal as lost, and follow open slots without signing",
            code=Code.NOT_CANONICAL,
        ) from error
    match wire:
        case _Signed():
            return SignedEntry(
                slot=slot_from_plain(wire.slot),
                raw=wire.raw,
                signature=wire.signature,
                parts=wire.parts,
            )
        case _Lock():
            slot = slot_from_plain(wire.slot)
            value = value_from_plain(slot, wire.value)
            return LockEntry(slot=slot, lock=wire.lock, value=value, parts=wire.parts)
        case _:
            certificate = certificate_from_plain(wire.certificate)
            return CertificateEntry(
                slot=certificate.slot, certificate=certificate, parts=wire.parts
            )


def _holding(state: SlotState, pinned: Pinned, parts: Iterable[Part]) -> SlotState:
    """Hold the parts that an entry brought along."""
    values: dict[Digest, Value] = dict(state.values)
    blobs: dict[Digest, bytes] = dict(state.blobs)
    locks: dict[Digest, Lock] = dict(state.locks)
    for part in parts:
        name = part_address(part)
        match part.kind:
            case PartKind.VALUE:
                values[name] = value_from_bytes(part.content, pinned.slot)
            case PartKind.LOCK:
                locks[name] = lock_from_bytes(part.content)
            case _:
                blobs[name] = part.content
    return replace(state, values=values, blobs=blobs, locks=locks)


def _signed(state: SlotState, heard: Heard, me: InstanceId) -> SlotState:
    """Take back one of my own signatures."""
    key = (heard.header.step, me)
    kept = with_said(state.said.get(key, ()), heard, state.fence)
    state = replace(
        state,
        said={**state.said, key: kept},
        counter=max(state.counter, heard.header.counter),
    )
    match heard.body:
        case ListWitness() | CutWitness():
            return replace(state, witnessed=True)
        case Propose(fence=fence):
            return replace(state, proposed=fence)
        case Cosign(fence=fence, digest=digest):
            return replace(state, cosigned=Vote(fence=fence, digest=digest))
        case Seal(fence=fence, digest=digest):
            return replace(state, sealed=Vote(fence=fence, digest=digest))
        case _:
            fence = heard.body.fence
            return replace(state, fence=fence, highest={**state.highest, me: fence})
