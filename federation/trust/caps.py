"""Clones count as one, and no operator and no instance for more than its share, in integers.

A group of clones (`clones`) shares the weight of its heaviest member in proportion.

Members of a group whose weight passes a level c share c in proportion. c is the largest integer
with `10^6·c ≤ φ_eff·Σ_g min(W_g, c)`, so the cap holds against what is counted in the end and
not against the total before. `φ_eff = max(φ, 2·10^6 / G)`, G the groups in the count: with few
groups no smaller share is possible (design: voting weight; small communities).
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from federation.charter import Trust
from federation.core import MILLION, AgentId, InstanceId, OperatorId, Ppm, Weight

Member = TypeVar("Member", bound=Hashable)
Group = TypeVar("Group", bound=Hashable)


def capped(
    trust: Trust,
    weights: Mapping[AgentId, Weight],
    *,
    models: Mapping[AgentId, bytes],
    keepers: Mapping[AgentId, bytes],
    operators: Mapping[AgentId, OperatorId],
    instances: Mapping[AgentId, InstanceId],
) -> dict[AgentId, Weight]:
    """Cap the weights of the counted ballots by clones, operator and instance, once each.

    The order is from inside out: what clones lose is gone before it is asked how much of the rest
    one operator holds. `models` and `keepers` are the two groups of clones; every agent needs one
    of each, and who stands alone is its own.
    """
    as_one = weights
    for groups in (models, keepers):
        as_one = as_heaviest(as_one, groups, own=weights)
    by_operator = cap(as_one, operators, trust.operator_cap)
    return cap(by_operator, instances, trust.instance_cap)


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
    """Cap each group at `share` ppm of the capped total; every member needs a group.

    `weights` holds the counted ballots only: each group with weight in it raises G.
    """
    sums: dict[Group, Weight] = {}
    for member, w in weights.items():
        sums[groups[member]] = sums.get(groups[member], 0) + w
    counted = [total for total in sums.values() if total]
    level = water_level(counted, effective_share(share, len(counted)))
    return {
        member: w if sums[groups[member]] <= level else w * level // sums[groups[member]]
        for member, w in weights.items()
    }


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
