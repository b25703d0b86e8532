"""Invite newcomers for an agent whose key is kept here."""

from typing import Annotated, Final

from msgspec import Meta

from federation.core import AgentId
from federation.records.trust_bodies import VouchWeight
from node.commands.fields import check
from node.runtime import Node
from node.runtime.inviting import MOST_DAYS, MOST_USES
from node.store import Invite

Uses = Annotated[int, Meta(ge=1, le=MOST_USES)]
Days = Annotated[int, Meta(ge=1, le=MOST_DAYS)]

WEIGHT: Final = 64
USES: Final = 1
DAYS: Final = 7
"""What an invite has where nothing else is asked for."""


async def invite(
    node: Node, agent: AgentId, *, weight: int = WEIGHT, uses: int = USES, days: int = DAYS
) -> tuple[str, Invite]:
    """Let an agent invite; gives the code, which is kept nowhere, and what is kept of it.

    `weight` is that of the vouch, 1 to 255; `uses` are the agents that may come by it, 1 to 64;
    `days` is how long it lasts, 1 to 90. Raises RequestError BAD_FIELD that names the field,
    NOT_IN_CUSTODY, BUSY, and RefusedError where the rules do not let the agent vouch.
    """
    check("$.weight", weight, VouchWeight)
    check("$.uses", uses, Uses)
    check("$.days", days, Days)
    return await node.invites.create(agent, weight=weight, uses=uses, days=days)
