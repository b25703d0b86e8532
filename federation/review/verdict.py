"""From a tally to a verdict: thresholds, shortfall, and what to say about safeguards that lacked.

A review accepts where V ≥ τ_accept and rejects where V ≤ τ_reject, a dispute retracts where
-V ≥ τ_retract and keeps otherwise; all compared exactly: num·10^6 against τ·den. What the vote leaves open is
*escalated*: a tally between the thresholds, a contested result, too few ballots where the charter
says so, and every dispute short of its quorum. Who decides that is told by an `Escalation`
(`rulings`); where nobody arbitrates a review it goes by the sign of the tally, where a tie rejects
(paper 3.2.2, 3.2.3, 3.3.1; design: small communities).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from federation.artifacts import DecidedBy, Narrow, Verdict
from federation.charter import SAFE_MEMBERS, SAFE_VOTERS, Shortfall
from federation.core import MILLION, AgentId, Digest
from federation.crypto import Choice
from federation.review.pin import RoundPin, quorum_needed
from federation.review.tally import NOTHING, Tally
from federation.trust import Decision, decide

_BY_BALLOTS: Final = frozenset(
    {DecidedBy.VOTE, DecidedBy.SIGN, DecidedBy.SHORTFALL, DecidedBy.ARBITER}
)
"""Rules that ask for ballots: there it matters how many stand behind the count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """How an escalated round is decided."""

    decision: Decision
    by: DecidedBy
    rulers: tuple[Digest, ...] = ()
    """Arbiters or operators whose word it is."""
    signed: bool = False
    """The sign of the tally decided."""


Escalation: TypeAlias = Callable[[RoundPin, Tally], Ruling]
"""Decides what the vote left open: between the thresholds, contested, or short of a quorum."""


def sign_of(pin: RoundPin, counted: Tally) -> Decision:
    """Give the decision by the sign: a tie rejects in a review, and keeps in a dispute."""
    stands = counted.numerator > 0 or (pin.is_dispute and counted.numerator == 0)
    return Decision.ACCEPT if stands else Decision.REJECT


def by_sign(pin: RoundPin, counted: Tally) -> Ruling:
    """Decide by the sign of the tally. For rounds without an eligible arbiter."""
    return Ruling(decision=sign_of(pin, counted), by=DecidedBy.SIGN, signed=True)


def is_clear(pin: RoundPin, counted: Tally) -> bool:
    """Tell whether a quorum passed one of the thresholds."""
    return _vote(pin, counted) is not None


def vote_of(pin: RoundPin, counted: Tally) -> Ruling | None:
    """Give the clear vote of a panel; None where none of the thresholds was passed by a quorum."""
    decision = _vote(pin, counted)
    return None if decision is None else Ruling(decision=decision, by=DecidedBy.VOTE)


def is_escalated(pin: RoundPin, counted: Tally, *, contested: bool) -> bool:
    """Tell whether the vote leaves the decision to others."""
    if _is_short(counted):
        return pin.kind != "review" or _policy(pin) == "arbitrate"
    return contested or not is_clear(pin, counted)


def conclude(
    pin: RoundPin,
    counted: Tally,
    *,
    objections: int,
    contested: bool,
    escalate: Escalation = by_sign,
) -> Verdict:
    """Give the verdict of a round whose ballots are counted, or which had no vote.

    `objections` is the number that the `fast` list holds, `contested` tells whether the
    `contest` list holds anything.
    """
    short = _is_short(counted)
    if is_escalated(pin, counted, contested=contested):
        ruling = escalate(pin, counted)
        if short and pin.kind == "review" and ruling.by is DecidedBy.SIGN:
            ruling = replace(ruling, by=DecidedBy.SHORTFALL, signed=True)
    else:
        policy = _by_policy(_policy(pin), counted, objections=objections)
        ruling = vote_of(pin, counted) or policy
    strong = not short and (
        abs(counted.numerator) * MILLION >= pin.charter.review.strong * counted.denominator
    )
    return _verdict(pin, counted, ruling, objections=objections, strong=strong, contested=contested)


