"""Calls the addresses that the operator named, and calls again when a conversation has ended.

Each address has its own patience: one second after the first failure, doubled each time up to a
minute, jittered so that instances that lost each other do not call in step. A refusal is told as
it is and tried again at the longest interval: the other side may change its mind. Its words are
for whoever asks about the peer, and never stand in the log: there the code does.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import trio

from federation.core import InstanceId, PeerError
from node.base.errors import NetworkError, NodeCode
from node.network import hello
from node.network.costs import cost_of
from node.network.faults import PeerFault, network_error
from node.network.host import Host
from node.network.identity import read_address
from node.network.links import Links
from node.telemetry import log

FIRST_S: Final = 0.5
LONGEST_S: Final = 60.0
WATCH_S: Final = 1.0
"""How often a kept conversation is looked at."""
_REFUSALS: Final = frozenset(
    {
        NodeCode.WRONG_REALM,
        NodeCode.WRONG_CHARTER,
        NodeCode.WRONG_PROTOCOL,
        NodeCode.NOT_A_PEER,
        NodeCode.BANNED,
        NodeCode.WRONG_PEER,
        NodeCode.BAD_ADDRESS,
    }
)
"""Failures that calling again soon will not change."""


@dataclass(slots=True, kw_only=True)
class Call:
    """One address that is kept connected."""

    address: str
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    instance: InstanceId | None = None
    """Who answered there last."""
    why: str = "not called yet"
    """Why there is no conversation, maybe in the peer's words; empty while there is one."""
    code: NodeCode | None = None
    """The reason by its code, once there is one."""


class Dialer:
    """Keeps conversations with all known addresses."""

    def __init__(self, host: Host, links: Links, *, jitter: Callable[[float], float]) -> None:
        """`jitter` gives a duration near the one it is given."""
        self._host = host
        self._links = links
        self._jitter = jitter
        self._nursery: trio.Nursery | None = None
        self._hurry = trio.Event()
        self.calls: dict[str, Call] = {}

    def add(self, address: str) -> None:
        """Keep a conversation with an address from now on."""
        if address in self.calls:
            return
        call = self.calls[address] = Call(address=address)
        if self._nursery is not None:
            self._nursery.start_soon(self._keep, call)

    def drop(self, address: str) -> None:
        """Call an address no more."""
        call = self.calls.pop(address, None)
        if call is not None:
            call.scope.cancel()

    def hurry(self) -> None:
        """Call everybody now who is not connected: a ban was lifted, say."""
        self._hurry.set()
        self._hurry = trio.Event()

    async def run(self) -> None:
        """Call until cancelled."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            try:
                for call in self.calls.values():
                    nursery.start_soon(self._keep, call)
                await trio.sleep_forever()
            finally:
                self._nursery = None

    async def _keep(self, call: Call) -> None:
        wait = FIRST_S
        if self.calls.get(call.address) is not call:
            # It was dropped before it began.
            return
        # A scope of its own for each life: this part may fail and be started again.
        call.scope = trio.CancelScope()
        with call.scope:
            key = read_address(call.address)[1]
            while True:
                member = self._links.member_of(key)
                if member is not None and self._links.instance_of(key) is not None:
                    call.instance, call.why, call.code, wait = member, "", None, FIRST_S
                    changed = self._links.changed
                    with trio.move_on_after(WATCH_S):
                        await changed.wait()
                    continue
                try:
                    await self._call(call)
                    wait = FIRST_S
                except NetworkError as error:
                    if call.code is not error.code:
                        log.info("peer.unreachable", address=call.address, code=error.code)
                    call.why, call.code = error.why, error.code
                    wait = LONGEST_S if error.code in _REFUSALS else wait * 2
                with trio.move_on_after(self._jitter(min(wait, LONGEST_S))):
                    await self._hurry.wait()

    async def _call(self, call: Call) -> None:
        key = read_address(call.address)[1]
        banned = self._links.book.banned_why(key)
        if banned is not None:
            raise network_error(f"{call.address} not called", NodeCode.BANNED, why=banned)
        peer = await self._host.connect(call.address)
        try:
            theirs = await hello.greet(self._links.myself(), self._host, peer)
        except NetworkError as error:
            if isinstance(error.__cause__, PeerError | PeerFault):
                fault = error.__cause__
                self._links.book.fault(peer, fault.code, fault.why, cost_of(fault.code))
            if self._links.instance_of(peer) is None:
                await self._host.disconnect(peer)
            # Else its own hello has come meanwhile, and a conversation is under way.
            raise
        call.instance, call.why, call.code = theirs.instance, "", None
        self._links.greeted(peer, theirs)
