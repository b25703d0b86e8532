"""The plan of each kind of round as a table: which phases, in which order, and what ends it.

Every column answers from the pin and the certified lists before the phase alone (paper 3.2, 3.3;
design: tiers). Phases whose length is 0 in the charter are left out. The four plans share their
rows: a report is an assessment that may go on as a dispute, a dispute is a review without the fast
track, and an appeal of a sanction is what follows a review's vote.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from federation.artifacts import DecidedBy, RoundKind, Verdict
from federation.certificates import Phase
from federation.core import Millis
from federation.records import Ruled
from federation.review.finals import Finals, box, listed
from federation.review.lots import arbiters
from federation.review.pin import (
    RoundPin,
    fast_window,
    has_quorum,
    is_undecidable,
    watchers,
)
from federation.review.rulings import assessed, heard
from federation.review.tally import count
from federation.review.verdict import consent, is_clear, is_escalated, timed_out, undecided


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One row of a plan."""

    phase: Phase
    length: Callable[[RoundPin], Millis]
    """Longest duration in ms; 0 leaves the phase out."""
    is_held: Callable[[RoundPin, Finals], bool]
    """What else must hold, given the lists before it."""
    ends: Callable[[RoundPin, Finals], Verdict | None]
    """The verdict if this phase's own list ends the round."""


def waits_for_lot(step: Step, pin: RoundPin) -> bool:
    """Tell whether a phase that is held cannot begin: its arbiters are drawn with a later beacon."""
    return step.phase is Phase.RULE and pin.beacon is None


def objections(finals: Finals) -> int:
    """Count the objections that the fast track lists."""
    return len(listed(finals, Phase.FAST))


def _sealed_first(pin: RoundPin) -> Millis:
    review = pin.charter.review
    return review.seal if review.mode == "sealed_first" else 0


def _turn(number: int) -> Callable[[RoundPin], Millis]:
    def length(pin: RoundPin) -> Millis:
        review = pin.charter.review
        return review.deliberate if review.mode == "rounds" and review.turns >= number else 0

    return length


def _always(pin: RoundPin, finals: Finals) -> bool:
    del pin, finals
    return True


def _is_voted(pin: RoundPin, finals: Finals) -> bool:
    """Nobody is asked for arguments and ballots that could decide nothing."""
    del finals
    return not is_undecidable(pin)


def _is_sealed(pin: RoundPin, finals: Finals) -> bool:
    """Where nobody has sealed an assessment, none is opened."""
    del pin
    return bool(listed(finals, Phase.SEAL))


def _is_short(pin: RoundPin, finals: Finals) -> bool:
    """Widen once: the box lacks a quorum, and nothing is opened yet."""
    return _is_voted(pin, finals) and not has_quorum(pin, {record.author for record in box(finals)})


def _is_clear(pin: RoundPin, finals: Finals) -> bool:
    """Only a result can be contested: what is escalated anyway needs no window."""
    return is_clear(pin, count(pin, finals))


def _is_open(pin: RoundPin, finals: Finals) -> bool:
    """Others decide what the vote, or a contest of it, leaves open."""
    contested = bool(listed(finals, Phase.CONTEST))
    return is_escalated(pin, count(pin, finals), contested=contested)


def _is_ruled_on(pin: RoundPin, finals: Finals) -> bool:
    return _is_open(pin, finals) and bool(arbiters(pin, finals))


def _may_be_appealed(pin: RoundPin, finals: Finals) -> bool:
    """Neither of a rerun nor of a freeze: a panel or the operators decide these anyway."""
    said = heard(pin, finals)
    return said is not None and said.ruling not in {Ruled.RERUN, Ruled.FREEZE}


def _is_decreed(pin: RoundPin, finals: Finals) -> bool:
    """Operators decide what was frozen or appealed, and what no arbiter decides but a review."""
    said = heard(pin, finals)
    if said is None:
        return pin.kind != "review" and _is_open(pin, finals)
    return said.ruling is Ruled.FREEZE or bool(listed(finals, Phase.APPEAL))


def _never(pin: RoundPin, finals: Finals) -> Verdict | None:
    del pin, finals
    return None


def _consent(pin: RoundPin, finals: Finals) -> Verdict | None:
    seen, needed = watchers(pin)
    passes = pin.sensitivity == "low" and not objections(finals) and seen >= needed
    return consent(pin) if passes else None


def _void(pin: RoundPin, finals: Finals) -> Verdict | None:
    void = finals[Phase.COMMIT].void
    return timed_out(pin, objections=objections(finals)) if void else None


def _assessment(pin: RoundPin, finals: Finals) -> Verdict | None:
    said = assessed(pin, finals)
    if said is None:
        return undecided(pin, DecidedBy.LAPSED, None)
    if not said.credible:
        return undecided(pin, DecidedBy.UNFOUNDED, said.moderator)
    return undecided(pin, DecidedBy.ASSESSED, said.moderator) if pin.assess_only else None


_FAST: Final = Step(phase=Phase.FAST, length=fast_window, is_held=_is_voted, ends=_consent)
_ASSESS: Final = Step(
    phase=Phase.ASSESS,
    length=lambda pin: pin.charter.disputes.assess,
    is_held=_always,
    ends=_assessment,
)
_DEBATE: Final = (
    Step(phase=Phase.SEAL, length=_sealed_first, is_held=_is_voted, ends=_never),
    Step(phase=Phase.UNSEAL, length=_sealed_first, is_held=_is_sealed, ends=_never),
    Step(
        phase=Phase.DELIBERATE,
        length=lambda pin: pin.charter.review.deliberate,
        is_held=_is_voted,
        ends=_never,
    ),
    *(
        Step(phase=phase, length=_turn(number), is_held=_is_voted, ends=_never)
        for number, phase in enumerate((Phase.TURN2, Phase.TURN3, Phase.TURN4, Phase.TURN5), 2)
    ),
)
_VOTE: Final = (
    Step(
        phase=Phase.COMMIT,
        length=lambda pin: pin.charter.review.commit,
        is_held=_is_voted,
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
        is_held=_is_voted,
        ends=_never,
    ),
    Step(
        phase=Phase.CONTEST,
        length=lambda pin: pin.charter.review.contest,
        is_held=_is_clear,
        ends=_never,
    ),
)
_RULING: Final = (
    Step(
        phase=Phase.RULE,
        length=lambda pin: pin.charter.review.rule,
        is_held=_is_ruled_on,
        ends=_never,
    ),
    Step(
        phase=Phase.APPEAL,
        length=lambda pin: pin.charter.review.appeal,
        is_held=_may_be_appealed,
        ends=_never,
    ),
    Step(
        phase=Phase.ADMIN,
        length=lambda pin: pin.charter.review.admin,
        is_held=_is_decreed,
        ends=_never,
    ),
)

PLANS: Final[Mapping[RoundKind, tuple[Step, ...]]] = {
    "review": (_FAST, *_DEBATE, *_VOTE, *_RULING),
    "dispute": (*_DEBATE, *_VOTE, *_RULING),
    "report": (_ASSESS, *_DEBATE, *_VOTE, *_RULING),
    "appeal": _RULING,
}
"""The plan of each kind of round."""


def length(phase: Phase, pin: RoundPin) -> Millis:
    """Give the longest duration of a phase in ms; 0 if the plan leaves it out."""
    for step in PLANS[pin.kind]:
        if step.phase is phase:
            return step.length(pin)
    return 0
