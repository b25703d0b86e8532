"""What is left of a search: an average, and the times within which such searches end.

Each open part takes a geometric number of tries, whatever has been tried before, and so does the
gate. Their sum is close to a gamma distribution of the same mean and variance, whose quantiles
the formula of Wilson and Hilferty gives to about two per cent. Floats serve here: nothing of it is
signed or compared.
"""

import math
from dataclasses import dataclass
from typing import Final

_HALF: Final = 0.0
_MOST: Final = 1.6449
"""Deviations of a normal distribution below which 50 % and 95 % of it lie."""
_NINTH: Final = 1 / 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """How long a search goes on from now, in seconds."""

    mean_s: float
    """On average."""
    half_s: float
    """Half of such searches end within it."""
    most_s: float
    """95 % of them do."""


def estimate(
    *,
    parts: int,
    part_tries: int,
    part_speed: float,
    gate_tries: int,
    gate_speed: float,
) -> Estimate:
    """Estimate a search with `parts` open parts and the gate, of these average tries each.

    Speeds are tries a second, of all processes together. `parts` is 0 at the gate; `gate_tries`
    is 0 once the gate is found. Raises ValueError unless speeds are above 0 and counts are not below.
    """
    if min(parts, part_tries, gate_tries) < 0 or min(part_speed, gate_speed) <= 0:
        raise ValueError("an estimate needs tries from 0 and speeds above 0")
    part_s, gate_s = part_tries / part_speed, gate_tries / gate_speed
    mean = parts * part_s + gate_s
    variance = parts * part_s**2 + gate_s**2
    return Estimate(
        mean_s=mean,
        half_s=_quantile(mean, variance, _HALF),
        most_s=_quantile(mean, variance, _MOST),
    )


def _quantile(mean: float, variance: float, deviations: float) -> float:
    """Give a quantile of the gamma distribution of this mean and variance."""
    if not mean:
        return 0.0
    spread = _NINTH * variance / mean**2
    root = 1 - spread + deviations * math.sqrt(spread)
    return mean * root * root * root
