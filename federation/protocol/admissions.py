"""Who joins: operators and agents that member instances admit, and what agents say of themselves.

One stage of the fold of a cut. What does not count gets a code and changes nothing else.
"""

from collections.abc import Mapping
from dataclasses import replace

from federation.core import AgentId, Code
from federation.protocol import epochs
from federation.protocol.state import Delegation, State
from federation.records import (
    AgentAdmit,
    AgentDeclare,
    AgentSubscribe,
    Delegate,
    OperatorAdmit,
    Record,
    Role,
)
from federation.review import is_delegated


def admit(state: State, fresh: list[Record], trust: Mapping[AgentId, int]) -> set[AgentId]:
    """Admit whom the records of a cut admit, and note what agents say; tell which agents changed.

    `trust` is what the admitted come with: only at genesis anything.
    """
    for record in fresh:
        if isinstance(record.body, Delegate):
            state.delegations[record.id] = Delegation(
                operator=record.author, seq=record.seq, body=record.body
            )
    # Operators, then agents, then what agents say of themselves: whose chain comes first by id
    # must not decide who is admitted, nor whose word counts.
    for record in fresh:
        if isinstance(record.body, OperatorAdmit):
            _admit_operator(state, record, record.body)
    changed: set[AgentId] = set()
    for record in fresh:
        if isinstance(record.body, AgentAdmit) and _admit_agent(state, record, record.body, trust):
            changed.add(record.body.agent)
    for record in fresh:
        if isinstance(record.body, AgentDeclare | AgentSubscribe) and _note(
            state, record, record.body
        ):
            changed.add(record.author)
    return changed


def _admit_operator(state: State, record: Record, body: OperatorAdmit) -> None:
    known = state.identities.get(body.operator)
    if record.author not in state.instances:
        state.refused[record.id] = Code.NOT_ELIGIBLE
    elif known is None or known.keys.role is not Role.OPERATOR or known.keys.revoked:
        state.refused[record.id] = Code.NOT_ADMITTED
    else:
        state.operators.add(body.operator)


def _admit_agent(
    state: State, record: Record, body: AgentAdmit, trust: Mapping[AgentId, int]
) -> bool:
    known = state.identities.get(body.agent)
    word = state.delegations.get(body.delegate)
    if record.author not in state.instances:
        state.refused[record.id] = Code.NOT_ELIGIBLE
    elif (
        known is None
        or known.keys.role is not Role.AGENT
        or known.keys.revoked
        or body.operator not in state.operators
        or state.identities[body.operator].keys.revoked
    ):
        state.refused[record.id] = Code.NOT_ADMITTED
    elif (
        word is None
        or word.operator != body.operator
        or word.body.agent != body.agent
        or state.identities[word.operator].keys.is_disowned(word.seq)
        or (word.body.until is not None and word.body.until < state.cut)
    ):
        state.refused[record.id] = Code.NOT_PROVEN
    elif body.agent in state.agents:
        state.refused[record.id] = Code.DUPLICATE
    else:
        state.agents[body.agent] = epochs.newcomer(
            state, word, body, record.author, trust=trust.get(body.agent, 0)
        )
        return True
    return False


def _note(state: State, record: Record, body: AgentDeclare | AgentSubscribe) -> bool:
    agent = state.agents.get(record.author)
    if agent is None:
        state.refused[record.id] = Code.NOT_ADMITTED
        return False
    if state.identities[record.author].keys.revoked:
        state.refused[record.id] = Code.REVOKED
        return False
    if not is_delegated(agent.scope, record.kind):
        state.refused[record.id] = Code.NOT_ELIGIBLE
        return False
    match body:
        case AgentDeclare():
            state.agents[record.author] = replace(agent, declared=body)
        case _:
            state.agents[record.author] = replace(agent, offer=body)
    return True
