"""How often the community was right, against the truth and against a plain majority.

Everything comes from the certified state: which artifacts stand, by which rule, and which
ballots were opened. The plain majority looks at the *same* opened ballots without weights: more
votes for than against accepts, a tie retracts. Floats are for reports only.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from federation.artifacts import DecidedBy, Verdict
from node.demo.scenario import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One question and the verdict on it."""

    question: Question
    verdict: Verdict

    @property
    def is_decided(self) -> bool:
        """Tell whether the weighted vote passed a threshold."""
        return self.verdict.by is DecidedBy.VOTE

    @property
    def is_ambiguous(self) -> bool:
        """Tell whether it lay between the thresholds and its sign settled it."""
        return self.verdict.by is DecidedBy.SIGN

    @property
    def accepted(self) -> bool:
        """Tell whether the protocol let the claim stand."""
        return self.verdict.accepted

    @property
    def majority_accepts(self) -> bool:
        """Tell whether a plain majority of the same ballots accepts."""
        return sum(one.ballot.choice for one in self.verdict.ballots if not one.practice) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How good a set of decisions is; a share of nothing is None."""

    accepted: int
    retracted: int
    precision: float | None
    """True claims among the accepted."""
    recall: float | None
    """Accepted among the true claims."""
    accuracy: float | None
    """Claims that were accepted and true, or retracted and false."""


def score(rounds: Iterable[Judged], accepts: Callable[[Judged], bool]) -> Score:
    """Score a way of deciding over some rounds."""
    outcomes = [(accepts(one), one.question.is_true) for one in rounds]
    accepted = sum(yes for yes, _ in outcomes)
    true = sum(truth for _, truth in outcomes)
    both = sum(yes and truth for yes, truth in outcomes)
    return Score(
        accepted=accepted,
        retracted=len(outcomes) - accepted,
        precision=_share(both, accepted),
        recall=_share(both, true),
        accuracy=_share(sum(yes == truth for yes, truth in outcomes), len(outcomes)),
    )


def by_protocol(one: Judged) -> bool:
    """Decide as the realm did."""
    return one.accepted


def by_majority(one: Judged) -> bool:
    """Decide as a plain sealed majority would have."""
    return one.majority_accepts


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
