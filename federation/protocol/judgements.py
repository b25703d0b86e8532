"""Acts of judgement about another agent's own work: approvals that stand, and vouches (design: trust).

They are the edges along which trust flows, and they move after a cut's tick: what a cut says about
people counts from the next tick on. So trust can be reckoned from the world before the cut, while
its members still agree on it. Voting alike makes no edge.
"""

from dataclasses import replace

from federation.artifacts import Artifact
from federation.artifacts import State as ArtifactState
from federation.core import AgentId, Code
from federation.crypto import Choice
from federation.protocol.state import Agent, State
from federation.records import AgentUnvouch, AgentVouch, Record
from federation.review import counted_of, is_delegated
from federation.trust import Graph


def stand(graph: Graph, artifact: Artifact, count: int = 1) -> None:
    """Let the approvals of an artifact count if it stands; with -1, no more.

    To be called with -1 for the artifact as it was, and with 1 for what became of it. Approvals
    are the counted ballots for it: a practice ballot decided nothing, and of an artifact that a
    policy for missing voters let pass nobody's judgement is known.
    """
    verdict = artifact.verdict
    if artifact.state is not ArtifactState.ACTIVE or verdict is None or not verdict.accepted:
        return
    for one in counted_of(verdict):
        if one.choice is Choice.FOR:
            graph.approve(one.agent, artifact.author, count)


def refusal(state: State, record: Record, body: AgentVouch | AgentUnvouch) -> Code | None:
    """Tell why a vouch does not count in this world, or None; also asked by the door."""
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
    """Count the vouches that an agent has given in this epoch."""
    tick, count = agent.vouched
    return count if tick == state.tick else 0


def vouches(state: State, fresh: list[Record]) -> set[AgentId]:
    """Let the vouches of a cut count, in the order of its records; tell whose did."""
    changed: set[AgentId] = set()
    for record in fresh:
        body = record.body
        if not isinstance(body, AgentVouch | AgentUnvouch):
            continue
        code = refusal(state, record, body)
        if code is not None:
            state.refused[record.id] = code
            continue
        changed.add(record.author)
        if isinstance(body, AgentUnvouch):
            state.graph.vouch(record.author, body.agent, 0)
            continue
        agent = state.agents[record.author]
        state.agents[record.author] = replace(agent, vouched=(state.tick, used(state, agent) + 1))
        state.graph.vouch(record.author, body.agent, body.weight)
    return changed
