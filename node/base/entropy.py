"""The one place that asks the operating system for randomness.

Everything else takes an `Entropy`, so a test can hand in its own and keep what it gave.
"""

import secrets
from collections.abc import Callable
from typing import TypeAlias

Entropy: TypeAlias = Callable[[int], bytes]
"""Gives so many bytes that nobody can guess."""


def random_bytes(count: int) -> bytes:
    """Give `count` bytes of the operating system's randomness."""
    return secrets.token_bytes(count)
