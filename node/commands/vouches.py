"""Vouch for another agent, and take it back, for an agent whose key is kept here."""

from federation.core import AgentId
from federation.protocol import World, custody
from federation.protocol.judge import Fate, judge
from federation.records import AgentUnvouch, AgentVouch, Kind, Record
from federation.records.trust_bodies import VouchWeight
from node.commands.fields import check, text
from node.runtime import Node

_LONGEST = 500
"""Characters of a reason."""


async def vouch(node: Node, agent: AgentId, whom: AgentId, *, weight: int, reason: str) -> Record:
    """Vouch for an agent with a weight of 1 to 255; the latest vouch for it counts.

    The same vouch said again while it stands, or waits for its cut, is the same vouch: a program
    that got no answer may simply repeat itself, and its quota pays once. Raises RequestError
    BAD_FIELD that names the field, RefusedError where the rules do not allow it, and NodeError
    NOT_IN_CUSTODY.
    """
    check("$.weight", weight, VouchWeight)
    body = AgentVouch(agent=whom, weight=weight, reason=_reason(reason))
    said = _latest(node.world, agent, whom)
    if said is not None and isinstance(said.body, AgentVouch) and said.body.weight == weight:
        await node.flushed()
        return said
    return await node.sign(
        agent, lambda world, keyring, now: custody.author(world, keyring, body, now=now)
    )


async def unvouch(node: Node, agent: AgentId, whom: AgentId, *, reason: str) -> Record:
    """Take the vouch for an agent back.

    Said again while it waits for its cut it is the same; later there is nothing left to take back.
    Raises as `vouch` does.
    """
    body = AgentUnvouch(agent=whom, reason=_reason(reason))
    world = node.world
    said = _latest(world, agent, whom)
    if said is not None and isinstance(said.body, AgentUnvouch) and _waits(world, said):
        await node.flushed()
        return said
    return await node.sign(
        agent, lambda world, keyring, now: custody.author(world, keyring, body, now=now)
    )


def _reason(said: str) -> str:
    return text("$.reason", said, least=1, most=_LONGEST)


def _latest(world: World, agent: AgentId, whom: AgentId) -> Record | None:
    """Give the newest record here by which an agent vouches for another, or no longer does.

    What counts nowhere, for a reason of its own, says nothing.
    """
    found = [
        record
        for kind in (Kind.AGENT_VOUCH, Kind.AGENT_UNVOUCH)
        for record in world.log.by_kind(kind)
        if record.author == agent
        and isinstance(record.body, AgentVouch | AgentUnvouch)
        and record.body.agent == whom
        and judge(world, record).fate is not Fate.VOID
    ]
    return max(found, key=lambda record: record.seq, default=None)


def _waits(world: World, record: Record) -> bool:
    return judge(world, record).fate is Fate.WAITS
