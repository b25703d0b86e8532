"""Streams that peers open here: hello, push, questions.

A stranger gets a hello and a refusal. Everybody else is known by the key that the connection has
proven and has said hello on it. What a peer sends wrong is scored by its book; what it sends too
much waits, because its budget or the inbox is full, and the stream passes that on to the peer.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

import trio

from federation.certificates.packets import MOST_BYTES
from federation.core import Code, InstanceId, Millis, PeerError
from federation.protocol import inputs as ins
from node.base.errors import NetworkError, NodeCode
from node.network import hello
from node.network.book import PeerBook
from node.network.budgets import Budgets
from node.network.costs import cost_of
from node.network.faults import PeerFault, StreamEnded
from node.network.host import Host
from node.network.identity import PeerKey
from node.network.link import Intake
from node.network.messages import (
    HELLO,
    PUSH,
    SYNC,
    Hello,
    PacketPart,
    Records,
    check_part,
    frame,
    read_pushed,
    read_question,
)
from node.network.serving import Serving
from node.network.streams import Stream

_SECOND: Final = 1_000
HELLO_COSTS: Final = 256 * 1024
"""Bytes of a peer's budget that one hello is charged as: it starts a conversation anew."""
IDLE_S: Final = 3_600.0
"""A stream on which nothing came for so long is closed; its peer opens another when needed."""


class Welcome(Protocol):
    """Who has said hello."""

    def greeted(self, peer: PeerKey, theirs: Hello) -> None:
        """Hear that a peer has said hello and is welcome."""
        ...

    def instance_of(self, peer: PeerKey) -> InstanceId | None:
        """Give the peer's instance if it has said hello; None if not."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """The three handlers of a host."""

    me: hello.Self
    welcome: Welcome
    intake: Intake
    serving: Serving
    book: PeerBook
    budgets: Budgets
    now: Callable[[], Millis]

    def serve(self, host: Host) -> None:
        """Register the handlers."""
        host.serve(HELLO, lambda stream: self._hello(host, stream))
        host.serve(PUSH, lambda stream: self._guarded(stream, self._push))
        host.serve(SYNC, lambda stream: self._guarded(stream, self._sync))

    async def _hello(self, host: Host, stream: Stream) -> None:
        try:
            await self._pay(stream.peer, HELLO_COSTS)
            theirs = await hello.answer(self.me, stream)
        except (PeerError, PeerFault) as error:
            self.book.fault(stream.peer, error.code, error.why, cost_of(error.code))
        except NetworkError:
            return
        else:
            if isinstance(theirs, Hello):
                self.welcome.greeted(stream.peer, theirs)
            else:
                self.book.note(stream.peer, theirs.code, theirs.why)
                # It has been told why; its place is for others.
                await host.disconnect(stream.peer)

    async def _guarded(
        self, stream: Stream, handle: Callable[[Stream, InstanceId], Awaitable[None]]
    ) -> None:
        """Handle a stream of somebody who said hello; score what it does wrong."""
        peer = self.welcome.instance_of(stream.peer)
        if peer is None:
            self.book.fault(
                stream.peer,
                NodeCode.NO_HELLO,
                "it spoke before it said hello",
                cost_of(NodeCode.NO_HELLO),
            )
            await stream.reset()
            return
        try:
            await handle(stream, peer)
        except StreamEnded:
            await stream.close()
        except (PeerError, PeerFault) as error:
            self.book.fault(stream.peer, error.code, error.why, cost_of(error.code))
            await stream.reset()
        except NetworkError:
            # Lost, or silent for too long: nobody's fault.
            await stream.reset()

    async def _push(self, stream: Stream, peer: InstanceId) -> None:
        packet = bytearray()
        while True:
            raw = await stream.receive(deadline_s=IDLE_S)
            await self._pay(stream.peer, len(raw))
            message = read_pushed(raw)
            match message:
                case Records(records=records):
                    await self.intake.records(records, peer, wait=False)
                case PacketPart(more=more, content=content):
                    check_part(more=more, content=content)
                    packet += content
                    if len(packet) > MOST_BYTES:
                        raise PeerError(
                            "packet refused",
                            why=f"it has more than {MOST_BYTES} bytes",
                            fix="name what is large by its hash",
                            code=Code.TOO_LARGE,
                        )
                    if not more:
                        whole, packet = bytes(packet), bytearray()
                        await self.intake.packet(ins.Packet(packet=whole, peer=peer))

    async def _sync(self, stream: Stream, peer: InstanceId) -> None:
        while True:
            raw = await stream.receive(deadline_s=IDLE_S)
            await self._pay(stream.peer, len(raw))
            for answer in await self.serving.answer(read_question(raw), peer):
                sent = frame(answer)
                await self._pay(stream.peer, len(sent))
                await stream.send(sent)

    async def _pay(self, peer: PeerKey, size: int) -> None:
        """Charge a peer, waiting until its budget allows it: its stream fills up meanwhile."""
        # Again after each wait: the peer's other streams spend from the same budget.
        while wait := self.budgets.wait_ms(peer, size, self.now()):  # noqa: ASYNC110 # time fills it
            await trio.sleep(wait / _SECOND)
        self.budgets.spend(peer, size, self.now())
