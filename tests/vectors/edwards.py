"""Enough of edwards25519 to build signatures that no honest signer makes.

Affine points and Python integers: slow and clear. It exists because the interesting cases (keys
and nonces of small order, keys with a small-order part, scalars above the group order) cannot be
had from a signing library.
"""

import hashlib
from dataclasses import dataclass
from typing import Final

P: Final = 2**255 - 19
L: Final = 2**252 + 27742317777372353535851937790883648493
"""Order of the prime-order group."""
D: Final = -121665 * pow(121666, P - 2, P) % P
SIGN_BIT: Final = 1 << 255


@dataclass(frozen=True, slots=True)
class Point:
    """A point of -x² + y² = 1 + d x² y²."""

    x: int
    y: int

    def __add__(self, other: "Point") -> "Point":
        """Add by the complete affine law."""
        product = D * self.x * other.x * self.y * other.y % P
        x = (self.x * other.y + self.y * other.x) * pow(1 + product, P - 2, P)
        y = (self.y * other.y + self.x * other.x) * pow(1 - product, P - 2, P)
        return Point(x % P, y % P)

    def __rmul__(self, scalar: int) -> "Point":
        """Double and add."""
        total, step = IDENTITY, self
        while scalar:
            if scalar & 1:
                total = total + step
            step = step + step
            scalar >>= 1
        return total

    def encode(self) -> bytes:
        """Give the canonical 32 bytes: y, and the parity of x in the top bit."""
        return (self.y | (self.x & 1) * SIGN_BIT).to_bytes(32, "little")


IDENTITY: Final = Point(0, 1)


def recover(y: int, parity: int) -> Point:
    """Find the point with this y and this parity of x; raises ValueError if there is none."""
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P:
        raise ValueError(y)
    return Point(P - x if x % 2 != parity and x else x, y)


BASE: Final = recover(4 * pow(5, P - 2, P) % P, 0)


def torsion() -> list[Point]:
    """Give the eight points of small order, as multiples of one of order eight."""
    y = 2
    while True:
        try:
            generator = L * recover(y, 0)
        except ValueError:
            y += 1
            continue
        if 4 * generator != IDENTITY:
            return [k * generator for k in range(8)]
        y += 1


def challenge(r: bytes, key: bytes, message: bytes) -> int:
    """SHA-512(R ‖ A ‖ message) modulo L, as verifiers multiply the key by it."""
    return int.from_bytes(hashlib.sha512(r + key + message).digest(), "little") % L


def secret_scalar(seed: bytes) -> int:
    """Give the clamped scalar of an Ed25519 seed."""
    low = int.from_bytes(hashlib.sha512(seed).digest()[:32], "little")
    return (low & ((1 << 254) - 8)) | 1 << 254


def join(r: bytes, s: int) -> bytes:
    """Write a signature; `s` need not be below the group order."""
    return r + s.to_bytes(32, "little")
