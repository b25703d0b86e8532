"""Ed25519 keys from and to the private key files of OpenSSH.

Such a file is not authenticated: with a bit flipped in its secret part it loads as another key,
encrypted or not. So the public key is derived from what was loaded and compared with the one that
stands in clear in the file, and with the one that the caller expects. Its cost is not bounded
either: a file can ask for four thousand million rounds, so the header is read here first.
"""

import re
from binascii import Error as Base64Error
from binascii import a2b_base64
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    load_ssh_private_key,
)

from federation.core import PublicKey, Seed
from federation.crypto import public_key
from node.base.errors import KeystoreError, NodeCode

_ARMOUR: Final = re.compile(
    rb"\A\s*-----BEGIN OPENSSH PRIVATE KEY-----\s(.*)-----END OPENSSH PRIVATE KEY-----\s*\Z",
    re.DOTALL,
)
_MAGIC: Final = b"openssh-key-v1\0"
_ED25519: Final = b"ssh-ed25519"
_NONE: Final = b"none"
_MOST_BYTES: Final = 16 * 1024
_ROUNDS: Final = 64
"""Of bcrypt in files written here, ~.5 s; ssh-keygen writes 24 unless told otherwise."""
_MOST_ROUNDS: Final = 1_000
_MOST_PASSPHRASE: Final = 72
"""Bytes; OpenSSH's bcrypt takes no more."""
_LENGTH: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outside:
    """What a key file tells without its passphrase."""

    public: PublicKey
    encrypted: bool
    rounds: int


def read_key(raw: bytes, passphrase: bytes | None, *, expected: PublicKey | None = None) -> Seed:
    """Give the seed in an OpenSSH private key file, of at most 16 KiB.

    `passphrase` is ignored for a file that is not encrypted. Raises KeystoreError BAD_OPENSSH_KEY
    if the file is damaged, of another kind, locked by another passphrase, or not of `expected`.
    """
    outside = _outside(raw)
    if outside is None:
        raise _bad("it is damaged, or no private key of OpenSSH with one Ed25519 key")
    if outside.rounds > _MOST_ROUNDS:
        raise _bad(f"it asks for {outside.rounds} rounds of bcrypt, at most {_MOST_ROUNDS} are run")
    if outside.encrypted and not passphrase:
        raise _bad("it is encrypted, and no passphrase was given")
    seed = _load(raw, passphrase if outside.encrypted else None)
    if seed is None:
        raise _bad("it is damaged" + (", or the passphrase is wrong" if outside.encrypted else ""))
    if public_key(seed) != outside.public:
        raise _bad("it is damaged: its secret key is not that of its public key")
    if expected is not None and outside.public != expected:
        raise _bad("it holds another key than the one that is expected")
    return seed


def write_key(seed: Seed, passphrase: bytes | None) -> bytes:
    """Give a seed as an OpenSSH private key file; None leaves it unencrypted.

    Raises KeystoreError BAD_OPENSSH_KEY for an empty passphrase or one of over 72 bytes.
    """
    how: KeySerializationEncryption = NoEncryption()
    if passphrase is not None:
        if not 1 <= len(passphrase) <= _MOST_PASSPHRASE:
            raise KeystoreError(
                "key not exported",
                why=f"OpenSSH takes passphrases of 1 to {_MOST_PASSPHRASE} bytes",
                fix="choose another passphrase for the exported file",
                code=NodeCode.BAD_OPENSSH_KEY,
            )
        how = PrivateFormat.OpenSSH.encryption_builder().kdf_rounds(_ROUNDS).build(passphrase)
    key = Ed25519PrivateKey.from_private_bytes(seed)
    return key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, how)


def _load(raw: bytes, passphrase: bytes | None) -> Seed | None:
    """Load by the library; its errors go no further, for they may quote what they read."""
    try:
        key = load_ssh_private_key(raw, passphrase)
    except (ValueError, TypeError, InvalidTag, UnsupportedAlgorithm):
        return None
    return key.private_bytes_raw() if isinstance(key, Ed25519PrivateKey) else None


def _outside(raw: bytes) -> _Outside | None:
    """Read the header: magic, cipher, KDF with its options, count, public key."""
    armour = _ARMOUR.match(raw) if len(raw) <= _MOST_BYTES else None
    if armour is None:
        return None
    try:
        rest = a2b_base64(armour[1])
        if not rest.startswith(_MAGIC):
            return None
        cipher, rest = _string(rest[len(_MAGIC) :])
        _, rest = _string(rest)
        options, rest = _string(rest)
        count, rest = rest[:_LENGTH], rest[_LENGTH:]
        public, rest = _string(rest)
        kind, public = _string(public)
        key, public = _string(public)
        encrypted = cipher != _NONE
        rounds = _string(options)[1] if encrypted else b""
    except (Base64Error, IndexError):
        return None
    if (int.from_bytes(count, "big"), kind, len(key), public) != (1, _ED25519, 32, b""):
        return None
    return _Outside(public=key, encrypted=encrypted, rounds=int.from_bytes(rounds, "big"))


def _string(data: bytes) -> tuple[bytes, bytes]:
    """Split a counted string from what follows; IndexError if it is cut off."""
    end = _LENGTH + int.from_bytes(data[:_LENGTH], "big")
    if len(data) < end:
        raise IndexError
    return data[_LENGTH:end], data[end:]


def _bad(why: str) -> KeystoreError:
    return KeystoreError(
        "OpenSSH key not imported",
        why=why,
        fix="take an Ed25519 private key as `ssh-keygen -t ed25519` writes it, and its passphrase",
        code=NodeCode.BAD_OPENSSH_KEY,
    )
