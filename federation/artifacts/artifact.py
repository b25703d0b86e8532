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
    DISPUTED = "disputed"
    """It stood, and a fresh panel decides whether it still does."""
    RETRACTED = "retracted"
    """It does not stand; it and its reasons stay readable."""
    SUPERSEDED = "superseded"
    """An accepted revision stands in its place."""


class Flag(StrEnum):
    """What is known about an artifact beside its state."""

    NEAR_DUPLICATE = "near_duplicate"
    """A signed finding says that it repeats another: sent to a vote, never refused."""
    FORENSIC = "forensic"
    """A forensic or dissent finding asks for a vote."""
    HIDDEN = "hidden"
    """Absent from reads, search and export; still in the log."""
    WITHHELD = "withheld"
    """The operators have hidden it by hand: no panel shows it again, only they do."""
    FROZEN = "frozen"
    """No action until a ruling."""
    SUPPORT_LOST = "support_lost"
    """Something that it rests on was retracted."""
    STALE = "stale"
    """Somebody has shown that it may be out of date."""
    REREVIEW = "rereview"
    """Its author, or an approver without whom it would not stand, was banned."""
    DISPUTES_SPENT = "disputes_spent"
    """It has survived all disputes that the charter allows: only operators can still retract it."""


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
    accepted: tuple[Verdict, ...] = ()
    """The verdicts that let it stand: its acceptance, then disputes that were dismissed. None once it
    is retracted."""
    cites: tuple[ArtifactId, ...] = ()
    """What it rests on, ascending."""
    revises: ArtifactId | None = None
    """What it supersedes if it is accepted."""
    superseded_by: ArtifactId | None = None
    """The accepted revision that stands in its place."""
    rounds: int = 0
    """Rounds that were opened for it, of all kinds: the ordinal of the next."""
    disputes: int = 0
    """Disputes that were opened, and count for d_max."""
    resubmitted: int = 0
    """How often it came back."""
    retracted_at: int | None = None
    """Tick of its newest retraction: cooldowns count from it."""
    stale_at: int | None = None
    """Tick of the newest stale flag."""
    evidence: tuple[Digest, ...] = ()
    """Digests that its proposal, disputes and resubmissions have brought, ascending."""
    grounds: tuple[str, ...] = ()
    """Grounds on which it was disputed since it came to stand, ascending: none of them is new."""
    voters: tuple[AgentId, ...] = ()
    """Who has opened a ballot on it, ascending: they sit on no fresh panel."""
    reports: int = 0
    """Report rounds that are open."""
    reported_at: int | None = None
    """Tick at which the newest assessment of a report was over: for a while there is no other."""
    near: tuple[InstanceId, ...] = ()
    """Member instances that have found that it nearly repeats an earlier one, ascending."""
