"""What an ended round hands on: to the artifact its action, to trust its rows (paper 2.1, 2.3, 3.3).

Agreement of many is weak evidence and a policy for missing voters is none: a verdict by shortfall
or timeout decides about the artifact, but says nothing for or against people, except who left a
listed commitment closed. What an arbiter or the operators decide says nothing about the voters
either, since it was not their vote that decided, but settles who was right, author or disputer.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from federation.artifacts import (
    Action,
    Artifact,
    Credible,
    DecidedBy,
    Flag,
    State,
    Verdict,
    Window,
    apply,
    freeze,
    hide,
)
from federation.certificates import Phase
from federation.core import AgentId, OperatorId, RecordId
from federation.records import Argue, Record, Ruled
from federation.review.course import Ended, course, next_phase
from federation.review.finals import Finals, listed
from federation.review.pin import RoundPin, fast_window, watchers
from federation.review.rulings import assessed, heard
from federation.trust import Answered, Counted, Decision, RoundOutcome, Vote, top_topic

_SILENT: Final = frozenset({DecidedBy.SHORTFALL, DecidedBy.TIMEOUT})
"""Verdicts that nobody's judgement stands behind."""
_BY_OFFICE: Final = frozenset({DecidedBy.ARBITER, DecidedBy.ADMIN})
"""Verdicts that were not the voters' own."""
_DEBATE: Final = (
    Phase.UNSEAL,
    Phase.DELIBERATE,
    Phase.TURN2,
    Phase.TURN3,
    Phase.TURN4,
    Phase.TURN5,
)
_IN_REVIEW: Final = frozenset({State.PROPOSED, State.UNDER_REVIEW})


def window(pin: RoundPin, finals: Finals, verdict: Verdict | None = None) -> Window:
    """Collect the facts of the fast track for the lifecycle's guards."""
    seen, needed = watchers(pin)
    return Window(
        sensitivity=pin.sensitivity,
        flags=pin.flags,
        held=fast_window(pin) > 0 and Phase.FAST in finals,
        objections=len(listed(finals, Phase.FAST)),
        author_has_ticket=pin.author_has_ticket,
        watchers=seen,
        watchers_needed=needed,
        verdict=verdict,
    )


def advance(artifact: Artifact, pin: RoundPin, finals: Finals, *, tick: int = 0) -> Artifact:
    """Bring an artifact to where its round has come; the same artifact if nothing changed.

    A round acts only while it is the artifact's newest, but for a report: once it is credible it
    hides the artifact and takes it if it stands. `tick` is that of the world: cooldowns count from
    it. A sanction's appeal has no artifact and changes none.
    """
    if pin.kind == "appeal":
        return artifact
    if pin.kind == "report":
        artifact = _reported(artifact, pin, finals)
    if artifact.round != pin.round:
        return artifact
    now = next_phase(pin, finals)
    verdict = now.verdict if isinstance(now, Ended) else None
    if pin.is_dispute:
        return _disputed(artifact, pin, finals, verdict, tick)
    if now is Phase.FAST or artifact.state not in _IN_REVIEW:
        return artifact
    if verdict is not None and verdict.by is DecidedBy.FAST_TRACK:
        return _apply(artifact, Action.ACCEPT, pin, window(pin, finals, verdict), tick)
    if artifact.state is State.PROPOSED:
        artifact = _apply(artifact, Action.BEGIN_REVIEW, pin, window(pin, finals), tick)
    return _settled(artifact, pin, finals, verdict, tick)


def action_of(verdict: Verdict) -> Action | None:
    """Name the lifecycle's action that a verdict stands for; None if it decides nothing."""
    if verdict.decision is Decision.NONE or verdict.kind == "appeal":
        return None
    if verdict.kind != "review":
        return Action.KEEP if verdict.accepted else Action.RETRACT
    if verdict.accepted:
        return Action.ACCEPT
    return Action.TIMEOUT if verdict.by in _SILENT else Action.REJECT


