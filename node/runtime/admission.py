"""Admits a new agent whose keys this instance keeps: three records, one after the other.

The operator answers for the agent by its own signed word, so its key must be kept here too; an
instance of a larger realm usually does not keep it, and refuses. The keys are durable before the
first record is signed: a record whose author nobody can sign for again would be lost.
"""

from typing import TYPE_CHECKING, Final

import trio

from federation.core import AgentId
from federation.protocol import Keys, custody, incept
from federation.protocol.inputs import Arrived
from federation.records import AgentAdmit, Custody, Delegate, Role
from node.base.errors import NodeCode, RequestError
from node.keys import Identity

if TYPE_CHECKING:
    from node.runtime.node import Node

_SEED: Final = 32
_ONE: Final = trio.CapacityLimiter(1)
"""One admission at a time changes the keystore."""


async def admit(node: "Node", name: str) -> AgentId:
    """Make an agent and admit it; it counts from the next tick on. Durable when this returns.

    Raises RequestError NOT_IN_CUSTODY if the operator's key is not kept here, SETTLING while the
    instance may not sign, and what `Node.sign` raises.
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
    keys = Keys(current=node.entropy(_SEED), next=node.entropy(_SEED), recovery=node.entropy(_SEED))
    wall = node.clock.wall()
    first = incept(node.world.realm, name, Role.AGENT, keys, at=wall)
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
                agent=first.id, operator=operator, delegate=promise.id, custody=Custody.NODE
            ),
            now=now,
        ),
    )
    return first.id
