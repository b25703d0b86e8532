"""What agents file about artifacts: the facts of each act in this world, and why it does not count.

One place for the door, the judge and the fold, so that what the door lets pass is what a cut takes
in, unless the world has changed in between (design: lifecycle, disputes). Facts are collected here,
judged by the guards of the lifecycle (`federation.artifacts`).
"""

from typing import Final, TypeAlias

from federation.artifacts import (
    Action,
    Artifact,
    Dispute,
    Facts,
    Refusal,
    Report,
    Resubmission,
    StaleFlag,
    Submission,
    Withdrawal,
    apply,
    may_flag_stale,
    may_report,
    may_submit,
)
from federation.artifacts import State as ArtifactState
from federation.charter import sensitivity_of
from federation.core import Code, RefusedError, short
from federation.protocol import discipline
from federation.protocol.state import Agent, State
from federation.records import (
    DisputeFile,
    DisputeReport,
    FlagStale,
    Propose,
    Record,
    Resubmit,
    Revise,
    Withdraw,
)
from federation.review import is_delegated

Filed: TypeAlias = Propose | Withdraw | Resubmit | FlagStale | DisputeFile | DisputeReport
"""Bodies that an agent files about an artifact; `Revise` is a `Propose`."""


def refusal(state: State, record: Record, body: Filed) -> Refusal | None:
    """Tell why a filed record does not count in this world, or None if it does."""
    if isinstance(body, Propose):
        return may_submit(None, submission(state, record, body))
    artifact = state.artifacts.get(body.artifact)
    if artifact is None:
        return Refusal(
            Code.UNKNOWN_ARTIFACT,
            f"no cut has taken in an artifact {short(body.artifact)}",
            "take the id of an artifact that counts",
        )
    match body:
        case DisputeFile():
            return _refused(artifact, Action.DISPUTE, dispute(state, record, body))
        case Resubmit():
            return _refused(artifact, Action.RESUBMIT, resubmission(state, record, body))
        case Withdraw():
            return _refused(artifact, Action.RETRACT, withdrawal(state, record, artifact))
        case DisputeReport():
            return may_report(artifact, report(state, record, body))
        case FlagStale():
            return may_flag_stale(artifact, stale_flag(state, record))


def _refused(artifact: Artifact, action: Action, facts: Facts) -> Refusal | None:
    """Try an action, and keep nothing of it but the reason why it is refused."""
    try:
        apply(artifact, action, facts)
    except RefusedError as error:
        return Refusal(Code(error.code), error.why, error.fix)
    return None


def personal(state: State, record: Record) -> Code | None:
    """Tell what about its author keeps a record from counting, whatever it says."""
    agent = state.agents.get(record.author)
    if agent is None:
        return Code.NOT_ADMITTED
    identity = state.identities[record.author]
    if identity.keys.revoked or identity.keys.is_disowned(record.seq):
        return Code.REVOKED
    if identity.forked_in is not None:
        return Code.FORK
    if not is_delegated(agent.scope, record.kind):
        return Code.NOT_ELIGIBLE
    return discipline.refusal(state, record.author)


def submission(state: State, record: Record, body: Propose) -> Submission:
    """Collect the facts of a proposal, or of a revision."""
    agent = state.agents.get(record.author)
    review, quotas = state.charter.review, state.charter.quotas
    first = state.texts.get(body.text_id)
    sandboxed = agent is None or not agent.tier or discipline.held(state, record.author).probation
    quota = quotas.sandbox_epoch if sandboxed else quotas.proposals_epoch
    return Submission(
        id=record.id,
        author=record.author,
        author_operator=agent.operator if agent else bytes(32),
        home=agent.instance if agent else bytes(32),
        topics=body.topics,
        sensitivity=sensitivity_of(review, body.topics),
        text_id=body.text_id,
        cut=state.cut,
        admitted=agent is not None,
        delegated=agent is None or is_delegated(agent.scope, record.kind),
        forked=is_forked(state, record.author),
        barred=is_barred(state, record.author) or is_disowned(state, record),
        refused=discipline.refusal(state, record.author),
        r=agent.r if agent else 0,
        r_min=review.r_min,
        duplicate_of=first if first != record.id else None,
        used=used_in_epoch(state, agent.proposed) if agent else 0,
        quota=discipline.quota(state, record.author, quota),
        revises=body.revises if isinstance(body, Revise) else None,
        cites=body.cites,
        evidence=body.sources,
    )


