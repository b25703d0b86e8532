"""A seeded stream of draws, for simulations and demos.

`Lots` is a counter-mode stream over SHA-256: the same seed gives the same draws on every machine
and Python.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Lots:
    """A deterministic stream of draws from a seed; for simulations and demos, never for secrets."""

    def __init__(self, *names: object) -> None:
        """Seed the stream with the text of `names`, joined by '/'."""
        self._seed = "/".join(str(name) for name in names).encode()
        self._counter = 0

    def bytes32(self) -> bytes:
        """Draw 32 bytes."""
        self._counter += 1
        return hashlib.sha256(self._seed + b"#" + str(self._counter).encode()).digest()

    def below(self, bound: int) -> int:
        """Draw an integer in [0, bound); the bias is below 2^-190 for bounds under 2^64."""
        return int.from_bytes(self.bytes32(), "big") % bound

    def between(self, low: int, high: int) -> int:
        """Draw an integer in [low, high]."""
        return low + self.below(high - low + 1)

    def chance(self, ppm: int) -> bool:
        """Say yes with probability `ppm` millionths."""
        return self.below(1_000_000) < ppm

    def pick(self, pool: Sequence[T]) -> T:
        """Draw one of a non-empty sequence."""
        return pool[self.below(len(pool))]

    def sample(self, pool: Iterable[T], size: int) -> list[T]:
        """Draw `size` members without replacement, in drawn order (fewer if the pool is small)."""
        left = list(pool)
        drawn: list[T] = []
        while left and len(drawn) < size:
            drawn.append(left.pop(self.below(len(left))))
        return drawn
