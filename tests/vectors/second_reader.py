"""A second reading of the formats, from the documents alone.

It imports nothing of `federation`: the msgpack package instead of msgspec, hashlib, `cryptography`
for Ed25519, its own base32 and base58, its own schema of every kind (`second_schemas`). Where it and the library
disagree, one of them or the reference page is wrong.
"""

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

import msgpack
import nacl.exceptions
import nacl.secret
import nacl.signing
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.vectors.second_schemas import SCHEMAS, SEALED, STATEMENT, TEXTS, WIRE

OK: Final = "OK"


class UnacceptableError(Exception):
    """A value that is not canonical or not of its schema."""


def sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


# Canonical msgpack.


def _pairs(pairs: Iterable[tuple[object, object]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for key, value in pairs:
        if not isinstance(key, str) or key in fields:
            raise UnacceptableError("key")
        fields[key] = value
    if list(fields) != sorted(fields, key=str.encode):
        raise UnacceptableError("order")
    return fields


def _no_extension(code: int, _: bytes) -> object:
    raise UnacceptableError(f"extension {code}")


def _check_plain(value: object, depth: int) -> None:
    match value:
        case None | bool() | int() | bytes():
            return
        case str():
            unknown = any(unicodedata.category(character) == "Cn" for character in value)
            if "\0" in value or unknown or unicodedata.normalize("NFC", value) != value:
                raise UnacceptableError("text")
        case list() if depth <= 8:
            for item in value:
                _check_plain(item, depth + 1)
        case dict() if depth <= 8:
            for key, item in value.items():
                _check_plain(key, depth + 1)
                _check_plain(item, depth + 1)
        case _:
            raise UnacceptableError(type(value).__name__)


def read_canonical(raw: bytes) -> object:
    """Read canonical msgpack, or raise UnacceptableError."""
    try:
        value = msgpack.unpackb(
            raw,
            raw=False,
            strict_map_key=False,
            object_pairs_hook=_pairs,
            ext_hook=_no_extension,
            max_array_len=1_024,
            max_map_len=64,
        )
    except (ValueError, TypeError, msgpack.exceptions.UnpackException) as error:
        raise UnacceptableError("msgpack") from error
    _check_plain(value, 1)
    if msgpack.packb(value, use_bin_type=True) != raw:
        raise UnacceptableError("not the shortest form")
    return value


# Records.


def split(raw: bytes) -> tuple[bytes, bytes, bytes | None, bytes]:
    """Take a record apart, or raise UnacceptableError."""
    parts = read_canonical(raw)
    if not WIRE(parts) or not isinstance(parts, list):
        raise UnacceptableError("wire")
    statement, body, text, signature = parts
    return statement, body, text, signature


def _read_parts(raw: bytes) -> tuple[list[object], object]:
    """Give statement and body of a well-formed record, or raise UnacceptableError."""
    statement_raw, body_raw, _, _ = split(raw)
    statement = read_canonical(statement_raw)
    body = read_canonical(body_raw)
    if not STATEMENT(statement) or not isinstance(statement, list):
        raise UnacceptableError("statement")
    _, kind, author, key_index, seq, prev, _, body_len, body_hash = statement
    if body_len != len(body_raw) or body_hash != sha256(body_raw):
        raise UnacceptableError("body")
    first = kind == "identity.incept"
    if (author == bytes(32), prev is None, seq == 0) != (first, first, first):
        raise UnacceptableError("place in the chain")
    if first and key_index != 0:
        raise UnacceptableError("key index of an inception")
    if kind in SCHEMAS and not SCHEMAS[kind][1](body):
        raise UnacceptableError(kind)
    return statement, body


def judge(realm: bytes, raw: bytes, *, key: bytes, role: str) -> str:
    """Give OK or the code under which a record is refused; `role` is its author's."""
    if len(raw) > 65_536:
        return "TOO_LARGE"
    try:
        text = split(raw)[2]
        if text is not None and len(text) > 16_384:
            return "TOO_LARGE"
        statement, _ = _read_parts(raw)
    except UnacceptableError:
        return "NOT_CANONICAL"
    kind = statement[1]
    if kind in SCHEMAS and role not in SCHEMAS[str(kind)][0]:
        return "WRONG_ROLE"
    payload = b"folkmoot/1/sign" + record_id(realm, split(raw)[0])
    return OK if openssl_accepts(key, payload, split(raw)[3]) else "BAD_SIGNATURE"


def record_id(realm: bytes, statement: bytes) -> bytes:
    return sha256(b"folkmoot/1/record", realm, statement)


def kept_text(raw: bytes) -> bytes | None:
    """Give the text of a well-formed record if it is the one its body names."""
    _, _, text, _ = split(raw)
    _, body = _read_parts(raw)
    if not isinstance(body, dict) or text is None:
        return None
    bound = body.get("text_hash") == sha256(text) and body.get("text_len") == len(text)
    return text if bound else None


def read_text(raw: bytes, kind: str) -> object:
    """Give the content of a text, or None."""
    try:
        row = read_canonical(raw)
    except UnacceptableError:
        return None
    if len(raw) > 16_384 or not TEXTS[kind](row) or not isinstance(row, list):
        return None
    content: object = row[1]
    return content


def text_id(content: object) -> bytes:
    return sha256(b"folkmoot/1/text", _pack_sorted(content))


# Names for people.


def cid(record: bytes) -> str:
    """CIDv1 of a record id, base32 by repeated division."""
    number, letters = int.from_bytes(b"\x01\x55\x12\x20" + record, "big") << 2, ""
    for _ in range(58):  # 36 bytes are 288 bits; two zero bits make 58 letters of 5.
        number, five = divmod(number, 32)
        letters = "abcdefghijklmnopqrstuvwxyz234567"[five] + letters
    return "b" + letters


def key_of_did(name: str) -> bytes:
    """Read a did:key back into an Ed25519 public key."""
    prefix = "did:key:z"
    if not name.startswith(prefix):
        raise UnacceptableError(name)
    alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    number = 0
    for letter in name.removeprefix(prefix):
        number = number * 58 + alphabet.index(letter)
    raw = number.to_bytes(34, "big")
    if raw[:2] != b"\xed\x01":
        raise UnacceptableError(name)
    return raw[2:]


# Signatures.


def openssl_accepts(key: bytes, message: bytes, signature: bytes) -> bool:
    """Give the verdict of the `cryptography` package."""
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def libsodium_accepts(key: bytes, message: bytes, signature: bytes) -> bool:
    """Give the verdict of libsodium, by the high-level interface of PyNaCl."""
    try:
        nacl.signing.VerifyKey(key).verify(message, signature)
    except (nacl.exceptions.BadSignatureError, nacl.exceptions.ValueError):
        return False
    return True


# Ballots.


def commitment(
    realm: bytes, round_id: bytes, voter: bytes, ballot: list[object], nonce: bytes
) -> bytes:
    return sha256(_pack_sorted(["folkmoot/1/vote", realm, round_id, voter, ballot, nonce]))


def ballot_key(seed: bytes, realm: bytes, round_id: bytes) -> bytes:
    content = b"folkmoot/1/ballot" + realm + round_id
    return hashlib.blake2b(content, key=seed, digest_size=32).digest()


def beacon_secret(seed: bytes, realm: bytes, cut: int) -> bytes:
    content = b"folkmoot/1/beacon" + realm + cut.to_bytes(8, "big")
    return hashlib.blake2b(content, key=seed, digest_size=32).digest()


def open_sealed(sealed: bytes, key: bytes) -> tuple[list[object], bytes] | None:
    """Give ballot and nonce, or None if another key sealed them."""
    try:
        padded = nacl.secret.Aead(key).decrypt(sealed[24:], b"", sealed[:24])
    except nacl.exceptions.CryptoError:
        return None
    size = int.from_bytes(padded[:2], "big")
    opened = read_canonical(padded[2 : 2 + size])
    if len(padded) != 512 or any(padded[2 + size :]) or not SEALED(opened):
        return None
    if not isinstance(opened, list):
        return None
    ballot, nonce = opened
    return ballot, nonce


# Key logs.


def judge_key_event(realm: bytes, before: list[bytes], raw: bytes) -> str:
    """Give OK or the code for `raw` as the next record of a key log; all of `before` are good."""
    statement, body = _read_parts(raw)
    fields = _mapping(body)
    kind = statement[1]
    if kind == "identity.incept":
        return judge(realm, raw, key=_as_bytes(fields["key"]), role=str(fields["role"]))
    if not _is_next(realm, before, statement):
        return "BAD_CHAIN"
    by, revealed = str(fields.get("by", "current")), fields.get("key")
    allowed = _allowed_keys(before, str(kind), by)
    if (by == "current") != (revealed is None) or not allowed:
        return "BAD_CHAIN"
    key = allowed[0] if revealed is None else _as_bytes(revealed)
    if revealed is not None and key_hash(key) not in allowed:
        return "BAD_CHAIN"
    first = _mapping(_read_parts(before[0])[1])
    return judge(realm, raw, key=key, role=str(first["role"]))


def judge_fork(realm: bytes, before: list[bytes], raw: bytes) -> str:
    """Give OK or the code for the body of a `log.fork` at the place after `before`."""
    try:
        fields = _mapping(read_canonical(raw))
        if not SCHEMAS["log.fork"][1](fields):
            return "NOT_CANONICAL"
        halves = [_as_list(fields["a"]), _as_list(fields["b"])]
        statements = [_as_list(read_canonical(_as_bytes(half[0]))) for half in halves]
    except UnacceptableError:
        return "NOT_CANONICAL"
    if not all(map(STATEMENT, statements)):
        return "NOT_CANONICAL"
    if halves[0][0] == halves[1][0] or any(one[2] != fields["author"] for one in statements):
        return "NOT_PROVEN"
    for half, statement in zip(halves, statements, strict=True):
        _, signature, key = half
        if not _is_next(realm, before, statement):
            return "NOT_PROVEN"
        kind = str(statement[1])
        if key is None:
            current = _allowed_keys(before, kind, "current")
            if not current:
                return "NOT_PROVEN"
            key = current[0]
        else:
            committed = [*_allowed_keys(before, kind, "next")]
            committed += _allowed_keys(before, kind, "recovery")
            if key_hash(_as_bytes(key)) not in committed:
                return "NOT_PROVEN"
        payload = b"folkmoot/1/sign" + record_id(realm, _as_bytes(half[0]))
        if not openssl_accepts(_as_bytes(key), payload, _as_bytes(signature)):
            return "BAD_SIGNATURE"
    return OK


def _is_next(realm: bytes, before: list[bytes], statement: list[object]) -> bool:
    """Tell whether a statement stands at the next place of a key log, under the right number."""
    _, kind, author, key_index, seq, prev, _, _, _ = statement
    kinds = [_read_parts(one)[0][1] for one in before]
    rotations = kinds.count("identity.rotate") + (kind == "identity.rotate")
    return (author, seq, prev, key_index) == (
        record_id(realm, split(before[0])[0]),
        len(before),
        record_id(realm, split(before[-1])[0]),
        rotations,
    )


def _allowed_keys(before: list[bytes], kind: str, by: str) -> list[bytes]:
    """Give what may sign the next record of a kind: the current key, or hashes of revealed ones."""
    events = [(one[1], _mapping(two)) for one, two in map(_read_parts, before)]
    keyed = [two for one, two in events if one in ("identity.incept", "identity.rotate")]
    last_kind, last = events[-1]
    # A revocation by the current key may be undone, by a recovery rotation and nothing else.
    restores = last.get("by") == "current" and (kind, by) == ("identity.rotate", "recovery")
    if last_kind == "identity.revoke" and not restores:
        return []
    match kind, by:
        case "identity.rotate", "next":
            return [_as_bytes(keyed[-1]["next"])]
        case "identity.rotate" | "identity.revoke", "recovery":
            return [_as_bytes(one["recovery"]) for one in keyed]
        case "identity.rotate", _:
            return []
        case _, "current":
            return [_as_bytes(keyed[-1]["key"])]
        case _:
            return []


def key_hash(key: bytes) -> bytes:
    return sha256(b"folkmoot/1/key", key)


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise UnacceptableError("not a map")
    return value


def _as_list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise UnacceptableError("not a list")
    return value


def _as_bytes(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise UnacceptableError("not bytes")
    return value


def _pack_sorted(value: object) -> bytes:
    """Encode with the msgpack package, maps in the order of their keys' bytes."""
    return bytes(msgpack.packb(_sorted(value), use_bin_type=True))


def _sorted(value: object) -> object:
    match value:
        case dict():
            return {key: _sorted(value[key]) for key in sorted(value, key=str.encode)}
        case list() | tuple():
            return [_sorted(item) for item in value]
        case _:
            return value
