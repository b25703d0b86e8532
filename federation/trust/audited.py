"""Competence by audits: how often an agent's audited votes were right (design: voting weight).

Only what was checked counts, so a crowd that errs together does not flatter itself, and Sybils that
agree with each other gain nothing. The share of right votes is shrunk toward `audit_prior`, worth
`audit_n` audits; competence is its log odds, which is how much one vote should count beside others,
cut at 4 and in quarters. An agent without audits weighs about a tenth: audits early are worth most.

No audit record is interpreted in this version: nothing is observed but by tests and simulations.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from federation.charter import Trust
from federation.core import MILLION, AgentId, Ppm
from federation.trust.logarithm import ln

_SUREST: Final[Ppm] = 990_000
"""No record of right votes is taken for more than this share, nor for less than the rest of it."""
_TOP: Final = 4
"""Log odds that are full competence: 98.2 % right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """How one agent's audited votes came out."""

    agent: AgentId
    right: int
    audits: int


class Audited:
    """Sums over audits; the order in which they are observed does not matter."""

    def __init__(self, trust: Trust) -> None:
        """Estimate under the charter's section on trust."""
        self._trust = trust
        self._checked: dict[AgentId, tuple[int, int]] = {}

    def under(self, trust: Trust) -> None:
        """Go on under another charter's section on trust; what was observed stays observed."""
        self._trust = trust

    def observe(self, agent: AgentId, right: bool, *, audits: int = 1) -> None:
        """Take in `audits` votes of an agent that were found right, or wrong; never abstentions."""
        rights, all_ = self._checked.get(agent, (0, 0))
        self._checked[agent] = (rights + audits * right, all_ + audits)

    def b(self, agent: AgentId) -> Ppm:
        """Give an agent's competence in (0, 1]: clip(ln(p / (1 - p)), b_floor, 4) / 4.

        The options are two, so even odds are mere guessing. Guessing counts a quarter of the floor
        that competence by agreement has.
        """
        trust = self._trust
        right, audits = self._checked.get(agent, (0, 0))
        p = (right * MILLION + trust.audit_n * trust.audit_prior) // (audits + trust.audit_n)
        p = min(max(p, MILLION - _SUREST), _SUREST)
        odds = ln(p, MILLION - p)
        return max(min(max(odds, trust.b_floor), _TOP * MILLION) // _TOP, 1)

    def rows(self) -> Iterator[Checked]:
        """List all sums by agent, for snapshots."""
        for agent in sorted(self._checked):
            right, audits = self._checked[agent]
            yield Checked(agent=agent, right=right, audits=audits)
