"""A trust head in a file: how one realm shows another whom it trusts.

The file holds the id of its realm and the signed record `instance.trust_head`, as its instance has
put it into its own chain. Another realm knows neither that chain nor the instance, so the operator
who links a realm names the key that must have signed, and got it by a way that he trusts: the first
file that comes is never believed for being the first.
"""

from typing import Final, Literal

import msgspec

from federation.codec import LIMITS, decode, encode
from federation.core import Code, FederationError, PublicKey, Realm
from federation.records import Record, TrustHead, parse_record, verify_record, wire
from node.base.errors import NodeCode, RequestError

LARGEST: Final = LIMITS.record + 1_024
"""Bytes of a file."""


class _File(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    version: Literal[1]
    realm: Realm
    record: bytes


def head_file(realm: Realm, record: Record) -> bytes:
    """Write a signed head as the bytes of a file; `realm` is the one it was signed in."""
    return encode(_File(version=1, realm=realm, record=wire(record)))


def read_head(raw: bytes, *, realm: Realm, key: PublicKey, own: Realm) -> Record:
    """Read the head of `realm`, which `key` must have signed; `own` is our realm.

    Raises RequestError HEAD_REFUSED with the reason: our own realm, another realm than named, not
    canonical or too large, another kind of record, a root that is not of the rows, or a signature
    by another key.
    """
    if realm == own:
        raise refused("it is of this realm itself", fix="link other realms; this one needs no link")
    try:
        file = decode(raw, _File, what="trust head", most=LARGEST)
        if file.realm != realm:
            raise refused(
                f"it is of realm {file.realm.hex()}, not of {realm.hex()}",
                fix="name the realm that it is of, or take the right file",
            )
        record = parse_record(realm, file.record)
        if not isinstance(record.body, TrustHead):
            raise refused(
                f"the record in it is of the kind {record.kind}",
                fix="take a file that `folkmoot federation head` wrote",
            )
        verify_record(record, key)
    except FederationError as error:
        why, fix = error.why, "ask that realm's operator for another file"
        if error.code is Code.BAD_SIGNATURE:
            why = f"the key {key.hex()} has not signed it"
            fix = "compare the key with that realm's operator, by a way that you trust"
        raise refused(why, fix=fix) from error
    return record


def refused(why: str, *, fix: str) -> RequestError:
    """Say why a head was not taken."""
    return RequestError("trust head refused", why=why, fix=fix, code=NodeCode.HEAD_REFUSED)
