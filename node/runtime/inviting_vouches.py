"""The vouch that an invite promised, once a cut has admitted the newcomer.

Nothing has to be remembered of how far it has come: the inviter's chain tells. What it has said
about the newcomer, by this part before a crash or by its own will, is looked up there first, so
no vouch is ever said twice, and one that was taken back stays so.
"""

from typing import TYPE_CHECKING, Final

from federation.core import AgentId, Code, FederationError
from federation.protocol import Fate, custody, judge
from federation.records import AgentUnvouch, AgentVouch, Kind, Record
from node.base.errors import NodeCode, NodeError, StoreError
from node.runtime.invite_book import InviteBook
from node.store import Invite

if TYPE_CHECKING:
    from node.runtime.node import Node

MOST_TRIES: Final = 16
"""Vouches for one newcomer that cuts may find to be too many; each is a record for ever."""
REASON: Final = "It came by an invite of mine."
"""What the vouch gives as its reason; public."""
_LATER: Final = frozenset(
    {
        Code.OVER_QUOTA,
        # Its chain ended here, and the next cut tells how.
        Code.BAD_CHAIN,
        NodeCode.SETTLING,
        NodeCode.STOPPING,
        NodeCode.BUSY,
    }
)
"""What passes by waiting."""


async def vouch_for(node: "Node", book: InviteBook, invite: Invite, agent: AgentId) -> bool:
    """Let an inviter vouch for an agent, or settle that it will not; or leave it for a later cut.

    False if the inviter can give no vouch before a later cut, for whomever.
    """
    if agent not in node.world.state.agents:
        return True
    said = _said(node, invite.inviter, agent)
    latest = said[-1] if said else None
    refused = node.world.state.refused
    if latest is not None and latest.id not in refused:
        judgement = judge(node.world, latest)
        if judgement.fate is Fate.COUNTS:
            await book.settle(agent, record=latest.id, why=_outcome(latest))
        else:
            book.remark(agent, judgement.code or Code.WAITS_FOR_CUT, judgement.why)
        return True
    if invite.revoked is not None:
        why = "the invite was taken back before the vouch"
        await book.settle(agent, code=NodeCode.INVITE_REFUSED, why=why)
        return True
    fault = node.invites.fault(invite.inviter) or _unworthy(node, agent)
    if fault is not None:
        await book.settle(agent, code=fault[0], why=fault[1])
        return True
    tries = sum(one.id in refused for one in said)
    if latest is not None and tries >= MOST_TRIES:
        code = refused[latest.id]
        why = f"cuts found {tries} vouches not to count, the last one by {code}"
        await book.settle(agent, code=code, why=why)
        return True
    return await _say(node, book, invite, agent)


async def _say(node: "Node", book: InviteBook, invite: Invite, agent: AgentId) -> bool:
    body = AgentVouch(agent=agent, weight=invite.weight, reason=REASON)
    try:
        await node.sign(
            invite.inviter,
            lambda world, keyring, now: custody.author(world, keyring, body, now=now),
        )
    except StoreError:
        raise
    except (FederationError, NodeError) as error:
        if error.code in _LATER:
            book.remark(agent, error.code, error.why)
            return False
        await book.settle(agent, code=error.code, why=error.why)
    else:
        book.remark(agent, Code.WAITS_FOR_CUT, "the vouch is signed and waits for its cut")
    return True


def _unworthy(node: "Node", agent: AgentId) -> tuple[Code, str] | None:
    """Tell why nobody should vouch for an admitted agent, by code and words; None if one may."""
    state = node.world.state
    identity = state.identities[agent]
    if identity.keys.revoked:
        return Code.REVOKED, "the newcomer's keys are revoked"
    if identity.forked_in is not None:
        return Code.FORK, "the newcomer's chain is forked"
    if state.agents[agent].found_bad is not None:
        return Code.NOT_ELIGIBLE, "the newcomer was found bad before the vouch"
    return None


def _said(node: "Node", inviter: AgentId, agent: AgentId) -> list[Record]:
    """List what an inviter has said about an agent, in the order of its chain."""
    return sorted(
        (
            one
            for kind in (Kind.AGENT_VOUCH, Kind.AGENT_UNVOUCH)
            for one in node.world.log.by_kind(kind)
            if one.author == inviter
            and isinstance(one.body, AgentVouch | AgentUnvouch)
            and one.body.agent == agent
        ),
        key=lambda one: one.seq,
    )


def _outcome(record: Record) -> str:
    if isinstance(record.body, AgentUnvouch):
        return "the inviter has taken its vouch back"
    return "the inviter vouches for it"
