"""What moves at a tick: evidence, liability, reputation, competence, trust, tiers, weights, members.

Everything but trust is recomputed from the ledger, so late evidence and order do not matter. Trust
is reckoned from the world before the tick's cut (`problem`) and comes in whole. Between ticks
nothing here changes but the arrival of newcomers, who carry no weight.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from federation.artifacts import Verdict
from federation.charter import Charter
from federation.core import AgentId, InstanceId, OperatorId, Ppm
from federation.protocol import discipline, liabilities
from federation.protocol.state import Agent, Delegation, Inputs, State, members_of
from federation.records import AgentAdmit
from federation.review import AgentView, counted_of
from federation.trust import (
    Evidence,
    Problem,
    Shown,
    Solve,
    badges_of,
    edge_cap,
    has_ticket,
    keeper_of,
    model_of,
    tier_of,
    unpack,
    weight,
)
from federation.trust.outcomes import (
    report_evidence,
    reversal_evidence,
    rows_of,
    withdrawals_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reckoning:
    """Trust at a tick, and what it was reckoned from: the world before the tick's cut."""

    inputs: Inputs
    trust: Mapping[AgentId, int]
    """By agent; whom it does not name holds none."""


def newcomer(
    state: State, word: Delegation, body: AgentAdmit, instance: InstanceId, trust: int
) -> Agent:
    """Admit an agent: with its founder's tier by the charter, or with nothing."""
    founder = state.founders.get(body.agent)
    return _rated(
        state,
        Agent(
            agent=body.agent,
            operator=word.operator,
            instance=instance,
            custody=body.custody,
            scope=frozenset(word.body.scope),
            admitted_tick=state.tick,
            founder=founder,
            tier=founder.tier if founder else 0,
            r=0,
            trust=trust,
            competence=0,
            weight=0,
        ),
        operators=0,
    )


def reckoning(state: State, solve: Solve) -> Reckoning | Problem:
    """Reckon trust for the next tick; the problem itself if `solve` has asked somebody else.

    To be asked of the world before the tick's cut. The seeds are the charter's, whatever became
    of them: one that is revoked holds its part and passes nothing on, and a recovery finds it
    again. If nothing that trust depends on has changed since the last tick, or since genesis,
    its result stands.
    """
    inputs = Inputs(version=state.graph.version, silent=silent(state))
    if inputs == state.reckoned:
        trust = {name: agent.trust for name, agent in state.agents.items() if agent.trust}
        return Reckoning(inputs=inputs, trust=trust)
    problem = state.graph.problem(
        seeds=charter_seeds(state.charter),
        silent=inputs.silent,
        edge_cap=edge_cap(state.charter.trust),
    )
    raw = solve(problem)
    if raw is None:
        return problem
    return Reckoning(inputs=inputs, trust=state.graph.named(problem, unpack(problem, raw)))


def tick(state: State, reckoned: Reckoning) -> tuple[AgentId, ...]:
    """Begin an epoch: count the evidence of ended rounds, then rate every agent.

    Gives the agents whose identity a sanction has ended. A charter that was adopted for this tick
    comes last: what the epoch brought was done under the one before.
    """
    state.tick += 1
    state.reckoned = reckoned.inputs
    table = state.charter.trust.evidence
    fresh: list[Evidence] = []
    for outcome, verdict, charter in state.pending:
        fresh += rows_of(outcome, table)
        observe(state, charter, verdict)
    for reversal in state.reversals:
        state.ledger.withdraw(withdrawals_of(reversal))
        fresh += reversal_evidence(reversal, table)
    for report in state.unfounded:
        fresh += report_evidence(report, table)
    state.pending, state.reversals, state.unfounded = [], [], []
    state.ledger.add(fresh)
    liabilities.charge(state, fresh)
    banned = discipline.tick(state)
    reviewing = {view.operator for view in state.views.values() if view.reviewer}
    for name, agent in state.agents.items():
        state.agents[name] = replace(agent, trust=reckoned.trust.get(name, 0))
    rules = state.charter.trust
    holders = {
        name: agent.operator
        for name, agent in state.agents.items()
        if name not in reckoned.inputs.silent and has_ticket(rules, agent.trust)
    }
    for name in sorted(state.agents):
        agent = state.agents[name]
        agent = replace(agent, ways=_ways(state, holders, agent))
        state.agents[name] = _rated(state, agent, operators=len(reviewing - {agent.operator}))
    state.cut_members = members_of(state, None)
    state.acts.turn(state)
    return banned


