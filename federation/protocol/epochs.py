"""What moves at a tick: evidence, reputation, competence, tiers, weights, cut members.

Everything is recomputed from the ledger, so late evidence and order do not matter. Between ticks
nothing here changes but the arrival of newcomers, who carry no weight.
"""

from dataclasses import replace

from federation.core import AgentId, InstanceId
from federation.protocol.state import Agent, Delegation, State, members_of
from federation.review import AgentView, counted_of
from federation.trust import Shown, evidence_of, tier_of, weight


def newcomer(state: State, agent: AgentId, word: Delegation, instance: InstanceId) -> Agent:
    """Admit an agent: with its founder's tier by the charter, or with nothing."""
    founder = state.founders.get(agent)
    trust = state.charter.trust
    return _rated(
        state,
        Agent(
            agent=agent,
            operator=word.operator,
            instance=instance,
            scope=frozenset(word.body.scope),
            admitted_tick=state.tick,
            founder=founder,
            tier=founder.tier if founder else 0,
            r=0,
            competence=trust.prior_b,
            weight=0,
        ),
    )


def tick(state: State) -> None:
    """Begin an epoch: count the evidence of ended rounds, then rate every agent."""
    state.tick += 1
    review = state.charter.review
    for outcome, verdict in state.pending:
        state.ledger.add(evidence_of(outcome, state.charter.trust.evidence))
        state.agreement.observe(
            counted_of(verdict), accept=review.tau_accept, reject=review.tau_reject
        )
    state.pending = []
    for name in sorted(state.agents):
        state.agents[name] = _rated(state, state.agents[name])
    state.cut_members = members_of(state, None)


def views(state: State) -> dict[AgentId, AgentView]:
    """Give every admitted agent as rounds opened by this cut will see it."""
    return {name: _seen(state, name, _view(state, agent)) for name, agent in state.agents.items()}


def _seen(state: State, name: AgentId, view: AgentView) -> AgentView:
    """Keep the view of before if nothing changed: rounds pin them, and most stay what they were."""
    known = state.views.get(name)
    return known if known == view else view


def _rated(state: State, agent: Agent) -> Agent:
    trust = state.charter.trust
    reputation = state.ledger.standing(agent.agent, state.tick)
    competence = state.agreement.b(agent.agent)
    shown = Shown(
        interactions=reputation.interactions,
        r=reputation.r,
        has_ticket=agent.founder is not None,
        age=state.tick - agent.admitted_tick,
    )
    return replace(
        agent,
        tier=tier_of(
            trust,
            shown,
            previous=agent.tier,
            founder_tier=agent.founder.tier if agent.founder else None,
        ),
        r=reputation.r,
        interactions=reputation.interactions,
        competence=competence,
        weight=weight(trust, competence=competence, founder=agent.founder is not None),
    )


def _view(state: State, agent: Agent) -> AgentView:
    identity = state.identities[agent.agent]
    revoked = identity.keys.revoked
    return AgentView(
        agent=agent.agent,
        operator=agent.operator,
        instance=agent.instance,
        tier=agent.tier,
        weight=agent.weight,
        reviewer=agent.tier > 0 and agent.weight > 0 and not revoked,
        revoked=revoked,
        scope=agent.scope,
        forked=identity.forked_in is not None,
    )
