"""From a tally to a verdict: thresholds, shortfall, and what to say about safeguards that lacked.

V ≥ τ_accept accepts, V ≤ τ_reject rejects, both compared exactly: num·10^6 against τ·den. Between
them the round is *escalated*: in this version nobody arbitrates, so it goes by the sign of the
tally, where a tie rejects (paper 3.2.2, 3.2.3; design: small communities).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from federation.artifacts import DecidedBy, Narrow, Verdict
from federation.charter import SAFE_MEMBERS, SAFE_VOTERS, Shortfall
from federation.core import MILLION
from federation.crypto import Choice
from federation.review.pin import RoundPin, quorum_needed
from federation.review.tally import Tally
from federation.trust import Decision, decide


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """How an escalated round is decided."""

    decision: Decision
    by: DecidedBy


Escalation: TypeAlias = Callable[[RoundPin, Tally], Ruling]
"""Decides what the vote left open: between the thresholds, contested, or short of a quorum."""


def by_sign(pin: RoundPin, counted: Tally) -> Ruling:
    """Decide by the sign of the tally; a tie rejects. For rounds without an eligible arbiter."""
    del pin
    decision = Decision.ACCEPT if counted.numerator > 0 else Decision.REJECT
    return Ruling(decision=decision, by=DecidedBy.SIGN)


def is_clear(pin: RoundPin, counted: Tally) -> bool:
    """Tell whether a quorum passed one of the thresholds."""
    return _vote(pin, counted) is not None


def conclude(
    pin: RoundPin,
    counted: Tally,
    *,
    objections: int,
    contested: bool,
    escalate: Escalation = by_sign,
) -> Verdict:
    """Give the verdict of a round whose ballots are counted.

    `objections` is the number that the `fast` list holds, `contested` tells whether the
    `contest` list holds anything.
    """
    if not counted.quorum or not counted.denominator:
        return shortfall(pin, counted, objections=objections, escalate=escalate)
    vote = _vote(pin, counted)
    if vote is None or contested:
        ruling = escalate(pin, counted)
    else:
        ruling = Ruling(decision=vote, by=DecidedBy.VOTE)
    strong = abs(counted.numerator) * MILLION >= pin.charter.review.strong * counted.denominator
    return _verdict(pin, counted, ruling, objections=objections, strong=strong)


def shortfall(
    pin: RoundPin, counted: Tally, *, objections: int, escalate: Escalation = by_sign
) -> Verdict:
    """Apply the charter's policy for too few ballots, by the artifact's sensitivity."""
    review = pin.charter.review
    policy = review.shortfall_low if pin.sensitivity == "low" else review.shortfall_high
    consent = not objections and not counted.against
    decision, signed = _by_policy(policy, pin, counted, consent=consent, escalate=escalate)
    ruling = Ruling(decision=decision, by=DecidedBy.SHORTFALL)
    return _verdict(pin, counted, ruling, objections=objections, strong=False, signed=signed)


def consent(pin: RoundPin) -> Verdict:
    """Give the fast track's verdict: the window closed and nobody had objected."""
    ruling = Ruling(decision=Decision.ACCEPT, by=DecidedBy.FAST_TRACK)
    return _verdict(pin, NOTHING, ruling, objections=0, strong=False)


def timed_out(pin: RoundPin, *, objections: int) -> Verdict:
    """Give the verdict of a round whose box is void: nothing was opened, it is retracted."""
    ruling = Ruling(decision=Decision.REJECT, by=DecidedBy.TIMEOUT)
    return _verdict(pin, NOTHING, ruling, objections=objections, strong=False)


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


def _vote(pin: RoundPin, counted: Tally) -> Decision | None:
    if not counted.quorum:
        return None
    review = pin.charter.review
    choice = decide(
        counted.numerator,
        counted.denominator,
        accept=review.tau_accept,
        reject=review.tau_reject,
    )
    if choice is None:
        return None
    return Decision.ACCEPT if choice is Choice.FOR else Decision.REJECT


def _by_policy(
    policy: Shortfall, pin: RoundPin, counted: Tally, *, consent: bool, escalate: Escalation
) -> tuple[Decision, bool]:
    """Give the decision, and whether it came by sign."""
    if policy == "arbitrate":
        ruling = escalate(pin, counted)
        return ruling.decision, ruling.by is DecidedBy.SIGN
    accepts = policy == "fast_track" and consent
    return (Decision.ACCEPT if accepts else Decision.REJECT), False


def _verdict(
    pin: RoundPin,
    counted: Tally,
    ruling: Ruling,
    *,
    objections: int,
    strong: bool,
    signed: bool = False,
) -> Verdict:
    signed = signed or ruling.by is DecidedBy.SIGN
    return Verdict(
        round=pin.round,
        decision=ruling.decision,
        by=ruling.by,
        numerator=counted.numerator,
        denominator=counted.denominator,
        v_ppm=counted.numerator * MILLION // max(counted.denominator, 1),
        strong=strong,
        quorum=counted.quorum,
        quorum_needed=quorum_needed(pin),
        operators=len(counted.operators),
        ballots=counted.ballots,
        unrevealed=counted.unrevealed,
        objections=objections,
        narrow=_narrow(pin, counted, ruling.by, signed=signed),
    )


def _narrow(pin: RoundPin, counted: Tally, by: DecidedBy, *, signed: bool) -> tuple[Narrow, ...]:
    # Where no ballot was asked for, nothing is missing in the count.
    voted = by not in {DecidedBy.FAST_TRACK, DecidedBy.TIMEOUT}
    conditions = {
        Narrow.QUORUM: quorum_needed(pin) < pin.charter.review.q_min,
        Narrow.RELAXED: pin.eligible.relaxed,
        Narrow.SHORTFALL: by is DecidedBy.SHORTFALL,
        Narrow.BY_SIGN: signed,
        Narrow.FEW_OPERATORS: voted and len(counted.operators) < SAFE_VOTERS,
        Narrow.FEW_MEMBERS: pin.member_operators < SAFE_MEMBERS,
        Narrow.CAP: voted and counted.halved,
    }
    return tuple(reason for reason, holds in conditions.items() if holds)
