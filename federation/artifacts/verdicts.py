"""What a round decided about an artifact, as the artifact remembers it (paper 3.2; design: tiers).

A verdict is arithmetic over final lists: every node computes the same one, nobody sends it. How
it is computed stands in `review`; here is only its form, because the lifecycle asks for it.
"""

from dataclasses import dataclass
from enum import StrEnum

from federation.core import AgentId, OperatorId, Ppm, RoundId, Weight
from federation.crypto import Ballot
from federation.trust import Decision, Unrevealed


class DecidedBy(StrEnum):
    """Which rule gave the decision."""

    VOTE = "vote"
    """A quorum passed one of the thresholds."""
    SIGN = "sign"
    """Too close, or contested, with nobody to arbitrate: the sign of the tally, a tie rejects."""
    FAST_TRACK = "fast_track"
    """Nobody objected while the window was open."""
    SHORTFALL = "shortfall"
    """Too few ballots: the charter's policy for that sensitivity."""
    TIMEOUT = "timeout"
    """The round passed its deadline before a box was shut."""


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
    """`accept` or `reject`, never `none`."""
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
