"""Questions about the world between those of the core, on real conversations."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import trio

from federation.protocol.digest import TableName
from node.base.errors import NetworkError, NodeCode
from node.network import hello
from node.network import link as module
from node.network.host import Host
from node.network.link import MOST_INQUIRIES
from node.network.messages import (
    PUSH,
    SYNC,
    AskBuckets,
    AskRows,
    AskWorld,
    Buckets,
    Compare,
    Elsewhere,
    Hello,
    Meet,
    Question,
    Records,
    WorldAt,
    frame,
    read_answer,
    read_question,
)
from node.network.streams import Stream
from tests.federation.protocol.town import Town
from tests.node.network.hosts import until
from tests.node.network.parties import Party, greet, hand, hello_of, party, same_as_you

AGENTS = AskBuckets(cut=0, table=TableName.AGENTS)


@asynccontextmanager
async def played(
    seed: str, script: Callable[[Stream, Question], object]
) -> AsyncIterator[tuple[Party, Host, bytes]]:
    """Let a peer that is played by hand answer inquiries by a script, all else honestly."""
    town = Town.of(2, 4, seed=seed)
    with trio.fail_after(30):
        async with party(town, 0) as one, hand(town, 1) as peer:

            async def sync(stream: Stream) -> None:
                while True:
                    question = read_question(await stream.receive(deadline_s=30))
                    if isinstance(question, AskWorld | AskBuckets | AskRows):
                        told = script(stream, question)
                        if told is not None:
                            await stream.send(told if isinstance(told, bytes) else frame(told))  # type: ignore[arg-type] # an answer
                        continue
                    for answer in same_as_you(question):
                        await stream.send(frame(answer))

            async def swallow(stream: Stream) -> None:
                while True:
                    await stream.receive(deadline_s=30)

            peer.serve(SYNC, sync)
            peer.serve(PUSH, swallow)
            assert isinstance(await greet(peer, one, hello_of(town, 1)), Hello)
            await until(lambda: one.links.connected != ())
            yield one, peer, town.founding.instances[1]


def reasons(one: Party, peer: Host) -> list[str]:
    return [reason.code for reason in one.book.why(peer.key)]


@pytest.mark.trio
async def test_a_peer_is_asked_over_the_live_conversation() -> None:
    town = Town.of(2, 4, seed="inquiries live")
    with trio.fail_after(30):
        async with party(town, 0) as one, party(town, 1) as two:
            await one.host.connect(two.host.addresses[0])
            one.links.greeted(two.host.key, await hello.greet(one.me, one.host, two.host.key))
            world = await one.links.ask(two.instance, AskWorld(cut=0))
            buckets = await one.links.ask(two.instance, AGENTS)
            elsewhere = await one.links.ask(two.instance, AskBuckets(cut=9, table=TableName.AGENTS))

            assert isinstance(world, WorldAt)
            assert world.world_digest == two.world.digest
            assert buckets == Buckets(hashes=two.world.state.tables.agents.hashes())
            assert elsewhere == Elsewhere(cut=0)
            assert one.book.score(two.host.key) == two.book.score(one.host.key) == 0


@pytest.mark.trio
async def test_who_is_not_connected_cannot_be_asked() -> None:
    town = Town.of(2, 4, seed="inquiries alone")
    with trio.fail_after(30):
        async with party(town, 0) as one:
            with pytest.raises(NetworkError) as refused:
                await one.links.ask(town.founding.instances[1], AskWorld(cut=0))

    assert refused.value.code is NodeCode.UNREACHABLE


@pytest.mark.trio
@pytest.mark.parametrize(
    "told", [b"noise", frame(Records(records=())), frame(Elsewhere(cut=1)), frame(Meet())]
)
async def test_an_answer_to_something_else_ends_the_conversation_and_costs(told: bytes) -> None:
    async with played("inquiries garbage", lambda _stream, _question: told) as (one, peer, name):
        with pytest.raises(NetworkError) as refused:
            await one.links.ask(name, AskWorld(cut=0))
        await until(lambda: one.links.connected == ())

        assert refused.value.code is NodeCode.STREAM_LOST
        assert reasons(one, peer) == ["NOT_CANONICAL"]


@pytest.mark.trio
async def test_no_answer_ends_the_conversation_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ANSWER_S", 0.3)
    async with played("inquiries silence", lambda _stream, _question: None) as (one, peer, name):
        refused: list[NodeCode] = []

        async def ask(cut: int) -> None:
            with pytest.raises(NetworkError) as caught:
                await one.links.ask(name, AskWorld(cut=cut))
            refused.append(caught.value.code)

        # Who waits behind it is told as well.
        async with trio.open_nursery() as nursery:
            for cut in range(3):
                nursery.start_soon(ask, cut)

        assert refused == [NodeCode.STREAM_LOST] * 3
        await until(lambda: reasons(one, peer) == ["TIMED_OUT"])


@pytest.mark.trio
async def test_who_gives_up_leaves_the_conversation_in_order() -> None:
    asked: list[Question] = []
    gate = trio.Event()
    waiting: list[Stream] = []

    def script(stream: Stream, question: Question) -> object:
        asked.append(question)
        if len(asked) == 1:
            waiting.append(stream)
            return None
        return Elsewhere(cut=len(asked))

    async with played("inquiries given up", script) as (one, peer, name):

        async def later() -> None:
            await gate.wait()
            await waiting[0].send(frame(Elsewhere(cut=1)))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(later)
            with trio.move_on_after(0.3) as patience:
                await one.links.ask(name, AGENTS)
            assert patience.cancelled_caught
            # Another gives up before its question was sent: it never is.
            with trio.move_on_after(0.1):
                await one.links.ask(name, AskBuckets(cut=77, table=TableName.ROUNDS))
            gate.set()
            found = await one.links.ask(name, AGENTS)

        # It is the answer to the second question that was sent, not the late one to the first.
        assert found == Elsewhere(cut=2)
        assert asked == [AGENTS, AGENTS]
        assert reasons(one, peer) == []


@pytest.mark.trio
async def test_only_so_many_may_wait_for_one_peer() -> None:
    async with played("inquiries many", lambda _stream, _question: None) as (one, _, name):
        codes: list[NodeCode] = []

        async def ask() -> None:
            try:
                await one.links.ask(name, AGENTS)
            except NetworkError as error:
                codes.append(error.code)

        async with trio.open_nursery() as nursery:
            for _ in range(MOST_INQUIRIES + 1):
                nursery.start_soon(ask)
                await trio.sleep(0.02)
            nursery.start_soon(ask)
            await until(lambda: codes == [NodeCode.BUSY])
            nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_an_inquiry_does_not_keep_the_core_from_its_comparisons() -> None:
    asked: list[str] = []

    def script(_stream: Stream, question: Question) -> object:
        asked.append(type(question).__name__)
        return Elsewhere(cut=0)

    async with played("inquiries core", script) as (one, _, name):
        one.heard.clear()
        one.links.reconcile(b"slot", (name,))
        for _ in range(20):
            await one.links.ask(name, AGENTS)
        await until(lambda: any(type(one).__name__ == "Reconciled" for one in one.heard))

        assert len(asked) == 20


@pytest.mark.trio
async def test_inquiries_without_end_do_not_either() -> None:
    """Of several who ask in turn, one always waits already when another has its answer."""

    def script(_stream: Stream, _question: Question) -> object:
        return Elsewhere(cut=0)

    async with (
        played("inquiries endless", script) as (one, _, name),
        trio.open_nursery() as nursery,
    ):

        async def ask() -> None:
            while True:
                await one.links.ask(name, AGENTS)

        for _ in range(3):
            nursery.start_soon(ask)
        await trio.sleep(0.2)
        one.heard.clear()
        one.links.reconcile(b"slot", (name,))
        await until(lambda: any(type(one).__name__ == "Reconciled" for one in one.heard))
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_a_stranger_is_not_told_of_the_world() -> None:
    town = Town.of(2, 4, seed="inquiries stranger")
    with trio.fail_after(20):
        async with party(town, 0) as one, hand(town, 1) as peer:
            await peer.connect(one.host.addresses[0])
            # It is a member, and has said no hello on this connection.
            stream = await peer.open(one.host.key, SYNC)
            with pytest.raises(NetworkError):  # noqa: PT012 # it is cut off somewhere
                await stream.send(frame(AskWorld(cut=0)))
                await stream.receive(deadline_s=5)

            assert reasons(one, peer) == ["NO_HELLO"]


@pytest.mark.trio
async def test_a_table_that_is_none_and_buckets_out_of_order_cost_who_asks() -> None:
    async with played("inquiries asked wrongly", lambda _stream, _question: None) as (
        one,
        peer,
        _,
    ):
        for question in (
            AskBuckets(cut=0, table="secrets"),  # type: ignore[arg-type] # no table
            AskRows(cut=0, table=TableName.AGENTS, buckets=(2, 1)),
        ):
            stream = await peer.open(one.host.key, SYNC)
            await stream.send(frame(question))
            with pytest.raises(NetworkError):
                await stream.receive(deadline_s=5)
        assert reasons(one, peer) == ["NOT_CANONICAL"] * 2
        assert one.book.score(peer.key) == 50

        stream = await peer.open(one.host.key, SYNC)
        await stream.send(frame(Compare(digest=bytes(32))))
        assert read_answer(await stream.receive(deadline_s=5)) is not None
