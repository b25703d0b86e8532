"""Admits a new agent whose keys this instance keeps: three records, one after the other.

The operator answers for the agent by its own signed word, so its key must be kept here too; an
instance of a larger realm usually does not keep it, and refuses. Where the charter asks for a
proof of work this instance searches for it as anybody would, and only then keeps the keys: whoever
gives up meanwhile leaves nothing behind. The keys are durable before the first record is signed: a
record whose author nobody can sign for again would be lost.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import trio

from federation.admission import Work, blank_work, work_bytes
from federation.core import AgentId, Code, OperatorId, PublicKey, RefusedError
from federation.crypto import public_key
from federation.protocol import Keys, custody, incept
from federation.protocol.admissions import over_quota, proof_fault
from federation.protocol.admittance import room_taken
from federation.protocol.inputs import Arrived
from federation.records import AgentAdmit, Custody, Delegate, Role
from node.base.errors import NodeCode, RequestError
from node.keys import Identity

if TYPE_CHECKING:
    from node.runtime.node import Node

SEARCHES: Final = 3
"""Proofs that are begun for one agent, each after the epochs of the one before have passed."""
_SEED: Final = 32
_ONE: Final = trio.CapacityLimiter(1)
"""One admission at a time changes the keystore."""


async def admit(node: "Node", name: str) -> AgentId:
    """Make an agent and admit it; it counts from the next cut on. Durable when this returns.

    It takes as long as a proof of work takes to be found, 20 s on average under the terms of
    preset `community`. Raises RequestError NOT_IN_CUSTODY if the operator's key is not kept here,
    SETTLING while the instance may not sign; RefusedError INSTANCE_BARRED or OVER_QUOTA before
    anything is searched for, PROOF_STALE if no proof was found in time; what `Proofs.mint` and
    `Node.sign` raise.
    """
    operator = node.world.state.instances[node.instance]
    if not node.keystore.has(operator):
        raise RequestError(
            "agent not admitted",
            why="its operator must sign for it, and the operator's key is not kept here",
            fix="admit it on the instance that keeps the operator's key",
            code=NodeCode.NOT_IN_CUSTODY,
        )
    node.check_settled()
    _check_room(node, operator)
    keys = Keys(current=node.entropy(_SEED), next=node.entropy(_SEED), recovery=node.entropy(_SEED))
    proof = await _proof(node, public_key(keys.current))
    # Much may have changed during a long search.
    node.check_settled()
    _check_room(node, operator)
    first = incept(node.world.realm, name, Role.AGENT, keys, at=node.clock.wall())
    identity = Identity(
        id=first.id,
        role=Role.AGENT,
        name=name,
        seeds=(keys.current,),
        next=keys.next,
        recovery=keys.recovery,
    )
    # It waits for the disk, and for a command that works on the keys. The keystore would make
    # threads take turns, too; here those that wait hold none.
    await trio.to_thread.run_sync(node.keystore.add, identity, limiter=_ONE)
    # The operator's word comes first: whom an admitted operator names has room, however many
    # strangers are held.
    promise = await node.sign(
        operator,
        lambda world, ring, now: custody.author(
            world, ring, Delegate(agent=first.id, scope=()), now=now
        ),
    )
    node.driver.take(Arrived(records=(first,), peer=None))
    await node.sign(
        node.instance,
        lambda world, ring, now: custody.author(
            world,
            ring,
            AgentAdmit(
                agent=first.id,
                operator=operator,
                delegate=promise.id,
                custody=Custody.NODE,
                proof=proof,
            ),
            now=now,
        ),
    )
    return first.id


def _check_room(node: "Node", operator: OperatorId) -> None:
    """Raise RefusedError if this instance may admit no agent of the operator now."""
    state = node.world.state
    if node.instance in state.joining.false:
        raise _refused(
            Code.INSTANCE_BARRED,
            "this instance has signed for a proof of no work in this epoch",
            "find out who made it do so, and admit agents after the next tick",
        )
    by_instance, by_operator = room_taken(
        node.world, role=Role.AGENT, instance=node.instance, operator=operator
    )
    why = over_quota(
        state,
        role=Role.AGENT,
        instance=node.instance,
        operator=operator,
        by_instance=by_instance,
        by_operator=by_operator,
    )
    if why:
        raise _refused(Code.OVER_QUOTA, why, "admit it when there is room again")


async def _proof(node: "Node", key: PublicKey) -> bytes | None:
    """Search for a proof for a key; None where the charter asks for none.

    A proof counts in its epoch and the next one. If both pass before it is found, another search
    begins. Raises RefusedError PROOF_STALE if that happens too often, and what `mint` raises.
    """
    if node.world.state.joining.is_free:
        return None
    for _ in range(SEARCHES):
        blank = _blank(node, key)
        with _while_it_may_count(node, blank):
            raw = work_bytes(await node.proofs.mint(blank))
            fault, _ = proof_fault(
                node.world.state, role=Role.AGENT, instance=node.instance, key=key, raw=raw
            )
            if fault is None:
                return raw
    raise _refused(
        Code.PROOF_STALE,
        f"{SEARCHES} searches for its proof of work outlasted the two epochs in which it counts",
        "try again when the machine has less to do, or fewer join and the work grows less",
    )


def _blank(node: "Node", key: PublicKey) -> Work:
    """Write the proof that this epoch asks for."""
    state = node.world.state
    asked = state.joining.in_force(state.tick, Role.AGENT)(state.tick)
    assert asked is not None, "there are terms for the current epoch"  # noqa: S101 # our own invariant
    return blank_work(
        realm=node.world.realm,
        role=Role.AGENT,
        instance=node.instance,
        key=key,
        epoch=state.tick,
        beacon=asked.beacon,
        terms=asked.terms,
    )


@contextmanager
def _while_it_may_count(node: "Node", blank: Work) -> Iterator[None]:
    """Cancel what is inside once the proof counts no more, also while it waits for its turn."""
    with trio.CancelScope() as scope:

        def look(_: object) -> None:
            if node.world.state.tick > blank.epoch + 1:
                scope.cancel()

        node.driver.listeners.append(look)
        try:
            yield
        finally:
            node.driver.listeners.remove(look)


def _refused(code: Code, why: str, fix: str) -> RefusedError:
    return RefusedError("agent not admitted", why=why, fix=fix, code=code)
