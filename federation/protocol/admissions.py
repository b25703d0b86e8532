"""Who joins: operators and agents that member instances admit, and what agents say of themselves.

One stage of the fold of a cut. What does not count gets a code and changes nothing else. After
genesis an admission needs a proof of work and room in two quotas (`joining`). It is judged in the
epoch that its cut ends, for the tick comes later in the fold.

`vetting` judges them, one after the other; here is what becomes of it, and what others ask: which
proofs a fold will ask about (`doubts`), and what would stop an admission (`proof_fault`,
`over_quota`).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from federation.admission import Prove, Work
from federation.admission import prove as prove_here
from federation.certificates import Positions
from federation.core import (
    AgentId,
    Code,
    Digest,
    IdentityId,
    InstanceId,
    OperatorId,
    PublicKey,
    RecordId,
)
from federation.crypto import plain_hash
from federation.identity import KeyState
from federation.protocol import epochs
from federation.protocol.state import Delegation, Operator, State
from federation.protocol.vetting import Vetting, fault, held_by
from federation.records import (
    AgentAdmit,
    AgentDeclare,
    AgentSubscribe,
    Delegate,
    OperatorAdmit,
    Record,
    Role,
)
from federation.replication import Log
from federation.review import is_delegated

LONGEST_WAIT: Final = 1
"""Ticks that may begin before an admission has what it rests on: its proof holds no longer."""


def admit(
    state: State,
    log: Log,
    fresh: list[Record],
    trust: Mapping[AgentId, int],
    proven: Mapping[Digest, bool],
) -> set[AgentId]:
    """Admit whom the records of a cut admit, and note what agents say; tell which agents changed.

    `trust` is what the admitted come with: only at genesis anything. `proven` has verdicts on
    proofs, by the hash of their bytes; what it lacks is verified here.
    """

    def asked(raw: bytes) -> bool:
        known = proven.get(plain_hash(raw))
        return prove_here(raw) if known is None else known

    delegations = dict(_delegations(fresh))
    state.delegations.update(delegations)
    vetting = Vetting(
        state=state,
        cut=state.cut,
        joining=state.joining,
        keys=lambda name: one.keys if (one := state.identities.get(name)) else None,
        delegations=delegations,
        prove=asked,
    )
    changed: set[AgentId] = set()
    waiting = state.joining.waiting
    held = Counter(instance for instance, _ in waiting.values())
    # All of them first: what is admitted below counts in the pass already.
    for record, code in list(vetting.run(_candidates(state, log, fresh))):
        since = state.tick
        if record.id in waiting:
            _, since = waiting.pop(record.id)
            held[record.author] -= 1
        if code is not None:
            if record.id in vetting.lacking and _may_wait(state, since, held[record.author]):
                waiting[record.id] = (record.author, since)
                held[record.author] += 1
            else:
                state.refused[record.id] = code
        elif isinstance(record.body, OperatorAdmit):
            state.operators.setdefault(record.body.operator, _operator(state, record, record.body))
        elif isinstance(record.body, AgentAdmit):
            body = record.body
            state.admit(
                epochs.newcomer(
                    state,
                    state.delegations[body.delegate],
                    body,
                    record.author,
                    trust=trust.get(body.agent, 0),
                )
            )
            changed.add(body.agent)
    for record in fresh:
        if isinstance(record.body, AgentDeclare | AgentSubscribe) and _note(
            state, record, record.body
        ):
            changed.add(record.author)
    return changed


def doubts(
    state: State,
    log: Log,
    *,
    cut: int,
    positions: Positions,
    fresh: list[Record],
    prove: Prove,
) -> tuple[bytes, ...]:
    """List the proofs that the fold of the next cut would ask about and `prove` cannot tell yet.

    At most 8 of each instance, or as many as `prove` tells to be true: ask again once these are known, until none are left. `fresh` are
    the records of cut number `cut`, whose closure is held.
    """
    if not state.joining.waiting and not any(map(_is_admission, fresh)):
        return ()

    def keys(name: IdentityId) -> KeyState | None:
        here = positions.get(name)
        if here is None:
            known = state.identities.get(name)
            return known.keys if known else None
        entry = log.entry(here.head)
        assert entry is not None, "the closure of a cut is held before it is vetted"  # noqa: S101 # ours
        return entry.keys

    vetting = Vetting(
        state=state,
        cut=cut,
        joining=state.joining.copy(),
        keys=keys,
        delegations=dict(_delegations(fresh)),
        prove=prove,
    )
    for _ in vetting.run(_candidates(state, log, fresh)):
        pass
    return tuple(raw for proofs in vetting.unknown.values() for raw in proofs)


# What the door asks ----------------------------------------------------------------------------


def proof_fault(
    state: State, *, role: Role, instance: InstanceId, key: PublicKey, raw: bytes | None
) -> tuple[Code | None, Work | None]:
    """Tell what a proof claims wrongly in this world, or that it has served; and give it as read.

    `key` is what the newcomer was incepted with, `raw` the bytes of the proof. Nothing is hashed
    for it but its challenge: gate and work are the next steps. (None, None) where none is needed.
    """
    return fault(state, state.joining, role=role, instance=instance, key=key, raw=raw)


def over_quota(
    state: State,
    *,
    role: Role,
    instance: InstanceId,
    operator: OperatorId | None,
    by_instance: int = 0,
    by_operator: int = 0,
) -> str:
    """Say whose quota has no room for one more, and when it has again; "" if there is room.

    `operator` answers for the agent; None for an operator. `by_instance` and `by_operator` count
    admissions of that role that wait for a cut: by this instance, and for this operator.
    """
    joining, admitted = state.joining, len(state.agents)
    count, most = joining.count(role, instance) + by_instance, joining.most(admitted)
    if count >= most:
        return (
            f"its instance admits {count} {role}s in this epoch, with those that wait for a cut, and "
            f"may admit {most}: the next tick makes room"
        )
    if operator is None or admitted + by_operator < joining.rules.operator_agents:
        return ""
    answers_for, established = held_by(
        state, operator, lambda name: one.keys if (one := state.identities.get(name)) else None
    )
    answers_for += by_operator
    if joining.room(answers_for, established):
        return ""
    return (
        f"its operator answers for {answers_for} agents, and may for no more: room for "
        f"{joining.rules.operator_growth} comes with each of them that reaches tier 1, and for one "
        "with each that is revoked for good, by its recovery key"
    )


# What they rest on -----------------------------------------------------------------------------


def _candidates(state: State, log: Log, fresh: list[Record]) -> list[Record]:
    """Give the admissions that a cut may let count: its own, and those of before that wait.

    By author and seq, as all stages of a fold go.
    """
    waiting = [one for name in state.joining.waiting if (one := log.get(name)) is not None]
    found = [*waiting, *filter(_is_admission, fresh)]
    return sorted(found, key=lambda one: (one.author, one.seq)) if waiting else found


def _is_admission(record: Record) -> bool:
    return isinstance(record.body, AgentAdmit | OperatorAdmit)


def _may_wait(state: State, since: int, held: int) -> bool:
    """Tell whether an admission may wait for what it rests on, or has waited for long, or others do.

    `since` is the tick of its own cut, `held` counts what waits of its instance. That may be as many
    as it may admit in an epoch, for each costs every cut a look.
    """
    most = state.joining.most(len(state.agents))
    return bool(state.cut) and state.tick - since <= LONGEST_WAIT and held < most


# What they say ---------------------------------------------------------------------------------


def _delegations(fresh: list[Record]) -> Iterator[tuple[RecordId, Delegation]]:
    for record in fresh:
        if isinstance(record.body, Delegate):
            yield (
                record.id,
                Delegation(operator=record.author, seq=record.seq, body=record.body),
            )


def _operator(state: State, record: Record, body: OperatorAdmit) -> Operator:
    return Operator(
        operator=body.operator,
        instance=record.author,
        admitted_tick=state.tick,
        domain=body.domain,
    )


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
