"""What a round decided about an artifact, as the artifact remembers it (paper 3.2; design: tiers).

A verdict is arithmetic over final lists: every node computes the same one, nobody sends it. How
it is computed stands in `review`; here is only its form, because the lifecycle asks for it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from federation.core import AgentId, Digest, OperatorId, Ppm, RoundId, Weight
from federation.crypto import Ballot
from federation.trust import Decision, Unrevealed

RoundKind: TypeAlias = Literal["review", "dispute", "report", "appeal"]
"""What a round is about. A report that is credible goes on as a dispute."""


class DecidedBy(StrEnum):
    """Which rule gave the decision."""

    VOTE = "vote"
    """A quorum passed one of the thresholds."""
    SIGN = "sign"
    """Too close, with nobody to arbitrate: the sign of the tally, a tie rejects."""
    FAST_TRACK = "fast_track"
    """Nobody objected while the window was open."""
    SHORTFALL = "shortfall"
    """Too few ballots: the charter's policy for that sensitivity."""
    TIMEOUT = "timeout"
    """The round passed its deadline before a box was shut, or nobody decided in the end."""
    ARBITER = "arbiter"
    """A drawn arbiter ruled."""
    ADMIN = "admin"
    """A quorum of operators decided by hand."""
    RERUN = "rerun"
    """An arbiter asked for a fresh panel: nothing is decided, another round follows."""
    UNFOUNDED = "unfounded"
    """A moderator found a report not credible."""
    LAPSED = "lapsed"
    """No moderator looked at a report in time."""
    ASSESSED = "assessed"
    """A report was credible and another round, or the operators, decide."""


class Narrow(StrEnum):
    """Why a verdict lacks one of the usual safeguards; shown wherever the verdict is."""

    QUORUM = "quorum_below_q_min"
    """Fewer reviewers than q_min could review this."""
    RELAXED = "relaxed_exclusion"
    """Agents of the author's operator were let in, because there were too few others."""
    SHORTFALL = "shortfall"
    """Decided by policy, not by a quorum."""
    BY_SIGN = "by_sign"
    """Decided by the sign of the tally."""
    FEW_OPERATORS = "few_operators_counted"
    """Fewer than five operators stand behind the counted ballots."""
    FEW_MEMBERS = "few_member_operators"
    """Fewer than four operators run instances: one liar or one absence is felt."""
    NOT_SEALED = "not_sealed"
    """A rerun: what the first panel voted was known to the second."""
    CAP = "cap_stopped_at_half"
    """A cap on operators or instances would have taken more than half of the weight, and took half:
    somebody may count for more than its share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedBallot:
    """One revealed ballot."""

    voter: AgentId
    operator: OperatorId
    ballot: Ballot
    weight: Weight
    """After caps; 0 for a practice ballot."""
    practice: bool
    """Cast below tier 1: kept apart, decides nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How one round ended."""

    round: RoundId
    decision: Decision
    """`accept` or `reject`, of a dispute: keep or retract; `none` if the round decided nothing."""
    by: DecidedBy
    numerator: int
    """Σ w·v over counted ballots."""
    denominator: Weight
    """Σ w over counted ballots; 0 if there is none."""
    v_ppm: Ppm
    """The normalised tally for display, rounded down; comparisons use the exact fraction."""
    strong: bool
    """A quorum's result whose absolute tally reaches the charter's `strong`."""
    quorum: bool
    """Enough ballots, of enough operators, were opened."""
    quorum_needed: int
    operators: int
    """Operators with a counted ballot."""
    ballots: tuple[OpenedBallot, ...] = ()
    """All opened ballots by voter, practice ballots among them."""
    unrevealed: tuple[Unrevealed, ...] = ()
    """Listed commitments that nobody opened, by voter."""
    kind: RoundKind = "review"
    rulers: tuple[Digest, ...] = ()
    """Arbiters or operators whose word decided; the moderator of a report."""
    contested: bool = False
    """Somebody who took part has contested the process."""
    frivolous: bool = False
    """Of a dismissed dispute: hardly any weight was against the artifact."""
    objections: int = 0
    narrow: tuple[Narrow, ...] = ()
    """In the order of the enum; empty where all safeguards held."""

    @property
    def accepted(self) -> bool:
        """Tell whether the artifact stands."""
        return self.decision is Decision.ACCEPT

    @property
    def revealed(self) -> int:
        """Count the ballots of reviewers that were opened."""
        return sum(not opened.practice for opened in self.ballots)
