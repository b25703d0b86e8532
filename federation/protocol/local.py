"""My own look at the certified world: local trust, and the weights that follow from it (design: local).

Everything here reads the state and changes nothing in it. Weights are worked out *now*, from the
last cut: my policy is about whom I trust today, also in rounds that are long over. To tell what my
policy does from what time has done since a round, trust is computed twice, as the charter would have
it today and as I would: whom both give the same weight counts as the round has counted it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from federation.charter import Charter
from federation.core import MILLION, AgentId, InstanceId, Micro, Ppm, PublicKey, Realm, Weight
from federation.protocol.epochs import charter_seeds, silent
from federation.protocol.state import State
from federation.trust import Solve, in_seats, reckon, weight
from federation.trust.foreign import Link, keys_of, priors, with_prior
from federation.trust.local import NOBODY_TRUSTED, LocalProblem, LocalTrust, Outlook, local_problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What my operator has decided for this node alone."""

    seeds: frozenset[AgentId] | None = None
    """Where trust starts for me; None: where the charter says."""
    observed: frozenset[InstanceId] = frozenset()
    """Instances whose agents weigh nothing for me; their records are kept as all others."""
    links: tuple[Link, ...] = ()
    """Other realms, each once."""

    def seeds_under(self, charter: Charter) -> frozenset[AgentId]:
        """List where trust starts for me."""
        return charter_seeds(charter) if self.seeds is None else self.seeds

    def is_neutral(self, charter: Charter) -> bool:
        """Tell whether it leaves everything as the charter has it."""
        own = self.seeds_under(charter) != charter_seeds(charter)
        return not (own or self.observed or self.links)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalView:
    """What one policy makes of the world at one cut."""

    cut: int
    trust: LocalTrust
    observed: frozenset[InstanceId] = frozenset()
    """Instances whose agents weigh nothing."""
    weights: Mapping[AgentId, Weight] = field(default_factory=dict)
    """Weights before caps of those to whom the policy gives others than the charter does."""
    priors: Mapping[AgentId, Micro] = field(default_factory=dict)
    """What linked realms say for agents of ours, as a prior of their reputation here."""
    realms: Mapping[Realm, Ppm] = field(default_factory=dict)
    """Trust of each linked realm, in ppm of one average seat, at most 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """The two problems to be solved for a policy, of one moment of the world."""

    policy: Policy
    charter: LocalProblem
    mine: LocalProblem


def questions(state: State, policy: Policy) -> Questions:
    """Ask for trust as the charter would have it today, and as my policy has it."""
    ignored = frozenset(
        name for name, agent in state.agents.items() if agent.instance in policy.observed
    )
    outlook = Outlook(seeds=policy.seeds_under(state.charter), ignored=ignored, links=policy.links)
    return Questions(
        policy=policy,
        charter=_problem(state, Outlook(seeds=charter_seeds(state.charter))),
        mine=_problem(state, outlook),
    )


def view(state: State, asked: Questions, *, charter: LocalTrust, mine: LocalTrust) -> LocalView:
    """Say what a policy makes of the world, from the answers to its questions.

    Of agents that came since the questions were asked it says nothing: they count as they do.
    """
    rules = state.charter.trust
    realms = {
        realm: min(MILLION, in_seats(rules, mine.realms.get(realm, 0))) for realm in asked.mine.rows
    }
    given = priors((row, realms[realm]) for realm, row in asked.mine.rows.items())
    weights: dict[AgentId, Weight] = {}
    for name, agent in state.agents.items():
        if name in asked.mine.ignored:
            weights[name] = 0
            continue
        today = weight(rules, t=charter.agents.get(name, 0), competence=agent.competence, r=agent.r)
        own = weight(
            rules,
            t=mine.agents.get(name, 0),
            competence=agent.competence,
            r=local_reputation(state, name, given.get(name, 0)),
        )
        if own != today:
            weights[name] = own
    return LocalView(
        cut=state.cut,
        trust=mine,
        observed=asked.policy.observed,
        weights=weights,
        priors=given,
        realms=realms,
    )


def look(state: State, policy: Policy, solve: Solve = reckon) -> LocalView:
    """Ask and answer at once, for small graphs and for tests."""
    asked = questions(state, policy)
    return view(state, asked, charter=answer(asked.charter, solve), mine=answer(asked.mine, solve))


def answer(asked: LocalProblem, solve: Solve) -> LocalTrust:
    """Solve one of the questions."""
    if asked.problem is None:
        return NOBODY_TRUSTED
    raw = solve(asked.problem)
    assert raw is not None, "local trust is computed here"  # noqa: S101 # our own invariant
    return asked.read(raw)


def local_reputation(state: State, agent: AgentId, prior: Micro) -> Ppm:
    """Give an agent's reputation as of the last tick, with what other realms say for it."""
    if not prior:
        return state.agents[agent].r
    standing = state.ledger.standing(agent, state.tick)
    return with_prior(standing.alpha, standing.beta, prior)


def _problem(state: State, outlook: Outlook) -> LocalProblem:
    return local_problem(
        state.graph,
        state.charter.trust,
        outlook,
        charter_seeds=charter_seeds(state.charter),
        silent=silent(state),
        keys=keys_here(state),
        cut=state.cut,
    )


def keys_here(state: State) -> dict[PublicKey, AgentId]:
    """Map the current keys of agents that may still speak to their holders."""
    return keys_of(
        (name, one.keys.key)
        for name in state.agents
        if not (one := state.identities[name]).keys.revoked
    )
