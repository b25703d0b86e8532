"""What each level of the ladder takes, and what a quarantine takes (paper 3.4, 4.6).

Every effect is an access rule that a node enforces: an agent without a memory learns nothing from
punishment, but it cannot do what it may not do.
"""

from dataclasses import dataclass
from typing import Final

from federation.charter import Sanctions
from federation.core import Code, Weight

HALF: Final = 2
"""By how much a level divides weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What one level takes; a higher level takes at least as much."""

    limited: bool = False
    """Quotas are divided by the charter's `sanctions.divisor`."""
    probation: bool = False
    """Half the weight, and proposals in the sandbox only."""
    suspended: bool = False
    """No review, no dispute, no report, no proposal."""
    banned: bool = False
    """The identity ends; those who vouched for it answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What holds for one agent since the last tick."""

    level: int = 0
    points: int = 0
    """Its own that count, and those that it inherited from its operator's other agents."""
    inherited: int = 0
    """How many of these are inherited."""
    effects: Effects = Effects()
    quarantined: bool = False
    """Its ballots carry nothing: it is taken to be broken."""
    quota_divisor: int = 1
    weight_divisor: int = 1

    @property
    def suspended(self) -> bool:
        """Whether it may not take part for a while."""
        return self.effects.suspended and not self.effects.banned

    @property
    def banned(self) -> bool:
        """Whether its identity has ended."""
        return self.effects.banned

    @property
    def probation(self) -> bool:
        """Whether it works in the sandbox, with half its weight."""
        return self.effects.probation

    @property
    def refusal(self) -> Code | None:
        """Give the code that meets whatever it files, or None."""
        if self.banned:
            return Code.AGENT_BANNED
        return Code.SUSPENDED if self.suspended else None

    def weighs(self, weight: Weight) -> Weight:
        """Give what is left of a weight; rounded down."""
        return 0 if self.quarantined or self.effects.suspended else weight // self.weight_divisor

    def quota(self, allowed: int) -> int:
        """Give what is left of a quota: never nothing of something, which would be a suspension."""
        return max(1, allowed // self.quota_divisor) if allowed else 0


FREE: Final = Held()
"""What holds for an agent against which nothing stands."""


def held(
    *,
    level: int,
    effects: Effects,
    points: int,
    inherited: int,
    quarantined: bool,
    rules: Sanctions,
) -> Held:
    """Say what a level and a quarantine take under these rules."""
    return Held(
        level=level,
        points=points,
        inherited=inherited,
        effects=effects,
        quarantined=quarantined,
        quota_divisor=rules.divisor if effects.limited else 1,
        weight_divisor=HALF if effects.probation else 1,
    )
