"""Trust counted in seats and tickets, to explain a charter before anybody holds any (§2.3).

The computation of trust stands above the charter, in `federation.trust`, and is not asked here.
These are its constants and its first step only; a test holds both to the same numbers.
"""

from dataclasses import dataclass
from typing import Final

from federation.charter.schema import Charter

MASS: Final = 2**60
"""All the trust there is, whoever holds it."""
FEWEST_EDGES: Final = 8
"""An agent divides what it passes on as if it had at least so many edges of its heaviest kind."""
_QUARTER: Final = 4
"""A quarter of all trust returns to the seeds in each round, three quarters may be passed on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tickets:
    """What the numbers of a charter come to; trust is counted in parts of `MASS`."""

    seat: int
    """Trust of an average seat, t_ref: from there on trust bounds no weight."""
    ticket: int
    """Trust without which an agent has no weight, τ."""
    seeds: int
    """Agents from which trust starts."""
    seed_least: int
    """What each seed holds at the least, whoever trusts it."""
    judgement: int
    """What the first approval or vouch of a seed carries, while the seeds hold all trust."""

    @property
    def most(self) -> int:
        """How many agents can hold tickets at once."""
        return MASS // self.ticket

    @property
    def seeds_for_one(self) -> int:
        """How many seeds have to judge a newcomer well to bring it a ticket; at least one."""
        return max(1, -(-self.ticket // self.judgement))


def tickets_of(charter: Charter) -> Tickets:
    """Compute what a charter comes to whose values are within their ranges: none of it is 0."""
    trust = charter.trust
    seat = MASS // trust.seats
    seeds = len(charter.genesis.seeds or charter.genesis.founders)
    passed = (_QUARTER - 1) * (MASS // seeds) // _QUARTER
    return Tickets(
        seat=seat,
        ticket=-(-seat * trust.w_min // trust.w_max),
        seeds=seeds,
        seed_least=MASS // _QUARTER // seeds,
        judgement=min(passed // FEWEST_EDGES, MASS, trust.kappa * seat // _QUARTER),
    )
