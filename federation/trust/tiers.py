"""Tiers 0, 1, 2: what an agent must have shown before it may do what (§2.3).

A tier is gained at its thresholds and lost at a share of them (`hysteresis`), so that nobody
flickers at an edge. Two things have no slack. The ticket: without it an agent has no weight, and a
reviewer without weight is none. The ways: how many other operators trust comes through; one of two
that withdraws leaves an agent that a single operator holds up. Founders keep the charter's tier
until they have shown enough themselves; they may earn a higher one before.
"""

from dataclasses import dataclass
from typing import Final

from federation.charter import Trust
from federation.core import MILLION, Ppm

NEWCOMER: Final = 0
ESTABLISHED: Final = 1
TRUSTED: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One row: what a tier asks for, besides a ticket."""

    tier: int
    interactions: int
    r: Ppm
    age: int
    """Ticks since admission; founders are exempt."""
    operators: int
    """Operators through whose agents its trust must come, or all that there are; founders are
    exempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What one agent has shown at one tick."""

    interactions: int
    r: Ppm
    has_ticket: bool
    """Trust of at least the realm's τ."""
    age: int
    """Ticks since admission."""
    ways: int
    """Operators of ticket holders that judged its work well, its own not counted."""


def requirements(trust: Trust) -> tuple[Requirement, ...]:
    """List the rows above newcomer, highest first."""
    return (
        Requirement(
            tier=TRUSTED,
            interactions=trust.tier2_interactions,
            r=trust.tier2_r,
            age=trust.tier2_age,
            operators=trust.tier2_operators,
        ),
        Requirement(
            tier=ESTABLISHED,
            interactions=trust.tier1_interactions,
            r=trust.tier1_r,
            age=0,
            operators=0,
        ),
    )


def tier_of(
    trust: Trust, shown: Shown, *, previous: int, founder_tier: int | None, operators: int
) -> int:
    """Give the tier from this tick on.

    `previous` is the tier until now, `founder_tier` the charter's tier of a founder, None for
    everybody else. `operators` counts the operators with a reviewer, the agent's own left out as
    in `Shown.ways`: nobody can be asked for more ways than there are.
    """
    founder = founder_tier is not None
    kept = NEWCOMER
    if founder_tier is not None and shown.interactions < trust.founder_interactions:
        kept = founder_tier
    for row in requirements(trust):
        share = trust.hysteresis if previous >= row.tier else MILLION
        if _meets(shown, row, share) and (
            founder or _has_age_and_ways(shown, row, share, operators)
        ):
            return max(kept, row.tier)
    return kept


def _meets(shown: Shown, row: Requirement, share: Ppm) -> bool:
    return (
        shown.has_ticket
        and shown.interactions * MILLION >= row.interactions * share
        and shown.r * MILLION >= row.r * share
    )


def _has_age_and_ways(shown: Shown, row: Requirement, share: Ppm, operators: int) -> bool:
    """Check what founders are exempt from."""
    return shown.age * MILLION >= row.age * share and shown.ways >= min(row.operators, operators)
