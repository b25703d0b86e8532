"""What follows from a round that has ended, from a decree, and from a ban (paper 3.3; design: disputes).

An accepted revision supersedes; a retraction undoes what its approvers earned (the *delayed
correction*) and takes the support from what rests on it; a ban puts what the agent wrote, and what
would not stand without its vote, before fresh eyes. Artifacts change only through the lifecycle.
"""

from collections.abc import Iterable
from typing import Final

from federation.artifacts import (
    Action,
    Artifact,
    DecidedBy,
    Decreed,
    Flag,
    Supersession,
    Verdict,
    apply,
    flagged,
    lapsed,
    show,
    withhold,
)
from federation.artifacts import State as ArtifactState
from federation.charter import Charter
from federation.core import MILLION, AgentId, ArtifactId, Code, RefusedError
from federation.crypto import Choice
from federation.protocol import discipline
from federation.protocol.state import Due, State
from federation.protocol.story import took
from federation.records import AdminReview, Decree, Record
from federation.review import RoundPin
from federation.trust import Vote, top_topic
from federation.trust.outcomes import Reversal, UnfoundedReport

LOST: Final = "support_lost"
BANNED: Final = "author_banned"
REPORTED: Final = "reported"
"""Grounds on which the rules themselves put an artifact before a panel."""


def after_round(state: State, before: Artifact, after: Artifact) -> None:
    """Draw the consequences of a round that a cut has moved; `before` is the artifact before it."""
    hidden = Flag.HIDDEN in after.flags and Flag.WITHHELD not in after.flags
    if after.state is ArtifactState.ACTIVE and hidden:
        # A moderator hid it and no panel has looked: it was reported before it stood, and silence
        # let it pass, or its round was over first. Nothing may stay hidden for ever by one word.
        _due(state, [after.id], REPORTED)
    verdict = after.verdict
    if verdict is None or verdict == before.verdict:
        return
    if after.state is ArtifactState.ACTIVE and before.state is not ArtifactState.ACTIVE:
        _supersede(state, after)
    if after.state is ArtifactState.RETRACTED and before.accepted:
        if verdict.by is not DecidedBy.TIMEOUT:
            # That nobody has decided says nothing against those who had.
            _correct(state, before)
        _take_support(state, before)


def round_ended(state: State, pin: RoundPin, verdict: Verdict) -> None:
    """Draw the consequences of an ended round that do not lie in its artifact."""
    if verdict.by is DecidedBy.UNFOUNDED:
        _unfounded(state, pin, state.artifacts[pin.artifact])
    if pin.kind == "appeal" and verdict.accepted:
        discipline.reclassify(state, pin.artifact)


def decree(state: State, record: Record, body: AdminReview) -> None:
    """Carry out what a quorum of operators has decided by hand."""
    if body.decision in (Decree.UPHOLD, Decree.RECLASSIFY):
        if discipline.find(state, body.subject) is None:
            state.refused[record.id] = Code.UNKNOWN_SANCTION
        elif body.decision is Decree.RECLASSIFY:
            discipline.reclassify(state, body.subject)
        return
    artifact = state.artifacts.get(body.subject)
    if artifact is None:
        state.refused[record.id] = Code.UNKNOWN_ARTIFACT
        return
    match body.decision:
        case Decree.HIDE:
            state.put(withhold(artifact))
        case Decree.SHOW:
            state.put(show(artifact))
        case Decree.RETRACT:
            try:
                fallen = apply(artifact, Action.RETRACT, Decreed(act=record.id), tick=state.tick)
            except RefusedError as error:
                state.refused[record.id] = Code(error.code)
                return
            took(
                state,
                artifact.id,
                artifact.state,
                Action.RETRACT,
                fallen.state,
                cause=record.id,
            )
            state.put(fallen)
            _correct(state, artifact)
            _take_support(state, artifact)
        case _:
            # What stands is kept: flags that asked for a look are answered.
            for flag in (Flag.DISPUTES_SPENT, Flag.REREVIEW, Flag.STALE, Flag.SUPPORT_LOST):
                artifact = flagged(artifact, flag, on=False)
            state.put(artifact)


