"""One pass over the admissions of a cut: which of them count, and why the others do not.

It changes nothing but the counts that it is given, so it runs twice: before the fold, to learn
which proofs that will ask about, and in the fold. Both come to the same, for both are this code.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from federation.admission import Prove, Work, challenge, check_claims, passes_gate, read_work
from federation.core import (
    AgentId,
    Code,
    IdentityId,
    InstanceId,
    OperatorId,
    PeerError,
    PublicKey,
    RecordId,
)
from federation.identity import KeyState
from federation.protocol.joining import Joining
from federation.protocol.state import Delegation, State
from federation.records import AgentAdmit, OperatorAdmit, Record, RevokeBy, Role

MOST_ASKED: Final = 8
"""Proofs of one instance that are verified before the first of them is known to be true: so many
hashes an epoch can an instance that lies cost everybody else. Then as many at a time as were found
true in the cut: to be asked about more, a liar pays far more than all who verify it."""


@dataclass(slots=True, kw_only=True)
class Vetting:
    """One pass over the admissions of a cut; changes nothing but `joining`."""

    state: State
    """The world before the cut's admissions; only read."""
    cut: int
    """Number of the cut; those of cut 0 are exempt from proofs and quotas, and count in none."""
    joining: Joining
    """What joining costs; every admission that counts is noted in it."""
    keys: Callable[[IdentityId], KeyState | None]
    """Keys of an identity at the cut; None if the cut does not contain it."""
    delegations: Mapping[RecordId, Delegation]
    """Words of operators in the cut itself; the world has the older ones."""
    prove: Prove
    """Verifies work; a proof about which it cannot tell counts as good for now."""
    unknown: dict[InstanceId, list[bytes]] = field(default_factory=dict)
    """Proofs about which it could not tell, by instance, in order; 8 each, or as many as are true."""
    operators: set[OperatorId] = field(default_factory=set)
    """Admitted in this pass."""
    agents: dict[AgentId, OperatorId] = field(default_factory=dict)
    """Admitted in this pass, and who answers for them."""
    lacking: set[RecordId] = field(default_factory=set)
    """Admissions that do not count because no cut contains yet what they rest on."""
    _true: Counter[InstanceId] = field(default_factory=Counter)
    """Proofs of each instance that it found true."""
    _more: Counter[OperatorId] = field(default_factory=Counter)
    """How many of these each operator answers for."""
    _held: dict[OperatorId, tuple[int, int]] = field(default_factory=dict)
    """What `held_by` gives for each operator, found when needed."""

    def run(self, fresh: list[Record]) -> Iterator[tuple[Record, Code | None]]:
        """Judge every admission, by the order of the fold; None as code if it counts.

        Operators, then agents: whose chain comes first by id must not decide who is admitted.
        """
        for record in fresh:
            if isinstance(record.body, OperatorAdmit):
                yield record, self._operator(record, record.body)
        for record in fresh:
            if isinstance(record.body, AgentAdmit):
                yield record, self._agent(record, record.body)

    def _operator(self, record: Record, body: OperatorAdmit) -> Code | None:
        known = self.keys(body.operator)
        code = self._signed_by(record)
        if code is not None:
            return code
        if known is None:
            code = self._lacks(record, Code.NOT_ADMITTED)
        elif known.role is not Role.OPERATOR or known.revoked:
            code = Code.NOT_ADMITTED
        elif self.cut:
            if self._is_operator(body.operator):
                code = Code.DUPLICATE
            else:
                code = self._cost(record.author, Role.OPERATOR, known.keys[0], body.proof, None)
        if code is None:
            self.operators.add(body.operator)
        return code

    def _agent(self, record: Record, body: AgentAdmit) -> Code | None:
        known = self.keys(body.agent)
        answers = self.keys(body.operator)
        code = self._signed_by(record)
        if code is not None:
            return code
        if known is None or answers is None or not self._is_operator(body.operator):
            code = self._lacks(record, Code.NOT_ADMITTED)
        elif known.role is not Role.AGENT or known.revoked or answers.revoked:
            code = Code.NOT_ADMITTED
        elif (word := self._word(body)) is None:
            code = self._lacks(record, Code.NOT_PROVEN)
        elif not self._is_delegated(body, word, answers):
            code = Code.NOT_PROVEN
        elif body.agent in self.state.agents or body.agent in self.agents:
            code = Code.DUPLICATE
        elif self.cut:
            code = self._cost(record.author, Role.AGENT, known.keys[0], body.proof, body.operator)
        if code is None:
            self.agents[body.agent] = body.operator
            self._more[body.operator] += 1
        return code

    def _signed_by(self, record: Record) -> Code | None:
        """Tell what is wrong with who has signed: what a thief signs must not bar its victim."""
        if record.author not in self.state.instances:
            return Code.NOT_ELIGIBLE
        keys = self.keys(record.author)
        if keys is None or keys.revoked or keys.is_disowned(record.seq):
            return Code.REVOKED
        return None

    def _is_operator(self, name: OperatorId) -> bool:
        return name in self.state.operators or name in self.operators

    def _lacks(self, record: Record, code: Code) -> Code:
        self.lacking.add(record.id)
        return code

    def _word(self, body: AgentAdmit) -> Delegation | None:
        return self.delegations.get(body.delegate) or self.state.delegations.get(body.delegate)

    def _is_delegated(self, body: AgentAdmit, word: Delegation, answers: KeyState) -> bool:
        return (
            word.operator == body.operator
            and word.body.agent == body.agent
            and not answers.is_disowned(word.seq)
            and (word.body.until is None or word.body.until >= self.cut)
        )

    def _cost(
        self,
        instance: InstanceId,
        role: Role,
        key: PublicKey,
        raw: bytes | None,
        operator: OperatorId | None,
    ) -> Code | None:
        """Hold one admission to what joining costs, cheapest first, and note it if it counts."""
        joining = self.joining
        if instance in joining.false:
            return Code.INSTANCE_BARRED
        code, work = fault(self.state, joining, role=role, instance=instance, key=key, raw=raw)
        if code is not None:
            return code
        admitted = len(self.state.agents) + len(self.agents)
        if joining.count(role, instance) >= joining.most(admitted):
            return Code.OVER_QUOTA
        if operator is not None and not self._has_room(operator, admitted):
            return Code.OVER_QUOTA
        if work is not None and raw is not None:
            code = self._work(instance, work, raw)
            if code is not None:
                joining.false.add(instance)
                return code
            joining.spent[challenge(work)] = work.epoch
        joining.note(role, instance)
        return None

    def _has_room(self, operator: OperatorId, admitted: int) -> bool:
        if admitted < self.joining.rules.operator_agents:
            return True
        if operator not in self._held:
            self._held[operator] = held_by(self.state, operator, self.keys)
        answers_for, established = self._held[operator]
        return self.joining.room(answers_for + self._more[operator], established) > 0

    def _work(self, instance: InstanceId, work: Work, raw: bytes) -> Code | None:
        if not passes_gate(work):
            return Code.PROOF_GATE
        verdict = self.prove(raw)
        if verdict:
            self._true[instance] += 1
        elif verdict is None:
            unknown = self.unknown.setdefault(instance, [])
            if len(unknown) < max(MOST_ASKED, self._true[instance]):
                unknown.append(raw)
        return Code.PROOF_WORK if verdict is False else None


