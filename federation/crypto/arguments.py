"""The commitment of a sealed assessment, and its sealed copy (paper 3.2.2; mode `sealed_first`).

Whoever reads the assessments of others first writes something like them. So each is sealed before
any is read: `commitment = SHA-256(canonical ["folkmoot/1/argument", realm, round, author, argument,
nonce])` with the author and the round inside, so that it cannot be copied, moved, or opened two
ways. The sealed copy travels beside it, under a key made of the author's signing key: an agent that
forgets everything can still open its own. Its length tells the length of the text to 1 KiB.
"""

from typing import Annotated, Final, Protocol

import msgspec
from msgspec import Meta
from nacl.bindings import (
    crypto_aead_xchacha20poly1305_ietf_decrypt,
    crypto_aead_xchacha20poly1305_ietf_encrypt,
)
from nacl.exceptions import CryptoError

from federation.codec import LIMITS, check_set, decode, encode
from federation.core import AgentId, CallerError, Code, Digest, PeerError, Realm, RecordId, RoundId
from federation.crypto.hashing import Domain, plain_hash

_STEP: Final = 1024
_LENGTH: Final = 4
_NONCE: Final = 24
_TAG: Final = 16
_Word = Annotated[str, Meta(pattern=r"\A[a-z]{1,16}\Z")]


class Argued(Protocol):
    """What a body of `review.argue` says, whatever else it holds: records are a layer above."""

    @property
    def stance(self) -> str:
        """Where it stands on the artifact."""
        ...

    @property
    def level(self) -> str:
        """What it is about."""
        ...

    @property
    def claim(self) -> int | None:
        """The claim that it is about; None for the whole."""
        ...

    @property
    def evidence(self) -> tuple[Digest, ...]:
        """Digests of what it rests on; a set."""
        ...

    @property
    def replies_to(self) -> RecordId | None:
        """The argument that it answers."""
        ...

    @property
    def text_hash(self) -> Digest | None:
        """Salted hash of its text."""
        ...

    @property
    def text_len(self) -> int:
        """Length of its text in bytes."""
        ...


class Argument(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What is committed to: canonical [stance, level, claim, evidence, replies_to, hash, length].

    Raises ValueError unless the evidence is strictly ascending (`codec.as_set`).
    """

    stance: _Word
    level: _Word
    claim: Annotated[int, Meta(ge=1, le=16)] | None = None
    evidence: Annotated[tuple[Digest, ...], Meta(max_length=16)] = ()
    replies_to: RecordId | None = None
    text_hash: Digest | None = None
    text_len: Annotated[int, Meta(ge=0, le=LIMITS.text)] = 0

    def __post_init__(self) -> None:
        """Hold the set to its one spelling: an argument has one commitment under one nonce."""
        check_set("evidence", self.evidence)


class SealedArgument(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """All that is needed to open a seal: argument, text as it travels, nonce."""

    argument: Argument
    text: Annotated[bytes, Meta(max_length=LIMITS.text)] | None
    """Canonical [salt, content] of the text; None if the argument has none."""
    nonce: Annotated[bytes, Meta(min_length=32, max_length=32)]


def argument_of(body: Argued) -> Argument:
    """Take what is committed to out of a body of `review.argue`."""
    return Argument(
        stance=str(body.stance),
        level=str(body.level),
        claim=body.claim,
        evidence=body.evidence,
        replies_to=body.replies_to,
        text_hash=body.text_hash,
        text_len=body.text_len,
    )


def argument_commitment(
    *, realm: Realm, round_id: RoundId, author: AgentId, argument: Argument, nonce: bytes
) -> Digest:
    """Commit to an argument; `nonce` is 32 fresh random bytes for every seal."""
    return plain_hash(
        encode([Domain.ARGUMENT.value.decode(), realm, round_id, author, argument, nonce])
    )


def argument_opens(
    body: Argued,
    nonce: bytes,
    commitment: Digest,
    *,
    realm: Realm,
    round_id: RoundId,
    author: AgentId,
) -> bool:
    """Tell whether a body and a nonce open a commitment of this author in this round."""
    return commitment == argument_commitment(
        realm=realm, round_id=round_id, author=author, argument=argument_of(body), nonce=nonce
    )


def seal_argument(content: SealedArgument, *, key: bytes, salt: bytes) -> bytes:
    """Encrypt an argument with its text and nonce, padded to whole KiB.

    `key` is `argument_key` of author and round, `salt` 24 random bytes. Raises CallerError if the
    text is not the one that the argument names: it could never be opened.
    """
    _check_text(content)
    plain = encode(content)
    size = _LENGTH + len(plain)
    padded = len(plain).to_bytes(_LENGTH, "big") + plain + bytes(-size % _STEP)
    return salt + crypto_aead_xchacha20poly1305_ietf_encrypt(padded, None, salt, key)


def open_argument(sealed: bytes, *, key: bytes) -> SealedArgument:
    """Open one's own sealed argument; CallerError if it is not what was sealed with `key`."""
    if len(sealed) < _NONCE + _STEP + _TAG:
        raise _unopened(f"it has {len(sealed)} bytes, fewer than any sealed argument")
    try:
        padded = crypto_aead_xchacha20poly1305_ietf_decrypt(
            sealed[_NONCE:], None, sealed[:_NONCE], key
        )
    except CryptoError as error:
        raise _unopened("it was sealed under another key, or its bytes were changed") from error
    size = int.from_bytes(padded[:_LENGTH], "big")
    try:
        return decode(padded[_LENGTH : _LENGTH + size], SealedArgument, what="sealed argument")
    except PeerError as error:
        raise _unopened("what it holds is not an argument") from error


def _check_text(content: SealedArgument) -> None:
    argument, text = content.argument, content.text
    named = (None, 0) if text is None else (plain_hash(text), len(text))
    if named != (argument.text_hash, argument.text_len):
        raise CallerError(
            "argument not sealed",
            why="its text is not the one that its hash and length name",
            fix="bind the text first, and seal the argument together with that text",
            code=Code.COMMITMENT_MISMATCH,
        )


def _unopened(why: str) -> CallerError:
    return CallerError(
        "sealed argument not opened",
        why=why,
        fix="open it with the signing key of the key_index of its record",
        code=Code.COMMITMENT_MISMATCH,
    )