def outcome_of(
    pin: RoundPin, finals: Finals, verdict: Verdict, *, tick: int, topics: Sequence[str]
) -> RoundOutcome:
    """Give what evidence is made of.

    `tick` is the tick at which the round begins to count, `topics` are the artifact's.
    """
    about_people = verdict.by not in _SILENT and verdict.kind != "appeal"
    return RoundOutcome(
        round_id=pin.round,
        tick=tick,
        author=_submitter(pin),
        author_operator=pin.author_operator,
        home_operator=pin.home_operator,
        decision=verdict.decision if about_people else Decision.NONE,
        strong=verdict.strong,
        fast_track=verdict.by is DecidedBy.FAST_TRACK,
        topic=top_topic(topics),
        votes=()
        if verdict.by in _BY_OFFICE
        else tuple(
            Vote(
                voter=one.voter,
                operator=one.operator,
                choice=one.ballot.choice,
                practice=one.practice,
            )
            for one in verdict.ballots
        ),
        unrevealed=verdict.unrevealed,
        answered=tuple(_answered(pin, finals, verdict)),
        disputer=None if _is_own(pin) and verdict.decision is Decision.REJECT else pin.disputer,
        dispute=pin.is_dispute,
    )


def _submitter(pin: RoundPin) -> AgentId:
    """Give whose contribution it is: whoever brought back what another wrote answers for that."""
    if pin.kind == "review" and pin.disputer is not None:
        return pin.disputer
    return pin.author


def _is_own(pin: RoundPin) -> bool:
    """Tell whether author and disputer are of one operator: it must not earn by its own faults."""
    return pin.disputer_operator == pin.author_operator


def counted_of(verdict: Verdict) -> tuple[Counted, ...]:
    """Give the weighed ballots for the estimate of competence; none if no vote decided."""
    if verdict.decision is Decision.NONE or verdict.by in _SILENT | _BY_OFFICE:
        return ()
    return tuple(
        Counted(agent=one.voter, choice=one.ballot.choice, weight=one.weight)
        for one in verdict.ballots
        if not one.practice
    )


def _reported(artifact: Artifact, pin: RoundPin, finals: Finals) -> Artifact:
    """Let a credible report hide what it is about, and take it if it stands and is free."""
    said = assessed(pin, course(pin, finals).lists)
    if said is None or not said.credible or artifact.round == pin.round:
        return artifact
    if pin.assess_only:
        return hide(artifact)
    if artifact.state is not State.ACTIVE or Flag.FROZEN in artifact.flags:
        return artifact
    return apply(artifact, Action.DISPUTE, Credible(round=pin.round))


def _disputed(
    artifact: Artifact, pin: RoundPin, finals: Finals, verdict: Verdict | None, tick: int
) -> Artifact:
    if artifact.state is not State.DISPUTED:
        return artifact
    return _settled(artifact, pin, finals, verdict, tick)


def _settled(
    artifact: Artifact, pin: RoundPin, finals: Finals, verdict: Verdict | None, tick: int
) -> Artifact:
    """Apply the verdict, or freeze what waits for the operators because an arbiter said so."""
    if verdict is None:
        said = heard(pin, course(pin, finals).lists)
        frozen = said is not None and said.ruling is Ruled.FREEZE
        return freeze(artifact) if frozen else artifact
    action = action_of(verdict)
    return artifact if action is None else _apply(artifact, action, pin, verdict, tick)


def _apply(
    artifact: Artifact, action: Action, pin: RoundPin, facts: Window | Verdict, tick: int
) -> Artifact:
    return apply(artifact, action, facts, tick=tick, d_max=pin.charter.disputes.d_max)


def _answered(pin: RoundPin, finals: Finals, verdict: Verdict) -> Iterator[Answered]:
    """Find arguments that a reviewer of another operator replied to or cited in its ballot."""
    arguments = tuple(record for phase in _DEBATE for record in listed(finals, phase))
    heard_by: dict[RecordId, set[OperatorId]] = {}
    for speaker, record in _mentions(pin, arguments, verdict):
        heard_by.setdefault(record, set()).add(pin.agents[speaker].operator)
    for argument in arguments:
        if heard_by.get(argument.id, set()) - {pin.agents[argument.author].operator}:
            yield Answered(agent=argument.author, argument=argument.id)


def _mentions(
    pin: RoundPin, arguments: tuple[Record, ...], verdict: Verdict
) -> Iterator[tuple[AgentId, RecordId]]:
    for record in arguments:
        body = record.body
        if isinstance(body, Argue) and body.replies_to and record.author in pin.eligible.reviewers:
            yield record.author, body.replies_to
    for one in verdict.ballots:
        if not one.practice:
            for cited in one.ballot.arguments:
                yield one.voter, cited
