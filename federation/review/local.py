"""The verdict of a round as *I* would give it: its ballots, with my weights.

Nothing is certified by it and nothing follows from it. Who could vote, which lists there are and
how ballots are capped and counted is the round's own: the pin is replaced by one with my weights,
and the same functions count it. A reviewer whom I give no weight makes no quorum for me either, as
nobody without weight ever does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from federation.artifacts import DecidedBy
from federation.certificates import Phase
from federation.core import MILLION, AgentId, Ppm, Weight
from federation.crypto import Choice
from federation.review.course import course
from federation.review.eligibility import Eligible
from federation.review.finals import Finals, box, listed
from federation.review.pin import RoundPin
from federation.review.plans import objections
from federation.review.rulings import ruling_of
from federation.review.tally import Tally, count
from federation.review.verdict import Escalation, conclude
from federation.trust import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """What one reviewer's ballot counts for me beside what it counted in the round."""

    voter: AgentId
    choice: Choice
    canonical: Ppm
    """Share of the counted weight in the round."""
    local: Ppm
    """Share of the weight that I count."""

    @property
    def size(self) -> Ppm:
        """How far the two are apart."""
        return abs(self.local - self.canonical)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalVerdict:
    """How a round ends with my weights."""

    decision: Decision
    by: DecidedBy
    """The rule that gave it."""
    v_ppm: Ppm
    """V = Σ w·v / Σ w, rounded down; 0 without weight."""
    numerator: int
    """Σ w·v."""
    denominator: Weight
    """Σ w."""
    shifts: tuple[Shift, ...]
    """Reviewers with an opened ballot, largest difference first, then by id."""


def local_verdict(
    pin: RoundPin,
    finals: Finals,
    weights: Mapping[AgentId, Weight],
    escalate: Escalation | None = None,
) -> LocalVerdict | None:
    """Count an ended round's opened ballots with my weights; None if it opened none.

    `weights` are before caps, in ppm; whom they do not name keeps the weight that the round pinned.
    What my count leaves open is decided by `escalate`, or as the round's own lists say: by what
    its arbiter or its operators ruled, else by the sign.
    """
    lists = course(pin, finals).lists
    if Phase.DECIDE not in lists:
        return None
    mine = _weighed(pin, lists, weights)
    counted, recounted = count(pin, lists), count(mine, lists)
    if not counted.counted:
        return None
    verdict = conclude(
        mine,
        recounted,
        objections=objections(lists),
        contested=bool(listed(lists, Phase.CONTEST)),
        escalate=escalate or (lambda _, mine_counted: ruling_of(pin, lists, mine_counted)),
    )
    return LocalVerdict(
        decision=verdict.decision,
        by=verdict.by,
        v_ppm=verdict.v_ppm,
        numerator=verdict.numerator,
        denominator=verdict.denominator,
        shifts=_shifts(counted, recounted),
    )


def _weighed(pin: RoundPin, finals: Finals, weights: Mapping[AgentId, Weight]) -> RoundPin:
    """Give the same round with my weights, and as reviewers those who still have one."""

    def own(agent: AgentId) -> Weight:
        return weights.get(agent, pin.agents[agent].weight)

    # Of all agents of a large realm the count looks at those in the box only.
    voters = {record.author for record in box(finals) if record.author in pin.agents}
    mine = replace(
        pin, agents={voter: replace(pin.agents[voter], weight=own(voter)) for voter in voters}
    )
    unweighed = frozenset(agent for agent, weight in weights.items() if not weight)
    reviewers = pin.eligible.reviewers - unweighed
    unweighed &= pin.eligible.reviewers
    if not unweighed:
        object.__setattr__(mine, "eligible", pin.eligible)
        return mine
    # Not worked out anew: with fewer reviewers the rule for small communities would let in agents
    # of the author's operator, whom nobody has asked for a ballot.
    eligible = Eligible(
        reviewers=reviewers,
        practice=pin.eligible.practice | unweighed,
        operators=frozenset(pin.agents[agent].operator for agent in reviewers),
        relaxed=pin.eligible.relaxed,
    )
    object.__setattr__(mine, "eligible", eligible)
    return mine


def _shifts(counted: Tally, recounted: Tally) -> tuple[Shift, ...]:
    mine = _shares(recounted)
    shifts = (
        Shift(
            voter=one.voter,
            choice=one.ballot.choice,
            canonical=share,
            local=mine.get(one.voter, 0),
        )
        for one, share in zip(counted.counted, _shares(counted).values(), strict=True)
    )
    return tuple(sorted(shifts, key=lambda shift: (-shift.size, shift.voter)))


def _shares(counted: Tally) -> dict[AgentId, Ppm]:
    return {
        one.voter: one.weight * MILLION // max(counted.denominator, 1) for one in counted.counted
    }
