"""How long a search for a proof takes: what theory foretells, and names to search for."""

import hashlib
import math
import random
from dataclasses import dataclass
from typing import Final, TypedDict

from federation import admission
from federation.admission import Terms
from federation.charter import preset
from federation.records import Role

_DRAWS: Final = 20_000
"""Searches that are drawn for a foretelling: its p95 is right to about one per cent."""


class Claims(TypedDict):
    """What a proof is bound to, beside its terms."""

    realm: bytes
    role: Role
    instance: bytes
    key: bytes
    epoch: int
    beacon: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A distribution in four figures."""

    mean: float
    p50: float
    p95: float
    p95_to_mean: float
    """How much longer than the average the unlucky wait."""


def claims(number: int) -> Claims:
    """Give the claims of the proof of this number; each has a key of its own."""
    return {
        "realm": _named("realm"),
        "role": Role.AGENT,
        "instance": _named("instance"),
        "key": _named(f"key {number}"),
        "epoch": 7,
        "beacon": _named("beacon"),
    }


def _named(name: str) -> bytes:
    return hashlib.sha256(f"benchmark of joining: {name}".encode()).digest()


def terms_of_preset(name: str, role: Role = Role.AGENT) -> Terms:
    """Give what a preset asks for in its first epoch."""
    rules = preset(name).admission
    return admission.terms_of(rules, role, rules.agent_bits)


def spread(values: list[float]) -> Spread:
    """Sum up some values; raises ValueError if there are none."""
    if not values:
        raise ValueError("nothing was measured")
    ordered = sorted(values)
    mean = math.fsum(ordered) / len(ordered)
    p50, p95 = (ordered[min(len(ordered) - 1, len(ordered) * share // 100)] for share in (50, 95))
    return Spread(
        mean=round(mean, 3),
        p50=round(p50, 3),
        p95=round(p95, 3),
        p95_to_mean=round(p95 / mean, 3) if mean else 0.0,
    )


def foretold_tries(terms: Terms, *, seed: int = 1) -> list[int]:
    """Draw the Argon2 hashes of many searches: each part takes a geometric number of them."""
    chance = random.Random(seed)
    miss = 1 - 2.0**-terms.bits
    return [sum(_geometric(chance, miss) for _ in range(terms.parts)) for _ in range(_DRAWS)]


def _geometric(chance: random.Random, miss: float) -> int:
    """Draw how often something is tried until it succeeds, if it fails with this probability."""
    if not miss:
        return 1
    return 1 + int(math.log(1 - chance.random()) / math.log(miss))


def is_likely(mean: float, runs: int, terms: Terms) -> bool:
    """Tell whether the mean of so many searches is within three standard errors of theory."""
    expected = admission.expected_tries(terms)
    one_part = 2.0**terms.bits
    deviation = math.sqrt(terms.parts * one_part * (one_part - 1) / runs)
    return abs(mean - expected) <= 3 * deviation
