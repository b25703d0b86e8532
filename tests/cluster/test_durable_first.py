"""Nothing leaves a node that is not on its disk: not to peers, not over HTTP, not by gossip.

The disk of one node hangs: its store takes writes and does not return. Whatever the node signs in
that time is in its memory only, and nobody may see it, or a crash would make it sign again for the
same place and its peers would hold a fork. Once the disk goes on, everything is answered.
"""

from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest
import trio

from federation.certificates.packets import MOST_BYTES
from federation.core import RecordId
from federation.records import Record, wire
from federation.replication import heads_pages
from node.network import messages as says
from node.network.heads import HeadsCache
from node.network.hints import topic_of
from node.runtime import Node, driver
from node.runtime.inbox import ROOM_BYTES, Urgency
from node.store import Write
from tests.cluster.evil import Evil, honestly, propose, speaking_for
from tests.cluster.needles import files_of
from tests.cluster.town import Ear, opened, town
from tests.node.runtime.realm import until


class Disk:
    """Stands before a node's store, and lets writes through or holds them back."""

    def __init__(self, node: Node) -> None:
        self._write = node.store.write
        self._go = trio.Event()
        self._go.set()
        self.waiting = 0
        node.store.write = self  # type: ignore[method-assign,assignment] # a disk cannot be asked to hang

    async def __call__(self, writes: Sequence[Write]) -> None:
        self.waiting += 1
        await self._go.wait()
        self.waiting -= 1
        await self._write(writes)

    def hang(self) -> None:
        self._go = trio.Event()

    def go_on(self) -> None:
        self._go.set()


async def takes_long(work: trio.Event, *, within: float = 0.6) -> bool:
    """Tell whether something has not happened after a while."""
    with trio.move_on_after(within):
        await work.wait()
    return not work.is_set()


class Onlookers:
    """Everybody who might see too early what a node has signed; each has an event for its answer."""

    def __init__(self, node: Node, peer: Evil, caller: Evil, client: httpx.AsyncClient) -> None:
        self.node, self.peer, self.caller, self.client = node, peer, caller, client
        self.answered = {
            name: trio.Event() for name in ("sign", "hello", "meet", "want", "lack", "http")
        }
        self.made: Record | None = None
        self.held = set(ids(node))

    def look(self, nursery: trio.Nursery) -> Record:
        """Let everybody ask, once the node has signed something."""
        made = [record for record in map(self.node.world.log.get, ids(self.node)) if record]
        (self.made,) = (record for record in made if record.id not in self.held)
        nursery.start_soon(self._hello)
        nursery.start_soon(self._ask, "meet", says.Meet())
        nursery.start_soon(self._ask, "want", says.Want(records=(self.made.id,)))
        page = next(heads_pages({}))
        nursery.start_soon(self._ask, "lack", says.Lack(page=page, start=bytes(32)))
        nursery.start_soon(self._get)
        self.node.links.reconcile(b"", (self.peer.instance,))
        return self.made

    async def sign(self, agent: bytes) -> None:
        await propose(self.node, agent)
        self.answered["sign"].set()

    async def _hello(self) -> None:
        assert isinstance(await self.caller.greet(), says.Hello)
        self.answered["hello"].set()

    async def _ask(self, name: str, question: says.Question) -> None:
        answer = await self.peer.ask(question)
        if isinstance(question, says.Want):
            assert isinstance(answer, says.Records)
            assert self.made is not None
            assert wire(self.made) in answer.records
        self.answered[name].set()

    async def _get(self) -> None:
        answer = await self.client.get("/v1/artifacts")
        assert self.made is not None
        assert self.made.id.hex() in answer.text
        self.answered["http"].set()


