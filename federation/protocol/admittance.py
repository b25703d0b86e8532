"""What can be told of an admission before a cut decides: to the door, and of one that waits.

The door is told all that stands against a draft as the world is now, with what its own instance
has signed and no cut contains. Of a stored one only what no later cut can change: its instance
may be barred today and not at the next tick, but a proof of another realm stays one.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final, TypeAlias

from federation.admission import Work, challenge, passes_gate
from federation.core import Code, IdentityId, InstanceId, OperatorId, PublicKey
from federation.protocol.admissions import over_quota, proof_fault
from federation.protocol.world import World
from federation.records import AgentAdmit, Incept, OperatorAdmit, Record, Role

Refusal: TypeAlias = tuple[Code, str]
"""Why an admission does not count: the code, and the same for people."""

REASONS: Final[Mapping[Code, str]] = {
    Code.NOT_ELIGIBLE: "its author is no member instance",
    Code.REVOKED: "its instance has revoked its identity or disowned this part of its chain",
    Code.NOT_ADMITTED: "whom it admits, or the operator that answers for it, is unknown, of another "
    "role, not admitted or revoked",
    Code.NOT_PROVEN: "the operator's word for the agent is missing, disowned or out of date",
    Code.DUPLICATE: "whom it admits is admitted already",
    Code.INSTANCE_BARRED: "its instance has signed for a proof of no work in this epoch, and admits "
    "nobody more in it",
    Code.NOT_CANONICAL: "its proof cannot be read",
    Code.TOO_LARGE: "its proof is larger than any proof can be",
    Code.PROOF_MISSING: "it holds no proof, and the charter asks for one",
    Code.PROOF_WRONG_REALM: "its proof was made for another realm",
    Code.PROOF_WRONG_INSTANCE: "its proof was made for another instance",
    Code.PROOF_WRONG_KEY: "its proof was made for another key than the first of whom it admits",
    Code.PROOF_WRONG_ROLE: "its proof was made for another role",
    Code.PROOF_STALE: "its proof was made in another epoch than this one and the one before",
    Code.PROOF_WRONG_BEACON: "its proof is bound to another beacon than that of its epoch",
    Code.PROOF_PARAMETERS: "its proof claims less work than its epoch asks for, or other memory",
    Code.PROOF_REPLAYED: "its proof has served another admission",
    Code.PROOF_GATE: "the gate of its proof does not hold",
    Code.PROOF_WORK: "its proof does not do the work that it claims",
    Code.OVER_QUOTA: "its instance had admitted all that it may in the epoch, or the agent's operator "
    "answered for all that it may",
}
"""What each code says of an admission that a cut contains; a sentence without its beginning."""


def forecast(world: World, record: Record, body: AgentAdmit | OperatorAdmit) -> Refusal | None:
    """Tell why an admission that no cut contains will not count; None if it may."""
    if record.author not in world.state.instances:
        return _because(Code.NOT_ELIGIBLE)
    if record.id in world.log:
        return _hopeless(world, record.author, body)
    return _refused(world, record.author, body)


def calls_a_cut(world: World, record: Record, body: AgentAdmit | OperatorAdmit) -> bool:
    """Tell whether an admission that no cut contains will count in the next, as far as can be told.

    A newcomer that has done its work need not wait for the next tick. What will not count, or lacks
    what it rests on, calls no cut.
    """
    state, instance = world.state, record.author
    role, newcomer, operator = _named(body)
    return (
        instance in state.instances
        and instance not in state.joining.false
        and newcomer not in state.agents
        and newcomer not in state.operators
        and newcomer in world.log
        and (isinstance(body, OperatorAdmit) or body.delegate in world.log)
        and _hopeless(world, instance, body) is None
        and not over_quota(state, role=role, instance=instance, operator=operator)
    )


def _hopeless(
    world: World, instance: InstanceId, body: AgentAdmit | OperatorAdmit
) -> Refusal | None:
    """Tell what is wrong with a stored admission for good."""
    role, newcomer, _ = _named(body)
    key = _first_key(world, newcomer)
    if key is None:
        return None
    code, work = proof_fault(world.state, role=role, instance=instance, key=key, raw=body.proof)
    # This node may be some cuts behind: an epoch that it has not seen may well begin.
    if code is Code.PROOF_STALE and work is not None and work.epoch > world.state.tick:
        return None
    if code is None and work is not None and not passes_gate(work):
        code = Code.PROOF_GATE
    return None if code is None else _because(code)


def _refused(
    world: World, instance: InstanceId, body: AgentAdmit | OperatorAdmit
) -> Refusal | None:
    """Tell what stands against a draft, cheapest first."""
    state = world.state
    role, newcomer, operator = _named(body)
    if newcomer in state.agents or newcomer in state.operators:
        return _because(Code.DUPLICATE)
    if instance in state.joining.false:
        return _because(Code.INSTANCE_BARRED)
    code, work = None, None
    if not state.joining.is_free:
        key = _first_key(world, newcomer)
        if key is None:
            return Code.NOT_ADMITTED, "the inception of whom it admits is not held here"
        code, work = proof_fault(state, role=role, instance=instance, key=key, raw=body.proof)
    elif _is_far_from_full(world, role, instance):
        return None
    if code is not None:
        return _because(code)
    signed = list(_bodies(world, instance))
    if work is not None and challenge(work) in _used(world, instance, signed):
        return _because(Code.PROOF_REPLAYED)
    full = over_quota(
        state,
        role=role,
        instance=instance,
        operator=operator,
        by_instance=sum(_named(one)[0] is role for one in signed),
        by_operator=sum(_named(one)[2] == operator for one in signed),
    )
    if full:
        return Code.OVER_QUOTA, full
    return None if work is None else _worthless(world, work, body)


def _worthless(world: World, work: Work, body: AgentAdmit | OperatorAdmit) -> Refusal | None:
    """Tell whether a proof does no work; what nobody has verified yet is taken to do it."""
    if not passes_gate(work):
        return _because(Code.PROOF_GATE)
    if body.proof is not None and world.prove(body.proof) is False:
        return _because(Code.PROOF_WORK)
    return None


def _is_far_from_full(world: World, role: Role, instance: InstanceId) -> bool:
    """Tell whether no quota can be used up, whatever waits: spares a look at all of that."""
    joining, admitted = world.state.joining, len(world.state.agents)
    newest = max(seq for seq, _ in world.log.heads_of(instance))
    waiting = newest - world.positions[instance].seq + len(joining.waiting)
    return (
        joining.count(role, instance) + waiting < joining.most(admitted)
        and admitted + waiting < joining.rules.operator_agents
    )


def waiting(world: World, instance: InstanceId) -> Iterator[Record]:
    """List the admissions that an instance has signed and that may count in a cut to come.

    Those that no cut contains, and those that wait for what they rest on.
    """
    here = world.positions[instance]
    above = world.log.above(instance, here.seq, head=here.head)
    contained = world.state.joining.waiting
    names = [name for name, (author, _) in contained.items() if author == instance]
    for name in chain(names, *above):
        one = world.log.get(name)
        if (
            one is not None
            and isinstance(one.body, AgentAdmit | OperatorAdmit)
            and _hopeless(world, instance, one.body) is None
        ):
            yield one


def room_taken(
    world: World, *, role: Role, instance: InstanceId, operator: OperatorId | None = None
) -> tuple[int, int]:
    """Count the admissions of a role by an instance that wait: all, and those of an operator."""
    named = [_named(body) for body in _bodies(world, instance)]
    mine = [answers for of, _, answers in named if of is role]
    return len(mine), sum(answers == operator for answers in mine)


def _bodies(world: World, instance: InstanceId) -> Iterator[AgentAdmit | OperatorAdmit]:
    for one in waiting(world, instance):
        if isinstance(one.body, AgentAdmit | OperatorAdmit):
            yield one.body


def _used(
    world: World, instance: InstanceId, signed: list[AgentAdmit | OperatorAdmit]
) -> set[bytes]:
    """Give the challenges of the proofs in admissions that wait."""
    found = set()
    for body in signed:
        role, newcomer, _ = _named(body)
        key = _first_key(world, newcomer)
        if key is not None:
            _, work = proof_fault(
                world.state, role=role, instance=instance, key=key, raw=body.proof
            )
            if work is not None:
                found.add(challenge(work))
    return found


def _named(body: AgentAdmit | OperatorAdmit) -> tuple[Role, IdentityId, OperatorId | None]:
    """Give in which role an admission admits whom, and who answers for it."""
    match body:
        case AgentAdmit():
            return Role.AGENT, body.agent, body.operator
        case _:
            return Role.OPERATOR, body.operator, None


def _first_key(world: World, name: IdentityId) -> PublicKey | None:
    """Give the key that an identity was incepted with; None if its inception is not held."""
    first = world.log.get(name)
    return first.body.key if first is not None and isinstance(first.body, Incept) else None


def _because(code: Code) -> Refusal:
    return code, REASONS[code]
