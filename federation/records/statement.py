"""The signed line of a record (design: records, encoding).

`[1, kind, author, key_index, seq, prev, at, body_len, SHA-256(body)]`, canonical. Its hash under
the realm is the record's id, and the id is what the author signs: the same statement in another
realm is another record, so nothing can be replayed into a federation it was not written for.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from federation.core import Digest, IdentityId, Realm, RecordId
from federation.crypto import Domain, digest

SIGN_DOMAIN: Final = b"folkmoot/1/sign"
INTEGER_LIMIT: Final = 2**53 - 1
"""Largest integer in a statement: every language reads it exactly."""

KindName = Annotated[str, Meta(pattern=r"\A[a-z]{1,20}\.[a-z_]{1,20}\Z")]
Count = Annotated[int, Meta(ge=0, le=INTEGER_LIMIT)]


class Statement(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One signed line; array on the wire, in this order."""

    version: Literal[1]
    kind: KindName
    author: IdentityId
    """The identity; 32 zero bytes for `identity.incept`, whose id becomes the identity."""
    key_index: Count
    """Number of rotations of the author so far: which of its keys signed."""
    seq: Count
    prev: Digest | None
    """Id of the author's record before this one; nil only at an inception."""
    at: Count
    """Milliseconds since 1970 as the author claims; for display and sorting, decides nothing."""
    body_len: Count
    body_hash: Digest


def record_id(realm: Realm, statement_raw: bytes) -> RecordId:
    """SHA-256("folkmoot/1/record" ‖ realm ‖ statement)."""
    return digest(Domain.RECORD, realm, statement_raw)


def signing_payload(record: RecordId) -> bytes:
    """Give the bytes that an author signs: "folkmoot/1/sign" ‖ id."""
    return SIGN_DOMAIN + record