@pytest.mark.trio
async def test_nothing_is_told_to_anybody_before_it_is_durable(tmp_path: Path) -> None:
    realm = town(tmp_path)
    ear = Ear()
    realm.taps = {0: ear.tap}
    agent = realm.agents_of(0)[0]
    with trio.fail_after(40):
        async with (
            realm.node(0) as node,
            opened(node) as served,
            speaking_for(realm, 1, node) as peer,
            speaking_for(realm, 2, node) as caller,
        ):
            disk = Disk(node)
            topic = await peer.host.join(topic_of(node.world.realm))
            peer.answers = honestly
            assert isinstance(await peer.greet(), says.Hello)
            # Gossip works, so that its silence will tell something.
            while not topic._waiting:
                await propose(node, agent)
                await trio.sleep(0.2)
            disk.hang()
            all_of_them = Onlookers(node, peer, caller, served.client)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(all_of_them.sign, agent)
                await until(lambda: disk.waiting)
                made = all_of_them.look(nursery)
                ahead = says.Compare(digest=HeadsCache().digest(node.world.log))

                # One wait serves all: whatever answers too early, answers at once.
                assert await takes_long(all_of_them.answered["sign"], within=1.5)
                assert not any(one.is_set() for one in all_of_them.answered.values())
                assert ahead not in peer.asked
                assert shows(ear, made) == []
                assert all(made.id not in raw for _, raw in topic._waiting)
                assert all(made.id not in raw for raw in files_of(node.data.root).values())

                disk.go_on()
                for one in all_of_them.answered.values():
                    await one.wait()
            await until(lambda: peer.pushed and ahead in peer.asked)
            assert shows(ear, made)
            assert any(made.id in raw for raw in files_of(node.data.root).values())


@pytest.mark.trio
async def test_what_was_signed_but_not_stored_when_it_died_is_nobody_s_fork(tmp_path: Path) -> None:
    realm = town(tmp_path)
    ears = (Ear(), Ear())
    agent = realm.agents_of(0)[0]
    with trio.fail_after(40):
        realm.taps = {0: ears[0].tap}
        async with realm.node(0) as node, speaking_for(realm, 1, node) as peer:
            peer.answers = honestly
            assert isinstance(await peer.greet(), says.Hello)
            disk = Disk(node)
            disk.hang()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(propose, node, agent)
                await until(lambda: disk.waiting)
                (lost,) = (node.world.log.get(head) for _, head in node.world.log.heads_of(agent))
                nursery.cancel_scope.cancel()
        assert lost is not None
        realm.taps = {0: ears[1].tap}
        async with realm.node(0) as node, speaking_for(realm, 1, node) as peer:
            peer.answers = honestly
            assert isinstance(await peer.greet(), says.Hello)
            assert lost.id not in node.world.log
            made = await propose(node, agent)
            answer = await peer.ask(says.Want(records=(made.id, lost.id)))

    assert (made.seq, made.prev) == (lost.seq, lost.prev)
    assert isinstance(answer, says.Records)
    assert wire(made) in answer.records
    assert shows(ears[0], lost) == shows(ears[1], lost) == []
    assert shows(ears[1], made)


@pytest.mark.trio
async def test_a_flood_before_a_disk_that_hangs_stays_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "AHEAD", 1)
    realm = town(tmp_path)
    full = says.PacketPart(more=True, content=bytes(says.ROOM))
    packet = [full] * 7 + [says.PacketPart(more=False, content=bytes(200_000))]
    with trio.fail_after(40):
        async with realm.node(0) as node, speaking_for(realm, 1, node) as peer:
            peer.answers = honestly
            assert isinstance(await peer.greet(), says.Hello)
            disk = Disk(node)
            disk.hang()
            waiting = node.driver.inbox._classes[Urgency.CERTIFICATE]
            async with trio.open_nursery() as nursery:
                nursery.start_soon(propose, node, realm.agents_of(0)[0])
                await until(lambda: disk.waiting)
                nursery.start_soon(peer.push, *packet * 30)
                await until(lambda: waiting.size >= ROOM_BYTES)
                # The push goes on, and nothing more gets in.
                with trio.move_on_after(0.5):
                    await until(lambda: waiting.size > ROOM_BYTES + MOST_BYTES)
                held = waiting.size
                nursery.cancel_scope.cancel()
            disk.go_on()

    assert ROOM_BYTES <= held <= ROOM_BYTES + MOST_BYTES


def ids(node: Node) -> list[RecordId]:
    return [record.id for record in node.world.log.missing_from({}, most=10_000)]


def shows(ear: Ear, record: Record) -> list[str]:
    """List the streams and topics on which a record, or its id, was sent."""
    return [
        name for name, raw in ear.hay("out").items() if record.id in raw or record.signature in raw
    ]
