"""Who answers for whom: operators, their agents and instances, and how many agents they may have.

An operator is the unit that caps and quotas bound, so its page shows what it holds against them,
whom its agents vouch for, and which of its admissions do not count.
"""

from collections.abc import Iterator
from itertools import dropwhile, islice
from typing import Final

import msgspec

from federation.core import AgentId, OperatorId, Ppm, Weight, short
from federation.protocol import World
from federation.protocol.state import Agent
from federation.protocol.vetting import held_by_operator
from federation.records import Role
from node.base.errors import NodeCode, RequestError
from node.queries import agents as identities
from node.queries.admissions import weight_in_words
from node.queries.agents import MOST, Key
from node.queries.answerable import VoidPage, codes_in_words, ties, void_page
from node.queries.names import Thing, Who, unknown, who
from node.queries.per_cut import PerCut
from node.queries.trust_caps import Grouping, GroupWeight, group_weight
from node.queries.trust_terms import called

MOST_AGENTS: Final = 200
"""Agents that a page lists, the heaviest first."""
MOST_VOUCHES: Final = 100
"""Vouches that a page lists."""
TOP: Final = 10
"""Operators on the status page."""


class AgentQuota(msgspec.Struct, frozen=True, kw_only=True):
    """How many agents an operator may answer for, and how that grows."""

    used: int
    """Agents that it answers for and that are not revoked."""
    established: int
    """Those of them of tier 1 or more."""
    most: int
    """How many it may answer for now."""
    left: int
    """How many more."""
    base: int
    """How many every operator may answer for."""
    growth: int
    """How many more for each established one."""


class AnsweredAgent(msgspec.Struct, frozen=True, kw_only=True):
    """One agent that an operator answers for."""

    agent: Who
    """The agent."""
    instance: Who
    """The instance that admitted it."""
    admitted_tick: int
    """Tick at which it was admitted."""
    tier: int
    """0 newcomer, 1 established, 2 trusted."""
    weight: Weight
    """Weight of its ballot in ppm, before caps."""
    reputation: Ppm
    """Its Beta reputation, in ppm."""
    found_bad: int | None
    """Tick at which it was last found bad, so that those who vouched for it answered; or nil."""
    revoked: bool
    """Nothing by it counts any more."""


class GivenVouch(msgspec.Struct, frozen=True, kw_only=True):
    """One vouch by an agent of the operator, that stands."""

    by: Who
    """Who gave it."""
    agent: Who
    """For whom."""
    weight: int
    """How much, 1 to 255."""
    found_bad: int | None
    """Tick at which whom it is for was last found bad; or nil."""


class OperatorRow(msgspec.Struct, frozen=True, kw_only=True):
    """One admitted operator in a list."""

    operator: Who
    """The operator."""
    admitted_by: Who
    """The instance that admitted it."""
    admitted_tick: int
    """Tick at which it was admitted; 0 for those of the genesis."""
    domain: str | None
    """Where that instance says it has seen the operator's id."""
    revoked: bool
    """Nothing by it counts any more."""
    instances: tuple[Who, ...]
    """Member instances that it runs."""
    quota: AgentQuota
    """Its agents, and how many it may have."""
    weight: GroupWeight
    """What its agents would count in a vote by all reviewers now."""
    found_bad: int
    """Its agents that were found bad."""
    void: int
    """Admissions of it, or of agents that it would have answered for, that do not count."""


class OperatorList(msgspec.Struct, frozen=True, kw_only=True):
    """One page of admitted operators, by tick of admission."""

    items: tuple[OperatorRow, ...]
    """The operators."""
    next: str | None
    """Cursor of the next page; nil when this is the last."""