def after_bans(state: State, banned: Iterable[AgentId]) -> None:
    """Put before fresh eyes what banned agents wrote, and what stands by their votes alone."""
    gone = set(banned)
    if not gone:
        return
    due: list[ArtifactId] = []
    for name in sorted(state.artifacts):
        artifact = state.artifacts[name]
        if artifact.state is not ArtifactState.ACTIVE:
            continue
        approved = {
            one.voter
            for verdict in artifact.accepted
            for one in verdict.ballots
            if one.ballot.choice is Choice.FOR and not one.practice
        }
        if artifact.author not in gone and not approved & gone:
            continue
        state.put(flagged(artifact, Flag.REREVIEW))
        if artifact.author in gone or _hangs_on(state.charter, artifact, gone):
            due.append(name)
    _due(state, due, BANNED)


def lapse(state: State) -> None:
    """Drop, at a tick, the stale flags that nobody has taken up for too long."""
    window = state.charter.disputes.stale_window
    for artifact in list(state.artifacts.values()):
        fresh = lapsed(artifact, state.tick, window)
        if fresh is not artifact:
            state.put(fresh)


def _hangs_on(charter: Charter, artifact: Artifact, gone: set[AgentId]) -> bool:
    """Tell whether an artifact would not have been accepted without some voters."""
    first = artifact.accepted[0] if artifact.accepted else None
    if first is None or first.by is not DecidedBy.VOTE:
        return False
    left = [one for one in first.ballots if one.voter not in gone and not one.practice]
    weight = sum(one.weight for one in left)
    tally = sum(one.weight * one.ballot.choice for one in left)
    return (
        len(left) < first.quorum_needed
        or not weight
        or tally * MILLION < charter.review.tau_accept * weight
    )


def _supersede(state: State, artifact: Artifact) -> None:
    """Let an accepted revision take the place of what it revises, if that still stands."""
    revised = state.artifacts.get(artifact.revises) if artifact.revises else None
    if revised is None or revised.state is not ArtifactState.ACTIVE:
        return
    done = apply(revised, Action.SUPERSEDE, Supersession(by=artifact.id), tick=state.tick)
    took(state, revised.id, revised.state, Action.SUPERSEDE, done.state, cause=artifact.id)
    state.put(done)


def _correct(state: State, before: Artifact) -> None:
    """Correct what every round that had let an artifact stand has said of its voters."""
    for verdict in before.accepted:
        reversal = Reversal(
            round_id=verdict.round,
            tick=state.tick + 1,
            author_operator=before.author_operator,
            votes=tuple(
                Vote(
                    voter=one.voter,
                    operator=one.operator,
                    choice=one.ballot.choice,
                    practice=one.practice,
                )
                for one in verdict.ballots
            ),
            topic=top_topic(before.topics),
        )
        state.reversals.append(reversal)
        discipline.corrected(state, reversal)


def _take_support(state: State, before: Artifact) -> None:
    """Flag what rests on a retracted artifact, and put it before a panel if nothing else holds it."""
    due: list[ArtifactId] = []
    for name in state.cited.get(before.id, ()):
        resting = state.artifacts[name]
        if resting.state not in (ArtifactState.ACTIVE, ArtifactState.DISPUTED):
            continue
        state.put(flagged(resting, Flag.SUPPORT_LOST))
        if not _is_supported(state, resting):
            due.append(name)
    _due(state, due, LOST)


def _is_supported(state: State, artifact: Artifact) -> bool:
    """Tell whether something by another author that an artifact cites still stands."""
    return any(
        (cited := state.artifacts.get(name)) is not None
        and cited.state in (ArtifactState.ACTIVE, ArtifactState.DISPUTED)
        and cited.author != artifact.author
        for name in artifact.cites
    )


def _due(state: State, artifacts: Iterable[ArtifactId], ground: str) -> None:
    """Let artifacts wait for a panel, each once; of thousands none costs a look at all others."""
    waiting = {one.artifact for one in state.due}
    for name in dict.fromkeys(artifacts):
        if name not in waiting:
            state.due.append(Due(artifact=name, ground=ground))


def _unfounded(state: State, pin: RoundPin, artifact: Artifact) -> None:
    if pin.cause is None or pin.disputer is None:
        return
    state.unfounded.append(
        UnfoundedReport(
            report=pin.cause,
            tick=state.tick + 1,
            reporter=pin.disputer,
            author_operator=artifact.author_operator,
            topic=top_topic(artifact.topics),
        )
    )
