"""Broken, inverted, or neither: what an agent's votes look like beside what was found out later.

Six simple models say how often a vote is for or against an artifact that later stood, or fell. The
model under which the votes are likeliest by at least `odds` bits over every other is the finding;
else there is none. Four of the models are of honest agents and never lead to anything: `honest`
errs one time in four, and so does `misled`, which was for all that fell; `approving` and `dissenting`
say nearly always yes, or no, whatever is true. So whoever only ever dissents is neither chance nor
inversion, and inversion must show on both sides.

Only what was found out after the vote counts, by others than those who voted: artifacts that a
fresh panel let stand or retracted, and audits. Of retracted ones only those are known that had been
accepted first, so that most honest voters had been for them: there `honest` is right one time in two
and cannot be told from chance, and `misled` hardly ever is. Agreement with the decision itself is no signal at all.

Duplicates, contradictory votes on duplicates, format errors and timing would be signals too; this
version of the protocol has no records of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from federation.charter import Sanctions
from federation.crypto import Choice

_LOG2: Final[Mapping[int, int]] = {1: -4_000, 4: -2_000, 8: -1_000, 12: -415, 15: -93}
"""Logarithms of sixteenths to base 2, in thousandths of a bit, to the nearest."""
_SIXTEEN: Final = 16
_BIT: Final = 1_000


class Model(StrEnum):
    """How an agent may come to its votes."""

    HONEST = "honest"
    """It looks, and errs sometimes."""
    MISLED = "misled"
    """The same, and it was for what was accepted wrongly, as those must have been who accepted it."""
    APPROVING = "approving"
    """It says yes to nearly everything."""
    DISSENTING = "dissenting"
    """It says no to nearly everything."""
    RANDOM = "random"
    """Its votes have nothing to do with what it votes on: it is broken."""
    INVERTED = "inverted"
    """It is for what is bad, and against what is good."""


FOR_OF_SIXTEEN: Final[Mapping[Model, tuple[int, int]]] = {
    Model.HONEST: (12, 8),
    Model.MISLED: (12, 15),
    Model.APPROVING: (15, 15),
    Model.DISSENTING: (1, 1),
    Model.RANDOM: (8, 8),
    Model.INVERTED: (1, 15),
}
"""Votes for an artifact, of sixteen: one that later stood, and one that later fell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One vote, and what was found out later."""

    choice: Choice
    """For or against: an abstention is no sample."""
    stood: bool
    """A later check let the artifact stand."""


def bits(model: Model, samples: Iterable[Sample]) -> int:
    """Give the logarithm of how likely votes are under a model, in thousandths of a bit; below 0."""
    stood, fell = FOR_OF_SIXTEEN[model]
    total = 0
    for one in samples:
        share = stood if one.stood else fell
        total += _LOG2[share if one.choice is Choice.FOR else _SIXTEEN - share]
    return total


def classify(samples: Iterable[Sample], rules: Sanctions) -> Model | None:
    """Tell how an agent comes to its votes; None if there are too few, or if it is not clear.

    Clear is what is `rules.odds` bits likelier than every other model; below `rules.sample` votes
    nothing is.
    """
    votes = [one for one in samples if one.choice is not Choice.ABSTAIN]
    if len(votes) < rules.sample:
        return None
    scores = {model: bits(model, votes) for model in Model}
    best, second = sorted(scores.values(), reverse=True)[:2]
    if best - second < rules.odds * _BIT:
        return None
    return next(model for model, score in scores.items() if score == best)