class OperatorPage(msgspec.Struct, frozen=True, kw_only=True):
    """One operator: what it holds, what it may, and what was refused."""

    operator: Who
    """The operator."""
    key: Key
    """Its current key."""
    admitted: bool
    """A cut has admitted it."""
    admitted_by: Who | None
    """The instance that admitted it; nil before."""
    admitted_tick: int | None
    """Tick at which it was admitted; nil before."""
    domain: str | None
    """Where that instance says it has seen the operator's id: a claim that anybody can check."""
    revoked: bool
    """Nothing by it counts any more."""
    forked: bool
    """A contained proof bars it until it picks a branch of its chain."""
    instances: tuple[Who, ...]
    """Member instances that it runs."""
    quota: AgentQuota
    """How many agents it answers for, and may."""
    agents: tuple[AnsweredAgent, ...]
    """Its agents, the heaviest first; at most 200."""
    agents_left_out: int
    """Agents that are not shown."""
    weight: GroupWeight
    """What its agents would count in a vote by all reviewers now."""
    operator_cap: Ppm
    """Share of a vote that the charter leaves the agents of one operator, in ppm."""
    vouches: tuple[GivenVouch, ...]
    """Vouches by its agents that stand, for those who were found bad first; at most 100."""
    vouches_left_out: int
    """Vouches that are not shown."""
    vouches_cut: int
    """Vouches that all its agents together may give in one cut."""
    void: VoidPage
    """Admissions of it, or of agents that it would have answered for, that do not count."""
    says: tuple[str, ...]
    """All of it in sentences."""


def one(world: World, name: OperatorId) -> OperatorPage:
    """Show one operator, admitted or not; raises RequestError NOT_FOUND for any other identity."""
    state, known = world.state, ties(world)
    entry = world.log.entry(name)
    if entry is None:
        raise RequestError(
            f"{short(name)}… not found",
            why="no operator here has this id",
            fix="check the id; something new may not have reached this instance yet",
            code=NodeCode.NOT_FOUND,
        )
    if entry.keys.role is not Role.OPERATOR:
        raise RequestError(
            "no such operator",
            why=f"{short(name)}… is an {entry.keys.role}",
            fix="`folkmoot operator list` shows the operators; the page of an agent names its own",
            code=NodeCode.NOT_FOUND,
        )
    identity = identities.one(world, name)
    admitted = state.operators.get(name)
    held = [state.agents[agent] for agent in known.by_operator.get(name, [])]
    shown = sorted(held, key=lambda agent: (-agent.weight, agent.admitted_tick, agent.agent))
    vouches = sorted(_vouches(world, held), key=lambda one: (one[2] is None, one[:2]))
    page = OperatorPage(
        operator=who(world, name),
        key=identity.key,
        admitted=admitted is not None,
        admitted_by=who(world, admitted.instance) if admitted else None,
        admitted_tick=admitted.admitted_tick if admitted else None,
        domain=admitted.domain if admitted else None,
        revoked=identity.revoked,
        forked=identity.forked,
        instances=tuple(who(world, one) for one in known.instances.get(name, [])),
        quota=_quota(world, name),
        agents=tuple(_answered(world, agent) for agent in shown[:MOST_AGENTS]),
        agents_left_out=max(len(shown) - MOST_AGENTS, 0),
        weight=group_weight(world, Grouping.OPERATOR, name),
        operator_cap=state.charter.trust.operator_cap,
        vouches=tuple(
            GivenVouch(by=who(world, by), agent=who(world, agent), weight=weight, found_bad=bad)
            for by, agent, bad, weight in vouches[:MOST_VOUCHES]
        ),
        vouches_left_out=max(len(vouches) - MOST_VOUCHES, 0),
        vouches_cut=state.charter.quotas.vouches_operator,
        void=void_page(world, known.void_for.get(name, [])),
        says=(),
    )
    return msgspec.structs.replace(page, says=tuple(_says(page, _bad(held), vouches)))


def listing(world: World, *, after: OperatorId | None = None, most: int = 50) -> OperatorList:
    """List admitted operators by tick of admission; `after` is the id of the last one shown.

    `most` is 1 to 200. Raises RequestError BAD_REQUEST or, for an unknown cursor, NOT_FOUND.
    """
    if not 1 <= most <= MOST:
        raise RequestError(
            "list refused",
            why=f"a page holds 1 to {MOST} operators, not {most}",
            fix="ask for fewer, and follow the cursor",
            code=NodeCode.BAD_REQUEST,
        )
    names: Iterator[OperatorId] = iter(ties(world).order)
    if after is not None:
        if after not in world.state.operators:
            raise unknown(after, {Thing.AGENT})
        names = dropwhile(lambda name: name != after, names)
        next(names)
    found = list(islice(names, most + 1))
    shown = found[:most]
    return OperatorList(
        items=tuple(_row(world, name) for name in shown),
        next=shown[-1].hex() if len(found) > most else None,
    )


def heaviest(world: World, *, most: int = TOP) -> tuple[OperatorRow, ...]:
    """List the operators whose agents count most, for the status page."""
    return tuple(_row(world, name) for name in _by_weight(world)[:most])


