"""The tally: V = Σ w·v / Σ w over opened ballots, in integers (paper 3.2.2).

Weights are those of the round's cut, capped by operator and then by instance over the counted
ballots. An abstention counts for the quorum and in Σ w. Practice ballots are opened and kept
apart. Nothing depends on the order in which ballots arrive.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from federation.artifacts import OpenedBallot
from federation.certificates import Phase
from federation.core import AgentId, OperatorId, Weight
from federation.crypto import Ballot
from federation.records import Record, Reveal
from federation.review.finals import Finals, box, listed
from federation.review.pin import RoundPin, has_quorum
from federation.trust import Capped, Unrevealed, capped


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What the opened ballots of one round add up to."""

    numerator: int
    """Σ w·v."""
    denominator: Weight
    """Σ w."""
    counted: tuple[OpenedBallot, ...]
    """Opened ballots of reviewers, by voter, with their capped weights."""
    practice: tuple[OpenedBallot, ...]
    """Opened practice ballots, by voter, weight 0."""
    unrevealed: tuple[Unrevealed, ...]
    """Listed commitments that were not opened, by voter."""
    quorum: bool
    """Enough ballots were opened, of 2 operators where the round has them."""
    halved: bool
    """A cap stopped at half of the weight: somebody may count for more than its share."""

    @property
    def operators(self) -> frozenset[OperatorId]:
        """Operators with a counted ballot."""
        return frozenset(opened.operator for opened in self.counted)

    @property
    def ballots(self) -> tuple[OpenedBallot, ...]:
        """All opened ballots, by voter."""
        return tuple(sorted(self.counted + self.practice, key=lambda opened: opened.voter))

    @property
    def weight_against(self) -> Weight:
        """Add up the counted weight of those against."""
        return sum(opened.weight for opened in self.counted if opened.ballot.choice < 0)

    @property
    def against(self) -> bool:
        """Tell whether a reviewer voted against."""
        return any(opened.ballot.choice < 0 for opened in self.counted)


NOTHING: Final = Tally(
    numerator=0,
    denominator=0,
    counted=(),
    practice=(),
    unrevealed=(),
    quorum=False,
    halved=False,
)
"""The tally of a round in which no ballot was opened."""


def count(pin: RoundPin, finals: Finals) -> Tally:
    """Count the ballots that `decide` lists; nothing where it was never reached."""
    if Phase.DECIDE not in finals:
        return NOTHING
    return tally(pin, box(finals), listed(finals, Phase.DECIDE))


def tally(pin: RoundPin, committed: Iterable[Record], reveals: Iterable[Record]) -> Tally:
    """Count the listed `reveals` of the listed commitments (the box).

    Both lists are certified, so what they name has qualified. Raises nothing: a reveal without
    a commitment in the box, or of a voter the pin does not know, is not counted.
    """
    voters = {record.author for record in committed if record.author in pin.agents}
    opened = _opened(reveals, voters)
    reviewers = sorted(voter for voter in opened if voter in pin.eligible.reviewers)
    found = _weights(pin, reviewers)
    weights = found.weights
    counted = tuple(_ballot(pin, voter, opened[voter], weights[voter]) for voter in reviewers)
    return Tally(
        numerator=sum(one.weight * one.ballot.choice for one in counted),
        denominator=sum(one.weight for one in counted),
        counted=counted,
        practice=tuple(
            _ballot(pin, voter, opened[voter], None)
            for voter in sorted(opened)
            if voter not in weights
        ),
        unrevealed=tuple(
            Unrevealed(voter=voter, practice=voter not in pin.eligible.reviewers)
            for voter in sorted(voters - opened.keys())
        ),
        quorum=has_quorum(pin, reviewers),
        halved=found.halved,
    )


def _opened(reveals: Iterable[Record], voters: set[AgentId]) -> dict[AgentId, Ballot]:
    """Map voters to their ballots; of two reveals the lowest id counts, as in the list."""
    opened: dict[AgentId, Ballot] = {}
    for record in sorted(reveals, key=lambda one: one.id):
        if isinstance(record.body, Reveal) and record.author in voters:
            opened.setdefault(record.author, record.body.ballot)
    return opened


def _weights(pin: RoundPin, reviewers: list[AgentId]) -> Capped:
    views = {voter: pin.agents[voter] for voter in reviewers}
    return capped(
        pin.charter.trust,
        {voter: view.weight for voter, view in views.items()},
        models={voter: view.model for voter, view in views.items()},
        keepers={voter: view.keeper for voter, view in views.items()},
        operators={voter: view.operator for voter, view in views.items()},
        instances={voter: view.instance for voter, view in views.items()},
    )


def _ballot(pin: RoundPin, voter: AgentId, ballot: Ballot, weight: Weight | None) -> OpenedBallot:
    return OpenedBallot(
        voter=voter,
        operator=pin.agents[voter].operator,
        ballot=ballot,
        weight=weight or 0,
        practice=weight is None,
    )
