"""All peers: who is connected, what goes to whom, and what remains when a conversation ends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio

from federation.core import Code
from federation.protocol import effects as fx
from federation.protocol import inputs as ins
from federation.records import Record, Role, wire
from node.base.errors import NetworkError, NodeCode
from node.network import hello
from node.network.host import Handler, Host
from node.network.links import URGENT
from node.network.messages import (
    PUSH,
    SYNC,
    Answer,
    Compare,
    Meet,
    Meeting,
    Question,
    Records,
    Same,
    Want,
    WantBlob,
)
from node.network.streams import Stream
from tests.builders import propose
from tests.federation.protocol.town import Town
from tests.node.network.hosts import until
from tests.node.network.parties import (
    Party,
    answer_by,
    greet,
    hand,
    hello_of,
    party,
    same_as_you,
)
from tests.node.runtime.drive import said


@asynccontextmanager
async def pair(seed: str, *, pause: float = 30.0) -> AsyncIterator[tuple[Party, Party]]:
    """Run two instances that do not know each other yet."""
    town = Town.of(2, 4, seed=seed)
    with trio.fail_after(30):
        async with (
            party(town, 0, pause=lambda: pause) as one,
            party(town, 1, pause=lambda: pause) as two,
        ):
            yield one, two


async def connect(one: Party, two: Party) -> None:
    """Let one call the other, as the dialer does."""
    await one.host.connect(two.host.addresses[0])
    one.links.greeted(two.host.key, await hello.greet(one.me, one.host, two.host.key))
    await until(lambda: talk(one, two) and talk(two, one))


def play(peer: Host, answer: Handler) -> None:
    """Let a peer that is played by hand answer like this, and swallow what is pushed."""

    async def swallow(stream: Stream) -> None:
        while True:
            await stream.receive(deadline_s=30)

    peer.serve(SYNC, answer)
    peer.serve(PUSH, swallow)


def talk(one: Party, two: Party) -> bool:
    """Tell whether one has compared with the other and heard how far it is."""
    return any(isinstance(event, ins.Met) and event.voice == two.instance for event in one.heard)


@pytest.mark.trio
async def test_after_hello_both_compare_and_hold_the_same() -> None:
    async with pair("links reconcile") as (one, two):
        records = said(one.town.pen(Role.AGENT, 0), 5)
        for record in records:
            one.town.world(0).log.add(record)
        await connect(one, two)

        assert all(record.id in two.world.log for record in records)
        assert (one.links.connected, two.links.connected) == ((two.instance,), (one.instance,))
        assert one.links.instance_of(two.host.key) == two.instance
        # What somebody sent is not pushed back to it.
        two.links.relay((*records, proposal(one, 0)))
        assert len(two.link(one.instance).outbox) <= 1


def proposal(one: Party, index: int) -> Record:
    return one.town.pen(Role.AGENT, index).say(*propose())


@pytest.mark.trio
async def test_what_is_urgent_is_pushed_and_everything_is_hinted() -> None:
    async with pair("links relay") as (one, two):
        await connect(one, two)
        urgent, ordinary = proposal(one, 0), said(one.town.pen(Role.AGENT, 2), 1)[0]
        assert urgent.kind in URGENT
        assert ordinary.kind not in URGENT
        one.links.relay((urgent, ordinary))
        await until(lambda: urgent.id in two.world.log)
        await trio.sleep(0.05)

        assert ordinary.id not in two.world.log
        assert one.hints._batch() == (wire(urgent), wire(ordinary))


@pytest.mark.trio
async def test_a_packet_goes_to_whom_it_is_for_or_to_all() -> None:
    async with pair("links packets") as (one, two):
        await connect(one, two)
        one.links.send_packet(bytes(32), b"for somebody else")
        one.links.send_packet(two.instance, b"for you")
        one.links.send_packet(None, b"for all")

        def packets() -> list[bytes]:
            return [event.packet for event in two.heard if isinstance(event, ins.Packet)]

        await until(lambda: len(packets()) == 2)
        assert packets() == [b"for you", b"for all"]


@pytest.mark.trio
async def test_a_comparison_is_reported_to_the_slot_that_asked() -> None:
    async with pair("links slots") as (one, two):
        await connect(one, two)
        one.links.reconcile(b"slot", (two.instance, bytes(32)))

        def told() -> list[ins.Reconciled]:
            return [event for event in one.heard if isinstance(event, ins.Reconciled)]

        await until(lambda: told() != [])
        assert [(event.slot, event.voice) for event in told()] == [(b"slot", two.instance)]


@pytest.mark.trio
async def test_records_and_blobs_are_fetched_from_whoever_is_there() -> None:
    async with pair("links fetch") as (one, two):
        await connect(one, two)
        records = said(one.town.pen(Role.AGENT, 1), 3)
        for record in records:
            two.world.log.add(record)
        name = two.world.blobs.put(b"blob")
        one.links.fetch_records((records[-1].id,), (bytes(32), two.instance))
        one.links.fetch_blob(name, (two.instance,))
        one.links.fetch_blob(name, (two.instance,))
        one.links.fetch_records((records[-1].id,), (bytes(32),))
        await until(lambda: all(record.id in one.world.log for record in records))

        def blobs() -> int:
            return sum(isinstance(event, ins.BlobArrived) for event in one.heard)

        await until(lambda: blobs() > 0)
        await trio.sleep(0.05)
        assert blobs() == 1


@pytest.mark.trio
async def test_a_second_hello_begins_anew_and_the_old_conversation_ends() -> None:
    async with pair("links twice") as (one, two):
        await connect(one, two)
        before = one.link(two.instance)
        two.heard.clear()
        one.heard.clear()
        await connect(two, one)
        one.links.send_packet(None, b"p")
        await until(lambda: any(isinstance(event, ins.Packet) for event in two.heard))

        assert one.link(two.instance) is not before
        assert before.scope.cancel_called
        assert one.links.connected == (two.instance,)
        assert one.book.score(two.host.key) == two.book.score(one.host.key) == 0


@pytest.mark.trio
async def test_both_may_call_at_once() -> None:
    async with pair("links at once") as (one, two):

        async def call(caller: Party, other: Party) -> None:
            await caller.host.connect(other.host.addresses[0])
            theirs = await hello.greet(caller.me, caller.host, other.host.key)
            caller.links.greeted(other.host.key, theirs)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call, one, two)
            nursery.start_soon(call, two, one)
        await trio.sleep(0.3)
        if not (one.links.connected and two.links.connected):
            await connect(one, two)
        one.links.send_packet(None, b"p")
        await until(lambda: any(isinstance(event, ins.Packet) for event in two.heard))

        assert one.book.score(two.host.key) == two.book.score(one.host.key) == 0


@pytest.mark.trio
async def test_a_lost_peer_is_forgotten_and_remembered() -> None:
    town = Town.of(2, 4, seed="links lost")
    with trio.fail_after(30):
        async with party(town, 0) as one:
            async with party(town, 1) as two:
                await connect(one, two)
                changed = one.links.changed
            await until(lambda: one.links.connected == ())

            assert changed.is_set()
            known = one.links.known[two.instance]
            assert known.last_progress is not None
            assert one.links.instance_of(two.host.key) is None
            assert one.links.member_of(two.host.key) == two.instance
            # Nobody is there: nothing is queued, and nothing fails.
            one.links.send_packet(two.instance, b"p")
            one.links.reconcile(b"slot", (two.instance,))
            one.links.fetch_records((bytes(32),), (two.instance,))
            one.links.fetch_blob(bytes(32), (two.instance,))
            one.links.refused(fx.Refused(peer=two.instance, code="BAD_CHAIN", why="w"))
            assert one.book.score(two.host.key) == 0


@pytest.mark.trio
async def test_what_gave_way_is_counted_over_all_conversations_with_a_peer() -> None:
    async with pair("links dropped") as (one, two):
        assert one.links.dropped(two.instance) == 0
        await connect(one, two)
        first = one.link(two.instance)
        first.outbox.dropped = 3
        assert one.links.dropped(two.instance) == 3
        # A second hello ends the first conversation.
        await connect(one, two)
        second = one.link(two.instance)
        assert second is not first
        second.outbox.dropped = 4
        assert one.links.dropped(two.instance) == 7
        await two.host.disconnect(one.host.key)
        await until(lambda: one.links.connected == ())
        assert one.links.dropped(two.instance) == 7


@pytest.mark.trio
async def test_a_ban_ends_what_is_open_and_a_pardon_lets_it_begin_again() -> None:
    async with pair("links banned") as (one, two):
        await connect(one, two)
        stream = await two.host.open(one.host.key, SYNC)

        one.book.ban(two.host.key, minutes=5, why="it lied to us")
        # What it was told before is not believed for a moment longer.
        assert one.links.instance_of(two.host.key) is None
        assert not one.links.is_welcome(two.host.key)
        await until(lambda: one.links.connected == ())
        await until(lambda: (two.links.connected, two.host.connected()) == ((), frozenset()))
        with pytest.raises(NetworkError):
            await stream.receive(deadline_s=30)
        # It may call, and is told why it is not welcome; then its place is for others.
        await two.host.connect(one.host.addresses[0])
        with pytest.raises(NetworkError, match="it lied to us") as told:
            await hello.greet(two.me, two.host, one.host.key)
        assert told.value.code is NodeCode.BANNED
        await until(lambda: one.host.connected() == two.host.connected() == frozenset())
        assert one.links.connected == ()

        one.book.ban(two.host.key, minutes=0, why="forgiven")
        one.heard.clear()
        two.heard.clear()
        await connect(two, one)
        assert one.links.instance_of(two.host.key) == two.instance


@pytest.mark.trio
async def test_what_the_core_refuses_is_held_against_who_sent_it() -> None:
    async with pair("links refused") as (one, two):
        await connect(one, two)
        one.links.refused(fx.Refused(peer=two.instance, code=Code.BAD_CHAIN, why="w"))
        one.links.refused(fx.Refused(peer=None, code=Code.BAD_CHAIN, why="w"))
        one.links.refused(fx.Refused(peer=bytes(32), code=Code.BAD_CHAIN, why="w"))

        assert one.book.score(two.host.key) == 25
        assert [reason.code for reason in one.book.why(two.host.key)] == ["BAD_CHAIN"]


@pytest.mark.trio
async def test_who_answers_otherwise_is_scored_and_the_conversation_ends() -> None:
    town = Town.of(2, 4, seed="links liar")
    with trio.fail_after(30):
        async with party(town, 0) as one, hand(town, 1) as peer:

            async def answer(stream: Stream) -> None:
                def lie(question: Question) -> list[Answer]:
                    del question
                    return [Records(records=())]

                await answer_by(lie, stream)

            play(peer, answer)
            await greet(peer, one, hello_of(town, 1))
            await until(lambda: one.book.why(peer.key) != ())
            await until(lambda: one.links.connected == ())

            assert one.book.score(peer.key) == 25


@pytest.mark.trio
async def test_a_peers_cut_is_the_one_it_told_last() -> None:
    town = Town.of(2, 4, seed="links cut")
    with trio.fail_after(30):
        async with party(town, 0) as one, hand(town, 1) as peer:

            async def answer(stream: Stream) -> None:
                await answer_by(same_as_you, stream)

            play(peer, answer)
            await greet(peer, one, hello_of(town, 1, cut=1))
            await until(lambda: any(isinstance(event, ins.Met) for event in one.heard))

            assert one.links.known[town.founding.instances[1]].cut == 3
            assert same_as_you(Compare(digest=bytes(32))) == [Same(same=True)]
            assert same_as_you(Meet()) == [Meeting(cut=3, seen=None)]
            assert same_as_you(Want(records=())) == same_as_you(WantBlob(blob=bytes(32)))


@pytest.mark.trio
async def test_a_hello_before_the_links_live_is_not_lost_in_an_error() -> None:
    town = Town.of(2, 4, seed="links early")
    with trio.fail_after(30):
        async with party(town, 0) as one:
            nursery, one.links._nursery = one.links._nursery, None
            one.links.greeted(bytes(32), hello_of(town, 1))
            one.links._nursery = nursery

            assert one.links.connected == ()