def _order(world: World) -> list[OperatorId]:
    weights = {
        name: group_weight(world, Grouping.OPERATOR, name).after for name in ties(world).order
    }
    return sorted(weights, key=lambda name: -weights[name])


_by_weight: Final = PerCut(_order)


def _held(world: World) -> dict[OperatorId, tuple[int, int]]:
    known = world.state.identities
    return held_by_operator(
        world.state, lambda name: found.keys if (found := known.get(name)) else None
    )


_held_by: Final = PerCut(_held)
"""Agents of each operator that are not revoked, and how many of them are established."""


def _quota(world: World, name: OperatorId) -> AgentQuota:
    joining = world.state.joining
    used, established = _held_by(world).get(name, (0, 0))
    left = joining.room(used, established)
    base, growth = joining.rules.operator_agents, joining.rules.operator_growth
    return AgentQuota(
        used=used,
        established=established,
        most=base + growth * established,
        left=left,
        base=base,
        growth=growth,
    )


def _row(world: World, name: OperatorId) -> OperatorRow:
    state, known = world.state, ties(world)
    admitted = state.operators[name]
    held = [state.agents[agent] for agent in known.by_operator.get(name, [])]
    return OperatorRow(
        operator=who(world, name),
        admitted_by=who(world, admitted.instance),
        admitted_tick=admitted.admitted_tick,
        domain=admitted.domain,
        revoked=state.identities[name].keys.revoked,
        instances=tuple(who(world, one) for one in known.instances.get(name, [])),
        quota=_quota(world, name),
        weight=group_weight(world, Grouping.OPERATOR, name),
        found_bad=len(_bad(held)),
        void=len(known.void_for.get(name, [])),
    )


def _answered(world: World, agent: Agent) -> AnsweredAgent:
    return AnsweredAgent(
        agent=who(world, agent.agent),
        instance=who(world, agent.instance),
        admitted_tick=agent.admitted_tick,
        tier=agent.tier,
        weight=agent.weight,
        reputation=agent.r,
        found_bad=agent.found_bad,
        revoked=world.state.identities[agent.agent].keys.revoked,
    )


def _vouches(
    world: World, held: list[Agent]
) -> Iterator[tuple[AgentId, AgentId, int | None, Weight]]:
    """List who vouches for whom, when that one was found bad, and the weight of the vouch."""
    state = world.state
    for agent in held:
        for other in state.graph.vouchees(agent.agent):
            edge = state.graph.edge(agent.agent, other)
            yield agent.agent, other, state.agents[other].found_bad, edge.vouch


def _bad(held: list[Agent]) -> list[int]:
    """Give the ticks at which agents were found bad."""
    return [agent.found_bad for agent in held if agent.found_bad is not None]


def _says(
    page: OperatorPage,
    bad: list[int],
    vouches: list[tuple[AgentId, AgentId, int | None, Weight]],
) -> Iterator[str]:
    if page.admitted_by is None:
        yield "No cut has admitted it."
    elif page.admitted_tick:
        yield f"{called(page.admitted_by)} admitted it at tick {page.admitted_tick}."
    else:
        yield f"{called(page.admitted_by)} admitted it before the first tick."
    if page.revoked:
        yield "It is revoked: nobody is admitted more for whom it answers."
    if page.domain is not None:
        yield (
            f"That instance says that {page.domain} names it; anybody can look at "
            f"https://{page.domain}/.well-known/folkmoot.json."
        )
    quota = page.quota
    yield (
        f"It answers for {quota.used} of at most {quota.most} agents: {quota.base} for every "
        f"operator, and {quota.growth} for each of its {quota.established} of tier 1 or more. "
        "Who is revoked for good, by its recovery key, makes room."
    )
    yield weight_in_words(page.weight, rule=page.operator_cap, group="operator")
    if bad:
        yield f"Of its agents {len(bad)} were found bad, the last at tick {max(bad)}."
    if vouches:
        misplaced = sum(tick is not None for _, _, tick, _ in vouches)
        yield (
            f"Its agents have given {len(vouches)} vouches that stand, {misplaced} of them for "
            "agents that were found bad."
        )
    yield f"In one cut its agents together may give {page.vouches_cut} vouches."
    if page.void.count:
        yield (
            f"Of the admissions for it {page.void.count} do not count: {codes_in_words(page.void)}."
        )
