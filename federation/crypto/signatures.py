"""Ed25519 by libsodium only.

Libraries disagree about small-order keys and non-canonical encodings; nodes that disagree about
one signature disagree about the log. So one implementation decides, and vectors keep it honest.
Signing is deterministic, so it may happen inside the pure core when a `Signer` is passed in.
"""

import hashlib
from collections.abc import Callable
from typing import Final, Protocol, TypeAlias

from nacl.bindings import (
    crypto_sign,
    crypto_sign_open,
    crypto_sign_seed_keypair,
)
from nacl.exceptions import BadSignatureError

from federation.core import Digest, PublicKey, Realm, RoundId, Seed, Signature
from federation.crypto.arguments import SealedArgument, open_argument, seal_argument
from federation.crypto.ballots import Ballot, open_sealed, seal

_SIGN_BYTES: Final = 64

Verify: TypeAlias = Callable[[PublicKey, bytes, Signature], bool]
"""How signatures are checked: `is_signed_by`, or the same behind a cache."""


class Signer(Protocol):
    """What one key of an identity can do; the only door to secret keys."""

    @property
    def public(self) -> PublicKey:
        """The public half of the key."""
        ...

    def sign(self, payload: bytes) -> Signature:
        """Sign with the current key."""
        ...

    def secret(self, realm: Realm, cut: int) -> bytes:
        """Give the 32-byte beacon secret of a cut: derived, never stored."""
        ...


class BallotSigner(Signer, Protocol):
    """What one key of a voter can do: it also seals and opens its own ballots and arguments.

    Instances never vote, so they make do with a `Signer`. The keys of what is sealed stay inside:
    who can ask for a ballot of one round cannot open the ballots of all.
    """

    def seal(
        self, realm: Realm, round_id: RoundId, ballot: Ballot, *, nonce: bytes, salt: bytes
    ) -> bytes:
        """Encrypt a ballot and its nonce for this key only; `salt` is 24 random bytes."""
        ...

    def open(self, realm: Realm, round_id: RoundId, sealed: bytes) -> tuple[Ballot, bytes]:
        """Give ballot and nonce of what this key sealed in this round; CallerError if it did not."""
        ...

    def seal_argument(
        self, realm: Realm, round_id: RoundId, content: SealedArgument, *, salt: bytes
    ) -> bytes:
        """Encrypt an argument, its text and its nonce for this key only; `salt` is 24 random bytes.

        Raises CallerError if the text is not the one that the argument names.
        """
        ...

    def open_argument(self, realm: Realm, round_id: RoundId, sealed: bytes) -> SealedArgument:
        """Give what this key sealed as an argument in this round; CallerError if it did not."""
        ...


class KeySigner:
    """A signer over a seed in memory; a `BallotSigner`."""

    __slots__ = ("_secret", "_seed", "public")

    def __init__(self, seed: Seed) -> None:
        """Derive the public key of a 32-byte seed."""
        self._seed = seed
        self.public, self._secret = crypto_sign_seed_keypair(seed)

    def sign(self, payload: bytes) -> Signature:
        """Sign `payload`; the same payload always gives the same signature."""
        return crypto_sign(payload, self._secret)[:_SIGN_BYTES]

    def secret(self, realm: Realm, cut: int) -> bytes:
        """BLAKE2b(key = seed, "folkmoot/1/beacon" ‖ realm ‖ cut as 8 bytes) (design: beacon)."""
        return keyed_hash(self._seed, b"folkmoot/1/beacon" + realm + cut.to_bytes(8, "big"))

    def seal(
        self, realm: Realm, round_id: RoundId, ballot: Ballot, *, nonce: bytes, salt: bytes
    ) -> bytes:
        """Encrypt a ballot and its nonce under the key of this voter and round; 552 bytes."""
        return seal(ballot, nonce, key=ballot_key(self._seed, realm, round_id), salt=salt)

    def open(self, realm: Realm, round_id: RoundId, sealed: bytes) -> tuple[Ballot, bytes]:
        """Give ballot and nonce; raises CallerError unless this key sealed them in this round."""
        return open_sealed(sealed, key=ballot_key(self._seed, realm, round_id))

    def seal_argument(
        self, realm: Realm, round_id: RoundId, content: SealedArgument, *, salt: bytes
    ) -> bytes:
        """Encrypt an argument, its text and its nonce under the key of this author and round."""
        return seal_argument(content, key=argument_key(self._seed, realm, round_id), salt=salt)

    def open_argument(self, realm: Realm, round_id: RoundId, sealed: bytes) -> SealedArgument:
        """Give what was sealed; raises CallerError unless this key sealed it in this round."""
        return open_argument(sealed, key=argument_key(self._seed, realm, round_id))


def ballot_key(seed: Seed, realm: Realm, round_id: RoundId) -> bytes:
    """BLAKE2b(key = seed, "folkmoot/1/ballot" ‖ realm ‖ round): seals a ballot (design: commit)."""
    return keyed_hash(seed, b"folkmoot/1/ballot" + realm + round_id)


def argument_key(seed: Seed, realm: Realm, round_id: RoundId) -> bytes:
    """BLAKE2b(key = seed, "folkmoot/1/sealed_argument" ‖ realm ‖ round): seals an argument."""
    return keyed_hash(seed, b"folkmoot/1/sealed_argument" + realm + round_id)


def keyed_hash(key: bytes, content: bytes) -> Digest:
    """BLAKE2b with 32 bytes of output."""
    return hashlib.blake2b(content, key=key, digest_size=32).digest()


def public_key(seed: Seed) -> PublicKey:
    """Derive the public key of a seed."""
    return crypto_sign_seed_keypair(seed)[0]


def sign(seed: Seed, payload: bytes) -> Signature:
    """Sign once with a seed; for many signatures keep a KeySigner."""
    return KeySigner(seed).sign(payload)


def is_signed_by(key: PublicKey, payload: bytes, signature: Signature) -> bool:
    """Tell whether `signature` over `payload` is by `key`, under libsodium's strict rules."""
    if len(key) != 32 or len(signature) != _SIGN_BYTES:  # noqa: PLR2004 # lengths of Ed25519
        return False
    try:
        crypto_sign_open(signature + payload, key)
    except BadSignatureError:
        return False
    return True
