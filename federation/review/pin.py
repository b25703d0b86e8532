"""What a round pins: everything its lists and its verdict depend on, fixed by one cut (design: time).

The cut that first contains a proposal opens its round. Charter, agents, tiers, weights and
eligibility stay those of that cut's world until the round ends, whoever joins, leaves or is
sanctioned meanwhile; so every node qualifies the same records and counts the same weights.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from federation.artifacts import Flag, RoundKind
from federation.charter import Charter, Sensitivity
from federation.codec import encode
from federation.core import (
    AgentId,
    ArtifactId,
    Digest,
    InstanceId,
    OperatorId,
    Realm,
    RecordId,
    RoundId,
)
from federation.crypto import Domain, digest
from federation.review.agent_view import AgentView
from federation.review.eligibility import NOBODY_VOTES, Eligible, eligible, fresh_panel
from federation.trust import TRUSTED

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
    disputer: AgentId | None = None
    """Who filed the dispute or the report, or brought back what another agent has written; None if
    the rules opened it themselves, or it is the author's own."""
    disputer_operator: OperatorId | None = None
    cause: RecordId | None = None
    """The record that opened it, where that is not the artifact's own: dispute, report, resubmission,
    appeal."""
    voted: frozenset[AgentId] = frozenset()
    """Who may not sit on this panel because it has voted on the artifact before."""
    rerun: bool = False
    """An arbiter asked for it: it is not asked for again, and its panel is fresh."""
    assess_only: bool = False
    """Of a report: another round runs, or nothing stands, so that it ends with the assessment."""
    formal: bool = False
    """It is voted on in any case: a revision by another author than the first."""
    members: frozenset[OperatorId] = frozenset()
    """Operators of member instances: who decides by hand."""
    beacon: Digest | None = None
    """The first beacon after the round opened: arbiters are drawn with it. None until then."""
    charter: Charter
    agents: Mapping[AgentId, AgentView]
    """Every agent admitted in that world."""
    member_operators: int
    """Operators of member instances."""
    eligible: Eligible = field(init=False)
    """Who may vote; computed once, because every record of the round asks."""
    undecidable: bool = field(init=False)
    """No vote can decide it (`is_undecidable`); computed once for the same reason."""

    def __post_init__(self) -> None:
        """Work out who may vote, and whether that is enough."""
        object.__setattr__(self, "eligible", _eligible(self))
        object.__setattr__(self, "undecidable", _is_undecidable(self))

    @property
    def is_dispute(self) -> bool:
        """Tell whether it asks if something still stands; +1 on its ballots means to keep it."""
        return self.kind in {"dispute", "report"}

    @property
    def sides(self) -> frozenset[AgentId]:
        """The author, and who filed the dispute or the report."""
        return frozenset({self.author} if self.disputer is None else {self.author, self.disputer})

    @property
    def side_operators(self) -> frozenset[OperatorId]:
        """Operators of the sides, as they were pinned."""
        filed = self.disputer_operator
        return frozenset({self.author_operator} if filed is None else {self.author_operator, filed})


def round_id(
    realm: Realm, artifact: ArtifactId, kind: RoundKind, ordinal: int, cut_digest: Digest
) -> RoundId:
    """Name a round; `ordinal` counts the rounds of this kind that the artifact has had, from 0.

    The digest of the opening cut is inside, so nobody can prepare records for a round before
    the cut that opens it is final.
    """
    return digest(Domain.ROUND, encode([realm, artifact, kind, ordinal, cut_digest]))


def quorum_needed(pin: RoundPin) -> int:
    """Count the opened ballots of reviewers that a vote needs.

    In a review min(q_min, E); a dispute's quorum is never lowered, and an appeal has no vote.
    """
    if pin.is_dispute:
        return pin.charter.disputes.q_dispute
    return min(pin.charter.review.q_min, len(pin.eligible.reviewers))


def has_quorum(pin: RoundPin, voters: Collection[AgentId]) -> bool:
    """Tell whether the reviewers among `voters` are a quorum, of 2 operators where E has 2."""
    reviewers = pin.eligible.reviewers.intersection(voters)
    operators = {pin.agents[voter].operator for voter in reviewers}
    return len(reviewers) >= quorum_needed(pin) and len(operators) >= min(
        _TWO, len(pin.eligible.operators)
    )


def is_undecidable(pin: RoundPin) -> bool:
    """Tell whether no vote can decide it: nobody with weight may review (E = 0 or Σw = 0).

    Nor can one where a dispute has fewer reviewers than its quorum, and an appeal has no vote.
    """
    return pin.undecidable


def _is_undecidable(pin: RoundPin) -> bool:
    reviewers = pin.eligible.reviewers
    weightless = not any(pin.agents[agent].weight for agent in reviewers)
    return weightless or not has_quorum(pin, reviewers)


def watchers(pin: RoundPin) -> tuple[int, int]:
    """Count the watchers who could object, and how many the fast track needs.

    Only reviewers who may review this count: an author could subscribe newcomers of its own.
    """
    need = min(pin.charter.review.fast_min_watchers, len(pin.eligible.reviewers))
    return len(pin.watchers & pin.eligible.reviewers), need


def fast_window(pin: RoundPin) -> int:
    """Give the objection window in ms; 0 where there is none and a vote begins at once.

    An author with a ticket and no flag has one; a trusted author of low sensitivity waits half as
    long (design: tier 1). Of high sensitivity it only collects objections before the vote.
    """
    formal = pin.formal or pin.rerun or pin.kind != "review"
    if formal or not pin.author_has_ticket or pin.flags:
        return 0
    if pin.sensitivity != "low":
        return pin.charter.review.fast_high
    author = pin.agents.get(pin.author)
    window = pin.charter.review.fast_low
    return window // _TWO if author is not None and author.tier >= TRUSTED else window


def most_arguments(pin: RoundPin) -> int:
    """Count the arguments of one author that a turn of the debate lists."""
    review = pin.charter.review
    return 1 if review.mode == "rounds" else review.arguments_each


def _eligible(pin: RoundPin) -> Eligible:
    if pin.kind == "appeal":
        return NOBODY_VOTES
    if not pin.is_dispute:
        return eligible(
            pin.agents,
            author=pin.author,
            author_operator=pin.author_operator,
            q_min=pin.charter.review.q_min,
            voted=pin.voted if pin.rerun else frozenset(),
            parties=pin.sides,
        )
    return fresh_panel(pin.agents, involved=pin.voted | pin.sides, operators=pin.side_operators)


__all__ = [
    "AgentView",
    "RoundKind",
    "RoundPin",
    "fast_window",
    "has_quorum",
    "is_undecidable",
    "most_arguments",
    "quorum_needed",
    "round_id",
    "watchers",
]
