"""Routes of the operator: agents and peers of this instance."""

from node.api.calls import Call, Reply
from node.api.schemas import AddPeer, AdmitAgent, Admitted, BanPeer, Done
from node.queries.names import Thing

_CREATED = 201


async def admit_agent(call: Call) -> Reply:
    """Make an agent, keep its key, admit it; the search for its proof of work may take a minute."""
    body = call.take(AdmitAgent)
    agent = await call.node.admit(body.name)
    return Reply(status=_CREATED, content=Admitted(id=agent.hex(), name=body.name))


async def add_peer(call: Call) -> Done:
    """Keep a conversation with an address from now on."""
    call.node.add_peer(call.take(AddPeer).address)
    return Done()


async def remove_peer(call: Call) -> Done:
    """Call a peer no more."""
    call.node.remove_peer(call.named(Thing.AGENT, part="instance"))
    return Done()


async def ban_peer(call: Call) -> Done:
    """Refuse a peer for a while."""
    body = call.take(BanPeer)
    call.node.ban_peer(call.named(Thing.AGENT, part="instance"), minutes=body.minutes)
    return Done()
