"""What share of a decision a weight comes to, once every cap has done its work (§4.5).

The caps cut both ways. They bound each operator and each instance, an attacker's and an honest one
alike: where few honest operators hold most of the weight, many small ones of an attacker lower the
level to which those are cut, though never below half of all weight (ADR 37). So the share is
computed by the caps themselves, and is not A / (A + H): it is at most twice that after the cap on
operators, and four times that after both.

The attacker divides its weight evenly over its operators, which no other division beats, and over
the instances with the least honest weight. It is one voice with nobody: who lies about its model
and keeps its own keys is no clone.

Why no other division beats the even one: let all weight be 2, and K(c) what the honest have below a
level c, so that K(c) / c never rises. Where the half level binds, 1 is counted, the attacker has
1 - K(c) of it, and c is above the cap's share φ; the even division has the lower half level. Where
the even one is at its water level φT, of T > 1 counted, it has 1 - K(φT) / T, and that is no less
than 1 - K(φ).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from federation.core import MILLION, Ppm, Weight
from federation.trust.caps import effective_share

_Run: TypeAlias = tuple[int, int]
"""Equal weights, and how many there are of them."""
_ALL: Final = 16
"""Up to so many instances every number of them is tried."""
_CLOSE: Final = 8
"""Of more, so many numbers below all, and the doublings, and these only where all are capped: what
the others gain is a few thousandths of a share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Honest weight of the agents of one operator that one instance has admitted."""

    operator: int
    """Any number that names the operator."""
    instance: int
    """Place of the instance, from 0."""
    weight: Weight
    firm: Weight = 0
    """How much of it nobody can take away: what a seed has by the part of all trust that always
    returns to it. What else an attacker weighs the honest lose, for there is as much trust as
    seats, whoever holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Electorate:
    """Who decides when all honest reviewers vote, before the caps on operators and instances."""

    cells: tuple[Cell, ...]
    """Honest weight; clones have been counted as one."""
    instances: int
    """Instances of the realm, at least 1; nobody can add one in this version."""
    operator_cap: Ppm
    instance_cap: Ppm

    @property
    def weight(self) -> Weight:
        """Sum of the honest weight."""
        return sum(cell.weight for cell in self.cells)


def share_of(voters: Electorate, weight: Weight, *, operators: int, doors: int | None) -> Ppm:
    """Give the share of the count that an attacker's `weight` comes to, rounded up.

    It has `operators` operators, and its agents were admitted by the `doors` instances with the
    least honest weight; None is the best number for it. 0 without weight or operators.
    """
    if weight <= 0 or operators <= 0:
        return 0
    at_stake = sum(cell.weight - cell.firm for cell in voters.cells)
    # All is scaled by what is at stake, so that what is left of each cell is a whole number; and so
    # that no rounding of a cap hides that somebody stands exactly at it.
    scale, left = (at_stake, max(0, at_stake - weight)) if at_stake else (MILLION, 0)
    each = weight * scale // operators
    cells = [(cell, cell.firm * scale + (cell.weight - cell.firm) * left) for cell in voters.cells]
    by_operator = _summed((cell.operator, kept) for cell, kept in cells)
    runs = [(total, 1) for total in by_operator.values()] + [(each, operators)]
    level = _level(runs, voters.operator_cap)
    mine = min(each, level) * operators
    by_instance = _summed(
        (cell.instance, _cut(kept, by_operator[cell.operator], level)) for cell, kept in cells
    )
    honestly = sorted(by_instance.get(place, 0) for place in range(voters.instances))
    if doors is not None:
        return _through(honestly, mine, min(doors, voters.instances), voters.instance_cap)[0]
    share, is_capped = _through(honestly, mine, voters.instances, voters.instance_cap)
    if not is_capped and voters.instances > _ALL:
        return share
    tried = _numbers(voters.instances)
    return max(share, *(_through(honestly, mine, n, voters.instance_cap)[0] for n in tried))


def _through(honestly: Sequence[int], mine: int, doors: int, instance_cap: Ppm) -> tuple[Ppm, bool]:
    """Cap by instance; tell the attacker's share, and whether any instance is above its cap.

    `honestly` is the honest weight of each instance, lightest first.
    """
    each = mine // doors
    totals = [weight + (each if place < doors else 0) for place, weight in enumerate(honestly)]
    level = _level([(total, 1) for total in totals], instance_cap)
    counted = sum(min(total, level) for total in totals)
    own = sum(_cut(each, total, level) for total in totals[:doors])
    return -(-own * MILLION // counted) if counted else 0, max(totals) > level


def _numbers(instances: int) -> Iterator[int]:
    """Give numbers of instances worth trying."""
    if instances <= _ALL:
        yield from range(1, instances + 1)
        return
    yield from range(instances - _CLOSE, instances + 1)
    yield from (1 << n for n in range(instances.bit_length()))


def _level(runs: Iterable[_Run], share: Ppm) -> int:
    """Find the level of `caps.level_of` for groups of which many are equally heavy."""
    rising = sorted(run for run in runs if run[0])
    return max(_water_level(rising, share), _half_level(rising))


def _water_level(rising: Sequence[_Run], share: Ppm) -> int:
    below = list(rising)
    rest = sum(weight * count for weight, count in below)
    bound = effective_share(share, sum(count for _, count in below))
    above = 0
    while below:
        weight, count = below.pop()
        level = bound * rest // (MILLION - bound * above)
        if level >= weight:
            return level
        # What one of them is cut by, all of them are: the others are as heavy.
        rest -= weight * count
        above += count
    return 0


def _half_level(rising: Sequence[_Run]) -> int:
    missing = sum(weight * count for weight, count in rising)
    heavier = sum(count for _, count in rising)
    for weight, count in rising:
        level = -(-missing // (2 * heavier))
        if level <= weight:
            return level
        missing -= 2 * weight * count
        heavier -= count
    return 0


def _cut(weight: int, total: int, level: int) -> int:
    return weight if total <= level else weight * level // total


def _summed(parts: Iterable[tuple[int, int]]) -> dict[int, int]:
    sums: dict[int, int] = {}
    for name, weight in parts:
        sums[name] = sums.get(name, 0) + weight
    return sums
