"""How long an artifact can take to reach a terminal state: L_max of §4.1, with its sum.

It holds while a quorum is connected; without one no time passes for anybody. At its end the
certified lists fix the verdict; the cut that writes it into the world follows within an epoch.
Arbitration is not in this version, so `review.rule` adds nothing.
"""

from dataclasses import dataclass

from federation.charter.membership import DOUBLINGS, quorum_of
from federation.charter.schema import Charter
from federation.charter.units import Sensitivity
from federation.core import Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One wait on the longest path."""

    name: str
    """Phase as in its slot; `cut` for the wait until the round opens."""
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
    """Sum the longest path: an objection, a widened box, and time to contest the result.

    Phases that the charter leaves out by 0 are not in the path.
    """
    review = charter.review
    path = [("cut", charter.timing.cut_min)]
    if sensitivity == "low":
        path.append(("fast", review.fast_low))
    path += [
        ("deliberate", review.deliberate),
        ("commit", review.commit),
        ("commit2", review.commit),
        ("decide", review.reveal),
        ("contest", review.contest),
    ]
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
