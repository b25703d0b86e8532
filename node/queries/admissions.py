"""Whom an instance admits: within which limits, what of it does not count, and what it weighs.

The same facts stand in every member's world, so an instance that admits without cost, or more than
it may, is seen by all others alike.
"""

import msgspec

from federation.core import InstanceId, Ppm, short
from federation.protocol import World
from federation.records import Role
from node.base.errors import NodeCode, RequestError
from node.queries.answerable import VoidPage, codes_in_words, ties, void_page, waiting_by
from node.queries.names import Who, who
from node.queries.trust_caps import Grouping, GroupWeight, group_weight
from node.queries.trust_terms import percent


class EpochQuota(msgspec.Struct, frozen=True, kw_only=True):
    """How many of one role an instance may admit in this epoch."""

    used: int
    """Admissions that counted in this epoch."""
    most: int
    """How many may count."""
    left: int
    """How many more."""


class AdmissionsPage(msgspec.Struct, frozen=True, kw_only=True):
    """One member instance as a door."""

    instance: Who
    """The instance."""
    operator: Who
    """Who runs it."""
    epoch: int
    """Ticks so far: the counts below begin anew at the next."""
    free: bool
    """The realm asks for no proof of work."""
    agents: EpochQuota
    """Agents in this epoch."""
    operators: EpochQuota
    """Operators in this epoch."""
    barred: bool
    """It has signed for a proof of no work in this epoch, and admits nobody more in it."""
    waiting: int
    """Admissions by it that wait for a cut here."""
    admitted_agents: int
    """Agents that it has admitted since genesis, founders included."""
    admitted_operators: int
    """The same of operators."""
    void: VoidPage
    """Admissions by it that do not count."""
    weight: GroupWeight
    """What the agents that it has admitted would count in a vote by all reviewers now."""
    instance_cap: Ppm
    """Share of a vote that the charter leaves the agents of one instance, in ppm."""
    says: tuple[str, ...]
    """All of it in sentences."""


def admissions(world: World, name: InstanceId) -> AdmissionsPage:
    """Show whom an instance admits; raises RequestError NOT_FOUND if it is no member's."""
    state, joining = world.state, world.state.joining
    if name not in state.instances:
        raise RequestError(
            "no such instance",
            why=f"{short(name)}… is no member instance of this realm",
            fix="`folkmoot peer list` shows them",
            code=NodeCode.NOT_FOUND,
        )
    known = ties(world)
    void = void_page(world, known.void_by.get(name, []))
    weight = group_weight(world, Grouping.INSTANCE, name)
    agents, operators = (_quota(world, name, role) for role in (Role.AGENT, Role.OPERATOR))
    page = AdmissionsPage(
        instance=who(world, name),
        operator=who(world, state.instances[name]),
        epoch=state.tick,
        free=joining.is_free,
        agents=agents,
        operators=operators,
        barred=name in joining.false,
        waiting=waiting_by(world, name),
        admitted_agents=len(known.by_instance.get(name, [])),
        admitted_operators=len(known.operators.get(name, [])),
        void=void,
        weight=weight,
        instance_cap=state.charter.trust.instance_cap,
        says=(),
    )
    return msgspec.structs.replace(page, says=_says(page))


def weight_in_words(weight: GroupWeight, *, rule: Ppm, group: str) -> str:
    """Say what a group would count in a vote by all reviewers now; `rule` is the charter's cap."""
    if not weight.reviewers:
        return f"None of the agents of this {group} is a reviewer: their ballots weigh nothing."
    limit = f"the cap for one {group} is {percent(weight.cap)}"
    if weight.halved:
        limit += f", since {percent(rule)} would take more than half of all weight"
    elif weight.raised:
        limit += f", since {percent(rule)} is impossible with so few {group}s"
    counts = f"{percent(weight.after)} count" if weight.bounds else "all of it counts"
    holds = (
        "Of its agents 1 is a reviewer, and holds"
        if weight.reviewers == 1
        else f"Of its agents {weight.reviewers} are reviewers, and hold"
    )
    return (
        f"{holds} {percent(weight.before)} of the weight in a vote by all reviewers; "
        f"{limit}: {counts}."
    )


def _quota(world: World, name: InstanceId, role: Role) -> EpochQuota:
    joining = world.state.joining
    used, most = joining.count(role, name), joining.most(len(world.state.agents))
    return EpochQuota(used=used, most=most, left=max(most - used, 0))


def _says(page: AdmissionsPage) -> tuple[str, ...]:
    agents, operators = page.agents, page.operators
    counts = (
        f"In this epoch it has admitted {agents.used} of at most {agents.most} agents and "
        f"{operators.used} of at most {operators.most} operators; the next tick begins anew."
    )
    found = [counts]
    if page.free:
        found.append("The realm asks for no proof of work: only its preset for tests does so.")
    if page.barred:
        found.append(
            "It has signed an admission with a proof of no work in this epoch: it is barred, and "
            "admits nobody more until the next tick."
        )
    if page.void.count:
        found.append(
            f"Of its admissions since genesis {page.void.count} do not count: "
            f"{codes_in_words(page.void)}."
        )
    else:
        found.append("Of its admissions since genesis all count.")
    if page.waiting:
        found.append(f"Of its admissions {page.waiting} wait for a cut.")
    found.append(weight_in_words(page.weight, rule=page.instance_cap, group="instance"))
    return tuple(found)
