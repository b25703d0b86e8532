"""One conversation: it compares, serves wishes in between, and tells the core what it has learnt."""

from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import trio

from federation.core import PeerError
from federation.protocol import inputs as ins
from node.network import link as module
from node.network.link import Link
from node.network.messages import (
    PUSH,
    ROOM,
    SYNC,
    Answer,
    BlobPart,
    Compare,
    Meet,
    Meeting,
    PacketPart,
    Question,
    Records,
    Same,
    Want,
    WantBlob,
    frame,
    read_pushed,
    read_question,
)
from node.network.reconcile import ByHeads
from node.network.streams import Stream
from tests.node.network.differing import Side, durable
from tests.node.network.hosts import host, until

PEER = b"p" * 32


@dataclass
class Notes:
    """An intake that notes what it is given."""

    heard: list[object] = field(default_factory=list)

    async def records(self, raws: Sequence[bytes], peer: bytes, *, wait: bool) -> None:
        self.heard.append(("records", tuple(raws), peer, wait))

    async def packet(self, packet: ins.Packet) -> None:
        self.heard.append(packet)

    async def tell(self, event: ins.Input) -> None:
        self.heard.append(event)


@dataclass
class Talk:
    """A link and the peer at its other end."""

    link: Link
    notes: Notes
    asked: list[Question]
    pushed: list[object]
    settled: list[bool]
    progress: list[int]
    ended: list[BaseException]
    slow: float = 0.0

    def count(self, kind: type[object]) -> int:
        return sum(isinstance(one, kind) for one in self.asked)


Lies = dict[type[object], deque[list[Answer]]]


@asynccontextmanager
async def talk(
    *, pause: float = 30.0, lies: Lies | None = None, slow: float = 0.0
) -> AsyncIterator[Talk]:
    """Run a link to a peer that answers honestly, unless `lies` tell otherwise for a question."""
    side, notes = Side(), Notes()
    asked: list[Question] = []
    pushed: list[object] = []

    def answers(question: Question) -> list[Answer]:
        told = (lies or {}).get(type(question))
        if told:
            return told.popleft()
        match question:
            case Compare():
                return [Same(same=True)]
            case Meet():
                return [Meeting(cut=9, seen=None)]
            case WantBlob():
                return [BlobPart(more=False, content=b"blob")]
            case _:
                return [Records(records=(b"wire",))]

    async def sync(stream: Stream) -> None:
        while True:
            question = read_question(await stream.receive(deadline_s=30))
            asked.append(question)
            if isinstance(question, Want | WantBlob):
                await trio.sleep(slow)
            for answer in answers(question):
                await stream.send(frame(answer))

    async def push(stream: Stream) -> None:
        while True:
            pushed.append(read_pushed(await stream.receive(deadline_s=30)))

    with trio.fail_after(20):
        async with host(1) as one, host(2) as two:
            two.serve(SYNC, sync)
            two.serve(PUSH, push)
            await one.connect(two.addresses[0])
            found = Talk(
                link=Link(
                    key=two.key,
                    instance=PEER,
                    cut=0,
                    host=one,
                    intake=notes,
                    reconciler=ByHeads(lambda: side.world, side.heads, durable),
                    now=lambda: 77,
                    pause=lambda: pause,
                    is_settled=lambda: found.settled[-1],
                    progressed=lambda: found.progress.append(found.link.cut),
                ),
                notes=notes,
                asked=asked,
                pushed=pushed,
                settled=[True],
                progress=[],
                ended=[],
            )

            async def run() -> None:
                try:
                    await found.link.run()
                except Exception as error:  # noqa: BLE001 # the test looks at it
                    found.ended.append(error)

            async with trio.open_nursery() as nursery:
                nursery.start_soon(run)
                yield found
                nursery.cancel_scope.cancel()


MET = ins.Met(voice=PEER, cut=9, seen=None)


@pytest.mark.trio
async def test_it_compares_first_and_then_tells_how_far_the_peer_is() -> None:
    async with talk() as it:
        await until(lambda: it.notes.heard != [])

        assert [type(one) for one in it.asked] == [Compare, Meet]
        assert it.notes.heard == [MET]
        assert it.link.cut == 9
        # Whoever notes the progress sees the new cut.
        assert it.progress[-1] == 9


@pytest.mark.trio
async def test_it_tells_once_if_settled_and_with_every_comparison_if_not() -> None:
    async with talk(pause=0.03) as it:
        await until(lambda: it.count(Meet) >= 4)
        assert it.notes.heard == [MET]
        it.settled.append(False)
        await until(lambda: it.notes.heard[1:] == [MET] * 3)


@pytest.mark.trio
async def test_wishes_for_a_comparison_that_begin_together_are_one() -> None:
    async with talk() as it:
        await until(lambda: it.count(Meet) == 1)
        for slot in (b"one", b"two", b"one"):
            it.link.reconcile(slot)
        await until(lambda: it.count(Meet) == 2)
        told = [one for one in it.notes.heard if isinstance(one, ins.Reconciled)]

        assert told == [
            ins.Reconciled(slot=slot, voice=PEER, began=77) for slot in (b"one", b"two")
        ]
        assert it.count(Compare) == 2


