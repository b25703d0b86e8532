"""An agent as the pinned world of a round sees it: all that eligibility and weight look at."""

from dataclasses import dataclass

from federation.charter import Badge
from federation.core import AgentId, InstanceId, OperatorId, Weight


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentView:
    """One admitted agent in the world of the cut that opened a round."""

    agent: AgentId
    operator: OperatorId
    instance: InstanceId
    """The instance that admitted it."""
    model: bytes
    """The model weights that it declares; its own id if it says nothing."""
    keeper: bytes
    """The operator that keeps its keys on its node; its own id if it keeps them itself."""
    tier: int
    """0 newcomer, 1 established, 2 trusted."""
    weight: Weight
    """Voting weight in ppm, before caps."""
    reviewer: bool
    """Tier 1 or more (which needs a ticket), neither revoked nor forked."""
    revoked: bool = False
    forked: bool = False
    """A contained `log.fork` proves two branches and no rotation has picked one."""
    scope: frozenset[str] = frozenset()
    """Kinds that its operator delegated; empty means all an agent may author."""

    badges: frozenset[Badge] = frozenset()
    """Offices for which it may be drawn, or speak."""
    suspended: bool = False
    """A sanction keeps it from reviews, disputes and proposals."""
    banned: bool = False
    quarantined: bool = False
    """Its votes carry nothing: it is taken to be broken."""
    probation: bool = False
    """Half its weight, and it proposes in the sandbox only."""

    @property
    def barred(self) -> bool:
        """Tell whether it may take no part at all in the round."""
        return self.revoked or self.forked or self.suspended or self.banned