def observe(state: State, charter: Charter, verdict: Verdict) -> None:
    """Let an ended vote tell how well its voters agree with each other, by its charter.

    A dispute asks whether something that stands must fall, with a threshold of its own.
    """
    review, disputes = charter.review, charter.disputes
    accept, reject = review.tau_accept, review.tau_reject
    if verdict.kind != "review":
        accept, reject = 1 - disputes.tau_retract, -disputes.tau_retract
    state.agreement.observe(counted_of(verdict), accept=accept, reject=reject)


def views(state: State) -> dict[AgentId, AgentView]:
    """Give every admitted agent as rounds opened by this cut will see it."""
    return {name: _seen(state, name, _view(state, agent)) for name, agent in state.agents.items()}


def _seen(state: State, name: AgentId, view: AgentView) -> AgentView:
    """Keep the view of before if nothing changed: rounds pin them, and most stay what they were."""
    known = state.views.get(name)
    return known if known == view else view


def charter_seeds(charter: Charter) -> frozenset[AgentId]:
    """List from whom trust starts: whom the charter names, else all founders."""
    genesis = charter.genesis
    return frozenset(genesis.seeds or (founder.agent for founder in genesis.founders))


def silent(state: State) -> frozenset[AgentId]:
    """List the agents that pass nothing on: revoked, banned, or with a fork that nothing settled."""
    return frozenset(
        name
        for name in state.agents
        if (one := state.identities[name]).keys.revoked
        or one.forked_in is not None
        or discipline.held(state, name).banned
    )


def _ways(state: State, holders: Mapping[AgentId, OperatorId], agent: Agent) -> int:
    """Count the other operators whose ticket holders judged an agent's own work well."""
    judges = state.graph.into(agent.agent)
    return len({holders[by] for by in judges if by in holders} - {agent.operator})


def _rated(state: State, agent: Agent, *, operators: int) -> Agent:
    trust = state.charter.trust
    reputation = state.ledger.standing(agent.agent, state.tick)
    competence = _competence(state, agent.agent)
    shown = Shown(
        interactions=reputation.interactions,
        r=reputation.r,
        has_ticket=has_ticket(trust, agent.trust),
        age=state.tick - agent.admitted_tick,
        ways=agent.ways,
    )
    return replace(
        agent,
        tier=tier_of(
            trust,
            shown,
            previous=agent.tier,
            founder_tier=agent.founder.tier if agent.founder else None,
            operators=operators,
        ),
        r=reputation.r,
        interactions=reputation.interactions,
        competence=competence,
        weight=weight(trust, t=agent.trust, competence=competence, r=reputation.r),
    )


def _competence(state: State, agent: AgentId) -> Ppm:
    """Estimate competence as the charter says; the two ways are never mixed."""
    if state.charter.trust.competence == "audited":
        return state.audits.b(agent)
    return state.agreement.b(agent)


def _view(state: State, agent: Agent) -> AgentView:
    identity = state.identities[agent.agent]
    held = discipline.held(state, agent.agent)
    revoked, forked = identity.keys.revoked, identity.forked_in is not None
    return AgentView(
        agent=agent.agent,
        operator=agent.operator,
        instance=agent.instance,
        model=model_of(agent.agent, agent.declared.weights if agent.declared else None),
        keeper=keeper_of(agent.agent, agent.operator, agent.custody),
        tier=agent.tier,
        weight=0 if held.quarantined else agent.weight // held.weight_divisor,
        reviewer=agent.tier > 0
        and agent.weight > 0
        and not (revoked or forked or held.suspended or held.banned or held.quarantined),
        revoked=revoked,
        scope=agent.scope,
        forked=forked,
        badges=frozenset(
            one.badge
            for one in badges_of(
                agent.founder,
                interactions=agent.interactions,
                tier=agent.tier,
                trust=state.charter.trust,
            )
        ),
        suspended=held.suspended,
        banned=held.banned,
        quarantined=held.quarantined,
        probation=held.probation,
    )
