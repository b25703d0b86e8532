"""What peers send is checked, credited, queued by urgency, and waited for only if asked."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import trio
import trio.testing

from federation.certificates import Phase
from federation.core import RecordId
from federation.protocol import custody
from federation.protocol import effects as fx
from federation.protocol import inputs as ins
from federation.records import Role, wire
from node.runtime.inbox import Inbox
from node.runtime.ingest import Ingest
from node.runtime.intake import PeerIntake
from tests.federation.protocol.town import Town
from tests.node.runtime.drive import said

PEER = b"p" * 32


@dataclass(kw_only=True)
class Scene:
    town: Town
    inbox: Inbox
    intake: PeerIntake
    refused: list[fx.Refused] = field(default_factory=list)
    heard: list[tuple[bytes, list[RecordId]]] = field(default_factory=list)


@asynccontextmanager
async def scene(seed: str = "intake", *, room: int = 8) -> AsyncIterator[Scene]:
    town, inbox = Town.of(1, 5, seed=seed), Inbox(room=room)
    ingest = Ingest(town.founding.realm, lambda: town.world().log)
    found = Scene(
        town=town,
        inbox=inbox,
        intake=PeerIntake(
            ingest,
            inbox,
            refused=lambda effect: found.refused.append(effect),  # noqa: PLW0108 # it is made here
            heard_from=lambda peer, names: found.heard.append((peer, names)),
        ),
    )
    try:
        with trio.fail_after(10):
            yield found
    finally:
        ingest.close()


@pytest.mark.trio
async def test_new_records_are_queued_as_one_input_and_credited_to_the_peer() -> None:
    async with scene() as it:
        records = said(it.town.pen(Role.AGENT, 0), 2)
        await it.intake.records([wire(one) for one in records], PEER, wait=False)
        event, _ = await it.inbox.get()

        assert event == ins.Arrived(records=tuple(records), peer=PEER)
        assert it.heard == [(PEER, [one.id for one in records])]
        assert it.refused == []


@pytest.mark.trio
async def test_what_is_wrong_costs_its_sender_and_the_rest_goes_on() -> None:
    async with scene() as it:
        (record,) = said(it.town.pen(Role.AGENT, 0), 1)
        broken = wire(record)[:-1] + bytes([wire(record)[-1] ^ 1])
        await it.intake.records([b"noise", broken, wire(record)], PEER, wait=False)
        event, _ = await it.inbox.get()

        assert event == ins.Arrived(records=(record,), peer=PEER)
        assert sorted(one.code for one in it.refused) == ["BAD_SIGNATURE", "NOT_CANONICAL"]
        assert {one.peer for one in it.refused} == {PEER}


@pytest.mark.trio
async def test_what_is_known_here_is_no_input() -> None:
    async with scene() as it:
        known = [wire(one) for one in it.town.founding.records]
        await it.intake.records(known, PEER, wait=True)

        assert len(it.inbox) == 0
        assert it.refused == []


@pytest.mark.trio
async def test_with_wait_it_returns_once_the_core_has_seen_them() -> None:
    async with scene() as it:
        (record,) = said(it.town.pen(Role.AGENT, 0), 1)
        done = trio.Event()

        async def send() -> None:
            await it.intake.records([wire(record)], PEER, wait=True)
            done.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(send)
            _, taken = await it.inbox.get()
            await trio.testing.wait_all_tasks_blocked()
            assert not done.is_set()
            taken.set()
            await done.wait()


@pytest.mark.trio
async def test_packets_come_first_then_votes_then_the_rest() -> None:
    async with scene("intake votes") as it:
        town = it.town
        proposal = town.propose(0)
        name = town.open_round(proposal)
        town.in_phase(name, Phase.COMMIT)
        ordinary = said(town.pen(Role.AGENT, 1), 1)[0]
        nonce = bytes(32)
        vote = custody.cast(
            town.home(2),
            town.keyring(2),
            name,
            town.ballot(1),
            nonce=nonce,
            salt=nonce[:24],
            now=town.now,
        )
        told: list[ins.Input] = []

        async def tell() -> None:
            await it.intake.tell(ins.Wake())
            told.append(ins.Wake())

        async with trio.open_nursery() as nursery:
            await it.intake.records([wire(ordinary)], PEER, wait=False)
            nursery.start_soon(tell)
            await trio.testing.wait_all_tasks_blocked()
            await it.intake.records([wire(vote)], PEER, wait=False)
            packet = ins.Packet(packet=b"p", peer=PEER)
            await it.intake.packet(packet)
            order = []
            for _ in range(4):
                event, taken = await it.inbox.get()
                order.append(event)
                assert told == []
                taken.set()

        assert order == [
            packet,
            ins.Arrived(records=(vote,), peer=PEER),
            ins.Arrived(records=(ordinary,), peer=PEER),
            # A comparison is over only when the records that came before are in.
            ins.Wake(),
        ]
        assert told == [ins.Wake()]


@pytest.mark.trio
async def test_a_full_inbox_makes_the_sender_wait() -> None:
    async with scene("intake full", room=1) as it:
        first, second = said(it.town.pen(Role.AGENT, 0), 2)
        await it.intake.records([wire(first)], PEER, wait=False)
        sent = trio.Event()

        async def send() -> None:
            await it.intake.records([wire(second)], PEER, wait=False)
            sent.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(send)
            with trio.move_on_after(0.1):
                await sent.wait()
            assert not sent.is_set()
            await it.inbox.get()
            await sent.wait()
