"""Addresses are called until somebody answers, patiently, and again when a conversation ends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio

from node.network.dialer import LONGEST_S, Dialer
from node.network.hello import HELLO
from node.network.messages import Refusal, frame
from node.network.streams import Stream
from tests.federation.protocol.town import Town
from tests.node.network.hosts import host, until
from tests.node.network.parties import Party, hand, party

TOWN = Town.of(2, 2, seed="dialer")


class Jitter:
    """Remembers how long the dialer wanted to wait, and lets it wait a moment."""

    def __init__(self, moment: float = 0.01) -> None:
        self.waits: list[float] = []
        self.moment = moment

    def __call__(self, seconds: float) -> float:
        self.waits.append(seconds)
        return self.moment


@asynccontextmanager
async def dialling(one: Party, jitter: Jitter) -> AsyncIterator[Dialer]:
    dialer = Dialer(one.host, one.links, jitter=jitter)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(dialer.run)
        yield dialer
        nursery.cancel_scope.cancel()


def at(port: int, peer_id: str) -> str:
    return f"/ip4/127.0.0.1/tcp/{port}/p2p/{peer_id}"


async def address_of(index: int) -> str:
    """Give an address that an instance of the town may have again later."""
    async with hand(TOWN, index) as once:
        return once.addresses[0]


def listening(address: str) -> tuple[str, ...]:
    return (address.partition("/p2p/")[0],)


@pytest.mark.trio
async def test_nobody_there_is_told_and_called_ever_more_patiently() -> None:
    jitter = Jitter()
    with trio.fail_after(30):
        address = await address_of(1)
        async with party(TOWN, 0) as one, dialling(one, jitter) as dialer:
            dialer.add(address)
            assert dialer.calls[address].why == "not called yet"
            await until(lambda: len(jitter.waits) >= 9)

            assert jitter.waits[:9] == [1, 2, 4, 8, 16, 32, LONGEST_S, LONGEST_S, LONGEST_S]
            assert dialer.calls[address].why
            assert dialer.calls[address].instance is None


@pytest.mark.trio
async def test_a_peer_that_comes_up_is_found_and_one_that_restarts_is_found_again() -> None:
    jitter = Jitter(0.02)
    with trio.fail_after(40):
        address = await address_of(1)
        async with party(TOWN, 0) as one, dialling(one, jitter) as dialer:
            dialer.add(address)
            await until(lambda: len(jitter.waits) >= 2)
            for _ in range(2):
                async with party(TOWN, 1, listen=listening(address)) as two:
                    await until(lambda: one.links.connected == (two.instance,))
                    await until(lambda: dialer.calls[address].why == "")
                    assert dialer.calls[address].instance == two.instance
                    assert two.links.connected == (one.instance,)
                    # While they talk nobody calls.
                    calls = len(jitter.waits)
                    await trio.sleep(0.1)
                    assert len(jitter.waits) <= calls + 1
                await until(lambda: one.links.connected == ())
                waits = len(jitter.waits)
                await until(lambda: len(jitter.waits) >= waits + 2)  # noqa: B023
                # Its patience has begun anew.
                assert jitter.waits[waits] <= 2
                assert dialer.calls[address].why != ""


@pytest.mark.trio
async def test_a_refusal_is_told_and_tried_again_at_the_longest_interval() -> None:
    jitter = Jitter()
    with trio.fail_after(30):
        async with party(TOWN, 0) as one, hand(TOWN, 1) as two:

            async def refuse(stream: Stream) -> None:
                await stream.receive(deadline_s=5)
                await stream.send(frame(Refusal(code="WRONG_REALM", why="w", fix="f")))

            two.serve(HELLO, refuse)
            async with dialling(one, jitter) as dialer:
                dialer.add(two.addresses[0])
                await until(lambda: len(jitter.waits) >= 2)

                assert set(jitter.waits) == {LONGEST_S}
                assert "refuses this instance" in dialer.calls[two.addresses[0]].why
                assert one.links.connected == ()


@pytest.mark.trio
async def test_the_log_has_the_code_of_a_refusal_once_and_no_word_of_the_peers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    jitter, said = Jitter(), 0
    with trio.fail_after(30), caplog.at_level("INFO", logger="folkmoot"):
        async with party(TOWN, 0) as one, hand(TOWN, 1) as two:

            async def refuse(stream: Stream) -> None:
                nonlocal said
                said += 1
                await stream.receive(deadline_s=5)
                why = f"node.ready\n{said} url=http://evil"
                await stream.send(frame(Refusal(code="WRONG_REALM", why=why, fix="f")))

            two.serve(HELLO, refuse)
            async with dialling(one, jitter) as dialer:
                address = two.addresses[0]
                dialer.add(address)
                await until(lambda: "(node.ready 3 url" in dialer.calls[address].why)

    lines = [line for line in caplog.messages if line.startswith("peer.unreachable")]
    assert lines == [f"peer.unreachable address={address} code=WRONG_REALM"]
    assert not any("evil" in line for line in caplog.messages)


@pytest.mark.trio
async def test_a_connection_that_breaks_is_no_refusal() -> None:
    jitter = Jitter()
    with trio.fail_after(30):
        async with party(TOWN, 0) as one, hand(TOWN, 1) as two:

            async def vanish(stream: Stream) -> None:
                await stream.receive(deadline_s=5)
                await two.disconnect(one.host.key)

            two.serve(HELLO, vanish)
            async with dialling(one, jitter) as dialer:
                dialer.add(two.addresses[0])
                await until(lambda: len(jitter.waits) >= 2)

                assert jitter.waits[0] == 1


@pytest.mark.trio
async def test_another_identity_at_an_address_is_told() -> None:
    jitter = Jitter()
    with trio.fail_after(30):
        async with party(TOWN, 0) as one, hand(TOWN, 1) as two, host(7) as other:
            port = int(two.addresses[0].split("/")[4])
            async with dialling(one, jitter) as dialer:
                address = at(port, other.peer_id)
                dialer.add(address)
                await until(lambda: jitter.waits != [])

                assert jitter.waits[0] == LONGEST_S
                assert "another identity" in dialer.calls[address].why


@pytest.mark.trio
async def test_a_dropped_address_is_called_no_more_and_can_be_added_again() -> None:
    jitter = Jitter()
    with trio.fail_after(30):
        address = await address_of(1)
        async with party(TOWN, 0) as one, dialling(one, jitter) as dialer:
            dialer.add(address)
            dialer.add(address)
            await until(lambda: jitter.waits != [])
            dialer.drop(address)
            dialer.drop(address)
            await trio.sleep(0.05)
            waits = len(jitter.waits)
            await trio.sleep(0.1)
            assert len(jitter.waits) == waits
            assert dialer.calls == {}
            dialer.add(address)
            await until(lambda: len(jitter.waits) > waits)


@pytest.mark.trio
async def test_addresses_are_kept_while_it_does_not_run_and_over_a_restart_of_the_part() -> None:
    jitter = Jitter()
    with trio.fail_after(30):
        address, dropped = await address_of(1), at(1, (await address_of(1)).split("/p2p/")[1])
        async with party(TOWN, 0) as one:
            dialer = Dialer(one.host, one.links, jitter=jitter)
            dialer.add(address)
            dialer.add(dropped)
            dialer.drop(dropped)
            for _ in range(3):
                waits = len(jitter.waits)
                with trio.CancelScope() as scope:
                    async with trio.open_nursery() as nursery:
                        nursery.start_soon(dialer.run)
                        await until(lambda: len(jitter.waits) > waits)  # noqa: B023
                        scope.cancel()
            # In between, an address may come too.
            dialer.add(dropped)
            assert set(dialer.calls) == {address, dropped}


@pytest.mark.trio
async def test_one_that_called_here_is_not_called() -> None:
    jitter = Jitter()
    with trio.fail_after(30):
        async with (
            party(TOWN, 0) as one,
            party(TOWN, 1) as two,
            dialling(two, Jitter()) as theirs,
            dialling(one, jitter) as ours,
        ):
            theirs.add(one.host.addresses[0])
            await until(lambda: one.links.connected == (two.instance,))
            ours.add(two.host.addresses[0])
            await until(lambda: ours.calls[two.host.addresses[0]].why == "")

            assert jitter.waits == []
            assert ours.calls[two.host.addresses[0]].instance == two.instance


@pytest.mark.trio
async def test_a_lifted_ban_is_noticed_at_once() -> None:
    with trio.fail_after(30):
        async with party(TOWN, 0) as one, party(TOWN, 1) as two:
            one.book.ban(two.host.key, minutes=5, why="the operator said so")
            async with dialling(one, Jitter(1_000)) as dialer:
                address = two.host.addresses[0]
                dialer.add(address)
                await until(lambda: "more minutes" in dialer.calls[address].why)
                assert one.links.connected == ()
                one.book.ban(two.host.key, minutes=0, why="it was enough")
                dialer.hurry()
                await until(lambda: one.links.connected == (two.instance,))
