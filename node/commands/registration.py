"""Register an operator or an agent that keeps its own keys: checked, then admitted by this instance.

What costs this node least is asked first: bytes, policy, claims, signatures, quotas, the gate. Only
then is Argon2 run, 10 ms for each part of the proof, and only then does anything go out or is
stored: whoever is refused has left nothing here. Everything that time may have changed is asked
again right before the instance signs.

The same registration may be sent again: while it waits for its cut, and after that, it is the same.
"""

from collections.abc import Callable
from dataclasses import dataclass

import trio

from federation.admission import challenge, passes_gate, read_work
from federation.core import (
    Code,
    Digest,
    IdentityId,
    InstanceId,
    Millis,
    OperatorId,
    RecordId,
    RefusedError,
)
from federation.protocol import Fate, Keyring, World, admittance, custody, judge
from federation.protocol.admissions import over_quota, proof_fault
from federation.protocol.inputs import Arrived
from federation.records import (
    AgentAdmit,
    Custody,
    Kind,
    OperatorAdmit,
    Record,
    Role,
)
from node.base.errors import EXPLAINED, NodeCode, RequestError
from node.commands.newcomers import Newcomer, Wish, check_identities, read_newcomer
from node.commands.registration_refusals import refused
from node.outbound import domains
from node.outbound.fetching import INTERNET, Outside
from node.runtime import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A newcomer for whom the instance has signed."""

    id: IdentityId
    role: Role
    admission: RecordId
    """The record by which the instance admits it."""
    operator: OperatorId | None
    """Who answers for the agent; None for an operator."""
    instance: InstanceId
    """The instance that admits it."""
    cut: int
    """The cut that this node has reached."""
    waits: bool
    """Whether a cut has yet to admit it."""


async def register(
    node: Node,
    wish: Wish,
    *,
    charge: Callable[[OperatorId], None] = lambda _: None,
    outside: Outside = INTERNET,
) -> Registered:
    """Admit a newcomer, if everything about it is as it should be; durable when this returns.

    `charge` takes the price from the bucket of the operator that answers for it, and may raise.
    `outside` is where domains are looked up; only tests pass another. Raises PeerError for bytes
    and signatures, RefusedError with the code of what is wrong with the proof or the wish,
    RequestError REGISTRATION_CLOSED, INVITE_REFUSED, DOMAIN_NOT_PROVEN, BUSY,
    SETTLING or BAD_FIELD, and NodeError STOPPING.
    """
    newcomer = read_newcomer(node.world, wish)
    done = _found(node, newcomer)
    if done is None:
        node.check_settled()
        _check_policy(node, newcomer)
        _check(node, newcomer)
        await _check_dearly(node, newcomer, outside)
        # The world went on meanwhile, and another request may have brought the same newcomer.
        done = _found(node, newcomer)
    if done is None:
        _check(node, newcomer)
        if newcomer.operator is not None:
            charge(newcomer.operator)
        done = await _sign(node, newcomer)
    await node.flushed()
    return done


# What it costs nothing to find out ------------------------------------------------------------


def _found(node: Node, newcomer: Newcomer) -> Registered | None:
    """Give what became of a newcomer that this instance has signed for; raises DUPLICATE."""
    world, name = node.world, newcomer.inception.id
    state = world.state
    if newcomer.role is Role.AGENT:
        admitted = state.agents.get(name)
        answers, home = (admitted.operator, admitted.instance) if admitted else (None, None)
    else:
        accepted = state.operators.get(name)
        answers, home = None, accepted.instance if accepted else None
    if home is None and name not in world.log:
        return None
    if home not in {None, node.instance}:
        raise refused(Code.DUPLICATE, "another instance has admitted the identity already")
    record = _own_admission(node, newcomer)
    if record is None:
        assert home is None, "whom it has admitted, it has signed for"  # noqa: S101 # our own invariant
        return None
    if isinstance(record.body, AgentAdmit):
        answers = record.body.operator
    if answers != newcomer.operator:
        raise refused(Code.DUPLICATE, "another operator answers for the agent already")
    return _registered(node, newcomer, record)


def _check_policy(node: Node, newcomer: Newcomer) -> None:
    """Raise RequestError REGISTRATION_CLOSED or INVITE_REFUSED."""
    policy = node.settings.registration
    if policy == "closed":
        why, fix = EXPLAINED[NodeCode.REGISTRATION_CLOSED]
        raise RequestError(
            "registration refused", why=why, fix=fix, code=NodeCode.REGISTRATION_CLOSED
        )
    if newcomer.invite is not None:
        node.invites.redeem(newcomer.invite, newcomer.inception.id)
    elif policy == "invited":
        raise RequestError(
            "registration refused",
            why="this instance admits only whom one of its agents has invited, and no code came "
            "along",
            fix="ask an agent of this instance for an invite",
            code=NodeCode.INVITE_REFUSED,
        )


def _check(node: Node, newcomer: Newcomer) -> None:
    """Ask all that time may change: claims, signatures, quotas; raises RefusedError, PeerError."""
    _check_claims(node, newcomer)
    check_identities(node.world, newcomer)
    if newcomer.work is not None and challenge(newcomer.work) in _used(node):
        # Found out no sooner than the admission is signed, it would leave records of strangers here.
        raise refused(Code.PROOF_REPLAYED)
    by_instance, by_operator = admittance.room_taken(
        node.world, role=newcomer.role, instance=node.instance, operator=newcomer.operator
    )
    why = over_quota(
        node.world.state,
        role=newcomer.role,
        instance=node.instance,
        operator=newcomer.operator,
        by_instance=by_instance,
        by_operator=by_operator,
    )
    if why:
        raise refused(Code.OVER_QUOTA, why)


def _check_claims(node: Node, newcomer: Newcomer) -> None:
    """Compare what the proof claims with what the epoch asks for."""
    state = node.world.state
    if node.instance in state.joining.false:
        raise refused(Code.INSTANCE_BARRED)
    code, _ = proof_fault(
        state,
        role=newcomer.role,
        instance=node.instance,
        key=newcomer.key,
        raw=newcomer.raw,
    )
    if code is not None:
        raise refused(code)


# What it costs something ----------------------------------------------------------------------


async def _check_dearly(node: Node, newcomer: Newcomer, outside: Outside) -> None:
    """Check gate and work, then the domain; raises RefusedError PROOF_GATE or PROOF_WORK."""
    if newcomer.work is not None and newcomer.raw is not None:
        if not passes_gate(newcomer.work):
            raise refused(Code.PROOF_GATE)
        if not await node.proofs.verify(newcomer.raw):
            raise refused(Code.PROOF_WORK)
    if newcomer.domain is not None:
        # By the key that the proof is bound to: any number of inceptions could be made for it.
        await domains.check(
            newcomer.domain, newcomer.inception.id, asker=newcomer.key, outside=outside
        )


async def _sign(node: Node, newcomer: Newcomer) -> Registered:
    """Sign the admission; an invite's place is taken before, and given back if nothing is signed."""
    name = newcomer.inception.id
    if newcomer.invite is None or newcomer.role is not Role.AGENT:
        return await _admit(node, newcomer)
    await node.invites.note(node.invites.redeem(newcomer.invite, name), name)
    try:
        done = _found(node, newcomer)
        if done is None:
            _check(node, newcomer)
            done = await _admit(node, newcomer)
    finally:
        with trio.CancelScope(shield=True):
            # It stays with whoever was admitted by it.
            await node.invites.release(name)
    return done


