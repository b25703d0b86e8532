"""Signatures that only a forger makes: the cases on which Ed25519 libraries disagree.

Verification asks whether S·B = R + h·A. With points of small order in A or R one can satisfy it
without knowing what a signer knows; whether that counts is each library's choice, and a federation
needs one answer.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from federation.crypto import public_key, sign
from tests.vectors.edwards import (
    BASE,
    IDENTITY,
    SIGN_BIT,
    L,
    P,
    challenge,
    join,
    secret_scalar,
    torsion,
)
from tests.vectors.vector_bodies import fixed


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A key, a message and a signature; the verdict is asked of the library."""

    name: str
    key: bytes
    message: bytes
    signature: bytes


_SEED: Final = fixed("seed")
_KEY: Final = public_key(_SEED)
_SCALAR: Final = secret_scalar(_SEED)
_MESSAGE: Final = b"an ordinary message"
_GOOD: Final = sign(_SEED, _MESSAGE)
_S: Final = int.from_bytes(_GOOD[32:], "little")

_NON_CANONICAL: Final = {
    "identity with the sign bit": 1 | SIGN_BIT,
    "identity as p + 1": P + 1,
    "identity as p + 1 with the sign bit": P + 1 | SIGN_BIT,
    "order 4 as p": P,
    "order 4 as p with the sign bit": P | SIGN_BIT,
    "order 2 with the sign bit": P - 1 | SIGN_BIT,
}


def cases() -> list[Case]:
    """Give all cases, in a fixed order."""
    return [*_plain(), *_scalars(), *_small_keys(), *_small_nonces(), *_mixed(), *_lengths()]


def _plain() -> Iterator[Case]:
    yield Case(name="ordinary", key=_KEY, message=_MESSAGE, signature=_GOOD)
    yield Case(
        name="ordinary, of the empty message", key=_KEY, message=b"", signature=sign(_SEED, b"")
    )
    yield Case(name="another message", key=_KEY, message=b"another", signature=_GOOD)
    other = public_key(fixed("next"))
    yield Case(name="another key", key=other, message=_MESSAGE, signature=_GOOD)
    for name, at in (("R", 0), ("S", 40)):
        bent = _GOOD[:at] + bytes([_GOOD[at] ^ 1]) + _GOOD[at + 1 :]
        yield Case(name=f"one bit of {name} changed", key=_KEY, message=_MESSAGE, signature=bent)


def _scalars() -> Iterator[Case]:
    for name, s in (
        ("S + L", _S + L),
        ("S + 8L", _S + 8 * L),
        ("S with its top bit", _S | 1 << 255),
    ):
        yield Case(name=name, key=_KEY, message=_MESSAGE, signature=join(_GOOD[:32], s))
    yield Case(name="S = 0", key=_KEY, message=_MESSAGE, signature=join(_GOOD[:32], 0))
    # The one way to satisfy the equation with S = L, so that only its size can be the reason.
    identity = IDENTITY.encode()
    yield Case(name="S = L", key=identity, message=_MESSAGE, signature=join(identity, L))


def _small_keys() -> Iterator[Case]:
    """With a key of small order, S = 0 and R = identity satisfy the equation when 8 divides h."""
    keys = {f"order-8 point times {k}": point.encode() for k, point in enumerate(torsion())}
    keys |= {name: number.to_bytes(32, "little") for name, number in _NON_CANONICAL.items()}
    r = IDENTITY.encode()
    for name, key in keys.items():
        message = _search(lambda text, key=key: challenge(r, key, text) % 8 == 0)  # type: ignore[misc]
        yield Case(name=f"key: {name}", key=key, message=message, signature=join(r, 0))


def _small_nonces() -> Iterator[Case]:
    """With R of small order, S = h·a satisfies the equation up to that order."""
    nonces = {f"order-8 point times {k}": point.encode() for k, point in enumerate(torsion())}
    nonces |= {name: number.to_bytes(32, "little") for name, number in _NON_CANONICAL.items()}
    for name, r in nonces.items():
        s = challenge(r, _KEY, _MESSAGE) * _SCALAR % L
        yield Case(name=f"R: {name}", key=_KEY, message=_MESSAGE, signature=join(r, s))


def _mixed() -> Iterator[Case]:
    """Keys and nonces with a part of order 8: with and without a cofactor verdicts differ."""
    twist = torsion()[1]
    nonce = secret_scalar(fixed("nonce")) % L
    honest = (nonce * BASE).encode()
    key = (_SCALAR * BASE + twist).encode()
    for name, wanted in (("8 divides h", True), ("8 does not divide h", False)):
        message = _search(lambda text, w=wanted: (challenge(honest, key, text) % 8 == 0) is w)  # type: ignore[misc]
        s = (nonce + challenge(honest, key, message) * _SCALAR) % L
        yield Case(
            name=f"key with a part of order 8, {name}",
            key=key,
            message=message,
            signature=join(honest, s),
        )
    r = (nonce * BASE + twist).encode()
    s = (nonce + challenge(r, _KEY, _MESSAGE) * _SCALAR) % L
    yield Case(name="R with a part of order 8", key=_KEY, message=_MESSAGE, signature=join(r, s))


def _lengths() -> Iterator[Case]:
    yield Case(name="key of 31 bytes", key=_KEY[:31], message=_MESSAGE, signature=_GOOD)
    yield Case(name="key of 33 bytes", key=_KEY + b"\0", message=_MESSAGE, signature=_GOOD)
    yield Case(name="signature of 63 bytes", key=_KEY, message=_MESSAGE, signature=_GOOD[:63])
    yield Case(name="signature of 65 bytes", key=_KEY, message=_MESSAGE, signature=_GOOD + b"\0")
    yield Case(name="no signature", key=_KEY, message=_MESSAGE, signature=b"")
    no_point = (2).to_bytes(32, "little")
    yield Case(name="key that is no point", key=no_point, message=_MESSAGE, signature=_GOOD)


def _search(fits: Callable[[bytes], bool]) -> bytes:
    """Find the first numbered message that fits."""
    number = 0
    while not fits(b"message %d" % number):
        number += 1
    return b"message %d" % number
