"""What guards look at: the facts of each action, as values (paper 2.1, 3.3).

Facts are collected by the caller from the world of one cut and hold no opinion: whether they are
enough is the guard's answer. Times are ticks, quotas count records of one epoch or window, and
`refused` is what the caller found against the acting agent itself: admission, delegation, a forked
chain, a revocation, a sanction, in that order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from federation.artifacts.artifact import Artifact, Flag
from federation.artifacts.verdicts import Verdict
from federation.charter import Sensitivity
from federation.core import (
    AgentId,
    ArtifactId,
    Code,
    Digest,
    InstanceId,
    OperatorId,
    Ppm,
    RecordId,
    RoundId,
)


class Refusal(NamedTuple):
    """Why an action is refused: code, reason, remedy."""

    code: Code
    why: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Facts of `submit`, in the world of the cut that first contains the proposal."""

    id: ArtifactId
    author: AgentId
    author_operator: OperatorId
    home: InstanceId
    topics: tuple[str, ...]
    sensitivity: Sensitivity
    text_id: Digest
    cut: int
    admitted: bool
    delegated: bool
    """The author's operator delegated proposing to it."""
    forked: bool
    """A contained proof bars the author until it picks a branch of its chain."""
    barred: bool
    """The author's identity is revoked, or it has disowned the record."""
    r: Ppm
    """The author's Beta reputation."""
    r_min: Ppm
    duplicate_of: ArtifactId | None
    """An artifact of equal `text_id` that comes first in cut order."""
    used: int
    """Proposals of the author that counted in this epoch."""
    quota: int
    """Proposals an epoch allows it at its tier."""
    refused: Code | None = None
    """A sanction of the author that forbids proposing, or what else the caller found against it."""
    revises: ArtifactId | None = None
    """What it would supersede."""
    cites: tuple[ArtifactId, ...] = ()
    """Artifacts that it rests on, in any order."""
    evidence: tuple[Digest, ...] = ()
    """Digests of its sources, in any order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Facts of the fast track, when it would open and when it closes, as the round pinned them.

    A flag or a class that changes while the round runs is not among them: else two nodes could
    judge one certified list differently.
    """

    sensitivity: Sensitivity
    flags: frozenset[Flag]
    """The artifact's flags in the world of the cut that opened the round."""
    held: bool
    """The objection window was open for its time; False when the charter has none."""
    objections: int
    """Objections that the `fast` certificate lists."""
    author_has_ticket: bool
    watchers: int
    """Matching subscriptions of reviewers who could have objected."""
    watchers_needed: int
    """min(fast_min_watchers, reviewers who may review this)."""
    verdict: Verdict | None = None
    """The fast track's verdict, kept with the artifact that it accepts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """Facts of `dispute`: somebody, or the rules themselves, say that it should not stand."""

    disputer: AgentId | None
    """None if the rules open it: lost support, or a banned author."""
    disputer_operator: OperatorId | None
    ground: str
    evidence: tuple[Digest, ...]
    """Digests that it brings, in any order."""
    refused: Code | None
    tier: int
    """The disputer's."""
    r: Ppm
    """The disputer's Beta reputation."""
    r_dispute: Ppm
    d_max: int
    """Disputes that one artifact must bear."""
    used: int
    """Disputes that the disputer has filed in the window."""
    d_agent: int
    """Disputes that the window allows it."""
    by_rules: bool
    """Nobody files it: personal conditions, grounds and d_max do not apply, and it does not count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credible:
    """Facts of `dispute` after an urgent report: a moderator found it credible."""

    round: RoundId
    """The report's round, which goes on as the dispute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Facts of an urgent report (paper 3.3.2), which is no action: its assessment is."""

    reporter: AgentId
    refused: Code | None
    has_text: bool
    """It says in words what is wrong."""
    used: int
    """Reports of the reporter that counted in this epoch."""
    quota: int
    tick: int
    """Tick of the world that judges it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """Facts of `retract` by the author itself."""

    author: AgentId
    """Who withdraws."""
    refused: Code | None
    cited: bool
    """Something that stands rests on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decreed:
    """Facts of `retract` by a quorum of operators."""

    act: RecordId
    """The `admin.review` that enough operators have cosigned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersession:
    """Facts of `supersede`."""

    by: ArtifactId
    """The accepted revision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resubmission:
    """Facts of `resubmit`: any agent of enough reputation may bring new evidence."""

    agent: AgentId
    refused: Code | None
    r: Ppm
    """The agent's Beta reputation."""
    r_min: Ppm
    tick: int
    """Tick of the world that judges it."""
    cooldown: int
    """Ticks that must have passed since the retraction."""
    resub_max: int
    """Resubmissions that the charter allows an artifact."""
    evidence: tuple[Digest, ...]
    """Digests that it brings, in any order."""
    sensitivity: Sensitivity
    """The highest class of the artifact's topics under the charter in force now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleFlag:
    """Facts of a stale flag, which is no action: the state stays."""

    agent: AgentId
    refused: Code | None
    used: int
    """Stale flags of the agent that counted in this epoch."""
    quota: int


Facts: TypeAlias = (
    Submission
    | Window
    | Verdict
    | Dispute
    | Credible
    | Withdrawal
    | Decreed
    | Supersession
    | Resubmission
)
"""What the rows of the table rest on."""
Guard: TypeAlias = Callable[[Artifact | None, Facts], Refusal | None]


def wrong_facts(needed: str) -> Refusal:
    """Refuse facts of another action; `needed` names what the action rests on."""
    return Refusal(Code.GUARD_FAILED, f"the action rests on {needed}", f"give {needed}")


def frozen(artifact: Artifact) -> Refusal | None:
    """Refuse what an artifact must not undergo while the operators have not ruled."""
    if Flag.FROZEN not in artifact.flags:
        return None
    return Refusal(
        Code.FROZEN,
        "an arbiter has frozen it, so that nothing happens to it",
        "wait until the operators have ruled",
    )
