"""Which records count in a round: a pure function of the record, the pin and certified lists.

Nothing local enters: not when a record arrived, not who sent it. So every honest member puts the
same records into its witness, and a record that counts here counts everywhere. A record that
does not count is stored all the same, with a code that says why (design: the log).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from federation.certificates import Looked, Phase
from federation.core import Code, Digest
from federation.crypto import opens
from federation.records import Argue, Commit, Contest, ObjectTo, Record, Reveal
from federation.review.eligibility import may_object, may_take_part, may_vote
from federation.review.finals import Finals, commitments, listed
from federation.review.phases import course
from federation.review.pin import RoundPin

_ATTEMPTS: Final = 4
"""Reveals of one agent in a round that are looked at: a slip may be put right, a flood may not."""

RoundBody = ObjectTo | Argue | Commit | Reveal | Contest
"""Bodies of the records that belong to a round."""

_PHASES: Final[Mapping[type[RoundBody], tuple[Phase, ...]]] = {
    ObjectTo: (Phase.FAST,),
    Argue: (Phase.DELIBERATE,),
    Commit: (Phase.COMMIT, Phase.COMMIT2),
    Reveal: (Phase.DECIDE,),
    Contest: (Phase.CONTEST,),
}


def phase_of(pin: RoundPin, finals: Finals, record: Record) -> Phase | None:
    """Tell for which phase a record was written: the one of its kind whose digest it names.

    None if it names no digest that the lists so far make known for its kind: the caller waits
    for a certificate, or, if the named digest is known, the record came too early or too late.
    """
    body = record.body
    if not isinstance(body, RoundBody) or body.round != pin.round:
        return None
    after = course(pin, finals).after
    for phase in _PHASES[type(body)]:
        if after.get(phase) == body.after:
            return phase
    return None


def qualifies(
    pin: RoundPin, finals: Finals, record: Record, earlier: Sequence[Record] = ()
) -> Code | None:
    """Tell why a record does not count in its phase of this round, or None if it does.

    `earlier` are the author's records of this round that come before it on its own branch, in
    seq order; other branches and other authors cannot change the answer.
    """
    phase = phase_of(pin, finals, record)
    if phase is None:
        return Code.NOT_IN_PHASE
    view = pin.agents.get(record.author)
    # A promise may always be kept: whoever could commit can reveal.
    keeps = isinstance(record.body, Reveal)
    if view is not None and not keeps and not is_delegated(view.scope, record.kind):
        return Code.NOT_ELIGIBLE
    match record.body:
        case ObjectTo():
            return may_object(pin.agents, record.author, pin.author) or _quota(
                earlier, ObjectTo, record.body.after, 1
            )
        case Argue():
            return may_take_part(pin.agents, record.author) or _quota(
                earlier, Argue, record.body.after, pin.charter.review.arguments_each
            )
        case Commit():
            return may_vote(pin.agents, pin.eligible, record.author) or _committed(
                phase, finals, record, earlier
            )
        case Reveal():
            return _quota(earlier, Reveal, record.body.after, _ATTEMPTS) or _opening(
                pin, finals, record, record.body
            )
        case _:
            return _contest(pin, finals, record, earlier)


def is_delegated(scope: frozenset[str], kind: str) -> bool:
    """Tell whether an operator's word covers a kind; an empty scope covers all."""
    return not scope or kind in scope


def look(pin: RoundPin, finals: Finals, record: Record, earlier: Sequence[Record] = ()) -> Looked:
    """Say of a held record what the agreement on a list needs to know."""
    return Looked(
        voter=record.author,
        seq=record.seq,
        qualifies=qualifies(pin, finals, record, earlier) is None,
        reviewer=record.author in pin.eligible.reviewers,
    )


def _quota(
    earlier: Iterable[Record], kind: type[RoundBody], after: Digest, most: int
) -> Code | None:
    """Refuse the record after the `most`-th of its kind and phase on one branch."""
    return Code.OVER_QUOTA if _written(earlier, kind, after) >= most else None


def _committed(
    phase: Phase, finals: Finals, record: Record, earlier: Iterable[Record]
) -> Code | None:
    """Let a voter commit once: not after another for this list, nor if the first list holds it.

    Who missed the first list may try again when the round is widened: only one can be listed.
    """
    body = record.body
    again = isinstance(body, Commit) and _written(earlier, Commit, body.after) > 0
    boxed = phase is Phase.COMMIT2 and any(
        one.author == record.author for one in listed(finals, Phase.COMMIT)
    )
    return Code.ALREADY_COMMITTED if again or boxed else None


def _opening(pin: RoundPin, finals: Finals, record: Record, reveal: Reveal) -> Code | None:
    """Let a listed voter open its commitment; nothing later bars it, not even a fork."""
    committed = commitments(finals).get(record.author)
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


def _contest(
    pin: RoundPin, finals: Finals, record: Record, earlier: Iterable[Record]
) -> Code | None:
    """Let the author, and whoever a list of the round names, contest once."""
    code = may_take_part(pin.agents, record.author)
    if code is not None:
        return code
    involved = {
        one.author
        for phase, final in finals.items()
        if phase is not Phase.CONTEST
        for one in final.records
    }
    if record.author != pin.author and record.author not in involved:
        return Code.NOT_ELIGIBLE
    return Code.OVER_QUOTA if any(isinstance(one.body, Contest) for one in earlier) else None


def _written(earlier: Iterable[Record], kind: type[RoundBody], after: Digest) -> int:
    return sum(isinstance(one.body, kind) and one.body.after == after for one in earlier)