async def _admit(node: Node, newcomer: Newcomer) -> Registered:
    """Store the newcomer's records and sign its admission; nothing happens in between."""

    def say(world: World, keyring: Keyring, now: Millis) -> Record:
        body: OperatorAdmit | AgentAdmit
        # Nobody names an operator before this instance does, so it has to be made welcome.
        node.driver.take(Arrived(records=newcomer.records, peer=None, welcome=True))
        if newcomer.delegate is None:
            body = OperatorAdmit(
                operator=newcomer.inception.id, proof=newcomer.raw, domain=newcomer.domain
            )
        else:
            body = AgentAdmit(
                agent=newcomer.inception.id,
                operator=newcomer.delegate.author,
                delegate=newcomer.delegate.id,
                custody=Custody.SELF,
                proof=newcomer.raw,
            )
        try:
            return custody.author(world, keyring, body, now=now)
        except RefusedError as error:
            # What waits for its cut may have used up what there was, and only the door knows it.
            raise refused(error.code, error.why, error.fix) from error

    return _registered(node, newcomer, await node.sign(node.instance, say))


# Looking --------------------------------------------------------------------------------------


def _registered(node: Node, newcomer: Newcomer, record: Record) -> Registered:
    state, name = node.world.state, newcomer.inception.id
    return Registered(
        id=name,
        role=newcomer.role,
        admission=record.id,
        operator=newcomer.operator,
        instance=node.instance,
        cut=state.cut,
        waits=name not in state.agents and name not in state.operators,
    )


def _used(node: Node) -> set[Digest]:
    """Give the challenges of the proofs that serve admissions which wait for a cut."""
    return {
        challenge(read_work(body.proof))
        for record in admittance.waiting(node.world, node.instance)
        if isinstance(body := record.body, AgentAdmit | OperatorAdmit) and body.proof is not None
    }


def _own_admission(node: Node, newcomer: Newcomer) -> Record | None:
    """Give the record by which this instance admits a newcomer, unless it counts for nothing.

    Whom nobody knows is looked for among what waits only: that costs nothing, as most do.
    """
    world, name = node.world, newcomer.inception.id
    if name in world.state.agents or name in world.state.operators:
        kind = Kind.OPERATOR_ADMIT if newcomer.role is Role.OPERATOR else Kind.AGENT_ADMIT
        signed = iter(world.log.by_kind(kind))
    else:
        signed = admittance.waiting(world, node.instance)
    for record in signed:
        match record.body:
            case AgentAdmit(agent=admitted) | OperatorAdmit(operator=admitted):
                pass
            case _:
                continue
        if (
            admitted == name
            and record.author == node.instance
            and judge(world, record).fate is not Fate.VOID
        ):
            return record
    return None
