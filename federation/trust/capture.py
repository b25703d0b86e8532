"""What it takes to capture a decision under a charter: the least that an attacker needs (§4.4, §4.5).

*Proven.* A group of identities without a seed that holds `fooled` edges from outside weighs at most
`fooled · edge_worth`, whatever its size (`eigentrust`). An edge is one honest agent that judged the
work of one of the group well: a vouch for it, or an approval of an artifact of it that stands.
Without any such edge the group holds no trust, no ticket, no tier and no weight, however many
identities, operators and processors it has. What share a weight comes to is told by the caps
(`capture_share`): by both of them at most fourfold, for each takes at most half of all weight.

*Not proven.* That nobody is cheaper to fool: a stolen or fooled seed is outside the theorem, one
prompt injection may fool a whole model family, and a vote in which half of the honest stay away
needs half the weight. Whoever fools an honest reviewer into a heavy vouch besides thins out what
that one passes on to others. The attacker's weight is taken from the honest evenly, since trust is
conserved, but not from the quarter of all trust that is always the seeds'. Times and work are estimates at the least (`capture_pace`); `likely` is an estimate too.

Where voting is `blend`, reputation is weight, and one edge brings as many full votes as it can
bring tickets: that is no bound to rely on.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate
from typing import Final

from federation.charter import Charter, Trust
from federation.core import Ppm, Weight
from federation.trust.capture_community import Community
from federation.trust.capture_pace import Pace, cheapest, fastest, spreading, standing
from federation.trust.capture_share import Electorate, share_of
from federation.trust.eigentrust import (
    LEAST_SHARE,
    OF,
    PASSED,
    M,
    edge_cap,
    ticket_price,
    trust_ref,
)

CAPTURE_SHARES: Final[tuple[Ppm, ...]] = (100_000, 333_333, 500_000)
"""The rows of the table: to be heard, to block, to decide."""
_MOST_OPERATORS: Final = 1_000_000


class Aim(StrEnum):
    """What an attacker is short of; it saves that first, then the others in the table's order."""

    FOOLED = "fooled"
    """It fools as few as possible, proven and likely, and registers the operators which that takes."""
    OPERATORS = "operators"
    """It registers as few operators as possible, and fools as many as that takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturePlan:
    """One row: the least that captures a share of a decision."""

    share: Ppm
    aim: Aim
    weight: Weight
    """What its identities have to weigh together, before caps."""
    identities: int
    operators: int
    instances: int
    """Instances that have to admit some of them at the least, for the cap on instances."""
    fooled: int
    """Edges from outside; no attack of these operators does with fewer."""
    likely: int | None
    """Edges if the most trusted agents are fooled and nothing is lost among Sybils: an estimate.
    None if all agents that were looked at are not enough."""
    alone: Ppm
    """What all these edges reach with a single operator."""
    fast: Pace | None
    """How they join as fast as they may; None if that takes longer than anybody follows."""
    cheap: Pace | None
    """How they join while the puzzle stays as easy as it gets."""
    epochs: int | None
    """Until all can vote, having joined fast."""
    cheap_epochs: int | None
    """The same, having joined cheaply."""


def edge_worth(trust: Trust) -> Weight:
    """Give the most that one edge from outside can bring a group of identities to weigh."""
    if trust.voting == "blend":
        return max(trust.w_max, _weight_of(trust, min(M, trust.kappa * trust_ref(trust))))
    return trust.kappa * trust.w_max


def most_weight(trust: Trust) -> Weight:
    """Give the most that agents without a seed among them can weigh, whomever they fool.

    A quarter of all trust is the seeds' in each round.
    """
    return _weight_of(trust, M * PASSED // OF)


def edges_worth(trust: Trust, fooled: int) -> Weight:
    """Give the most that `fooled` edges from outside can bring; 0 for none."""
    return min(most_weight(trust), fooled * edge_worth(trust))


def capture_reach(trust: Trust, voters: Electorate, *, fooled: int, operators: int) -> Ppm:
    """Give the largest share of a decision that so many edges and operators can reach."""
    return share_of(voters, edges_worth(trust, fooled), operators=operators, doors=None)


def capture_plan(
    charter: Charter, community: Community, share: Ppm, aim: Aim
) -> CapturePlan | None:
    """Give the least that reaches `share`, 1 to 1,000,000 ppm; None if nothing without a seed does.

    Of several ways it takes the one that saves what `aim` names, then operators, then identities.
    """
    trust, voters = charter.trust, community.voters

    def reaches(weight: Weight, operators: int) -> bool:
        return share_of(voters, weight, operators=operators, doors=None) >= share

    most = most_weight(trust)
    # Less than one ticket is no weight at all.
    if most < trust.w_min or not reaches(most, _widest(trust, most)):
        return None
    likely = _Likely.of(trust, community.trusts)
    if aim is Aim.FOOLED:
        all_likely = min(most, likely.weight(likely.edges))
        most = _fewest(
            lambda n: edges_worth(trust, n), -(-most // edge_worth(trust)), reaches, trust
        )
        if reaches(all_likely, _widest(trust, all_likely)):
            most = min(most, _fewest(likely.weight, likely.edges, reaches, trust))
    rules = charter.admission

    def room(operators: int) -> Weight:
        """Give what the agents of so many operators can weigh."""
        agents = operators * rules.operator_agents
        return most if rules.operator_growth else min(most, agents * trust.w_max)

    operators = _least(1, _widest(trust, most), lambda n: reaches(room(n), n))
    weight, identities = _needs(trust, operators, room(operators), reaches)
    fooled = -(-weight // edge_worth(trust))
    return _priced(
        charter,
        community,
        CapturePlan(
            share=share,
            aim=aim,
            weight=weight,
            identities=identities,
            operators=operators,
            instances=next(
                n
                for n in range(1, voters.instances + 1)
                if share_of(voters, weight, operators=operators, doors=n) >= share
            ),
            fooled=fooled,
            likely=likely.edges_for(weight),
            alone=capture_reach(trust, voters, fooled=fooled, operators=1),
            fast=None,
            cheap=None,
            epochs=None,
            cheap_epochs=None,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Likely:
    """What edges bring if the most trusted agents are fooled first: an estimate.

    An agent passes an eighth of what it passes on over one edge at the most, and so can be fooled
    eight times over. What comes in goes round, a quarter of it lost in each round, as it does among
    nine identities or more.
    """

    trust: Trust
    brought: tuple[int, ...]
    """Trust that the first agents bring, all eight edges of each: none, one, two, …"""

    @classmethod
    def of(cls, trust: Trust, trusts: tuple[int, ...]) -> "_Likely":
        """Look at agents, the most trusted first."""
        cap = edge_cap(trust)
        each = (OF * min(cap, held * PASSED // OF // LEAST_SHARE) for held in trusts)
        brought = accumulate((LEAST_SHARE * gets for gets in each), initial=0)
        return cls(trust=trust, brought=tuple(brought))

    @property
    def edges(self) -> int:
        """Edges of all agents together."""
        return LEAST_SHARE * (len(self.brought) - 1)

    def weight(self, edges: int) -> Weight:
        """Give the weight that so many edges bring, at most `edges` of them."""
        agents, more = divmod(edges, LEAST_SHARE)
        got = self.brought[agents]
        if more:
            got += (self.brought[agents + 1] - got) * more // LEAST_SHARE
        return _weight_of(self.trust, got)

    def edges_for(self, weight: Weight) -> int | None:
        """Give the edges that a weight takes; None if all are not enough."""
        if self.weight(self.edges) < weight:
            return None
        return _least(0, self.edges, lambda n: self.weight(n) >= weight)


def _weight_of(trust: Trust, held: int) -> Weight:
    """Give the most that identities can weigh which hold so much trust together, of M."""
    if trust.voting == "blend":
        return trust.w_max * (held // ticket_price(trust))
    return trust.w_max * held // trust_ref(trust)


def _fewest(
    brings: Callable[[int], Weight],
    most: int,
    reaches: Callable[[Weight, int], bool],
    trust: Trust,
) -> Weight:
    """Give what the fewest edges bring, at most `most`, that reach the share over any operators."""
    return brings(_least(1, most, lambda n: reaches(brings(n), _widest(trust, brings(n)))))


def _priced(charter: Charter, community: Community, found: CapturePlan) -> CapturePlan:
    """Add how long a plan takes and what work."""
    door, operators, agents = community.door, found.operators, found.identities
    fast = fastest(charter, door, operators=operators, agents=agents)
    cheap = cheapest(charter, door, operators=operators, agents=agents)
    spread = spreading(charter, edges=found.fooled, operators=operators, agents=agents)

    def until(pace: Pace | None) -> int | None:
        return None if pace is None else standing(charter) + max(pace.epochs - 1, spread)

    return replace(found, fast=fast, cheap=cheap, epochs=until(fast), cheap_epochs=until(cheap))


def _needs(
    trust: Trust, operators: int, most: Weight, reaches: Callable[[Weight, int], bool]
) -> tuple[Weight, int]:
    """Give the least weight of so many operators that reaches the share, and its identities."""
    low = operators * trust.w_min
    weight = _least(low, max(low, most), lambda weight: reaches(weight, operators))
    return weight, max(operators, -(-weight // trust.w_max))


def _widest(trust: Trust, weight: Weight) -> int:
    """Give over how many operators a weight can be divided: each needs an agent with a ticket."""
    return max(1, min(_MOST_OPERATORS, weight // trust.w_min))


def _least(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Give the least number from `low` to `high` that holds, if all above one that holds do too."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
