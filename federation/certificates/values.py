"""What a slot agrees on: a list of records, nothing (void), or the next cut; and its digest.

`digest = SHA-256(canonical ["folkmoot/1/value", slot, value])`. The fence is not in it, so
certificates of one slot may differ in fence and signers and still be the same decision
(design: federation, value and digest).
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from federation.certificates.membership import MOST_MEMBERS
from federation.certificates.messages import MOST_LISTED
from federation.certificates.slots import VOIDABLE, RoundSlot, Slot, slot_from_plain, slot_plain
from federation.codec import LIMITS, encode, find_fault
from federation.core import Code, Digest, OperatorId, PeerError, RecordId
from federation.crypto import Domain, plain_hash

_TAG: Final = Domain.VALUE.value.decode()
_ITEMS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ListValue:
    """The records that count in a phase, in ascending order of their ids."""

    records: tuple[RecordId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidValue:
    """The phase ended too late: nothing counts and nothing was opened."""


VOID: Final = VoidValue()


class Opened(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """One member's share of the beacon in a cut: canonical [member, secret | nil, next hash]."""

    member: OperatorId
    secret: Digest | None
    """Opened secret of this cut; nil if its hash does not stand in the cut before."""
    next_hash: Digest
    """Hash of the secret that the member opens in the next cut."""


class CutValue(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """The next cut: canonical [E, tick, positions, world, secrets]."""

    number: Annotated[int, Meta(ge=1, le=2**63 - 1)]
    tick: bool
    positions: Digest
    """Hash of the blob [[author, seq, head]…]."""
    world: Digest
    """Digest of the world at the cut before."""
    secrets: Annotated[tuple[Opened, ...], Meta(max_length=MOST_MEMBERS)]
    """Of the q witnesses, in ascending order of members."""


Value: TypeAlias = ListValue | VoidValue | CutValue
ValuePlain: TypeAlias = tuple[bytes, ...] | CutValue | None


class _Listed(msgspec.Struct, frozen=True, array_like=True):
    ids: Annotated[tuple[RecordId, ...], Meta(max_length=MOST_LISTED)]


def value_plain(value: Value) -> ValuePlain:
    """Give the form of a value that is hashed and stored: ids, nil for void, or the cut."""
    match value:
        case ListValue():
            return value.records
        case VoidValue():
            return None
        case _:
            return value


def value_from_plain(slot: Slot, plain: object) -> Value:
    """Read a value of a slot from its plain form (lists as msgpack decodes them).

    Raises PeerError NOT_CANONICAL if it is no value of this slot, out of order, or too long.
    """
    try:
        if isinstance(slot, RoundSlot):
            if plain is None and slot.phase in VOIDABLE:
                return VOID
            listed = msgspec.convert([plain], _Listed)
            _ascending(listed.ids)
            return ListValue(records=listed.ids)
        cut = msgspec.convert(plain, CutValue)
    except msgspec.ValidationError as error:
        raise _refused(str(error)) from error
    _ascending(tuple(opened.member for opened in cut.secrets))
    if cut.number != slot.number:
        raise _refused(f"it is cut {cut.number}, the slot is cut {slot.number}")
    return cut


def value_bytes(slot: Slot, value: Value) -> bytes:
    """Give the bytes whose SHA-256 is the digest: slot and value under their tag."""
    return encode([_TAG, slot_plain(slot), value_plain(value)])


def value_digest(slot: Slot, value: Value) -> Digest:
    """Give the digest that a slot's messages and certificates sign."""
    return plain_hash(value_bytes(slot, value))


def value_from_bytes(raw: bytes, slot: Slot) -> Value:
    """Read what `value_bytes` gave; raises PeerError TOO_LARGE or NOT_CANONICAL."""
    if len(raw) > LIMITS.record:
        raise _refused(f"it has {len(raw)} bytes", Code.TOO_LARGE)
    try:
        items = msgspec.msgpack.decode(raw, type=list[object])
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise _refused(find_fault(raw) or str(error)) from error
    if len(items) != _ITEMS or items[0] != _TAG or slot_from_plain(items[1]) != slot:
        raise _refused("it belongs to another slot")
    value = value_from_plain(slot, items[2])
    if value_bytes(slot, value) != raw:
        raise _refused("its bytes are not canonical")
    return value


def value_blobs(value: Value) -> tuple[Digest, ...]:
    """Name the blobs without which a value cannot be used."""
    return (value.positions,) if isinstance(value, CutValue) else ()


def _ascending(names: tuple[bytes, ...]) -> None:
    if any(low >= high for low, high in pairwise(names)):
        raise _refused("its names are not in ascending order")


def _refused(why: str, code: Code = Code.NOT_CANONICAL) -> PeerError:
    return PeerError(
        "value refused",
        why=why,
        fix="send the value as the rule of fresh values or the lock gives it",
        code=code,
    )
