"""Acts of judgement about another agent's own work: approvals that stand, and vouches (design: trust).

They are the edges along which trust flows, and they move after a cut's tick: what a cut says about
people counts from the next tick on. So trust can be reckoned from the world before the cut, while
its members still agree on it. Voting alike makes no edge.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from federation.artifacts import Artifact
from federation.core import AgentId, Code, OperatorId
from federation.crypto import Choice
from federation.protocol import discipline
from federation.protocol.state import Agent, State
from federation.records import AgentUnvouch, AgentVouch, Record
from federation.review import counted_of, is_delegated
from federation.trust import Graph, closes_circle


def stand(graph: Graph, artifact: Artifact, count: int = 1) -> None:
    """Let the approvals of an artifact count if it stands; with -1, no more.

    To be called with -1 for the artifact as it was, and with 1 for what became of it. Approvals
    are the counted ballots for it: a practice ballot decided nothing, and of an artifact that a
    policy for missing voters let pass nobody's judgement is known.
    """
    # What a revision has superseded was good work all the same, and a dispute has not decided yet.
    for verdict in artifact.accepted:
        for one in counted_of(verdict):
            if one.choice is Choice.FOR:
                graph.approve(one.agent, artifact.author, count)


def refusal(state: State, record: Record, body: AgentVouch | AgentUnvouch) -> Code | None:
    """Tell why a vouch does not count in this world, or None; also asked by the door.

    What depends on the other vouches of its cut is not looked at: quotas of a cut, and circles.
    """
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
    sanction = discipline.refusal(state, record.author)
    if sanction is not None:
        return sanction
    if body.agent == record.author:
        return Code.SELF_VOUCH
    if isinstance(body, AgentUnvouch):
        return None if state.graph.edge(record.author, body.agent).vouch else Code.NO_VOUCH
    if body.agent not in state.agents:
        return Code.UNKNOWN_AGENT
    if not agent.tier:
        return Code.NOT_ELIGIBLE
    over = used(state, agent) >= state.charter.quotas.vouches_epoch
    return Code.OVER_QUOTA if over else None


def used(state: State, agent: Agent) -> int:
    """Count the vouches that an agent has given in this epoch, circular ones too."""
    tick, count = agent.vouched
    return count if tick == state.tick else 0


@dataclass(slots=True)
class Given:
    """Vouches of one cut so far, by whom they are bounded together."""

    operators: Counter[OperatorId] = field(default_factory=Counter)
    """By the operator that answers for the author."""
    families: Counter[str] = field(default_factory=Counter)
    """By the model family that the author has declared; empty for those that declared none."""

    def note(self, agent: Agent) -> None:
        """Count one vouch of an agent."""
        self.operators[agent.operator] += 1
        self.families[family_of(agent)] += 1

    def used_up(self, state: State, agent: Agent) -> str:
        """Tell which quota of a cut leaves an agent no vouch more; empty if none does."""
        quotas = state.charter.quotas
        if self.operators[agent.operator] >= quotas.vouches_operator:
            return (
                f"the agents of its operator have given all {quotas.vouches_operator} vouches "
                "that the charter allows them in one cut"
            )
        if self.families[family_of(agent)] >= quotas.vouches_family:
            who = "its declared model family" if family_of(agent) else "no declared model family"
            return (
                f"agents of {who} have given all {quotas.vouches_family} vouches that the "
                "charter allows them in one cut"
            )
        return ""


def given_by(state: State, authors: Iterable[AgentId]) -> Given:
    """Foresee what a cut leaves of its quotas after vouches of these authors, one name for each.

    What is beyond anybody's quota would not count and takes no place: else one agent that signs a
    thousand vouches would keep all others of its family from the door.
    """
    given, of = Given(), Counter[AgentId]()
    for name in authors:
        agent = state.agents[name]
        left = state.charter.quotas.vouches_epoch - used(state, agent)
        if of[name] < left and not given.used_up(state, agent):
            of[name] += 1
            given.note(agent)
    return given


def family_of(agent: Agent) -> str:
    """Give the model family that an agent has declared; empty, which counts as one, if none."""
    return agent.declared.family if agent.declared else ""


def vouches(state: State, fresh: list[Record]) -> set[AgentId]:
    """Let the vouches of a cut count, in the order of its records; tell whose did.

    A vouch that would close a circle has used its place in the quotas: to find that out costs
    every node a search.
    """
    changed: set[AgentId] = set()
    given = Given()
    for record in fresh:
        body = record.body
        if not isinstance(body, AgentVouch | AgentUnvouch):
            continue
        code = refusal(state, record, body)
        if code is None and isinstance(body, AgentVouch):
            code = _counted(state, state.agents[record.author], body, given)
        elif code is None:
            state.graph.vouch(record.author, body.agent, 0)
            # Who has vouched answers for a while longer, or an unvouch in time would be a way out.
            state.unvouched[record.author, body.agent] = state.tick
        if code is None:
            changed.add(record.author)
        else:
            state.refused[record.id] = code
    return changed


def _counted(state: State, agent: Agent, body: AgentVouch, given: Given) -> Code | None:
    """Let a vouch count within the quotas of its cut, or tell why it does not."""
    if given.used_up(state, agent):
        return Code.OVER_QUOTA
    given.note(agent)
    name = agent.agent
    state.agents[name] = replace(agent, vouched=(state.tick, used(state, agent) + 1))
    if closes_circle(state.graph, name, body.agent):
        return Code.CIRCULAR_VOUCH
    state.graph.vouch(name, body.agent, body.weight)
    state.unvouched.pop((name, body.agent), None)
    return None
