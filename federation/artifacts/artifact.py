"""The artifact: one piece of knowledge and where it stands (paper 2.1).

A frozen value: the lifecycle answers an action with a new one. `hidden` and `frozen` are flags
beside the state, never states.
"""

from dataclasses import dataclass
from enum import StrEnum

from federation.artifacts.verdicts import Verdict
from federation.charter import Sensitivity
from federation.core import AgentId, ArtifactId, Digest, InstanceId, OperatorId, RoundId


class State(StrEnum):
    """Where an artifact stands."""

    PROPOSED = "proposed"
    """Its objection window is open, or its round is about to begin."""
    UNDER_REVIEW = "under_review"
    """A formal vote decides."""
    ACTIVE = "active"
    """It stands."""
    RETRACTED = "retracted"
    """It does not stand; it and its reasons stay readable."""


class Flag(StrEnum):
    """What is known about an artifact beside its state."""

    NEAR_DUPLICATE = "near_duplicate"
    """A signed finding says that it repeats another: sent to a vote, never refused."""
    FORENSIC = "forensic"
    """A forensic or dissent finding asks for a vote."""
    HIDDEN = "hidden"
    """Absent from reads, search and export; still in the log."""
    FROZEN = "frozen"
    """No action until a ruling."""
    SUPPORT_LOST = "support_lost"
    """Something that it rests on was retracted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """One artifact as of some cut."""

    id: ArtifactId
    """Id of its `artifact.propose` record."""
    author: AgentId
    author_operator: OperatorId
    """The author's operator when it was submitted."""
    home: InstanceId
    """The instance that admitted the author; it leads the artifact's rounds."""
    topics: tuple[str, ...]
    sensitivity: Sensitivity
    """The highest class of its topics under the charter of the cut that first contained it."""
    text_id: Digest
    """Equal ids are exact duplicates."""
    cut: int
    """Number of the cut that first contained it."""
    state: State = State.PROPOSED
    flags: frozenset[Flag] = frozenset()
    round: RoundId | None = None
    """Its newest round."""
    verdict: Verdict | None = None
    """What its newest ended round decided."""
