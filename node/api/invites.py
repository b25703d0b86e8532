"""Routes about invites: an agent's offer to vouch for whom it gives a code to.

They are rows of the table of routes like all others. The code is in one answer only, that of its
making.
"""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from federation.core import Millis
from federation.records.trust_bodies import VouchWeight
from node import commands
from node.api.calls import Call, Reply, Route, Who
from node.api.schemas import Done, Most
from node.commands.invites import DAYS, USES, WEIGHT, Days, Uses
from node.queries.invites import InvitesPage, Seen, invites_page
from node.runtime.inviting import Inviting
from node.store import Invite

_CREATED: Final = 201


class InviteNewcomers(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an invite offers."""

    weight: VouchWeight = WEIGHT
    """Of the vouch that each newcomer gets."""
    uses: Uses = USES
    """Agents that may come by it."""
    days: Days = DAYS
    """How long its code opens something."""


class MadeInvite(msgspec.Struct, frozen=True, kw_only=True):
    """A new invite."""

    id: str
    """Names it: eight hex digits, no secret."""
    code: str
    """What to give to a newcomer; it is shown this once and kept nowhere."""
    until: Millis
    """Unix time in ms from which it opens nothing."""


class ListInvites(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which invites to list."""

    after: Annotated[str, Meta(pattern=r"\A[0-9a-f]{8}\Z")] | None = None
    """Go on behind this one: `next` of the page before."""
    most: Most = 50
    """Rows of a page."""


async def create_invite(call: Call) -> Reply:
    """Let an agent invite."""
    body = call.take(InviteNewcomers)
    code, made = await commands.invite(
        call.node,
        call.agent(call.path["id"]),
        weight=body.weight,
        uses=body.uses,
        days=body.days,
    )
    return Reply(status=_CREATED, content=MadeInvite(id=made.id, code=code, until=made.until))


async def list_invites(call: Call) -> InvitesPage:
    """List the invites of all agents kept here."""
    asked = call.ask(ListInvites)
    inviting = call.node.invites
    rows = inviting.book.newest(after=asked.after, most=asked.most + 1)
    return invites_page(
        call.node.world,
        [_seen(inviting, one) for one in rows[: asked.most]],
        more=len(rows) > asked.most,
    )


def _seen(inviting: Inviting, one: Invite) -> Seen:
    fault = inviting.fault(one.inviter)
    return Seen(
        invite=one,
        is_over=inviting.is_over(one),
        fault=fault[1] if fault else None,
        came_by=tuple(inviting.book.came_by(one.id)),
    )


async def revoke_invite(call: Call) -> Done:
    """Take an invite back."""
    await call.node.invites.revoke(call.path["id"].lower())
    return Done()


ROUTES: Final = (
    Route(
        method="POST",
        path="/v1/agents/{id}/invites",
        summary="Invite newcomers for an agent whose key is kept here",
        handler=create_invite,
        gives=MadeInvite,
        takes=InviteNewcomers,
        who=Who.AGENT,
        says="The agent promises to vouch for whoever registers here with the code. That vouch is "
        "given by itself once a cut has admitted the newcomer; it counts against the agent's quota "
        "and makes it liable like any other. An agent has at most 64 open invites.",
    ),
    Route(
        method="GET",
        path="/v1/admin/invites",
        summary="Invites, newest first, and what became of whom they brought",
        handler=list_invites,
        gives=InvitesPage,
        query=ListInvites,
        who=Who.OPERATOR,
    ),
    Route(
        method="DELETE",
        path="/v1/admin/invites/{id}",
        summary="Take an invite back",
        handler=revoke_invite,
        gives=Done,
        who=Who.OPERATOR,
        says="Its code opens nothing any more, and no vouch follows that was not given yet. Vouches "
        "that were given stand until their agent takes them back.",
    ),
)
"""Rows of the table of routes."""
