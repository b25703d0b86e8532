"""No operator and no instance counts for more than its share: water-filling in integers.

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
    operators: Mapping[AgentId, OperatorId],
    instances: Mapping[AgentId, InstanceId],
) -> dict[AgentId, Weight]:
    """Cap the weights of the counted ballots by operator, then by instance, once each."""
    by_operator = cap(weights, operators, trust.operator_cap)
    return cap(by_operator, instances, trust.instance_cap)


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
