"""Standing: what an agent may do now, what stands against it, and what would change either.

Ignorance is no defence, so ignorance must be impossible: one page tells an agent, its operator and
everybody else the same.
"""

import msgspec

from federation.core import AgentId, Ppm, Weight
from federation.protocol import World, discipline
from federation.review import is_reviewer
from federation.sanctions import LADDER, SUSPENDED, Leaves
from node.base.errors import NodeCode, RequestError
from node.queries import trust_terms as terms
from node.queries.allowed import MayDo, QuotaPage, allowed, quotas
from node.queries.names import Thing, Who, unknown, who
from node.queries.sanctions import (
    APPEAL,
    QuarantinePage,
    ViolationPage,
    ends_of,
    quarantine_page,
    violations_of,
)


class LevelPage(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent stands on the ladder of sanctions since the last tick."""

    level: int
    """0 to 5."""
    name: str
    """Its name in the ladder."""
    takes: str
    """What it takes, in words."""
    points: int
    """Points that count: its own and inherited ones."""
    inherited: int
    """Points that it has for others of its operator, as a new agent."""
    next_at: int | None
    """Points from which on the next level holds; nil at the top."""
    since: int | None
    """Tick at which the level began; nil at level 0."""
    ends: int | None
    """Earliest tick at which it can end; nil if it has none, or time alone does not end it."""
    ends_by: Leaves
    """What ends it."""
    says: str
    """The same in words."""


class StandingPage(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent stands, and what it may do."""

    tick: int
    """The tick that it is of."""
    agent: Who
    """The agent."""
    operator: Who
    """Who answers for it."""
    tier: int
    """0 newcomer, 1 established, 2 trusted."""
    reputation: Ppm
    """Its Beta reputation, in ppm."""
    weight: Weight
    """Weight of its ballot in a round that opened now, in ppm, before caps."""
    earned: Weight
    """What that would be without sanctions and quarantine."""
    why: tuple[str, ...]
    """Tier and weight in sentences."""
    level: LevelPage
    """What sanctions hold."""
    quarantine: QuarantinePage | None
    """Its quarantine; nil if it is taken to be well."""
    violations: tuple[ViolationPage, ...]
    """Everything that ever stood against it, the newest first."""
    how_to_appeal: str
    """What to do if one of them is wrong."""
    quotas: tuple[QuotaPage, ...]
    """What is left of its quotas."""
    may: tuple[MayDo, ...]
    """What it may do now."""


_ENDS = {
    Leaves.NEVER_HELD: "Nothing stands against it.",
    Leaves.WINDOW: "It ends as soon as fewer points count",
    Leaves.CLEAN: "It ends once no point counts any more",
    Leaves.SERVED: "It ends after its time, and after the operator has said `repaired`",
    Leaves.APPEAL: "Only an appeal ends it.",
}


def standing(world: World, name: AgentId) -> StandingPage:
    """Show where an agent stands.

    Raises RequestError NOT_FOUND if it is unknown here, BAD_REQUEST for what is no admitted agent.
    """
    state = world.state
    agent = state.agents.get(name)
    if agent is None:
        if world.log.entry(name) is None:
            raise unknown(name, {Thing.AGENT})
        raise RequestError(
            "no standing to show",
            why=f"{terms.called(who(world, name))} is no agent that a cut has admitted",
            fix="name an admitted agent; `folkmoot agent list` shows them",
            code=NodeCode.BAD_REQUEST,
        )
    quarantine = state.discipline.quarantines.get(name)
    view = state.views[name]
    return StandingPage(
        tick=state.tick,
        agent=who(world, name),
        operator=who(world, agent.operator),
        tier=agent.tier,
        reputation=agent.r,
        weight=view.weight if is_reviewer(view) and not view.barred else 0,
        earned=agent.weight,
        why=_why(world, name),
        level=_level(world, name),
        quarantine=quarantine_page(world, quarantine) if quarantine else None,
        violations=violations_of(world, name),
        how_to_appeal=APPEAL,
        quotas=quotas(world, name),
        may=allowed(world, name),
    )


def _why(world: World, name: AgentId) -> tuple[str, ...]:
    state = world.state
    agent, held = state.agents[name], discipline.held(state, name)
    said = [
        (
            f"It is of tier {agent.tier}, by {agent.interactions} outcomes and a reputation of "
            f"{agent.r} ppm; `folkmoot trust show` tells where they come from."
        )
    ]
    if not agent.weight:
        said.append("Its ballots carry no weight: it has no ticket, which is trust.")
    if held.quarantined:
        said.append("It is in quarantine: its ballots carry nothing until it is repaired.")
    if held.suspended or held.banned:
        said.append(f"It takes no part: {LADDER[held.level].name}.")
    elif held.probation:
        said.append("It is on probation: half its weight, and the sandbox only.")
    return tuple(said)


def _level(world: World, name: AgentId) -> LevelPage:
    state = world.state
    held, ends = discipline.held(state, name), ends_of(world, name)
    step, rules = LADDER[held.level], state.charter.sanctions
    known = state.discipline.standings.get(name)
    above = LADDER[held.level + 1].points(rules) if held.level + 1 < len(LADDER) else None
    says = _ENDS[step.leaves]
    if ends is not None:
        early = "tick" if held.level != SUSPENDED else "at the earliest tick"
        says += f": {early} {ends}."
    return LevelPage(
        level=held.level,
        name=step.name,
        takes=step.text,
        points=held.points,
        inherited=held.inherited,
        next_at=above,
        since=known.since if known and held.level else None,
        ends=ends,
        ends_by=step.leaves,
        says=says,
    )
