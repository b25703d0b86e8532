"""Invites: an agent kept here promises to vouch for whom it gives a code to (design: vouch).

The code opens registration where it asks for one, and the vouch follows by itself once a cut has
admitted the newcomer. It is an ordinary vouch, so its limits apply and the inviter is liable for
it. A code is 256 random bits behind a public id; only its hash is kept, and it is compared in
constant time. A place is durable before the admission is signed: a node that is killed between
the two knows whom to vouch for when it is back.

What follows after a cut stands in `inviting_vouches`.
"""

import base64
import hashlib
import hmac
from typing import TYPE_CHECKING, Final

import trio

from federation.core import AgentId, Code, Digest, Millis, RefusedError
from federation.protocol import effects as fx
from federation.records import AgentAdmit, Kind, Record
from federation.review import is_delegated
from node.base.errors import EXPLAINED, NodeCode, RequestError
from node.runtime.invite_book import InviteBook
from node.runtime.inviting_vouches import vouch_for
from node.store import Invite, KeptInvites

if TYPE_CHECKING:
    from node.runtime.node import Node

PREFIX: Final = "fmi_"
CODE_LENGTH: Final = 56
"""Characters of a code: the prefix, the id, a line, and 32 bytes in base64url."""
MOST_USES: Final = 64
"""Agents that may come by one invite."""
MOST_DAYS: Final = 90
"""Days that an invite may last."""
LIVE_EACH: Final = 64
"""Invites of one agent that may be open at a time."""
MOST_KEPT: Final = 4_096
"""Invites of this instance that are remembered; the oldest that are over go first."""
_SECRET: Final = 32
_ID: Final = 4
_ID_DIGITS: Final = 2 * _ID
_DAY: Final = 86_400_000
_NOBODY: Final = Digest(bytes(32))
"""Compared with where no invite has the id; no code has this hash."""


