"""One identity as the bytes of one file (ADR 22).

    "folkmoot key file 1", a line break ‖ canonical [lock, nonce, about, sealed] ‖ SHA-256 of all before

`lock` is the salt and the cost of the key that all files of a keystore share, so that one run of
Argon2id unlocks all. `sealed` is XChaCha20-Poly1305 with everything before it as associated data:
no field can be changed, and no file can pass for another identity's. The hash at the end needs no
key. It tells a damaged file from a wrong passphrase, and is no protection against an attacker.
"""

from dataclasses import dataclass
from typing import Annotated, Final

import msgspec
from msgspec import Meta
from nacl.bindings import (
    crypto_aead_xchacha20poly1305_ietf_decrypt,
    crypto_aead_xchacha20poly1305_ietf_encrypt,
)
from nacl.exceptions import CryptoError

from federation.codec import decode, encode
from federation.core import IdentityId, PeerError, PublicKey, Seed
from federation.crypto import plain_hash, public_key
from federation.records import Role
from federation.records.bodies import Name
from node.base.errors import KeystoreError, NodeCode
from node.keys.cost import Cost
from node.keys.identity import Identity, Kept

_FORMAT: Final = b"folkmoot key file "
_VERSION: Final = b"1"
_PREAMBLE: Final = _FORMAT + _VERSION + b"\n"
_HASH: Final = 32
SALT: Final = 16
NONCE: Final = 24
MOST_BYTES: Final = 64 * 1024
"""No key file is larger: over a thousand rotations fit."""

Salt = Annotated[bytes, Meta(min_length=SALT, max_length=SALT)]
Nonce = Annotated[bytes, Meta(min_length=NONCE, max_length=NONCE)]
Count = Annotated[int, Meta(ge=0)]


