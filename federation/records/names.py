"""How ids and keys are shown to people: CIDv1 for records, did:key for keys."""

import base64
from typing import Final

from federation.core import PublicKey, Realm
from federation.crypto.hashing import Domain
from federation.records.record import Record

_BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_CID_RAW_SHA256: Final = b"\x01\x55\x12\x20"
"""CIDv1, codec raw, multihash sha2-256 of 32 bytes."""
_ED25519_PUB: Final = b"\xed\x01"
"""Multicodec ed25519-pub as an unsigned varint."""


def cid(record: Record) -> str:
    """CIDv1 (raw, sha2-256, base32) of "folkmoot/1/record" ‖ realm ‖ statement."""
    return "b" + base64.b32encode(_CID_RAW_SHA256 + record.id).decode().rstrip("=").lower()


def cid_preimage(realm: Realm, record: Record) -> bytes:
    """Give the bytes whose CIDv1 is the record's: what another tool hashes to check us."""
    return Domain.RECORD.value + realm + record.statement_raw


def did_key(key: PublicKey) -> str:
    """did:key of an Ed25519 public key (`did:key:z6Mk…`)."""
    number = int.from_bytes(_ED25519_PUB + key, "big")
    digits = ""
    while number:
        number, digit = divmod(number, 58)
        digits = _BASE58[digit] + digits
    return f"did:key:z{digits}"
