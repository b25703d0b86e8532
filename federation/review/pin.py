"""What a round pins: everything its lists and its verdict depend on, fixed by one cut (design: time).

The cut that first contains a proposal opens its round. Charter, agents, tiers, weights and
eligibility stay those of that cut's world until the round ends, whoever joins, leaves or is
sanctioned meanwhile; so every node qualifies the same records and counts the same weights.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from federation.artifacts import Flag
from federation.charter import Charter, Sensitivity
from federation.codec import encode
from federation.core import AgentId, ArtifactId, Digest, InstanceId, OperatorId, Realm, RoundId
from federation.crypto import Domain, digest
from federation.review.agent_view import AgentView
from federation.review.eligibility import Eligible, eligible
from federation.trust import TRUSTED

RoundKind: TypeAlias = Literal["review"]
"""Disputes and reports come with a later protocol level."""
_TWO: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundPin:
    """The pinned world of one round."""

    round: RoundId
    realm: Realm
    artifact: ArtifactId
    author: AgentId
    author_operator: OperatorId
    home: InstanceId
    """The instance that admitted the author; it leads the round's slots."""
    home_operator: OperatorId
    cut: int
    """Number of the cut that opened the round."""
    sensitivity: Sensitivity
    author_has_ticket: bool
    """Its author is of tier 1 or more and holds a ticket: else it is in the sandbox, and voted on."""
    watchers: frozenset[AgentId]
    """Agents whose subscription matches the artifact."""
    flags: frozenset[Flag] = frozenset()
    """The artifact's flags in that world; with any of them it is always voted on."""
    kind: RoundKind = "review"
    charter: Charter
    agents: Mapping[AgentId, AgentView]
    """Every agent admitted in that world."""
    member_operators: int
    """Operators of member instances."""
    eligible: Eligible = field(init=False)
    """Who may vote; computed once, because every record of the round asks."""

    def __post_init__(self) -> None:
        """Work out who may vote."""
        allowed = eligible(
            self.agents,
            author=self.author,
            author_operator=self.author_operator,
            q_min=self.charter.review.q_min,
        )
        object.__setattr__(self, "eligible", allowed)


def round_id(
    realm: Realm, artifact: ArtifactId, kind: RoundKind, ordinal: int, cut_digest: Digest
) -> RoundId:
    """Name a round; `ordinal` counts the rounds of this kind that the artifact has had, from 0.

    The digest of the opening cut is inside, so nobody can prepare records for a round before
    the cut that opens it is final.
    """
    return digest(Domain.ROUND, encode([realm, artifact, kind, ordinal, cut_digest]))


def quorum_needed(pin: RoundPin) -> int:
    """Count the opened ballots of reviewers that a vote needs: min(q_min, E)."""
    return min(pin.charter.review.q_min, len(pin.eligible.reviewers))


def has_quorum(pin: RoundPin, voters: Collection[AgentId]) -> bool:
    """Tell whether the reviewers among `voters` are a quorum, of 2 operators where E has 2."""
    reviewers = pin.eligible.reviewers.intersection(voters)
    operators = {pin.agents[voter].operator for voter in reviewers}
    return len(reviewers) >= quorum_needed(pin) and len(operators) >= min(
        _TWO, len(pin.eligible.operators)
    )


def is_undecidable(pin: RoundPin) -> bool:
    """Tell whether nobody with weight may review: E = 0 or Σw = 0."""
    return not any(pin.agents[agent].weight for agent in pin.eligible.reviewers)


def watchers(pin: RoundPin) -> tuple[int, int]:
    """Count the watchers who could object, and how many the fast track needs.

    Only reviewers who may review this count: an author could subscribe newcomers of its own.
    """
    need = min(pin.charter.review.fast_min_watchers, len(pin.eligible.reviewers))
    return len(pin.watchers & pin.eligible.reviewers), need


def fast_window(pin: RoundPin) -> int:
    """Give the objection window in ms; 0 where there is none and a vote begins at once.

    Only low sensitivity, an author with a ticket and no flag may pass without a vote; a trusted
    author waits half as long (design: tier 1).
    """
    if pin.sensitivity != "low" or not pin.author_has_ticket or pin.flags:
        return 0
    author = pin.agents.get(pin.author)
    window = pin.charter.review.fast_low
    return window // _TWO if author is not None and author.tier >= TRUSTED else window


__all__ = [
    "AgentView",
    "RoundKind",
    "RoundPin",
    "fast_window",
    "has_quorum",
    "is_undecidable",
    "quorum_needed",
    "round_id",
    "watchers",
]