class _Wire(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A list in the file."""


class Lock(_Wire, frozen=True, array_like=True, forbid_unknown_fields=True):
    """How the key of a keystore comes from its passphrase; the same in all its files."""

    salt: Salt
    memory: Count
    """KiB."""
    passes: Count

    @property
    def cost(self) -> Cost:
        """Give the cost of a guess."""
        return Cost(memory=self.memory, passes=self.passes)


class About(_Wire, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Whose keys a file holds: readable without the passphrase."""

    id: IdentityId
    role: Role
    name: Name
    key_index: Count
    public: PublicKey
    """The current key."""


class _Body(_Wire, frozen=True, array_like=True, forbid_unknown_fields=True):
    lock: Lock
    nonce: Nonce
    about: About | None
    sealed: bytes


class _Header(_Wire, frozen=True, array_like=True, forbid_unknown_fields=True):
    lock: Lock
    nonce: Nonce
    about: About | None


class _Secrets(_Wire, frozen=True, array_like=True, forbid_unknown_fields=True):
    seeds: tuple[Seed, ...]
    next: Seed | None
    recovery: Seed | None

    def __repr__(self) -> str:
        """Show nothing."""
        return "_Secrets(hidden)"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFile:
    """A key file whose form is sound; whether its words are true shows when it is opened."""

    file: str
    """Its name in the directory."""
    lock: Lock
    about: About | None
    """None in the head, which holds no identity and only tells a passphrase right or wrong."""
    nonce: bytes
    sealed: bytes


def seal_file(key: bytes, lock: Lock, identity: Identity | None, *, nonce: bytes) -> bytes:
    """Give the bytes of an identity's file, or of the head; `nonce` is 24 fresh random bytes."""
    about, plain = None, b""
    if identity is not None:
        about = About(
            id=identity.id,
            role=identity.role,
            name=identity.name,
            key_index=len(identity.seeds) - 1,
            public=public_key(identity.seeds[-1]),
        )
        plain = encode(
            _Secrets(seeds=identity.seeds, next=identity.next, recovery=identity.recovery)
        )
    sealed = crypto_aead_xchacha20poly1305_ietf_encrypt(
        plain, _associated(lock, nonce, about), nonce, key
    )
    whole = _PREAMBLE + encode(_Body(lock=lock, nonce=nonce, about=about, sealed=sealed))
    return whole + plain_hash(whole)


def parse_file(file: str, raw: bytes) -> KeyFile:
    """Read the form of a key file.

    Raises KeystoreError KEY_FILE_DAMAGED, or KEYSTORE_NEWER for a version yet to come.
    """
    whole, check = raw[:-_HASH], raw[-_HASH:]
    if not raw.startswith(_FORMAT):
        raise damaged(file, "it does not begin as a key file does")
    if plain_hash(whole) != check:
        raise damaged(file, "its bytes were changed or cut off since it was written")
    if not whole.startswith(_PREAMBLE):
        raise KeystoreError(
            f"{file} not opened",
            why="a later version of folkmoot has written it",
            fix="run that version",
            code=NodeCode.KEYSTORE_NEWER,
        )
    try:
        body = decode(whole[len(_PREAMBLE) :], _Body, what="key file", most=MOST_BYTES)
    except PeerError as error:
        raise damaged(file, error.why) from error
    return KeyFile(
        file=file, lock=body.lock, about=body.about, nonce=body.nonce, sealed=body.sealed
    )


def is_opened_by(one: KeyFile, key: bytes) -> bool:
    """Tell whether a key opens a file."""
    return _decrypt(one, key) is not None


def open_file(one: KeyFile, key: bytes) -> Identity | None:
    """Give the identity in a file; None for the head.

    Raises KeystoreError KEY_FILE_DAMAGED if the key does not open it, or what it holds is not what
    its header says.
    """
    plain = _decrypt(one, key)
    if plain is None:
        raise damaged(one.file, "the passphrase opens the other files, but not this one")
    if one.about is None:
        return None
    secrets = _read_secrets(plain)
    # Behind the authentication these catch only our own mistakes: a key that is not the one the
    # header names would sign records that every node refuses.
    if secrets is None or not secrets.seeds:
        raise damaged(one.file, "it holds no keys")
    if (len(secrets.seeds) - 1, public_key(secrets.seeds[-1])) != (
        one.about.key_index,
        one.about.public,
    ):
        raise damaged(one.file, "its secret key is not that of the public key in its header")
    return Identity(
        id=one.about.id,
        role=one.about.role,
        name=one.about.name,
        seeds=secrets.seeds,
        next=secrets.next,
        recovery=secrets.recovery,
    )


def kept(identity: Identity) -> Kept:
    """Give what may be shown of an identity."""
    return Kept(
        id=identity.id,
        role=identity.role,
        name=identity.name,
        key_index=len(identity.seeds) - 1,
        public=public_key(identity.seeds[-1]),
        next=None if identity.next is None else public_key(identity.next),
        recovery=None if identity.recovery is None else public_key(identity.recovery),
    )


def damaged(file: str, why: str) -> KeystoreError:
    """Refuse a file; `why` holds nothing secret."""
    return KeystoreError(
        f"{file} not opened",
        why=why,
        fix="put back its backup, or move the file out of the keystore to go on without it",
        code=NodeCode.KEY_FILE_DAMAGED,
    )


def _associated(lock: Lock, nonce: bytes, about: About | None) -> bytes:
    return _PREAMBLE + encode(_Header(lock=lock, nonce=nonce, about=about))


def _decrypt(one: KeyFile, key: bytes) -> bytes | None:
    associated = _associated(one.lock, one.nonce, one.about)
    try:
        return crypto_aead_xchacha20poly1305_ietf_decrypt(one.sealed, associated, one.nonce, key)
    except CryptoError:
        return None


def _read_secrets(plain: bytes) -> _Secrets | None:
    """Give the secrets, or None: the decoder's error would quote them."""
    try:
        return decode(plain, _Secrets, what="secrets", most=MOST_BYTES)
    except PeerError:
        return None
