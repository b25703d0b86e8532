"""How long an artifact can take to reach a terminal state: L_max of §4.1, with its sum.

It holds while a quorum is connected; without one no time passes for anybody. At its end the
certified lists fix the verdict; the cut that writes it into the world follows within an epoch.

The longest way through a review: an objection, a widened box, a contested result, arbiters who ask
for a rerun, the same once more before a fresh panel, and a second ruling that is appealed against
up to the operators. Disputes, reports and appeals of sanctions have their own (`worst_case_of`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from federation.charter.membership import DOUBLINGS, quorum_of
from federation.charter.schema import Charter, Review
from federation.charter.units import Sensitivity
from federation.core import Millis

Matter: TypeAlias = Literal["dispute", "report", "appeal"]
"""What else than a review takes time to settle: `report` is an urgent one that proves credible,
`appeal` that of a sanction."""
MATTERS: Final[tuple[Matter, ...]] = ("dispute", "report", "appeal")

_Wait: TypeAlias = tuple[str, Millis]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One wait on the longest path."""

    name: str
    """Phase as in its slot; `cut` for the wait until a round opens."""
    window: Millis
    """Longest window of the phase."""
    agreement: Millis
    """Longest time until its list is final: f+2 leader timers and the leader's grace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstCase:
    """The longest path from a proposal to the lists that fix its terminal state."""

    steps: tuple[Step, ...]

    @property
    def total(self) -> Millis:
        """Sum of all windows and agreements."""
        return sum(step.window + step.agreement for step in self.steps)


def agreement_time(charter: Charter) -> Millis:
    """Bound the time of one agreement once a quorum is connected: f leaders may lie."""
    f = quorum_of(operators(charter), three=charter.timing.three).f
    fences = range(f + 2)
    timers = sum(charter.timing.leader_timer << min(k, DOUBLINGS) for k in fences)
    return timers + charter.timing.grace


def operators(charter: Charter) -> int:
    """Count the operators of founding instances: the members at genesis."""
    return len({member.operator for member in charter.genesis.instances})


def worst_case_time(charter: Charter, sensitivity: Sensitivity) -> WorstCase:
    """Sum the longest path of a review; phases that the charter leaves out by 0 are not in it."""
    review = charter.review
    window = review.fast_low if sensitivity == "low" else review.fast_high
    path = [("cut", charter.timing.cut_min), ("fast", window), *_panel(review)]
    if review.rule:
        path += [("rule", review.rule), *_rerun(charter), *_by_hand(review)]
    return _summed(charter, path)


def worst_case_of(charter: Charter, matter: Matter) -> WorstCase:
    """Sum the longest path of a dispute, of a credible urgent report, or of a sanction's appeal.

    Each ends with the operators, also where no arbiter is asked.
    """
    review = charter.review
    path = [("cut", charter.timing.cut_min)]
    if matter == "report":
        path.append(("assess", charter.disputes.assess))
    if matter != "appeal":
        path += _panel(review)
    path.append(("rule", review.rule))
    if matter != "appeal" and review.rule:
        path += _rerun(charter)
    return _summed(charter, [*path, *_by_hand(review)])


def debate(review: Review) -> tuple[_Wait, ...]:
    """Give the phases of the debate before a vote, with their lengths; some may be 0."""
    match review.mode:
        case "open":
            return (("deliberate", review.deliberate),)
        case "rounds":
            later = (f"turn{turn}" for turn in range(2, review.turns + 1))
            return tuple((name, review.deliberate) for name in ("deliberate", *later))
        case "sealed_first":
            sealed = (("seal", review.seal), ("unseal", review.seal))
            return (*sealed, ("deliberate", review.deliberate))


def boxed_within(charter: Charter) -> Millis:
    """Give the longest time from a round's first phase until its box is shut, agreements left out."""
    review = charter.review
    before = max(review.fast_low, review.fast_high, charter.disputes.assess)
    return before + sum(window for _, window in debate(review)) + 2 * review.commit


def _panel(review: Review) -> Iterator[_Wait]:
    """Let a panel debate, vote in two boxes, and somebody contest the result."""
    yield from debate(review)
    yield from (("commit", review.commit), ("commit2", review.commit))
    yield from (("decide", review.reveal), ("contest", review.contest))


def _rerun(charter: Charter) -> Iterator[_Wait]:
    """Let a fresh panel decide that arbiters asked for: the cut that tells it opens its round."""
    yield ("cut", charter.timing.epoch)
    yield from _panel(charter.review)
    yield ("rule", charter.review.rule)


def _by_hand(review: Review) -> Iterator[_Wait]:
    """Let a ruling be appealed against, and operators decide."""
    if review.rule:
        yield ("appeal", review.appeal)
    yield ("admin", review.admin)


def _summed(charter: Charter, path: list[_Wait]) -> WorstCase:
    spent = agreement_time(charter)
    return WorstCase(
        steps=tuple(
            Step(name=name, window=window, agreement=spent) for name, window in path if window
        )
    )


def spell(span: Millis) -> str:
    """Spell a duration for people: `1 d 2 h 3 min 4 s`, or milliseconds below one second."""
    if span < 1_000:  # noqa: PLR2004 # one second
        return f"{span} ms"
    parts: list[str] = []
    left = span // 1_000
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        if left >= size:
            parts.append(f"{left // size} {unit}")
            left %= size
    return " ".join(parts)
