"""The plan of a round as a table: which phases it holds, in which order, and what ends it.

Every question about a round is answered from the pin and the certified lists alone: which phase
is open, which digest a record must name in `after`, and the verdict (paper 3.2; design: tiers).
Phases whose length is 0 in the charter are left out. Arbitration (`rule`) is not in the plan of
this version: its decision comes from the `Escalation` hook.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from federation.artifacts import Verdict
from federation.certificates import VOIDABLE, Phase
from federation.core import Digest, Millis
from federation.records import Record
from federation.review.finals import FinalList, Finals, box, listed
from federation.review.pin import (
    RoundPin,
    fast_window,
    has_quorum,
    is_undecidable,
    watchers,
)
from federation.review.tally import Tally, tally
from federation.review.verdict import (
    NOTHING,
    Escalation,
    by_sign,
    conclude,
    consent,
    is_clear,
    shortfall,
    timed_out,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The round is over."""

    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One row of the plan."""

    phase: Phase
    length: Callable[[RoundPin], Millis]
    """Longest duration in ms; 0 leaves the phase out."""
    is_held: Callable[[RoundPin, Finals], bool]
    """What else must hold, given the lists before it."""
    ends: Callable[[RoundPin, Finals], Verdict | None]
    """The verdict if this phase's own list ends the round."""


def _always(pin: RoundPin, finals: Finals) -> bool:
    del pin, finals
    return True


def _is_short(pin: RoundPin, finals: Finals) -> bool:
    """Widen once: the box lacks a quorum, and nothing is opened yet."""
    return not has_quorum(pin, {record.author for record in box(finals)})


def _is_clear(pin: RoundPin, finals: Finals) -> bool:
    """Only a result can be contested: what is escalated anyway needs no window."""
    return is_clear(pin, count(pin, finals))


def _never(pin: RoundPin, finals: Finals) -> Verdict | None:
    del pin, finals
    return None


def _consent(pin: RoundPin, finals: Finals) -> Verdict | None:
    seen, needed = watchers(pin)
    return None if listed(finals, Phase.FAST) or seen < needed else consent(pin)


def _void(pin: RoundPin, finals: Finals) -> Verdict | None:
    return timed_out(pin, objections=_objections(finals)) if finals[Phase.COMMIT].void else None


PLAN: Final[tuple[Step, ...]] = (
    Step(phase=Phase.FAST, length=fast_window, is_held=_always, ends=_consent),
    Step(
        phase=Phase.DELIBERATE,
        length=lambda pin: pin.charter.review.deliberate,
        is_held=_always,
        ends=_never,
    ),
    Step(
        phase=Phase.COMMIT,
        length=lambda pin: pin.charter.review.commit,
        is_held=_always,
        ends=_void,
    ),
    Step(
        phase=Phase.COMMIT2,
        length=lambda pin: pin.charter.review.commit,
        is_held=_is_short,
        ends=_never,
    ),
    Step(
        phase=Phase.DECIDE,
        length=lambda pin: pin.charter.review.reveal,
        is_held=_always,
        ends=_never,
    ),
    Step(
        phase=Phase.CONTEST,
        length=lambda pin: pin.charter.review.contest,
        is_held=_is_clear,
        ends=_never,
    ),
)
_STEPS: Final[Mapping[Phase, Step]] = {step.phase: step for step in PLAN}


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


def course(pin: RoundPin, finals: Finals) -> Course:
    """Follow the plan through the certified lists."""
    after: dict[Phase, Digest] = {}
    # Each question sees only the lists before it, so a later list cannot change its answer.
    lists: dict[Phase, FinalList] = {}
    if is_undecidable(pin):
        early = shortfall(pin, NOTHING, objections=0)
        return Course(after=after, open=None, lists=lists, early=early)
    last = pin.round
    for step in PLAN:
        if not step.length(pin) or not step.is_held(pin, lists):
            continue
        after[step.phase] = last
        if step.phase not in finals:
            return Course(after=after, open=step.phase, lists=lists)
        lists[step.phase] = finals[step.phase]
        last = finals[step.phase].digest
        verdict = step.ends(pin, lists)
        if verdict is not None:
            return Course(after=after, open=None, lists=lists, early=verdict)
    return Course(after=after, open=None, lists=lists)


def next_phase(pin: RoundPin, finals: Finals, escalate: Escalation = by_sign) -> Phase | Ended:
    """Tell which phase is open, or how the round ended."""
    so_far = course(pin, finals)
    if so_far.open is not None:
        return so_far.open
    if so_far.early is not None:
        return Ended(verdict=so_far.early)
    verdict = conclude(
        pin,
        count(pin, so_far.lists),
        objections=_objections(so_far.lists),
        contested=bool(listed(so_far.lists, Phase.CONTEST)),
        escalate=escalate,
    )
    return Ended(verdict=verdict)


def expected_after(phase: Phase, pin: RoundPin, finals: Finals) -> Digest | None:
    """Give the digest that records of a phase name: of the phase held before, or the round id.

    None where the lists so far do not lead to that phase: not yet, or never.
    """
    return course(pin, finals).after.get(phase)


def count(pin: RoundPin, finals: Finals) -> Tally:
    """Count the ballots that `decide` lists."""
    return tally(pin, box(finals), listed(finals, Phase.DECIDE))


def length(phase: Phase, pin: RoundPin) -> Millis:
    """Give the longest duration of a phase in ms; 0 if the plan leaves it out."""
    step = _STEPS.get(phase)
    return 0 if step is None else step.length(pin)


def is_late(phase: Phase, pin: RoundPin, age: Millis) -> bool:
    """Tell whether a witness of this phase says `late`: the round passed its deadline.

    `age` is the time since the round's first phase started, on the member's own clock.
    """
    return phase in VOIDABLE and age > pin.charter.review.deadline


def may_close_early(
    phase: Phase, pin: RoundPin, finals: Finals, held: Iterable[Record], elapsed: Millis
) -> bool:
    """Tell whether a phase may close before its time, by the qualifying records held here.

    `commit` closes at the later of `commit_min` and the k-th reviewer's commitment (all, if
    fewer may review), `decide` when every listed commitment is open. `elapsed` is in ms. No
    other phase closes early: an objection window must last its time.
    """
    authors = {record.author for record in held}
    match phase:
        case Phase.COMMIT | Phase.COMMIT2:
            authors.update(record.author for record in box(finals))
            reviewers = pin.eligible.reviewers
            wanted = min(pin.charter.review.k, len(reviewers))
            enough = len(reviewers & authors) >= wanted
            return enough and elapsed >= pin.charter.review.commit_min
        case Phase.DECIDE:
            return all(record.author in authors for record in box(finals))
        case _:
            return False


def _objections(finals: Finals) -> int:
    return len(listed(finals, Phase.FAST))
