"""The conversation with one peer, after both have said hello.

Two streams go out: one pushes packets and urgent records, one asks. The asking stream serves, in
this order, blobs and records that the core wants now, what somebody here wants to know of the
peer's world, then a comparison: when the core asks for one, after every reconnect, and every few
seconds anyway. Several wishes for a comparison that begin together are one comparison. A link ends
with the first failure of either stream; whoever knows the peer's address calls again.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

import trio

from federation.core import Digest, InstanceId, Millis, PeerError, RecordId
from federation.core.errors import Code
from federation.protocol import inputs as ins
from node.network.faults import busy, lost
from node.network.host import Host
from node.network.identity import PeerKey
from node.network.messages import (
    MOST_WANTED,
    PUSH,
    SYNC,
    Answer,
    BlobPart,
    Finding,
    Inquiry,
    Meet,
    Meeting,
    Question,
    Records,
    Want,
    WantBlob,
    check_part,
    finding,
    frame,
    read_answer,
)
from node.network.outbox import Outbox
from node.network.reconcile import Reconciler
from node.network.streams import Stream

ANSWER_S: Final = 15.0
"""How long a peer may take to answer a question."""
MOST_FRAMES: Final = 1_024
"""Frames that answer one question: a record each, at the worst."""
MOST_BLOB: Final = 1024 * 1024
MOST_WISHES: Final = 4_096
MOST_INQUIRIES: Final = 8
"""Inquiries that may wait for one peer; each is of somebody who waits for its answer."""


class Intake(Protocol):
    """Where a link hands over what a peer sent."""

    async def records(self, raws: Sequence[bytes], peer: InstanceId, *, wait: bool) -> None:
        """Take records in; with `wait`, return once the core has seen them."""
        ...

    async def packet(self, packet: ins.Packet) -> None:
        """Queue a packet of the certificate protocol, waiting for room."""
        ...

    async def tell(self, event: ins.Input) -> None:
        """Give the core an input, and return once it has seen it."""
        ...


Now: TypeAlias = Callable[[], Millis]


@dataclass(slots=True, kw_only=True, eq=False)
class _Asked:
    """An inquiry, and somebody who waits for its answer."""

    inquiry: Inquiry
    found: Finding | None = None
    """None at the end: the link ended first."""
    over: trio.Event = field(default_factory=trio.Event)


@dataclass(slots=True, kw_only=True)
class Link:
    """One peer that both sides have agreed to talk to."""

    key: PeerKey
    instance: InstanceId
    cut: int
    """The cut that the peer had reached when it last said so."""
    host: Host
    intake: Intake
    reconciler: Reconciler
    now: Now
    pause: Callable[[], float]
    """Gives the seconds until the next comparison that nobody asked for; jittered."""
    is_settled: Callable[[], bool]
    progressed: Callable[[], None]
    """Called when the peer has answered something."""
    outbox: Outbox = field(default_factory=Outbox)
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    _slots: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    _records: OrderedDict[RecordId, None] = field(default_factory=OrderedDict)
    _blobs: OrderedDict[Digest, None] = field(default_factory=OrderedDict)
    _inquiries: deque[_Asked] = field(default_factory=deque)
    _asking: _Asked | None = None
    """The inquiry whose answer comes next."""
    _ended: bool = False
    _wished: trio.Event = field(default_factory=trio.Event)

    # Wishes, from the performers ------------------------------------------------------------------

    def reconcile(self, slot: bytes) -> None:
        """Compare soon, and report it to a slot."""
        self._wish(self._slots, slot)

    def fetch_record(self, name: RecordId) -> None:
        """Ask for a record."""
        self._wish(self._records, name)

    def fetch_blob(self, name: Digest) -> None:
        """Ask for a blob."""
        self._wish(self._blobs, name)

    async def ask(self, inquiry: Inquiry) -> Finding:
        """Ask for what the core does not need, and wait for the answer.

        Raises NetworkError BUSY if too many wait already, and STREAM_LOST if the link ends before.
        Whoever gives up leaves the link in order: what was sent is answered, and nobody looks.
        """
        if self._ended:
            raise lost(_ENDED)
        if len(self._inquiries) >= MOST_INQUIRIES:
            raise busy("not asked", why="too many questions wait for this peer already")
        asked = _Asked(inquiry=inquiry)
        self._inquiries.append(asked)
        self._wished.set()
        try:
            await asked.over.wait()
        finally:
            if asked in self._inquiries:
                self._inquiries.remove(asked)
        if asked.found is None:
            raise lost(_ENDED)
        return asked.found

    def _wish(self, wishes: OrderedDict[bytes, None], name: bytes) -> None:
        wishes[name] = None
        if len(wishes) > MOST_WISHES:
            wishes.popitem(last=False)
        self._wished.set()

    # Life -----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Talk until a stream fails, which raises, or until the link's scope is cancelled."""
        try:
            with self.scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._push)
                    nursery.start_soon(self._ask)
        finally:
            self._ended = True
            for asked in (*self._inquiries, *((self._asking,) if self._asking else ())):
                asked.over.set()

    async def _push(self) -> None:
        stream = await self.host.open(self.key, PUSH)
        try:
            while True:
                for message in await self.outbox.next():
                    await stream.send(frame(message))
        finally:
            await stream.close()

    async def _ask(self) -> None:
        stream = await self.host.open(self.key, SYNC)
        try:
            met = False
            while True:
                await self._compare(stream, met=met)
                met = True
                await self._rest(stream)
        finally:
            await stream.close()

    async def _rest(self, stream: Stream) -> None:
        """Serve wishes until the pause is over or the core wants a comparison."""
        until = trio.current_time() + self.pause()
        while not self._slots and trio.current_time() < until:
            await self._serve_wishes(stream)
            if not self._slots:
                # Only this wait ends with the pause. An answer that is cut short would be taken
                # for the answer to the next question, and the peer would pay for it.
                with trio.move_on_at(until):
                    await self._wished.wait()

    async def _compare(self, stream: Stream, *, met: bool) -> None:
        """Get all that the peer holds; then report to the slots, and hear how far the peer is."""
        began, slots = self.now(), list(self._slots)
        self._slots.clear()

        async def ask(question: Question) -> Answer:
            await self._serve_wishes(stream)
            return await self._one_answer(stream, question)

        async def take(raws: Sequence[bytes]) -> None:
            await self.intake.records(raws, self.instance, wait=True)

        await self.reconciler.pull(ask, take)
        for slot in slots:
            await self.intake.tell(ins.Reconciled(slot=slot, voice=self.instance, began=began))
        meeting = await self._one_answer(stream, Meet())
        if not isinstance(meeting, Meeting):
            raise _unexpected()
        self.cut = meeting.cut
        self.progressed()
        if not met or not self.is_settled():
            event = ins.Met(voice=self.instance, cut=meeting.cut, seen=meeting.seen)
            await self.intake.tell(event)

    async def _serve_wishes(self, stream: Stream) -> None:
        self._wished = trio.Event()
        # Whoever asks while others are answered has the next turn, not this one: the core's own
        # questions stand between, and must not wait for ever.
        turns = len(self._inquiries)
        while self._blobs or self._records or (turns and self._inquiries):
            if self._blobs:
                name, _ = self._blobs.popitem(last=False)
                await self._get_blob(stream, name)
            elif not self._records:
                turns -= 1
                await self._inquire(stream, self._inquiries.popleft())
            else:
                names = tuple(self._records)[:MOST_WANTED]
                for name in names:
                    del self._records[name]
                await self._get_records(stream, names)

    # Questions ------------------------------------------------------------------------------------

    async def _get_records(self, stream: Stream, names: tuple[RecordId, ...]) -> None:
        await stream.send(frame(Want(records=names)))
        for _ in range(MOST_FRAMES):
            answer = await self._answer(stream)
            if not isinstance(answer, Records):
                break
            if answer.records:
                await self.intake.records(answer.records, self.instance, wait=False)
            if not answer.more:
                return
        raise _unexpected()

    async def _get_blob(self, stream: Stream, name: Digest) -> None:
        await stream.send(frame(WantBlob(blob=name)))
        content = bytearray()
        while True:
            answer = await self._answer(stream)
            if not isinstance(answer, BlobPart) or len(content) + len(answer.content) > MOST_BLOB:
                raise _unexpected()
            check_part(more=answer.more, content=answer.content)
            content += answer.content
            if not answer.more:
                break
        if content:
            await self.intake.tell(ins.BlobArrived(content=bytes(content), peer=self.instance))

    async def _inquire(self, stream: Stream, asked: _Asked) -> None:
        self._asking = asked
        asked.found = finding(asked.inquiry, await self._one_answer(stream, asked.inquiry))
        if asked.found is None:
            raise _unexpected()
        self._asking = None
        asked.over.set()

    async def _one_answer(self, stream: Stream, question: Question) -> Answer:
        await stream.send(frame(question))
        return await self._answer(stream)

    async def _answer(self, stream: Stream) -> Answer:
        answer = read_answer(await stream.receive(deadline_s=ANSWER_S))
        self.progressed()
        return answer


_ENDED: Final = "the conversation with the peer ended before it had answered"


def _unexpected() -> PeerError:
    return PeerError(
        "answer refused",
        why="it does not belong to the question",
        fix="answer each question in turn",
        code=Code.NOT_CANONICAL,
    )