def fault(
    state: State,
    joining: Joining,
    *,
    role: Role,
    instance: InstanceId,
    key: PublicKey,
    raw: bytes | None,
) -> tuple[Code | None, Work | None]:
    """Tell what a proof claims wrongly or that it has served, and give it as read.

    Nothing but its challenge is hashed for it. (None, None) where the realm asks for no proof.
    """
    if joining.is_free:
        return None, None
    try:
        work = None if raw is None else read_work(raw)
    except PeerError as error:
        return error.code, None
    code = check_claims(
        work,
        realm=state.realm,
        role=role,
        instance=instance,
        key=key,
        epoch=state.tick,
        in_force=joining.in_force(state.tick, role),
    )
    if code is None and work is not None and challenge(work) in joining.spent:
        code = Code.PROOF_REPLAYED
    return code, work


def held_by_operator(
    state: State, keys: Callable[[IdentityId], KeyState | None]
) -> dict[OperatorId, tuple[int, int]]:
    """Give `held_by` for every operator that answers for anybody."""
    return {operator: held_by(state, operator, keys) for operator in state.answers_for}


def held_by(
    state: State, operator: OperatorId, keys: Callable[[IdentityId], KeyState | None]
) -> tuple[int, int]:
    """Count the agents that fill an operator's quota, and those of tier 1 or more that widen it.

    Whoever is revoked widens nothing. It makes room only if that is for good: a revocation by the
    current key can be undone, and whoever made room by it would come back one too many.
    """
    count = established = 0
    for name in state.answers_for.get(operator, ()):
        known = keys(name)
        if known is not None and known.revoked_by is not RevokeBy.RECOVERY:
            count += 1
            established += not known.revoked and state.agents[name].tier > 0
    return count, established