def dispute(state: State, record: Record, body: DisputeFile) -> Dispute:
    """Collect the facts of a dispute."""
    agent = state.agents.get(record.author)
    rules = state.charter.disputes
    return Dispute(
        disputer=record.author,
        disputer_operator=agent.operator if agent else bytes(32),
        ground=body.ground.value,
        evidence=body.evidence,
        refused=personal(state, record),
        tier=agent.tier if agent else 0,
        r=agent.r if agent else 0,
        r_dispute=rules.r_dispute,
        d_max=rules.d_max,
        used=len(disputes_in_window(state, agent)) if agent else 0,
        d_agent=discipline.quota(state, record.author, rules.d_agent),
        by_rules=False,
    )


def by_rules(ground: str) -> Dispute:
    """Give the facts of a dispute that the rules themselves open; it counts for no limit."""
    return Dispute(
        disputer=bytes(32),
        disputer_operator=bytes(32),
        ground=ground,
        evidence=(),
        refused=None,
        tier=0,
        r=0,
        r_dispute=0,
        d_max=0,
        used=0,
        d_agent=0,
        by_rules=True,
    )


def disputes_in_window(state: State, agent: Agent) -> tuple[int, ...]:
    """Give the ticks of an agent's disputes that still count for its limit."""
    since = state.tick - state.charter.disputes.window
    return tuple(tick for tick in agent.disputes if tick > since)


def report(state: State, record: Record, body: DisputeReport) -> Report:
    """Collect the facts of an urgent report."""
    agent = state.agents.get(record.author)
    return Report(
        reporter=record.author,
        refused=personal(state, record),
        has_text=body.text_hash is not None,
        used=used_in_epoch(state, agent.reports) if agent else 0,
        quota=discipline.quota(state, record.author, state.charter.quotas.reports_epoch),
        tick=state.tick,
    )


def stale_flag(state: State, record: Record) -> StaleFlag:
    """Collect the facts of a stale flag."""
    agent = state.agents.get(record.author)
    return StaleFlag(
        agent=record.author,
        refused=personal(state, record),
        used=used_in_epoch(state, agent.flags) if agent else 0,
        quota=discipline.quota(state, record.author, state.charter.quotas.flags_epoch),
    )


def withdrawal(state: State, record: Record, artifact: Artifact) -> Withdrawal:
    """Collect the facts of a withdrawal."""
    return Withdrawal(
        author=record.author,
        refused=personal(state, record),
        cited=any(
            state.artifacts[name].state in _STANDING for name in state.cited.get(artifact.id, ())
        ),
    )


def resubmission(state: State, record: Record, body: Resubmit) -> Resubmission:
    """Collect the facts of a resubmission."""
    agent = state.agents.get(record.author)
    rules, artifact = state.charter.disputes, state.artifacts[body.artifact]
    return Resubmission(
        agent=record.author,
        refused=personal(state, record),
        r=agent.r if agent else 0,
        r_min=state.charter.review.r_min,
        tick=state.tick,
        cooldown=rules.cooldown,
        resub_max=rules.resub_max,
        evidence=body.evidence,
        sensitivity=sensitivity_of(state.charter.review, artifact.topics),
    )


_STANDING: Final = frozenset({ArtifactState.ACTIVE, ArtifactState.DISPUTED})
"""States in which an artifact is still read as knowledge, so that others may not vanish from under it."""


def used_in_epoch(state: State, counted: tuple[int, int]) -> int:
    """Give how many have counted in the epoch of this cut, of a tick and a count of its epoch."""
    tick, used = counted
    return used if tick == state.tick else 0


def count_in_epoch(state: State, counted: tuple[int, int]) -> tuple[int, int]:
    """Count one more in the epoch of this cut."""
    return state.tick, used_in_epoch(state, counted) + 1


def is_barred(state: State, agent: bytes) -> bool:
    """Tell whether an identity is forked or revoked in this world."""
    known = state.identities.get(agent)
    return known is None or known.forked_in is not None or known.keys.revoked


def is_forked(state: State, agent: bytes) -> bool:
    """Tell whether a contained proof bars an identity until it picks a branch."""
    known = state.identities.get(agent)
    return known is not None and known.forked_in is not None


def is_disowned(state: State, record: Record) -> bool:
    """Tell whether a record's author has disowned it as a thief's (`disown_after`)."""
    known = state.identities.get(record.author)
    return known is not None and known.keys.is_disowned(record.seq)
