"""Findings of instances that an artifact nearly repeats an earlier one (design: duplicates).

No node can tell in a fold whether a finding is right, because a fold reads no prose. So it may do
little: what it is about goes to a vote, where people read both texts. Findings about a proposal
count before its round opens, if one cut contains both; later ones put up a flag, and no more.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from federation.artifacts import Artifact, Flag, Refusal
from federation.artifacts import State as ArtifactState
from federation.artifacts.notes import flagged
from federation.core import ArtifactId, Code, short
from federation.protocol.filing import count_in_epoch, is_disowned, is_forked, used_in_epoch
from federation.protocol.state import State
from federation.records import NearDuplicate, Propose, Record

MOST_FINDINGS: Final = 100
"""Findings of one instance that count in an epoch.

An honest one files at most one for each proposal of its agents that copies something. One that
flags whatever it sees takes reviewers' time: so much of it, and no more.
"""
_GONE: Final = frozenset({ArtifactState.RETRACTED, ArtifactState.SUPERSEDED})


def foreseen(state: State, record: Record, body: NearDuplicate) -> Refusal | None:
    """Tell why a finding cannot count, as far as that is known before a cut contains it.

    What it is about may come with that cut.
    """
    return _refusal(state, record, body, state.artifacts.get(body.artifact))


def of_new(fresh: Iterable[Record]) -> Mapping[ArtifactId, list[Record]]:
    """Group the findings among fresh records that are about proposals among them."""
    fresh = list(fresh)
    found: dict[ArtifactId, list[Record]] = {
        record.id: [] for record in fresh if isinstance(record.body, Propose)
    }
    for record in fresh:
        if isinstance(record.body, NearDuplicate) and record.body.artifact in found:
            found[record.body.artifact].append(record)
    return found


def take(state: State, artifact: Artifact, records: Iterable[Record]) -> Artifact:
    """Let those findings about an artifact count that may; the caller keeps what it becomes."""
    for record in records:
        body = record.body
        assert isinstance(body, NearDuplicate), "it is grouped so"  # noqa: S101 # our own invariant
        refused = _refusal(state, record, body, artifact)
        if refused is not None:
            state.refused[record.id] = refused.code
            continue
        known = state.found.get(record.author, (0, 0))
        state.found[record.author] = count_in_epoch(state, known)
        artifact = replace(
            flagged(artifact, Flag.NEAR_DUPLICATE),
            near=tuple(sorted({*artifact.near, record.author})),
        )
    return artifact


def _refusal(
    state: State, record: Record, body: NearDuplicate, artifact: Artifact | None
) -> Refusal | None:
    author, near = record.author, state.charter.review.near
    earlier = state.artifacts.get(body.of)
    if author not in state.instances:
        return Refusal(
            Code.NOT_MEMBER,
            "its author is no member instance",
            "let an instance whose operator is a member look at the two texts",
        )
    if state.identities[author].keys.revoked or is_disowned(state, record):
        return Refusal(
            Code.REVOKED,
            "its author has revoked its identity or disowned this part of its chain",
            "let another instance say it",
        )
    if is_forked(state, author):
        return Refusal(
            Code.FORK, "its author's chain is forked", "pick a branch with a rotation first"
        )
    if earlier is None:
        return _unknown(body.of)
    if artifact is not None and (earlier.cut >= artifact.cut or artifact.revises == earlier.id):
        return Refusal(
            Code.GUARD_FAILED,
            "what it names as the earlier one did not come first, or is what the other one revises",
            "name an artifact that an earlier cut has taken in and that is not revised",
        )
    if artifact is not None and artifact.state in _GONE:
        return Refusal(
            Code.GUARD_FAILED,
            f"artifact {short(artifact.id)} is {artifact.state}",
            "file findings about what is proposed or stands",
        )
    if body.likeness < near:
        return Refusal(
            Code.GUARD_FAILED,
            f"the charter calls texts near from {near} ppm on, and it states {body.likeness}",
            "file findings of at least `review.near` only",
        )
    if artifact is not None and author in artifact.near:
        return Refusal(
            Code.DUPLICATE, "its author has said so already", "nothing more needs to be said"
        )
    if used_in_epoch(state, state.found.get(author, (0, 0))) >= MOST_FINDINGS:
        return Refusal(
            Code.OVER_QUOTA,
            f"{MOST_FINDINGS} findings of its author have counted in this epoch",
            "wait for the next tick",
        )
    return None


def _unknown(name: ArtifactId) -> Refusal:
    return Refusal(
        Code.UNKNOWN_ARTIFACT,
        f"no cut has taken in an artifact {short(name)}",
        "take the ids of two artifacts that count",
    )
