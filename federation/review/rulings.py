"""What certified words of moderators, arbiters and operators amount to (§3.2.3, §3.3.2).

Of several arbiters the first in lot order is heard, of several moderators the one of the lowest
lot, of operators a quorum that says the same: so no order of arrival enters. `ruling_of` is the
`Escalation` of a round whose lists are final: the operators' word if it was asked for, else the
arbiter's, else the sign of the tally. Operators who say nothing undo nothing.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from federation.artifacts import DecidedBy
from federation.certificates import Phase
from federation.charter import quorum_of
from federation.core import AgentId, OperatorId
from federation.records import AdminReview, Assess, Decree, Record, Rule, Ruled
from federation.review.finals import Finals, listed
from federation.review.lots import drawn_arbiters, moderator_lot
from federation.review.pin import RoundPin
from federation.review.tally import Tally
from federation.review.verdict import Ruling, by_sign, is_clear, sign_of, timeout, vote_of
from federation.trust import Decision

_OF_A_RESULT: Final = frozenset({Ruled.BY_SIGN, Ruled.REJECT, Ruled.RERUN, Ruled.FREEZE})
_OF_A_SANCTION: Final = frozenset({Ruled.UPHOLD, Ruled.RECLASSIFY})


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The ruling that counts."""

    arbiter: AgentId
    ruling: Ruled


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessed:
    """The assessment that counts."""

    moderator: AgentId
    credible: bool


def may_rule(pin: RoundPin, ruling: Ruled) -> bool:
    """Tell whether an arbiter of this round may rule so; a rerun is asked for once."""
    if pin.kind == "appeal":
        return ruling in _OF_A_SANCTION
    return ruling in _OF_A_RESULT and not (pin.rerun and ruling is Ruled.RERUN)


def may_decree(pin: RoundPin, decree: Decree) -> bool:
    """Tell whether operators of this round may decide so."""
    return decree in _decrees(pin)


def heard(pin: RoundPin, finals: Finals) -> Heard | None:
    """Give the ruling of the first drawn arbiter that the list names; None if nobody ruled."""
    said = {
        record.author: record.body.ruling
        for record in sorted(listed(finals, Phase.RULE), key=lambda one: one.id, reverse=True)
        if isinstance(record.body, Rule) and may_rule(pin, record.body.ruling)
    }
    for arbiter in drawn_arbiters(pin, finals) if said else ():
        if arbiter in said:
            return Heard(arbiter=arbiter, ruling=said[arbiter])
    return None


def assessed(pin: RoundPin, finals: Finals) -> Assessed | None:
    """Give the assessment that counts; None if no moderator has looked at the report."""
    said = {
        record.author: record.body.credible
        for record in sorted(listed(finals, Phase.ASSESS), key=lambda one: one.id, reverse=True)
        if isinstance(record.body, Assess)
    }
    if not said:
        return None
    first = min(said, key=lambda agent: moderator_lot(pin.round, agent))
    return Assessed(moderator=first, credible=said[first])


def is_credible(pin: RoundPin, finals: Finals) -> bool:
    """Tell whether a report was found credible."""
    said = assessed(pin, finals)
    return said is not None and said.credible


def decreed(pin: RoundPin, records: Iterable[Record]) -> Ruling | None:
    """Give what a quorum of operators agrees on; None while there is none."""
    word: dict[OperatorId, Decree] = {}
    for record in sorted(records, key=lambda one: one.id):
        if isinstance(record.body, AdminReview) and may_decree(pin, record.body.decision):
            word.setdefault(record.author, record.body.decision)
    voices: defaultdict[Decree, list[OperatorId]] = defaultdict(list)
    for operator, decree in sorted(word.items()):
        if operator in pin.members:
            voices[decree].append(operator)
    for decree, operators in sorted(voices.items()):
        if len(operators) >= _quorum(pin):
            return Ruling(
                decision=_decrees(pin)[decree], by=DecidedBy.ADMIN, rulers=tuple(operators)
            )
    return None


def ruling_of(pin: RoundPin, finals: Finals, counted: Tally) -> Ruling:
    """Decide what the vote left open, by the lists that the plan reached."""
    if Phase.ADMIN in finals:
        return decreed(pin, listed(finals, Phase.ADMIN)) or _unanswered(pin, finals, counted)
    said = heard(pin, finals)
    if said is None:
        # A contest that nobody hears changes nothing, not even what the vote says about people.
        return vote_of(pin, counted) or by_sign(pin, counted)
    return _ruling(pin, said, counted)


def _unanswered(pin: RoundPin, finals: Finals, counted: Tally) -> Ruling:
    """Let stand what was judged before the operators were asked, and did not decide.

    That is the arbiter's ruling, else the clear vote of the panel; only where there is neither the
    round times out. If silence undid a judgement, whoever loses a round would contest it, which
    costs nothing, and wait.
    """
    said = heard(pin, finals)
    if said is None or said.ruling is Ruled.FREEZE:
        return vote_of(pin, counted) or timeout(pin)
    return _ruling(pin, said, counted)


def _ruling(pin: RoundPin, said: Heard, counted: Tally) -> Ruling:
    return Ruling(
        decision=_decision(pin, said.ruling, counted),
        by=DecidedBy.RERUN if said.ruling is Ruled.RERUN else DecidedBy.ARBITER,
        rulers=(said.arbiter,),
        signed=said.ruling is Ruled.BY_SIGN and not is_clear(pin, counted),
    )


def _decision(pin: RoundPin, ruling: Ruled, counted: Tally) -> Decision:
    match ruling:
        case Ruled.BY_SIGN:
            return sign_of(pin, counted)
        case Ruled.RECLASSIFY:
            return Decision.ACCEPT
        case Ruled.RERUN:
            return Decision.NONE
        case _:
            return Decision.REJECT


def _decrees(pin: RoundPin) -> dict[Decree, Decision]:
    if pin.kind == "appeal":
        return {Decree.UPHOLD: Decision.REJECT, Decree.RECLASSIFY: Decision.ACCEPT}
    return {Decree.KEEP: Decision.ACCEPT, Decree.RETRACT: Decision.REJECT}


def _quorum(pin: RoundPin) -> int:
    """Count the operators that must agree; in a realm without any nobody can."""
    return quorum_of(max(len(pin.members), 1), three=pin.charter.timing.three).q