@pytest.mark.trio
async def test_wishes_are_served_between_comparisons_blobs_first_and_records_together() -> None:
    async with talk() as it:
        await until(lambda: it.count(Meet) == 1)
        for number in (1, 2, 2):
            it.link.fetch_record(bytes([number]) * 32)
        it.link.fetch_blob(b"b" * 32)
        await until(lambda: it.count(Want) == 1)
        await until(lambda: ("records", (b"wire",), PEER, False) in it.notes.heard)

        assert it.asked[2:] == [
            WantBlob(blob=b"b" * 32),
            Want(records=(bytes([1]) * 32, bytes([2]) * 32)),
        ]
        assert ins.BlobArrived(content=b"blob", peer=PEER) in it.notes.heard
        assert it.count(Compare) == 1


@pytest.mark.trio
async def test_an_answer_that_takes_longer_than_the_pause_is_not_cut_short() -> None:
    async with talk(pause=0.05, slow=0.15) as it:
        await until(lambda: it.count(Meet) >= 1)
        for number in range(3):
            it.link.fetch_record(bytes([number]) * 32)
            it.link.fetch_blob(bytes([number]) * 32)
            wanted = it.count(Want) + 1
            await until(lambda: it.count(Want) >= wanted)  # noqa: B023 # awaited at once
        met = it.count(Meet)
        await until(lambda: it.count(Meet) >= met + 2)

        assert it.ended == []


@pytest.mark.trio
async def test_packets_and_records_are_pushed() -> None:
    async with talk() as it:
        it.link.outbox.put_packet(bytes(ROOM + 1))
        it.link.outbox.put_record(b"r" * 32, b"record")
        await until(lambda: len(it.pushed) == 3)

        assert it.pushed == [
            PacketPart(more=True, content=bytes(ROOM)),
            PacketPart(more=False, content=b"\0"),
            Records(records=(b"record",)),
        ]


@pytest.mark.trio
async def test_a_large_blob_and_many_records_come_in_several_frames() -> None:
    lies: Lies = {
        WantBlob: deque(
            [[BlobPart(more=True, content=bytes(ROOM)), BlobPart(more=False, content=b"end")]]
        ),
        Want: deque([[Records(records=(b"1",), more=True), Records(records=(), more=False)]]),
    }
    async with talk(lies=lies) as it:
        it.link.fetch_blob(b"b" * 32)
        it.link.fetch_record(b"r" * 32)
        await until(lambda: it.count(Meet) == 1)

        assert ins.BlobArrived(content=bytes(ROOM) + b"end", peer=PEER) in it.notes.heard
        assert ("records", (b"1",), PEER, False) in it.notes.heard


@pytest.mark.trio
async def test_a_blob_that_the_peer_lacks_is_nothing() -> None:
    lies: Lies = {WantBlob: deque([[BlobPart(more=False, content=b"")]])}
    async with talk(lies=lies) as it:
        it.link.fetch_blob(b"b" * 32)
        await until(lambda: it.notes.heard != [])

        assert it.notes.heard == [MET]


FULL = BlobPart(more=True, content=bytes(ROOM))


@pytest.mark.trio
@pytest.mark.parametrize(
    ("question", "answers"),
    [
        (Compare, [Meeting(cut=1, seen=None)]),
        (Meet, [Same(same=True)]),
        (Want, [Same(same=True)]),
        (WantBlob, [Records(records=())]),
        (WantBlob, [FULL] * (module.MOST_BLOB // ROOM + 1)),
        (WantBlob, [BlobPart(more=True, content=b"short")]),
    ],
)
async def test_what_is_no_answer_ends_the_conversation_as_the_peers_fault(
    question: type[object], answers: list[Answer]
) -> None:
    async with talk(lies={question: deque([answers])}) as it:
        it.link.fetch_blob(b"b" * 32)
        it.link.fetch_record(b"r" * 32)
        await until(lambda: it.ended != [])
        (error,) = it.ended

        assert isinstance(error, ExceptionGroup)
        assert error.subgroup(PeerError) is not None


@pytest.mark.trio
async def test_an_answer_of_too_many_frames_is_the_peers_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_FRAMES", 3)
    endless: list[Answer] = [Records(records=(), more=True)] * 4
    async with talk(lies={Want: deque([endless])}) as it:
        it.link.fetch_record(b"r" * 32)
        await until(lambda: it.ended != [])


@pytest.mark.trio
async def test_wishes_are_bounded_and_the_oldest_give_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_WISHES", 2)
    async with talk() as it:
        for number in range(4):
            it.link.fetch_record(bytes([number]) * 32)
        await until(lambda: it.count(Meet) == 1)
        (want,) = [one for one in it.asked if isinstance(one, Want)]

        assert want.records == (bytes([2]) * 32, bytes([3]) * 32)


@pytest.mark.trio
async def test_a_link_whose_scope_is_cancelled_ends_quietly() -> None:
    async with talk() as it:
        await until(lambda: it.count(Meet) == 1)
        it.link.scope.cancel()
        await trio.sleep(0.05)

        assert it.ended == []
