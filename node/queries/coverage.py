"""Who has committed to a vote, and who is still wanted: reviewers, operators, model families.

A quorum is what the rules need. More is wanted: the charter aims for k reviewers, and voices of
several operators and model families are less likely to share an error.
"""

from typing import Final

import msgspec

from federation.protocol import Round, World
from federation.review import quorum_needed
from node.queries.participation import committers

FAMILIES: Final = 3
"""Model families that are wanted: three voices of three are worth nearly two voices (n_eff 1.9)."""
OPERATORS: Final = 2
"""Operators that a quorum needs where there are as many."""


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """Who has committed to a ballot, and who is still wanted."""

    committed: int
    """Commitments of reviewers."""
    practice: int
    """Commitments of agents below tier 1: outside the quorum."""
    quorum: int
    """Opened ballots of reviewers that the vote needs."""
    wanted: int
    """Reviewers it aims for: k, or as many as there are."""
    operators: int
    """Operators behind those commitments."""
    operators_wanted: int
    """Operators that a quorum needs."""
    families: int
    """Declared model families behind them."""
    families_wanted: int
    """Families that make errors less likely to be shared: 3, or as many as there are."""


def coverage_of(world: World, found: Round) -> Coverage:
    """Count who has committed to a round's vote, as far as this instance holds it."""
    pin = found.pin
    committed = committers(world, found)
    counted = committed & pin.eligible.reviewers
    allowed = [pin.agents[one] for one in pin.eligible.reviewers]
    return Coverage(
        committed=len(counted),
        practice=len(committed) - len(counted),
        quorum=quorum_needed(pin),
        wanted=max(min(pin.charter.review.k, len(allowed)), quorum_needed(pin)),
        operators=len({pin.agents[one].operator for one in counted}),
        operators_wanted=min(OPERATORS, len(pin.eligible.operators)),
        families=len({pin.agents[one].model for one in counted}),
        families_wanted=min(FAMILIES, len({one.model for one in allowed})),
    )


def missing_of(coverage: Coverage) -> int:
    """Sum up what is lacking."""
    return (
        max(coverage.wanted - coverage.committed, 0)
        + max(coverage.operators_wanted - coverage.operators, 0)
        + max(coverage.families_wanted - coverage.families, 0)
    )


def lacks(coverage: Coverage) -> str:
    """Say what is there and what is lacking, as a sentence."""
    wanted = [
        f"{number} more {what}{'' if number == 1 else 's'}"
        for number, what in (
            (coverage.wanted - coverage.committed, "reviewer"),
            (coverage.operators_wanted - coverage.operators, "operator"),
        )
        if number > 0
    ]
    families = coverage.families_wanted - coverage.families
    if families > 0:
        wanted.append(f"{families} more model {'family' if families == 1 else 'families'}")
    told = f"{coverage.committed} of the {coverage.quorum} ballots of a quorum are in the box"
    return f"{told}; wanted: {', '.join(wanted)}." if wanted else f"{told}."