class Inviting:
    """The invites of a running node."""

    def __init__(self, node: "Node", kept: KeptInvites) -> None:
        """Go on with what was kept."""
        self._node = node
        self.book: Final = InviteBook(node.store, kept)
        self._may_sign = False
        self._cut = trio.Event()

    # Offering -------------------------------------------------------------------------------------

    async def create(
        self, inviter: AgentId, *, weight: int, uses: int, days: int
    ) -> tuple[str, Invite]:
        """Make an invite; gives its code, which is kept nowhere, and what is kept of it.

        Durable when this returns. Raises RequestError NOT_IN_CUSTODY, BUSY if the agent has as many
        open ones as it may, and RefusedError if the rules do not let the agent vouch.
        """
        secret = base64.urlsafe_b64encode(self._node.entropy(_SECRET)).decode().rstrip("=")
        clear: list[str] = []

        def make() -> tuple[Invite, str | None]:
            self._check_inviter(inviter)
            instead = self._room_for(inviter)
            name = self._free_id()
            clear.append(f"{PREFIX}{name}_{secret}")
            wall = self._node.clock.wall()
            invite = Invite(
                id=name,
                inviter=inviter,
                sha256=_hash(clear[0]),
                weight=weight,
                uses=uses,
                created=wall,
                until=Millis(wall + days * _DAY),
                deadline=Millis(self._node.clock.now() + days * _DAY),
            )
            return invite, instead

        made = await self.book.add(make)
        return clear[0], made

    def _check_inviter(self, inviter: AgentId) -> None:
        fault = self.fault(inviter)
        if fault is None:
            return
        code, why = fault
        if isinstance(code, NodeCode):
            raise RequestError(
                "invite not made",
                why=why,
                fix="invite by the instance that keeps its key",
                code=code,
            )
        raise RefusedError(
            "invite not made", why=why, fix="let an agent invite that may vouch", code=code
        )

    async def revoke(self, name: str) -> Invite:
        """Let a code open nothing any more, and no vouch follow that is not given yet.

        Raises RequestError NOT_FOUND.
        """
        await self.book.revoke(name, self._node.clock.wall())
        self._cut.set()
        invite = self.book.get(name)
        if invite is None:
            raise RequestError(
                "invite not revoked",
                why="no invite here has this id",
                fix="`folkmoot invite list` shows them",
                code=NodeCode.NOT_FOUND,
            )
        return invite

    def _room_for(self, inviter: AgentId) -> str | None:
        """Name an old invite that makes room for one more; raises RequestError BUSY."""
        every = self.book.all()
        over = [one for one in every if not self.is_open(one)]
        live = sum(one.inviter == inviter for one in every) - sum(
            one.inviter == inviter for one in over
        )
        if live >= LIVE_EACH or (len(every) >= MOST_KEPT and not over):
            most, whose = (
                (LIVE_EACH, "the agent") if live >= LIVE_EACH else (MOST_KEPT, "this node")
            )
            raise RequestError(
                "invite not made",
                why=f"{whose} has {most} open invites already",
                fix="wait until one is used up or over, or revoke one",
                code=NodeCode.BUSY,
            )
        if len(every) < MOST_KEPT:
            return None
        return next((one.id for one in over if self._is_done(one)), over[0].id)

    def _is_done(self, invite: Invite) -> bool:
        return all(one.is_settled for one in self.book.came_by(invite.id))

    def _free_id(self) -> str:
        while True:
            name = self._node.entropy(_ID).hex()
            if self.book.get(name) is None:
                return name

    # Judging --------------------------------------------------------------------------------------

    def is_open(self, invite: Invite) -> bool:
        """Tell whether a code still opens something for a newcomer."""
        return (
            invite.revoked is None
            and not self.is_over(invite)
            and self.book.used(invite.id) < invite.uses
        )

    def is_over(self, invite: Invite) -> bool:
        """Tell whether its time is over, by either clock.

        By the wall clock, because that is what its maker was told; by this instance's own clock,
        so that setting the wall clock back brings no code to life again.
        """
        clock = self._node.clock
        return clock.now() >= invite.deadline or clock.wall() >= invite.until

    def fault(self, inviter: AgentId) -> tuple[Code | NodeCode, str] | None:
        """Tell why an agent cannot keep the promise of an invite; None if it can.

        Its quota of vouches is no such reason: that only makes the vouch come later.
        """
        state = self._node.world.state
        if not self._node.keystore.has(inviter):
            return NodeCode.NOT_IN_CUSTODY, "this instance does not keep the inviter's key"
        agent = state.agents.get(inviter)
        if agent is None:
            return Code.NOT_ADMITTED, "no cut has admitted the inviter as an agent"
        identity = state.identities[inviter]
        if identity.keys.revoked:
            return Code.REVOKED, "the inviter's keys are revoked"
        if identity.forked_in is not None:
            return Code.FORK, "the inviter's chain is forked"
        if not is_delegated(agent.scope, Kind.AGENT_VOUCH):
            return Code.NOT_ELIGIBLE, "the inviter's operator has not delegated vouching to it"
        if agent.found_bad is not None:
            return Code.NOT_ELIGIBLE, "the inviter was found bad"
        if not agent.tier:
            return Code.NOT_ELIGIBLE, "the inviter needs tier 1 to vouch, and has tier 0"
        return None

    def admission(self, agent: AgentId) -> Record | None:
        """Give the newest record here by which an instance admits an agent, refused ones last."""
        world = self._node.world
        found = [
            one
            for one in world.log.by_kind(Kind.AGENT_ADMIT)
            if isinstance(one.body, AgentAdmit) and one.body.agent == agent
        ]
        return max(
            found, key=lambda one: (one.id not in world.state.refused, one.seq), default=None
        )

    # Taking up ------------------------------------------------------------------------------------

    def redeem(self, code: str, agent: AgentId) -> Invite:
        """Give the invite that a code opens for an agent; takes nothing yet.

        Whoever holds a place of it already gets it again, also after its time: an answer may have
        been lost. Raises RequestError INVITE_REFUSED; whoever is asked by strangers lets that cost
        them as much as a wrong token.
        """
        code = code.strip()[: CODE_LENGTH + 1]
        start = len(PREFIX)
        invite = self.book.get(code[start : start + _ID_DIGITS])
        # Compared in any case: how long it takes tells nothing of what was wrong.
        is_right = hmac.compare_digest(invite.sha256 if invite else _NOBODY, _hash(code))
        if invite is None or not is_right:
            raise _refused("no invite of this instance has this code")
        held = self.book.invited(agent)
        holds = held is not None and held.invite == invite.id
        if holds and self._is_admitted(agent):
            return invite
        if invite.revoked is not None:
            raise _refused("the invite was taken back")
        if not holds and self.is_over(invite):
            raise _refused("the invite's time is over")
        if not holds and self.book.used(invite.id) >= invite.uses:
            raise _refused("it was used as often as it may")
        fault = self.fault(invite.inviter)
        if fault is not None:
            raise _refused(fault[1])
        return invite

    async def note(self, invite: Invite, agent: AgentId) -> None:
        """Let an agent hold a place, right before its admission is signed; durable at return.

        Repeating it is harmless. Raises RequestError INVITE_REFUSED if the last place went to
        somebody else meanwhile, or the invite was revoked.
        """
        if not await self.book.take(invite.id, agent, self._node.clock.wall()):
            raise _refused("its last place went to somebody else meanwhile, or it was taken back")
        # The cut that admits the agent may be there before its place is.
        self._cut.set()

    async def release(self, agent: AgentId) -> None:
        """Give a place back because no admission was signed; not if one was."""
        await self.book.give_back(agent, unless=self._is_admitted)

    def _is_admitted(self, agent: AgentId) -> bool:
        """Tell whether an admission of an agent counts here or may come to count."""
        if agent in self._node.world.state.agents:
            return True
        record = self.admission(agent)
        return record is not None and record.id not in self._node.world.state.refused

    # After cuts -----------------------------------------------------------------------------------

    def after(self, effects: list[fx.Effect]) -> None:
        """Look again after a cut, and once this instance may sign."""
        is_cut = any(isinstance(one, fx.Tell) and one.event is fx.Happening.CUT for one in effects)
        me = self._node.world.me
        is_settled = me is None or me.settled
        if is_cut or is_settled is not self._may_sign:
            self._may_sign = is_settled
            self._cut.set()

    async def run(self) -> None:
        """Let inviters keep their promises, for ever."""
        while True:
            self._cut = trio.Event()
            spent: set[AgentId] = set()
            for agent in self.book.unsettled():
                # Others have their turns here too, and the disk keeps up.
                await self._node.driver.has_room()
                one = self.book.invited(agent)
                invite = self.book.get(one.invite) if one else None
                if one is None or invite is None or one.is_settled or invite.inviter in spent:
                    continue
                if not await vouch_for(self._node, self.book, invite, agent):
                    spent.add(invite.inviter)
            await self._cut.wait()


def _hash(clear: str) -> Digest:
    return Digest(hashlib.sha256(clear.encode("utf-8", "replace")).digest())


def _refused(why: str) -> RequestError:
    return RequestError(
        "registration refused",
        why=why,
        fix=EXPLAINED[NodeCode.INVITE_REFUSED][1],
        code=NodeCode.INVITE_REFUSED,
    )
