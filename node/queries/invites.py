"""Invites of this instance's agents: what is open, and what became of whom they brought.

Codes are in no answer: nobody can read one here, not even the operator.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from federation.core import AgentId, Millis
from federation.protocol import World
from federation.records import AgentAdmit, AgentUnvouch, Kind, Record
from node.queries.names import Who, who
from node.store import Invite, Invited


class InviteState(StrEnum):
    """Whether a code opens something."""

    OPEN = "open"
    """Whoever brings it is let in."""
    HELD_UP = "held_up"
    """It would be open, but its inviter cannot vouch."""
    USED = "used"
    """All its places are taken."""
    OVER = "over"
    """Its time has passed."""
    REVOKED = "revoked"
    """It was taken back."""


class Stage(StrEnum):
    """How far somebody who came by an invite is."""

    NOTED = "noted"
    """Its place is held, and no admission is signed."""
    ADMISSION_WAITS = "admission_waits"
    """Its admission is signed, and no cut contains it."""
    NOT_ADMITTED = "not_admitted"
    """Its admission does not count."""
    VOUCH_WAITS = "vouch_waits"
    """It is admitted, and its inviter's vouch is still to come."""
    VOUCHED = "vouched"
    """Its inviter has vouched for it."""
    TAKEN_BACK = "taken_back"
    """The inviter itself has said that it does not vouch."""
    GIVEN_UP = "given_up"
    """The vouch could not be given; the reason is told beside it."""


class InvitedRow(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that came by an invite."""

    agent: Who
    """The agent."""
    at: Millis
    """Unix time in ms at which it took its place."""
    stage: Stage
    """`noted`, `admission_waits`, `not_admitted`, `vouch_waits`, `vouched`, `taken_back` or
    `given_up`."""
    record: str | None
    """The inviter's word about it, once that counts: id of the record in hex."""
    code: str | None
    """Why there is no vouch, or none yet."""
    why: str
    """The same as a sentence."""


class InviteRow(msgspec.Struct, frozen=True, kw_only=True):
    """One invite."""

    id: str
    """Names it; the code begins with `fmi_` and this."""
    inviter: Who
    """The agent that vouches."""
    weight: int
    """Of the vouch, 1 to 255."""
    uses: int
    """Agents that may come by it."""
    used: int
    """Places that are held."""
    created: Millis
    """Unix time in ms."""
    until: Millis
    """Unix time in ms from which its code opens nothing."""
    state: InviteState
    """`open`, `held_up`, `used`, `over` or `revoked`."""
    why: str
    """Why its code opens nothing; empty if it does."""
    invited: tuple[InvitedRow, ...]
    """Who came by it, by place."""


class InvitesPage(msgspec.Struct, frozen=True, kw_only=True):
    """Invites, newest first."""

    invites: tuple[InviteRow, ...]
    """Rows of this page."""
    next: str | None
    """Go on behind this one; nil on the last page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """An invite as the node sees it now."""

    invite: Invite
    """As it is stored."""
    is_over: bool
    """Its time has passed."""
    fault: str | None
    """Why its inviter cannot vouch; None if it can."""
    came_by: tuple[Invited, ...]
    """Who holds its places."""


def invites_page(world: World, seen: Sequence[Seen], *, more: bool) -> InvitesPage:
    """Show these invites; `more` tells that there are others behind them."""
    admissions = _admissions(world, {one.agent for row in seen for one in row.came_by})
    return InvitesPage(
        invites=tuple(_row(world, row, admissions) for row in seen),
        next=seen[-1].invite.id if more else None,
    )


def _admissions(world: World, agents: set[AgentId]) -> dict[AgentId, Record]:
    """Give the admission that counts most for each agent: one that is refused comes last."""
    found: dict[AgentId, Record] = {}
    for one in world.log.by_kind(Kind.AGENT_ADMIT) if agents else ():
        if isinstance(one.body, AgentAdmit) and one.body.agent in agents:
            before = found.get(one.body.agent)
            if before is None or before.id in world.state.refused:
                found[one.body.agent] = one
    return found


def _row(world: World, seen: Seen, admissions: dict[AgentId, Record]) -> InviteRow:
    invite = seen.invite
    state, why = _state(seen)
    return InviteRow(
        id=invite.id,
        inviter=who(world, invite.inviter),
        weight=invite.weight,
        uses=invite.uses,
        used=len(seen.came_by),
        created=invite.created,
        until=invite.until,
        state=state,
        why=why,
        invited=tuple(_invited(world, one, admissions.get(one.agent)) for one in seen.came_by),
    )


def _state(seen: Seen) -> tuple[InviteState, str]:
    if seen.invite.revoked is not None:
        return InviteState.REVOKED, "it was taken back"
    if len(seen.came_by) >= seen.invite.uses:
        return InviteState.USED, "it was used as often as it may"
    if seen.is_over:
        return InviteState.OVER, "its time is over"
    if seen.fault is not None:
        return InviteState.HELD_UP, seen.fault
    return InviteState.OPEN, ""


def _invited(world: World, one: Invited, admission: Record | None) -> InvitedRow:
    stage, code, why = _stage(world, one, admission)
    return InvitedRow(
        agent=who(world, one.agent),
        at=one.at,
        stage=stage,
        record=one.record.hex() if one.record else None,
        code=code,
        why=why,
    )


def _stage(world: World, one: Invited, admission: Record | None) -> tuple[Stage, str | None, str]:
    if one.is_settled:
        word = world.log.get(one.record) if one.record else None
        if word is None:
            return Stage.GIVEN_UP, one.code, one.why
        is_back = isinstance(word.body, AgentUnvouch)
        return (Stage.TAKEN_BACK if is_back else Stage.VOUCHED), None, one.why
    if one.agent in world.state.agents:
        return Stage.VOUCH_WAITS, one.code, one.why or "the inviter vouches after the next cut"
    if admission is None:
        return Stage.NOTED, None, "its place is held; this instance has signed no admission of it"
    code = world.state.refused.get(admission.id)
    if code is not None:
        return Stage.NOT_ADMITTED, code, "its admission does not count; `folkmoot why` tells more"
    return Stage.ADMISSION_WAITS, None, "its admission waits for the next cut"
