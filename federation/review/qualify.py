"""Which records count in a round: a pure function of the record, the pin and certified lists.

Nothing local enters: not when a record arrived, not who sent it. So every honest member puts the
same records into its witness, and a record that counts here counts everywhere. A record that
does not count is stored all the same, with a code that says why (design: the log). What the offices
may say (moderators, arbiters, operators) stands in `offices`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, assert_never

from federation.certificates import Looked, Phase
from federation.core import Code
from federation.crypto import opens
from federation.crypto.arguments import argument_opens
from federation.records import (
    AdminReview,
    Argue,
    Assess,
    Commit,
    Contest,
    ObjectTo,
    Record,
    Reveal,
    Rule,
    SealArgument,
)
from federation.review.course import Course, course
from federation.review.eligibility import is_delegated, may_object, may_take_part, may_vote
from federation.review.finals import Finals, commitments, listed, seals
from federation.review.offices import may_assess, may_decide, may_speak_for_process, rules_well
from federation.review.pin import RoundPin, most_arguments
from federation.review.quotas import RoundBody, over_quota, written

_ATTEMPTS: Final = 4
"""Reveals of one agent in a round that are looked at: a slip may be put right, a flood may not."""

_PHASES: Final[Mapping[type[RoundBody], tuple[Phase, ...]]] = {
    ObjectTo: (Phase.FAST,),
    SealArgument: (Phase.SEAL,),
    Argue: (
        Phase.UNSEAL,
        Phase.DELIBERATE,
        Phase.TURN2,
        Phase.TURN3,
        Phase.TURN4,
        Phase.TURN5,
    ),
    Commit: (Phase.COMMIT, Phase.COMMIT2),
    Reveal: (Phase.DECIDE,),
    Contest: (Phase.CONTEST, Phase.APPEAL),
    Rule: (Phase.RULE,),
    Assess: (Phase.ASSESS,),
    AdminReview: (Phase.ADMIN,),
}


def phase_of(pin: RoundPin, finals: Finals, record: Record) -> Phase | None:
    """Tell for which phase a record was written: the one of its kind whose digest it names.

    None if it names no digest that the lists so far make known for its kind: the caller waits
    for a certificate, or, if the named digest is known, the record came too early or too late.
    """
    return _phase_in(course(pin, finals), pin, record)


def qualifies(
    pin: RoundPin, finals: Finals, record: Record, earlier: Sequence[Record] = ()
) -> Code | None:
    """Tell why a record does not count in its phase of this round, or None if it does.

    `earlier` are the author's records of this round that come before it on its own branch, in
    seq order; other branches and other authors cannot change the answer.
    """
    so_far = course(pin, finals)
    phase = _phase_in(so_far, pin, record)
    if phase is None:
        return Code.NOT_IN_PHASE
    body = record.body
    assert isinstance(body, RoundBody), "only these have a phase"  # noqa: S101 # our own invariant
    lists = _before(so_far, phase)
    # Of agents only: what an operator decides is not delegated to it by anybody.
    view = pin.agents.get(record.author)
    # A promise may always be kept: whoever could commit can reveal, and whoever sealed can open.
    keeps = phase in {Phase.DECIDE, Phase.UNSEAL}
    if view is not None and not keeps and not is_delegated(view.scope, record.kind):
        return Code.NOT_ELIGIBLE
    match body:
        case ObjectTo():
            return may_object(
                pin.agents,
                record.author,
                pin.author,
                operator=pin.author_operator,
                relaxed=pin.eligible.relaxed,
            ) or over_quota(earlier, body, 1)
        case SealArgument():
            return may_vote(pin.agents, pin.eligible, record.author) or (
                Code.ALREADY_COMMITTED if written(earlier, body) else None
            )
        case Argue():
            if phase is Phase.UNSEAL:
                return over_quota(earlier, body, _ATTEMPTS) or _unsealing(pin, lists, record, body)
            return _argument(pin, record, body, earlier)
        case Commit():
            return may_vote(pin.agents, pin.eligible, record.author) or _committed(
                phase, lists, record, body, earlier
            )
        case Reveal():
            return over_quota(earlier, body, _ATTEMPTS) or _opening(pin, lists, record, body)
        case Contest():
            return may_speak_for_process(pin, lists, record.author) or over_quota(earlier, body, 1)
        case Rule():
            return rules_well(pin, lists, record.author, body) or over_quota(earlier, body, 1)
        case Assess():
            return may_assess(pin, record.author, body) or over_quota(earlier, body, 1)
        case AdminReview():
            return may_decide(pin, record.author, body) or over_quota(earlier, body, 1)
    assert_never(body)


def look(pin: RoundPin, finals: Finals, record: Record, earlier: Sequence[Record] = ()) -> Looked:
    """Say of a held record what the agreement on a list needs to know."""
    return Looked(
        voter=record.author,
        seq=record.seq,
        qualifies=qualifies(pin, finals, record, earlier) is None,
        reviewer=record.author in pin.eligible.reviewers,
    )


def _phase_in(so_far: Course, pin: RoundPin, record: Record) -> Phase | None:
    body = record.body
    if not isinstance(body, RoundBody) or body.round != pin.round:
        return None
    for phase in _PHASES[type(body)]:
        if so_far.after.get(phase) == body.after:
            return phase
    return None


def _before(so_far: Course, phase: Phase) -> Finals:
    """Give the lists that the plan reached before a phase: only they can be part of an answer."""
    order = list(so_far.after)
    return {one: so_far.lists[one] for one in order[: order.index(phase)]}


def _argument(
    pin: RoundPin, record: Record, argument: Argue, earlier: Iterable[Record]
) -> Code | None:
    """Let anybody argue who may take part; a nonce opens a seal, and only in its own phase."""
    if argument.nonce is not None:
        return Code.NOT_IN_PHASE
    return may_take_part(pin.agents, record.author) or over_quota(
        earlier, argument, most_arguments(pin)
    )


def _unsealing(pin: RoundPin, lists: Finals, record: Record, argument: Argue) -> Code | None:
    sealed = seals(lists).get(record.author)
    if sealed is None:
        return Code.NOT_CERTIFIED
    opened = argument.nonce is not None and argument_opens(
        argument,
        argument.nonce,
        sealed,
        realm=pin.realm,
        round_id=pin.round,
        author=record.author,
    )
    return None if opened else Code.COMMITMENT_MISMATCH


def _committed(
    phase: Phase, lists: Finals, record: Record, body: Commit, earlier: Iterable[Record]
) -> Code | None:
    """Let a voter commit once: not after another for this list, nor if the first list holds it.

    Who missed the first list may try again when the round is widened: only one can be listed.
    """
    boxed = phase is Phase.COMMIT2 and any(
        one.author == record.author for one in listed(lists, Phase.COMMIT)
    )
    return Code.ALREADY_COMMITTED if boxed or written(earlier, body) else None


def _opening(pin: RoundPin, lists: Finals, record: Record, reveal: Reveal) -> Code | None:
    """Let a listed voter open its commitment; nothing later bars it, not even a fork."""
    committed = commitments(lists).get(record.author)
    if committed is None:
        return Code.NOT_CERTIFIED
    opened = opens(
        reveal.ballot,
        reveal.nonce,
        committed,
        realm=pin.realm,
        round_id=pin.round,
        voter=record.author,
    )
    return None if opened else Code.COMMITMENT_MISMATCH
