"""Apply an action to an artifact: the next artifact, or a refusal that changes nothing (paper 2.1).

The only door through which a state changes. It looks up the row, asks the row's guard, and
builds the next frozen value.
"""

from dataclasses import replace

from federation.artifacts.artifact import Artifact
from federation.artifacts.guards import Facts, Submission
from federation.artifacts.transitions import TRANSITIONS, Action, Row
from federation.artifacts.verdicts import Verdict
from federation.core import Code, RefusedError, RoundId, short


def apply(artifact: Artifact | None, action: Action, facts: Facts) -> Artifact:
    """Give the artifact after `action`; `artifact` is None for `submit` only.

    Raises RefusedError: GUARD_FAILED where the table has no row or the guard fails, or the
    guard's own code. A verdict among the facts is kept with the artifact.
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
    return _next(artifact, row, facts)


def in_round(artifact: Artifact, round_id: RoundId) -> Artifact:
    """Note the round that a cut opened for the artifact; its state does not change."""
    return replace(artifact, round=round_id)


def _next(artifact: Artifact | None, row: Row, facts: Facts) -> Artifact:
    match facts:
        case Submission():
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
            )
        case Verdict():
            assert artifact is not None, "a verdict's guard asks for an artifact"  # noqa: S101 # ours
            return replace(artifact, state=row.to, verdict=facts)
        case _:
            assert artifact is not None, "a window's guard asks for an artifact"  # noqa: S101 # ours
            return replace(artifact, state=row.to, verdict=facts.verdict)
