"""Apply an action to an artifact: the next artifact, or a refusal that changes nothing (paper 2.1).

The only door through which a state changes. It looks up the row, asks the row's guard, and
builds the next frozen value with every field that the action implies. What is noted about an
artifact without a change of state stands in `notes`.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar, assert_never

from federation.artifacts.artifact import Artifact, Flag, State
from federation.artifacts.facts import (
    Credible,
    Decreed,
    Dispute,
    Facts,
    Resubmission,
    Submission,
    Supersession,
    Window,
    Withdrawal,
)
from federation.artifacts.notes import flagged, merge_voters
from federation.artifacts.transitions import TRANSITIONS, Action, Row
from federation.artifacts.verdicts import Verdict
from federation.core import Code, RefusedError, short

_Item = TypeVar("_Item", bytes, str)

_ANSWERED = frozenset({Flag.HIDDEN, Flag.FROZEN, Flag.REREVIEW, Flag.SUPPORT_LOST})
"""What a judgement that it stands has answered."""
_OF_THE_TEXT = frozenset({Flag.NEAR_DUPLICATE, Flag.FORENSIC, Flag.HIDDEN, Flag.WITHHELD})
"""What stays known when it comes back: it sends a resubmission to a vote, and only that vote lifts it."""


def apply(
    artifact: Artifact | None,
    action: Action,
    facts: Facts,
    *,
    tick: int = 0,
    d_max: int | None = None,
) -> Artifact:
    """Give the artifact after `action`; `artifact` is None for `submit` only.

    `tick` is that of the world in which the action counts: cooldowns count from a retraction's.
    `d_max` are the disputes that the charter lets an artifact bear: with it, `accept` and `keep` note
    whether they are spent. Raises RefusedError: GUARD_FAILED where the table has no row or the
    guard fails, or the guard's own code. A verdict among the facts is kept with the artifact.
    """
    row = TRANSITIONS.get((None if artifact is None else artifact.state, action))
    if row is None:
        raise RefusedError(
            f"{action} refused",
            why="there is no such artifact"
            if artifact is None
            else f"artifact {short(artifact.id)} is {artifact.state}, and no row leads on from there",
            fix="take an action that the lifecycle table has for its state",
            code=Code.GUARD_FAILED,
        )
    refusal = row.guard(artifact, facts)
    if refusal is not None:
        raise RefusedError(f"{action} refused", why=refusal.why, fix=refusal.fix, code=refusal.code)
    if isinstance(facts, Submission):
        return _submitted(facts, row)
    assert artifact is not None, "every guard but that of submit asks for an artifact"  # noqa: S101 # ours
    after = _next(artifact, row, facts, tick)
    if after.state is State.ACTIVE and d_max is not None:
        return flagged(after, Flag.DISPUTES_SPENT, on=after.disputes >= d_max)
    return after


def _submitted(facts: Submission, row: Row) -> Artifact:
    return Artifact(
        id=facts.id,
        author=facts.author,
        author_operator=facts.author_operator,
        home=facts.home,
        topics=facts.topics,
        sensitivity=facts.sensitivity,
        text_id=facts.text_id,
        cut=facts.cut,
        state=row.to,
        cites=_merged((), facts.cites),
        revises=facts.revises,
        evidence=_merged((), facts.evidence),
    )


def _next(
    artifact: Artifact,
    row: Row,
    facts: Window
    | Verdict
    | Dispute
    | Credible
    | Withdrawal
    | Decreed
    | Supersession
    | Resubmission,
    tick: int,
) -> Artifact:
    match facts:
        case Window(verdict=consent):
            if row.to is not State.ACTIVE or consent is None:
                return replace(artifact, state=row.to)
            # Silence accepts and lifts no flag: what was hidden meanwhile, nobody could object to.
            return replace(artifact, state=row.to, verdict=consent, accepted=(consent,))
        case Verdict():
            return _decided(artifact, row, facts, tick)
        case Dispute():
            return replace(
                artifact,
                state=row.to,
                disputes=artifact.disputes + (not facts.by_rules),
                grounds=artifact.grounds
                if facts.by_rules
                else _merged(artifact.grounds, (facts.ground,)),
                evidence=_merged(artifact.evidence, facts.evidence),
            )
        case Credible():
            return replace(
                artifact,
                state=row.to,
                disputes=artifact.disputes + 1,
                flags=artifact.flags | {Flag.HIDDEN},
                round=facts.round,
            )
        case Withdrawal() | Decreed():
            return _retracted(artifact, row, tick)
        case Supersession():
            return replace(
                artifact,
                state=row.to,
                superseded_by=facts.by,
                flags=artifact.flags - {Flag.STALE},
            )
        case Resubmission():
            return replace(
                artifact,
                state=row.to,
                sensitivity=facts.sensitivity,
                resubmitted=artifact.resubmitted + 1,
                flags=artifact.flags & _OF_THE_TEXT,
                evidence=_merged(artifact.evidence, facts.evidence),
            )
    assert_never(facts)


def _decided(artifact: Artifact, row: Row, verdict: Verdict, tick: int) -> Artifact:
    """Let a round's verdict end it: what it asked about is answered, and who voted is remembered."""
    noted = replace(merge_voters(artifact, verdict), verdict=verdict)
    if row.to is State.ACTIVE:
        return replace(
            noted,
            state=row.to,
            accepted=(*artifact.accepted, verdict),
            flags=noted.flags - _ANSWERED | _kept_back(noted),
        )
    return _retracted(noted, row, tick)


def _kept_back(artifact: Artifact) -> frozenset[Flag]:
    """Give what stays up because the operators have hidden it by hand."""
    return frozenset({Flag.HIDDEN}) if Flag.WITHHELD in artifact.flags else frozenset()


def _retracted(artifact: Artifact, row: Row, tick: int) -> Artifact:
    # If it comes back, it comes with other evidence: what it was once kept against may be asked again.
    return replace(
        artifact,
        state=row.to,
        accepted=(),
        grounds=(),
        retracted_at=tick,
        flags=artifact.flags - {Flag.FROZEN},
    )


def _merged(known: Iterable[_Item], brought: Iterable[_Item]) -> tuple[_Item, ...]:
    """Give a set as its one spelling: ascending."""
    return tuple(sorted(set(known) | set(brought)))
