"""What an ended round hands on: to the artifact its action, to trust its rows (paper 2.1, 2.3).

Agreement of many is weak evidence and a policy for missing voters is none: a verdict by shortfall
or timeout decides about the artifact, but says nothing for or against people, except who left a
listed commitment closed.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from federation.artifacts import (
    Action,
    Artifact,
    DecidedBy,
    State,
    Verdict,
    Window,
    apply,
)
from federation.certificates import Phase
from federation.core import AgentId, OperatorId, RecordId
from federation.records import Argue, Record
from federation.review.finals import Finals, listed
from federation.review.phases import Ended, next_phase
from federation.review.pin import RoundPin, fast_window, watchers
from federation.review.verdict import Escalation, by_sign
from federation.trust import Answered, Counted, Decision, RoundOutcome, Vote, top_topic

_SILENT: Final = frozenset({DecidedBy.SHORTFALL, DecidedBy.TIMEOUT})
"""Verdicts that nobody's judgement stands behind."""


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


def advance(
    artifact: Artifact, pin: RoundPin, finals: Finals, escalate: Escalation = by_sign
) -> Artifact:
    """Bring an artifact to where its round has come; the same artifact if nothing changed.

    The artifact must be in this round (`federation.artifacts.in_round`).
    """
    now = next_phase(pin, finals, escalate)
    if now is Phase.FAST or artifact.state not in {State.PROPOSED, State.UNDER_REVIEW}:
        return artifact
    verdict = now.verdict if isinstance(now, Ended) else None
    if verdict is not None and verdict.by is DecidedBy.FAST_TRACK:
        return apply(artifact, Action.ACCEPT, window(pin, finals, verdict))
    if artifact.state is State.PROPOSED:
        artifact = apply(artifact, Action.BEGIN_REVIEW, window(pin, finals))
    return artifact if verdict is None else apply(artifact, action_of(verdict), verdict)


def action_of(verdict: Verdict) -> Action:
    """Name the lifecycle's action that a verdict stands for."""
    if verdict.accepted:
        return Action.ACCEPT
    return Action.TIMEOUT if verdict.by in _SILENT else Action.REJECT


def outcome_of(
    pin: RoundPin, finals: Finals, verdict: Verdict, *, tick: int, topics: Sequence[str]
) -> RoundOutcome:
    """Give what evidence is made of.

    `tick` is the tick at which the round begins to count, `topics` are the artifact's.
    """
    return RoundOutcome(
        round_id=pin.round,
        tick=tick,
        author=pin.author,
        author_operator=pin.author_operator,
        home_operator=pin.home_operator,
        decision=Decision.NONE if verdict.by in _SILENT else verdict.decision,
        strong=verdict.strong,
        fast_track=verdict.by is DecidedBy.FAST_TRACK,
        topic=top_topic(topics),
        votes=tuple(
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
    )


def counted_of(verdict: Verdict) -> tuple[Counted, ...]:
    """Give the weighed ballots for the estimate of competence; none if no vote decided."""
    if verdict.by in _SILENT:
        return ()
    return tuple(
        Counted(agent=one.voter, choice=one.ballot.choice, weight=one.weight)
        for one in verdict.ballots
        if not one.practice
    )


def _answered(pin: RoundPin, finals: Finals, verdict: Verdict) -> Iterator[Answered]:
    """Find arguments that a reviewer of another operator replied to or cited in its ballot."""
    arguments = listed(finals, Phase.DELIBERATE)
    heard: dict[RecordId, set[OperatorId]] = {}
    for speaker, record in _mentions(pin, arguments, verdict):
        heard.setdefault(record, set()).add(pin.agents[speaker].operator)
    for argument in arguments:
        if heard.get(argument.id, set()) - {pin.agents[argument.author].operator}:
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
