"""Integer quantities with their unit in the name; no float is ever signed, hashed or tallied."""

from typing import Final, TypeAlias

Ppm: TypeAlias = int
"""Parts per million of one."""
Micro: TypeAlias = int
"""Millionths of one outcome: the unit of evidence."""
Weight: TypeAlias = int
"""Voting weight in ppm of the full weight."""
Millis: TypeAlias = int
"""Milliseconds, on a member's own monotonic clock unless said otherwise."""

MILLION: Final = 1_000_000
