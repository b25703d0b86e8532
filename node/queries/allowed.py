"""What an agent may do now, act by act, with the code that would meet it and what would change it.

Of acts in a round it tells what holds in a round that opened now: whose round it is, and what it
pinned, can still exclude an agent there. The checks are those of the protocol itself.
"""

from collections.abc import Iterator
from enum import StrEnum

import msgspec

from federation.core import NOBODY, AgentId, Code
from federation.protocol import World, discipline, filing, judgements
from federation.protocol.remedies import FIXES
from federation.protocol.state import Agent, State
from federation.records import Kind
from federation.review import is_delegated, is_reviewer, may_object, may_take_part
from federation.trust import TRUSTED


class Doing(StrEnum):
    """What an agent can do."""

    PROPOSE = "propose"
    """Propose an artifact or a revision."""
    VOTE = "vote"
    """Commit a ballot that counts."""
    PRACTICE = "practice"
    """Commit a ballot that only teaches, and is scored."""
    OBJECT = "object"
    """Ask for a vote while the fast window is open."""
    ARGUE = "argue"
    """Argue before a vote."""
    DISPUTE = "dispute"
    """Say that something that stands should not."""
    REPORT = "report"
    """Ask that something is hidden at once."""
    ARBITRATE = "arbitrate"
    """Be drawn to rule on a contested process."""
    MODERATE = "moderate"
    """Look at urgent reports."""
    VOUCH = "vouch"
    """Vouch for another agent."""
    APPEAL = "appeal"
    """Appeal a sanction."""


class MayDo(msgspec.Struct, frozen=True, kw_only=True):
    """Whether an agent may do one thing now."""

    what: Doing
    """What."""
    allowed: bool
    """Whether it may."""
    code: Code | None
    """With which code it would be met; nil if it may."""
    change: str | None
    """What would change that; nil if it may."""


class QuotaPage(msgspec.Struct, frozen=True, kw_only=True):
    """One quota of an agent, after what sanctions take of it."""

    name: str
    """Field of the charter."""
    charter: int
    """What the charter gives."""
    allowed: int
    """What is left of that by sanctions."""
    used: int
    """How much of it is used."""
    left: int
    """How much is left now."""
    period: str
    """When it is free again."""


_KINDS = {
    Doing.PROPOSE: Kind.PROPOSE,
    Doing.VOTE: Kind.COMMIT,
    Doing.PRACTICE: Kind.COMMIT,
    Doing.OBJECT: Kind.OBJECT,
    Doing.ARGUE: Kind.ARGUE,
    Doing.DISPUTE: Kind.DISPUTE,
    Doing.REPORT: Kind.REPORT,
    Doing.ARBITRATE: Kind.RULE,
    Doing.MODERATE: Kind.ASSESS,
    Doing.VOUCH: Kind.AGENT_VOUCH,
    Doing.APPEAL: Kind.APPEAL,
}
_IN_ROUNDS = frozenset({Doing.VOTE, Doing.PRACTICE, Doing.OBJECT, Doing.ARGUE})


def allowed(world: World, name: AgentId) -> tuple[MayDo, ...]:
    """Tell of an admitted agent what it may do now, in the order of `Doing`."""
    state = world.state
    left = {quota.name: quota.left for quota in quotas(world, name)}
    found = []
    for what in Doing:
        code = _common(state, name, what) or _own(state, name, what, left)
        change = _change(state, what, code) if code else None
        found.append(MayDo(what=what, allowed=code is None, code=code, change=change))
    return tuple(found)


def quotas(world: World, name: AgentId) -> tuple[QuotaPage, ...]:
    """Tell of an admitted agent what its quotas leave it now."""
    return tuple(_quotas(world.state, world.state.agents[name]))


def _quotas(state: State, agent: Agent) -> Iterator[QuotaPage]:
    charter, tick = state.charter, "after the next tick"
    quotas, window = charter.quotas, charter.disputes.window
    sandboxed = not agent.tier or discipline.held(state, agent.agent).probation
    disputes = len(filing.disputes_in_window(state, agent))
    for name, most, used, period in (
        ("sandbox_epoch", quotas.sandbox_epoch, _now(state, agent.proposed), tick)
        if sandboxed
        else ("proposals_epoch", quotas.proposals_epoch, _now(state, agent.proposed), tick),
        ("d_agent", charter.disputes.d_agent, disputes, f"{window} ticks after the oldest"),
        ("reports_epoch", quotas.reports_epoch, _now(state, agent.reports), tick),
        ("flags_epoch", quotas.flags_epoch, _now(state, agent.flags), tick),
    ):
        kept = discipline.quota(state, agent.agent, most)
        yield QuotaPage(
            name=name,
            charter=most,
            allowed=kept,
            used=used,
            left=max(kept - used, 0),
            period=period,
        )
    vouches, given = quotas.vouches_epoch, judgements.used(state, agent)
    yield QuotaPage(
        name="vouches_epoch",
        charter=vouches,
        allowed=vouches if agent.tier else 0,
        used=given,
        left=max(vouches - given, 0) if agent.tier else 0,
        period=tick,
    )


