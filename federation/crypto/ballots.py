"""The ballot, its commitment, and its sealed copy (paper 3.2.2; design: commit).

`commitment = SHA-256(canonical ["folkmoot/1/vote", realm, round, voter, ballot, nonce])`: the
voter and the round are inside, so a commitment cannot be copied, moved to another round, or
opened two ways. The sealed copy travels in the commit record, encrypted under a key derived from
the voter's signing key: an agent that forgets everything can still reveal.
"""

from enum import IntEnum, StrEnum
from typing import Annotated, Final

import msgspec
from msgspec import Meta
from nacl.bindings import (
    crypto_aead_xchacha20poly1305_ietf_decrypt,
    crypto_aead_xchacha20poly1305_ietf_encrypt,
)
from nacl.exceptions import CryptoError

from federation.codec import check_set, decode, encode
from federation.core import AgentId, CallerError, Code, Digest, PeerError, Realm, RoundId
from federation.crypto.hashing import Domain, plain_hash

_PADDED: Final = 512
_NONCE: Final = 24
_TAG: Final = 16
SEALED_BYTES: Final = _NONCE + _PADDED + _TAG
"""552: nonce, padded ballot, authentication tag."""


class Choice(IntEnum):
    """A vote: for, against, or neither."""

    FOR = 1
    ABSTAIN = 0
    AGAINST = -1


class Reason(StrEnum):
    """Why, in one word (paper 3.2.2)."""

    ACCURATE = "accurate"
    WELL_SOURCED = "well_sourced"
    NOVEL = "novel"
    REDUNDANT = "redundant"
    INACCURATE = "inaccurate"
    UNSOURCED = "unsourced"
    HARMFUL = "harmful"
    UNCLEAR = "unclear"


class Basis(StrEnum):
    """How the voter came to its answer."""

    RETRIEVAL = "retrieval"
    TOOL = "tool"
    DERIVATION = "derivation"
    MEMORY = "memory"


Few = Annotated[tuple[Digest, ...], Meta(max_length=4)]


class Ballot(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One vote as it is committed: canonical [choice, reason, basis, evidence, arguments].

    Raises ValueError unless evidence and arguments are strictly ascending (`codec.as_set`).
    """

    choice: Choice
    reason: Reason
    basis: Basis
    evidence: Few = ()
    """Digests of what the voter looked at; a set."""
    arguments: Few = ()
    """Ids of the arguments it relies on; a set."""

    def __post_init__(self) -> None:
        """Hold both sets to their one spelling: a ballot has one commitment under one nonce."""
        check_set("evidence", self.evidence)
        check_set("arguments", self.arguments)


class _Padded(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    ballot: Ballot
    nonce: Annotated[bytes, Meta(min_length=32, max_length=32)]


def commitment(
    *, realm: Realm, round_id: RoundId, voter: AgentId, ballot: Ballot, nonce: bytes
) -> Digest:
    """Commit to a ballot; `nonce` is 32 fresh random bytes for every round."""
    return plain_hash(encode([Domain.VOTE.value.decode(), realm, round_id, voter, ballot, nonce]))


def seal(ballot: Ballot, nonce: bytes, *, key: bytes, salt: bytes) -> bytes:
    """Encrypt ballot and nonce, padded to 512 bytes: 552 bytes that tell nothing of the vote.

    `key` is `ballot_key` of voter and round, `salt` 24 random bytes.
    """
    plain = encode(_Padded(ballot=ballot, nonce=nonce))
    padded = len(plain).to_bytes(2, "big") + plain + bytes(_PADDED - 2 - len(plain))
    return salt + crypto_aead_xchacha20poly1305_ietf_encrypt(padded, None, salt, key)


def open_sealed(sealed: bytes, *, key: bytes) -> tuple[Ballot, bytes]:
    """Open one's own sealed ballot; raises CallerError if it is not what `seal` made with `key`."""
    if len(sealed) != SEALED_BYTES:
        raise _unopened(f"it has {len(sealed)} bytes, not {SEALED_BYTES}")
    try:
        padded = crypto_aead_xchacha20poly1305_ietf_decrypt(
            sealed[_NONCE:], None, sealed[:_NONCE], key
        )
    except CryptoError as error:
        raise _unopened("it was sealed under another key, or its bytes were changed") from error
    size = int.from_bytes(padded[:2], "big")
    try:
        opened = decode(padded[2 : 2 + size], _Padded, what="sealed ballot")
    except PeerError as error:
        raise _unopened("what it holds is not a ballot") from error
    return opened.ballot, opened.nonce


def _unopened(why: str) -> CallerError:
    return CallerError(
        "sealed ballot not opened",
        why=why,
        fix="open it with the signing key of the commit's key_index",
        code=Code.COMMITMENT_MISMATCH,
    )


def opens(
    ballot: Ballot,
    nonce: bytes,
    committed: Digest,
    *,
    realm: Realm,
    round_id: RoundId,
    voter: AgentId,
) -> bool:
    """Tell whether ballot and nonce open a commitment of this voter in this round."""
    return committed == commitment(
        realm=realm, round_id=round_id, voter=voter, ballot=ballot, nonce=nonce
    )