def consent(pin: RoundPin) -> Verdict:
    """Give the fast track's verdict: the window closed and nobody had objected."""
    ruling = Ruling(decision=Decision.ACCEPT, by=DecidedBy.FAST_TRACK)
    return _verdict(pin, NOTHING, ruling, objections=0)


def timed_out(pin: RoundPin, *, objections: int) -> Verdict:
    """Give the verdict of a round whose box is void: nothing was opened."""
    return _verdict(pin, NOTHING, timeout(pin), objections=objections)


def timeout(pin: RoundPin) -> Ruling:
    """Say what a round does that nobody has decided.

    A review rejects, a dispute does what the charter says, and a sanction stays.
    """
    keeps = pin.is_dispute and pin.charter.disputes.timeout == "keep"
    decision = Decision.ACCEPT if keeps else Decision.REJECT
    return Ruling(decision=decision, by=DecidedBy.TIMEOUT)


def undecided(pin: RoundPin, by: DecidedBy, moderator: AgentId | None) -> Verdict:
    """Give the verdict of a report that ends with its assessment, or with none."""
    rulers = () if moderator is None else (moderator,)
    return _verdict(
        pin, NOTHING, Ruling(decision=Decision.NONE, by=by, rulers=rulers), objections=0
    )


def _is_short(counted: Tally) -> bool:
    return not counted.quorum or not counted.denominator


def _policy(pin: RoundPin) -> Shortfall:
    review = pin.charter.review
    return review.shortfall_low if pin.sensitivity == "low" else review.shortfall_high


def _vote(pin: RoundPin, counted: Tally) -> Decision | None:
    if _is_short(counted):
        return None
    if pin.is_dispute:
        against = -counted.numerator * MILLION
        falls = against >= pin.charter.disputes.tau_retract * counted.denominator
        return Decision.REJECT if falls else Decision.ACCEPT
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


def _by_policy(policy: Shortfall, counted: Tally, *, objections: int) -> Ruling:
    accepts = policy == "fast_track" and not objections and not counted.against
    decision = Decision.ACCEPT if accepts else Decision.REJECT
    return Ruling(decision=decision, by=DecidedBy.SHORTFALL)


def _verdict(
    pin: RoundPin,
    counted: Tally,
    ruling: Ruling,
    *,
    objections: int,
    strong: bool = False,
    contested: bool = False,
) -> Verdict:
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
        kind=pin.kind,
        rulers=ruling.rulers,
        contested=contested,
        frivolous=_is_frivolous(pin, counted, ruling.decision),
        objections=objections,
        narrow=_narrow(pin, counted, ruling),
    )


def _is_frivolous(pin: RoundPin, counted: Tally, decision: Decision) -> bool:
    """Tell whether a dismissed dispute had hardly any weight behind it: by arithmetic only."""
    if not pin.is_dispute or decision is not Decision.ACCEPT or _is_short(counted):
        return False
    share = pin.charter.disputes.frivolous
    return counted.weight_against * MILLION < share * counted.denominator


def _narrow(pin: RoundPin, counted: Tally, ruling: Ruling) -> tuple[Narrow, ...]:
    # Where no ballot was asked for, nothing is missing in the count.
    voted = ruling.by in _BY_BALLOTS and pin.kind != "appeal"
    conditions = {
        Narrow.QUORUM: pin.kind == "review" and quorum_needed(pin) < pin.charter.review.q_min,
        Narrow.RELAXED: pin.eligible.relaxed,
        Narrow.SHORTFALL: ruling.by is DecidedBy.SHORTFALL,
        Narrow.BY_SIGN: ruling.signed,
        Narrow.FEW_OPERATORS: voted and len(counted.operators) < SAFE_VOTERS,
        Narrow.FEW_MEMBERS: pin.member_operators < SAFE_MEMBERS,
        Narrow.NOT_SEALED: pin.rerun,
        Narrow.CAP: voted and counted.halved,
    }
    return tuple(reason for reason, holds in conditions.items() if holds)
