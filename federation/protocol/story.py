"""The rows of the lifecycle's table that each artifact has taken, for its story.

Nothing is decided by them: they are kept beside the state so that a reader, and a node that comes
back from a snapshot, can tell how an artifact came to where it is.
"""

from federation.artifacts import Action, Artifact, DecidedBy
from federation.artifacts import State as ArtifactState
from federation.core import ArtifactId, RecordId, RoundId
from federation.protocol.state import State, Step
from federation.review import RoundPin, action_of


def took(
    state: State,
    artifact: ArtifactId,
    origin: ArtifactState | None,
    action: Action,
    to: ArtifactState,
    *,
    round_id: RoundId | None = None,
    cause: RecordId | None = None,
) -> None:
    """Note one row that an artifact has taken in the cut that is being folded."""
    state.steps.setdefault(artifact, []).append(
        Step(
            cut=state.cut,
            tick=state.tick,
            origin=origin,
            action=action,
            to=to,
            round=round_id,
            cause=cause,
        )
    )


def note_round(state: State, before: Artifact, after: Artifact, pin: RoundPin) -> None:
    """Note the rows by which a round has brought an artifact from one state to another.

    One cut may contain several lists of a round, so that several rows were taken at once.
    """
    if before is after or (before.state is after.state and before.verdict == after.verdict):
        return
    at = before.state
    verdict = after.verdict if after.verdict != before.verdict else None
    fast = verdict is not None and verdict.by is DecidedBy.FAST_TRACK
    if at is ArtifactState.PROPOSED and not fast:
        at = _took(state, pin, at, Action.BEGIN_REVIEW, ArtifactState.UNDER_REVIEW)
    elif at is ArtifactState.ACTIVE:
        # A credible report takes what stands into a dispute.
        at = _took(state, pin, at, Action.DISPUTE, ArtifactState.DISPUTED)
    action = action_of(verdict) if verdict is not None else None
    if action is not None and at is not after.state:
        _took(state, pin, at, action, after.state)


def _took(
    state: State,
    pin: RoundPin,
    origin: ArtifactState,
    action: Action,
    to: ArtifactState,
) -> ArtifactState:
    took(state, pin.artifact, origin, action, to, round_id=pin.round, cause=pin.cause)
    return to