def _now(state: State, counted: tuple[int, int]) -> int:
    tick, count = counted
    return count if tick == state.tick else 0


def _common(state: State, name: AgentId, what: Doing) -> Code | None:
    """Tell what keeps an agent from it whatever it is about."""
    identity = state.identities[name]
    if identity.keys.revoked:
        return Code.REVOKED
    if identity.forked_in is not None:
        return Code.FORK
    if not is_delegated(state.agents[name].scope, _KINDS[what]):
        return Code.NOT_ELIGIBLE
    return None if what is Doing.APPEAL else discipline.refusal(state, name)


def _own(state: State, name: AgentId, what: Doing, left: dict[str, int]) -> Code | None:
    agent, charter, view = state.agents[name], state.charter, state.views[name]
    code = may_take_part(state.views, name) if what in _IN_ROUNDS else None
    if code is not None:
        return code
    match what:
        case Doing.PROPOSE:
            code = Code.NOT_ELIGIBLE if agent.r < charter.review.r_min else None
            spent = not (left.get("proposals_epoch", 0) or left.get("sandbox_epoch", 0))
            return code or (Code.OVER_QUOTA if spent else None)
        case Doing.VOTE:
            if view.quarantined:
                return Code.QUARANTINED
            return None if is_reviewer(view) else Code.NOT_ELIGIBLE
        case Doing.OBJECT:
            return may_object(state.views, name, NOBODY)
        case Doing.DISPUTE:
            return _dispute(state, agent, left["d_agent"])
        case Doing.REPORT:
            return None if left["reports_epoch"] else Code.OVER_QUOTA
        case Doing.ARBITRATE:
            able = "arbiter" in view.badges and view.tier >= TRUSTED
            return None if able and not view.quarantined else Code.NOT_DRAWN
        case Doing.MODERATE:
            able = "moderator" in view.badges and not view.quarantined
            return None if able else Code.NOT_MODERATOR
        case Doing.VOUCH:
            if not agent.tier:
                return Code.NOT_ELIGIBLE
            return None if left["vouches_epoch"] else Code.OVER_QUOTA
        case Doing.APPEAL:
            open_ = any(one.appeal is None and not one.void for one in state.discipline.of(name))
            return None if open_ else Code.UNKNOWN_SANCTION
        case Doing.PRACTICE | Doing.ARGUE:
            return None


def _dispute(state: State, agent: Agent, left: int) -> Code | None:
    if agent.tier < TRUSTED:
        return Code.DISPUTER_TIER
    if agent.r < state.charter.disputes.r_dispute:
        return Code.DISPUTER_REPUTATION
    return None if left else Code.DISPUTE_LIMIT


def _change(state: State, what: Doing, code: Code) -> str:
    match what, code:
        case Doing.PROPOSE, Code.NOT_ELIGIBLE:
            return f"earn a reputation of {state.charter.review.r_min} ppm, or widen the delegation"
        case Doing.VOTE | Doing.OBJECT | Doing.VOUCH, Code.NOT_ELIGIBLE:
            return (
                "earn tier 1 and a ticket: practice ballots, accepted work and vouches lead there; "
                "or widen the delegation"
            )
        case (Doing.ARBITRATE, Code.NOT_DRAWN) | (Doing.MODERATE, Code.NOT_MODERATOR):
            return "hold the badge, which the charter gives, and tier 2 for arbiters"
        case Doing.APPEAL, _:
            return "nothing stands against the agent that it could appeal"
        case _, Code.NOT_ELIGIBLE:
            return "let its operator delegate this kind of record"
        case _, Code.OVER_QUOTA:
            return "wait until the quota is free again: see `quotas`"
        case _, Code.REVOKED:
            return "nothing: the identity is revoked"
        case _:
            return FIXES.get(code, "let a cut pass, and ask again")
