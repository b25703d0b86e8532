"""A second reading of sealed arguments, by msgpack and the other interface of libsodium."""

import hashlib
from typing import Final

import msgpack
import nacl.exceptions
import nacl.secret

Plain = list[object]
_HASH: Final = 32
_EVIDENCE: Final = 16
_CLAIMS: Final = 16
_TEXT: Final = 16 * 1024
_WORD: Final = 16
_PARTS: Final = 7


def commitment(
    realm: bytes, round_id: bytes, author: bytes, argument: Plain, nonce: bytes
) -> bytes:
    """Hash the list that a seal commits to."""
    packed = msgpack.packb(
        ["folkmoot/1/argument", realm, round_id, author, argument, nonce], use_bin_type=True
    )
    return hashlib.sha256(packed).digest()


def argument_key(seed: bytes, realm: bytes, round_id: bytes) -> bytes:
    """Derive the key of an author's seal in a round."""
    content = b"".join((b"folkmoot/1/sealed_argument", realm, round_id))
    return hashlib.blake2b(content, key=seed, digest_size=_HASH).digest()


def read_argument(raw: bytes) -> Plain | None:
    """Give the parts of an argument, or None if these bytes are no argument in its one spelling."""
    try:
        parts = msgpack.unpackb(raw, raw=False)
    except (ValueError, msgpack.UnpackException):
        return None
    if not isinstance(parts, list) or msgpack.packb(parts, use_bin_type=True) != raw:
        return None
    return parts if _is_argument(parts) else None


def open_sealed(sealed: bytes, key: bytes) -> tuple[Plain, bytes | None, bytes] | None:
    """Give argument, text and nonce, or None if `key` did not seal them."""
    try:
        padded = nacl.secret.Aead(key).decrypt(sealed[24:], b"", sealed[:24])
    except (nacl.exceptions.CryptoError, ValueError):
        return None
    size = int.from_bytes(padded[:4], "big")
    if size > len(padded) - 4 or len(padded) % 1024 or any(padded[4 + size :]):
        return None
    try:
        opened = msgpack.unpackb(padded[4 : 4 + size], raw=False)
    except (ValueError, msgpack.UnpackException):
        return None
    match opened:
        case [list(argument), (bytes() | None) as text, bytes(nonce)] if len(
            nonce
        ) == _HASH and _is_argument(argument):
            return argument, text, nonce
        case _:
            return None


def text_is(argument: Plain, text: bytes | None) -> bool:
    """Tell whether a text is the one that the argument names."""
    if text is None:
        return argument[5:] == [None, 0]
    return argument[5:] == [hashlib.sha256(text).digest(), len(text)]


def _is_argument(parts: Plain) -> bool:
    if len(parts) != _PARTS:
        return False
    stance, level, claim, evidence, replies_to, text_hash, text_len = parts
    return (
        _is_word(stance)
        and _is_word(level)
        and (claim is None or (isinstance(claim, int) and 1 <= claim <= _CLAIMS))
        and isinstance(evidence, list)
        and len(evidence) <= _EVIDENCE
        and all(_is_hash(one) for one in evidence)
        and evidence == sorted(set(evidence))
        and (replies_to is None or _is_hash(replies_to))
        and (text_hash is None or _is_hash(text_hash))
        and isinstance(text_len, int)
        and 0 <= text_len <= _TEXT
    )


def _is_word(value: object) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= _WORD and set(value) <= set(_LETTERS)


def _is_hash(value: object) -> bool:
    return isinstance(value, bytes) and len(value) == _HASH


_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
