"""arguments.json: sealed arguments, their commitments, and what opens neither of the two."""

from collections.abc import Mapping
from typing import Final

import msgspec
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt

from federation.codec import encode
from federation.crypto import (
    Argument,
    KeySigner,
    SealedArgument,
    argument_commitment,
    argument_key,
)
from federation.records import bind_text
from tests.vectors.vector_bodies import NOTE, OTHER_REALM, REALM, ROUND, fixed

AUTHOR: Final = fixed("author")
NONCE: Final = fixed("nonce")
SALT: Final = fixed("salt")[:24]
SEED: Final = fixed("seed")
TEXT, TEXT_HASH, TEXT_LEN = bind_text(NOTE, fixed("salt")[:16])
FULL: Final = Argument(
    stance="against",
    level="technical",
    claim=2,
    evidence=tuple(sorted((fixed("evidence 1"), fixed("evidence 2")))),
    replies_to=fixed("argument 1"),
    text_hash=TEXT_HASH,
    text_len=TEXT_LEN,
)
BARE: Final = Argument(stance="neutral", level="content")
_TEXTS: Final[Mapping[str, bytes | None]] = {"full": TEXT, "bare": None}
_ARGUMENTS: Final = {"full": FULL, "bare": BARE}


def vectors() -> Mapping[str, object]:
    """All cases of the file; hexadecimal throughout."""
    return {
        "realm": REALM.hex(),
        "round": ROUND.hex(),
        "author": AUTHOR.hex(),
        "nonce": NONCE.hex(),
        "seed": SEED.hex(),
        "salt": SALT.hex(),
        "argument_key": argument_key(SEED, REALM, ROUND).hex(),
        "arguments": [_worked(name, argument) for name, argument in _ARGUMENTS.items()],
        "does_not_open_the_first": [
            {"name": name, **{part: _shown(value) for part, value in change.items()}}
            for name, change in _others().items()
        ],
        "no_arguments": [
            {"name": name, "argument": encode(plain).hex()} for name, plain in _spoilt().items()
        ],
        "sealed_wrongly": [
            {"name": name, "sealed": sealed.hex()} for name, sealed in _closed().items()
        ],
    }


def _worked(name: str, argument: Argument) -> Mapping[str, object]:
    text = _TEXTS[name]
    content = SealedArgument(argument=argument, text=text, nonce=NONCE)
    return {
        "name": name,
        "argument": encode(argument).hex(),
        "text": None if text is None else text.hex(),
        "commitment": argument_commitment(
            realm=REALM, round_id=ROUND, author=AUTHOR, argument=argument, nonce=NONCE
        ).hex(),
        "sealed": KeySigner(SEED).seal_argument(REALM, ROUND, content, salt=SALT).hex(),
    }


def _others() -> Mapping[str, Mapping[str, object]]:
    """Change one part each: nothing of an argument is left out of its commitment."""
    return {
        "another author": {"author": fixed("another author")},
        "another round": {"round": fixed("another round")},
        "another realm": {"realm": OTHER_REALM},
        "another nonce": {"nonce": fixed("another nonce")},
        "another stance": {"argument": msgspec.structs.replace(FULL, stance="for")},
        "another level": {"argument": msgspec.structs.replace(FULL, level="content")},
        "another claim": {"argument": msgspec.structs.replace(FULL, claim=3)},
        "no claim": {"argument": msgspec.structs.replace(FULL, claim=None)},
        "less evidence": {"argument": msgspec.structs.replace(FULL, evidence=FULL.evidence[:1])},
        "a reply to nothing": {"argument": msgspec.structs.replace(FULL, replies_to=None)},
        "another text": {"argument": msgspec.structs.replace(FULL, text_hash=fixed("text"))},
        "another length": {"argument": msgspec.structs.replace(FULL, text_len=TEXT_LEN + 1)},
    }


def _spoilt() -> Mapping[str, list[object]]:
    """Give lists that are no argument: a second spelling would give it a second commitment."""
    good = ["against", "technical", 2, [*FULL.evidence], FULL.replies_to, TEXT_HASH, TEXT_LEN]
    return {
        "evidence out of order": [*good[:3], [*reversed(FULL.evidence)], *good[4:]],
        "evidence twice": [*good[:3], [FULL.evidence[0]] * 2, *good[4:]],
        "too much evidence": [*good[:3], sorted(fixed(f"e{n}") for n in range(17)), *good[4:]],
        "claim 0": [*good[:2], 0, *good[3:]],
        "claim 17": [*good[:2], 17, *good[3:]],
        "a stance of capitals": ["AGAINST", *good[1:]],
        "an empty level": ["against", "", *good[2:]],
        "a text above 16 KiB": [*good[:6], 16 * 1024 + 1],
        "one part too many": [*good, None],
        "a reply to a short id": [*good[:4], bytes(31), *good[5:]],
    }


def _closed() -> Mapping[str, bytes]:
    """Give byte strings that `SEED` does not open in `ROUND`, each for another reason."""
    content = SealedArgument(argument=FULL, text=TEXT, nonce=NONCE)
    signer = KeySigner(SEED)
    good = signer.seal_argument(REALM, ROUND, content, salt=SALT)
    plain = encode(content)
    return {
        "another seed": KeySigner(fixed("another seed")).seal_argument(
            REALM, ROUND, content, salt=SALT
        ),
        "another round": signer.seal_argument(REALM, fixed("another round"), content, salt=SALT),
        "another realm": signer.seal_argument(OTHER_REALM, ROUND, content, salt=SALT),
        "one bit changed": good[:-1] + bytes([good[-1] ^ 1]),
        "another salt in front": fixed("another salt")[:24] + good[24:],
        "cut short": good[:-1],
        "empty": b"",
        "no nonce inside": _encrypted(encode([FULL, TEXT])),
        "bytes behind the argument": _encrypted(plain + b"\xc0"),
        "a length past the end": _encrypted(plain, length=2**32 - 1),
    }


def _encrypted(plain: bytes, *, length: int | None = None) -> bytes:
    size = len(plain) if length is None else length
    padded = size.to_bytes(4, "big") + plain
    padded += bytes(-len(padded) % 1024)
    key = argument_key(SEED, REALM, ROUND)
    return SALT + crypto_aead_xchacha20poly1305_ietf_encrypt(padded, None, SALT, key)


def _shown(value: object) -> str:
    return (value if isinstance(value, bytes) else encode(value)).hex()
