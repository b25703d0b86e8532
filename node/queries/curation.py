"""What has happened to an artifact beside its text, and what may still happen to it.

Limits are those of the charter in force: a round that runs keeps the charter that it was opened
under, but what is filed next is judged by this one.
"""

import msgspec

from federation.artifacts import Action, Artifact, Flag, State
from federation.artifacts.dispute_guards import REPORT_PAUSE
from federation.core import short
from federation.protocol import World
from federation.records import AdminReview, Withdraw


class Curation(msgspec.Struct, frozen=True, kw_only=True):
    """The rest of an artifact's standing."""

    revises: str | None
    """What it supersedes if it is accepted, id in hex; nil if it is no revision."""
    superseded_by: str | None
    """The accepted revision that stands in its place, id in hex."""
    cited_by: tuple[str, ...]
    """Artifacts that rest on it and still stand, ids in hex."""
    rounds: tuple[str, ...]
    """Its rounds of all kinds, in the order in which they opened; ids in hex."""
    open_rounds: tuple[str, ...]
    """Those of them that no cut has ended, ids in hex."""
    accepted_by: tuple[str, ...]
    """Rounds by which it stands: its acceptance, then disputes that were dismissed; ids in hex."""
    disputes: int
    """Disputes that were opened and count."""
    disputes_left: int
    """Disputes that may still be opened; 0 leaves it to the operators."""
    grounds: tuple[str, ...]
    """Grounds that it has been disputed on: to dispute on them again takes new evidence."""
    reports: int
    """Urgent reports that a moderator has not answered yet."""
    report_from: int | None
    """Tick from which it may be reported again; nil if it may be now, as far as that goes."""
    resubmitted: int
    """How often it came back."""
    resubmissions_left: int
    """How often it may still come back."""
    retracted_at: int | None
    """Tick of its newest retraction; nil if it never was."""
    cooldown_until: int | None
    """Tick from which it may be resubmitted; nil unless it is retracted."""
    stale_at: int | None
    """Tick of the newest stale flag; nil if nobody flagged it."""
    stale_until: int | None
    """Tick at which that flag lapses if nobody takes it up; nil without one."""
    evidence: tuple[str, ...]
    """Digests that proposals, disputes and resubmissions have brought, in hex: none of them is new."""


def curation_of(world: World, artifact: Artifact) -> Curation:
    """Tell what has happened to an artifact, and what may still happen to it."""
    state, rules = world.state, world.charter.disputes
    rounds = state.rounds_of.get(artifact.id, ())
    is_retracted = artifact.state is State.RETRACTED and artifact.retracted_at is not None
    until = None if artifact.reported_at is None else artifact.reported_at + REPORT_PAUSE
    is_stale = artifact.stale_at is not None and Flag.STALE in artifact.flags
    return Curation(
        revises=artifact.revises.hex() if artifact.revises else None,
        superseded_by=artifact.superseded_by.hex() if artifact.superseded_by else None,
        cited_by=tuple(
            name.hex()
            for name in state.cited.get(artifact.id, ())
            if state.artifacts[name].state in {State.ACTIVE, State.DISPUTED}
        ),
        rounds=tuple(name.hex() for name in rounds),
        open_rounds=tuple(
            name.hex()
            for name in rounds
            if (found := world.rounds.get(name)) is not None and not found.closed
        ),
        accepted_by=tuple(verdict.round.hex() for verdict in artifact.accepted),
        disputes=artifact.disputes,
        disputes_left=max(rules.d_max - artifact.disputes, 0),
        grounds=artifact.grounds,
        reports=artifact.reports,
        report_from=until if until is not None and until > state.tick else None,
        resubmitted=artifact.resubmitted,
        resubmissions_left=max(rules.resub_max - artifact.resubmitted, 0),
        retracted_at=artifact.retracted_at,
        cooldown_until=(artifact.retracted_at or 0) + rules.cooldown if is_retracted else None,
        stale_at=artifact.stale_at,
        stale_until=(artifact.stale_at or 0) + rules.stale_window if is_stale else None,
        evidence=tuple(name.hex() for name in artifact.evidence),
    )


def ended_by(world: World, artifact: Artifact) -> str | None:
    """Say what ended an artifact if no round did: its author, the operators, or a revision."""
    steps = world.state.steps.get(artifact.id, ())
    last = steps[-1] if steps else None
    if last is None or last.to is not artifact.state:
        return None
    if last.action is Action.SUPERSEDE and artifact.superseded_by is not None:
        return f"The accepted revision {short(artifact.superseded_by)} stands in its place."
    if last.action is not Action.RETRACT or last.round is not None:
        return None
    record = world.log.get(last.cause) if last.cause else None
    match record.body if record else None:
        case Withdraw() as body:
            return f"Its author has taken it back: {_sentence(body.reason)}"
        case AdminReview() as body:
            return f"A quorum of operators has retracted it by hand: {_sentence(body.reason)}"
        case _:
            return None


def _sentence(words: str) -> str:
    return words if words.endswith((".", "!", "?")) else f"{words}."
