"""How far a round has come: which phase is open, what its records name in `after`, how it ended.

Every question about a round is answered from the pin and the certified lists alone, by following
its plan (`plans`). Each step sees only the lists before it, so a later list never changes an
earlier answer, and certificates may arrive in any order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from federation.artifacts import Verdict
from federation.certificates import Phase
from federation.core import Digest
from federation.review.finals import FinalList, Finals, listed
from federation.review.pin import RoundPin
from federation.review.plans import PLANS, objections, waits_for_lot
from federation.review.rulings import ruling_of
from federation.review.tally import count
from federation.review.verdict import conclude


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The round is over."""

    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitsLot:
    """Arbiters must be drawn, and the beacon that draws them is not known yet: a cut brings it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How far a round has come."""

    after: Mapping[Phase, Digest]
    """Each phase that was opened, in order, and what its records name in `after`."""
    open: Phase | None
    """The phase that has no certificate yet; None when the lists decide the round."""
    lists: Finals
    """The certified lists that the plan reached; others do not count."""
    early: Verdict | None = None
    """The verdict, if the round ended without counting ballots."""
    awaits_lot: bool = False
    """Nothing is open before the beacon is known."""


def course(pin: RoundPin, finals: Finals) -> Course:
    """Follow the plan through the certified lists."""
    after: dict[Phase, Digest] = {}
    lists: dict[Phase, FinalList] = {}
    last = pin.round
    for step in PLANS[pin.kind]:
        if not step.length(pin) or not step.is_held(pin, lists):
            continue
        if waits_for_lot(step, pin):
            return Course(after=after, open=None, lists=lists, awaits_lot=True)
        after[step.phase] = last
        if step.phase not in finals:
            return Course(after=after, open=step.phase, lists=lists)
        lists[step.phase] = finals[step.phase]
        last = finals[step.phase].digest
        verdict = step.ends(pin, lists)
        if verdict is not None:
            return Course(after=after, open=None, lists=lists, early=verdict)
    return Course(after=after, open=None, lists=lists)


def next_phase(pin: RoundPin, finals: Finals) -> Phase | Ended | AwaitsLot:
    """Tell which phase is open, how the round ended, or that it waits for a beacon."""
    so_far = course(pin, finals)
    if so_far.open is not None:
        return so_far.open
    if so_far.awaits_lot:
        return AwaitsLot()
    if so_far.early is not None:
        return Ended(verdict=so_far.early)
    lists = so_far.lists
    verdict = conclude(
        pin,
        count(pin, lists),
        objections=objections(lists),
        contested=bool(listed(lists, Phase.CONTEST)),
        escalate=lambda _, counted: ruling_of(pin, lists, counted),
    )
    if listed(lists, Phase.APPEAL):
        verdict = replace(verdict, contested=True)
    return Ended(verdict=verdict)


def expected_after(phase: Phase, pin: RoundPin, finals: Finals) -> Digest | None:
    """Give the digest that records of a phase name: of the phase held before, or the round id.

    None where the lists so far do not lead to that phase: not yet, or never.
    """
    return course(pin, finals).after.get(phase)
