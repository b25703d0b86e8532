"""Clones count as one, and no operator and no instance for more than its share, in integers.

A group of clones (`clones`) shares the weight of its heaviest member in proportion.

Members of a group whose weight passes a level share that level in proportion. The level is the
larger of two.

The *water level* is the largest integer c with `10^6·c ≤ φ_eff·Σ_g min(W_g, c)`, so the cap holds
against what is counted in the end and not against the total before. `φ_eff = max(φ, 2·10^6 / G)`,
G the groups in the count: with few groups no smaller share is possible (design: voting weight;
small communities).

The *half level* is the smallest integer c with `2·Σ_g min(W_g, c) ≥ Σ_g W_g`: a cap never takes
more than half of what is counted. So no group's share more than doubles by it, whoever else is cut,
and what bounds the weight of strangers bounds their share as well (ADR 37). Where this level is the
larger one the cap's share is not kept exactly: of two groups with 35 % each among thirty small
ones each ends at 20 % and not at 10 %, and who holds over three quarters keeps over half.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from federation.charter import Trust
from federation.core import MILLION, AgentId, InstanceId, OperatorId, Ppm, Weight

Member = TypeVar("Member", bound=Hashable)
Group = TypeVar("Group", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capped:
    """The weights of the counted ballots, once each cap has done its work."""

    weights: dict[AgentId, Weight]
    halved: bool
    """The cap on operators or that on instances stopped at half of all weight: somebody may keep
    more than its share."""


def capped(
    trust: Trust,
    weights: Mapping[AgentId, Weight],
    *,
    models: Mapping[AgentId, bytes],
    keepers: Mapping[AgentId, bytes],
    operators: Mapping[AgentId, OperatorId],
    instances: Mapping[AgentId, InstanceId],
) -> Capped:
    """Cap the weights of the counted ballots by clones, operator and instance, once each.

    The order is from inside out: what clones lose is gone before it is asked how much of the rest
    one operator holds. `models` and `keepers` are the two groups of clones; every agent needs one
    of each, and who stands alone is its own.
    """
    as_one = weights
    for groups in (models, keepers):
        as_one = as_heaviest(as_one, groups, own=weights)
    by_operator = cap(as_one, operators, trust.operator_cap)
    return Capped(
        weights=cap(by_operator, instances, trust.instance_cap),
        halved=stops_at_half(_totals(as_one, operators).values(), trust.operator_cap)
        or stops_at_half(_totals(by_operator, instances).values(), trust.instance_cap),
    )


def as_heaviest(
    weights: Mapping[Member, Weight],
    groups: Mapping[Member, Group],
    *,
    own: Mapping[Member, Weight],
) -> dict[Member, Weight]:
    """Let no group weigh more than its heaviest member had of its `own`: w · heaviest div total.

    `own` is what members weighed before any sharing. Clones that are one group by both signs have
    shared already, and must not be cut again to what the heaviest of them has left. The share of
    a member is proportional and not first come, first served: none of them is the original.
    """
    sums: dict[Group, Weight] = {}
    heaviest: dict[Group, Weight] = {}
    for member, w in weights.items():
        group = groups[member]
        sums[group] = sums.get(group, 0) + w
        heaviest[group] = max(heaviest.get(group, 0), own[member])
    return {
        member: w
        if sums[groups[member]] <= heaviest[groups[member]]
        else w * heaviest[groups[member]] // sums[groups[member]]
        for member, w in weights.items()
    }


def cap(
    weights: Mapping[Member, Weight], groups: Mapping[Member, Group], share: Ppm
) -> dict[Member, Weight]:
    """Cap each group at `share` ppm of the capped total, or at the half level if that is more.

    `weights` holds the counted ballots only, and every member of it needs a group: each group with
    weight in it raises G.
    """
    sums = _totals(weights, groups)
    level = level_of(sums.values(), share)
    return {
        member: w if sums[groups[member]] <= level else w * level // sums[groups[member]]
        for member, w in weights.items()
    }


def _totals(
    weights: Mapping[Member, Weight], groups: Mapping[Member, Group]
) -> dict[Group, Weight]:
    sums: dict[Group, Weight] = {}
    for member, w in weights.items():
        sums[groups[member]] = sums.get(groups[member], 0) + w
    return sums


def level_of(totals: Iterable[Weight], share: Ppm) -> Weight:
    """Give the level to which a cap of `share` ppm cuts groups of these totals.

    A total of 0 is no group. 0 if there is no group; no level to speak of, and so perhaps far above
    the heaviest, if nothing is cut.
    """
    counted = [total for total in totals if total]
    return max(
        water_level(counted, effective_share(share, len(counted))),
        half_level(counted),
    )


def stops_at_half(totals: Iterable[Weight], share: Ppm) -> bool:
    """Tell whether a cap of `share` ppm would take more than half of all, and so takes half."""
    counted = [total for total in totals if total]
    return half_level(counted) > water_level(counted, effective_share(share, len(counted)))


def effective_share(share: Ppm, groups: int) -> Ppm:
    """Raise a cap to what `groups` groups can keep: max(share, 2/groups), at most 1."""
    return min(MILLION, max(share, 2 * MILLION // max(groups, 1)))


def water_level(totals: Iterable[Weight], share: Ppm) -> Weight:
    """Find the largest c with 10^6·c <= share·Σ min(W, c) over the groups' totals W.

    It is 0 if not even an even split keeps the share, which `effective_share` rules out. The
    slack share·Σ min(W, c) - 10^6·c is concave in c and 0 at 0, so its last root is found by
    capping the heaviest groups one after another; until then share · above stays below 10^6.
    """
    below = sorted(totals)
    rest = sum(below)
    above = 0
    while below:
        level = share * rest // (MILLION - share * above)
        if level >= below[-1]:
            return level
        rest -= below.pop()
        above += 1
    return 0


def half_level(totals: Iterable[Weight]) -> Weight:
    """Find the smallest c with 2·Σ min(W, c) >= Σ W over the groups' totals W.

    The sum grows with c, and between two neighbouring totals by c for each group that is heavier;
    so c is looked for among the lightest groups first.
    """
    rising = sorted(totals)
    # Twice what is still missing to half of all weight.
    missing = sum(rising)
    for place, total in enumerate(rising):
        heavier = len(rising) - place
        level = -(-missing // (2 * heavier))
        if level <= total:
            return level
        missing -= 2 * total
    return 0
