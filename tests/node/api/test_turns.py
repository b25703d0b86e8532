"""One request at a time for each address, and no trace of who is gone."""

import pytest
import trio
import trio.testing

from node.api.limits import Limits
from node.api.turns import Turns

STRICT = Limits(spares_loopback=False)


async def most_at_once(turns: Turns, addresses: list[str]) -> int:
    now = most = 0

    async def one(address: str) -> None:
        nonlocal now, most
        async with turns.of(address):
            now += 1
            most = max(most, now)
            await trio.sleep(1)
            now -= 1

    async with trio.open_nursery() as nursery:
        for address in addresses:
            nursery.start_soon(one, address)
    return most


@pytest.mark.trio
async def test_an_address_has_one_turn_and_others_have_theirs(
    autojump_clock: trio.testing.MockClock,
) -> None:
    del autojump_clock
    turns = Turns(STRICT)

    assert await most_at_once(turns, ["192.0.2.1"] * 5) == 1
    assert await most_at_once(turns, ["2001:db8::1", "2001:db8::2"]) == 1
    assert await most_at_once(turns, ["192.0.2.1", "192.0.2.2", "192.0.2.1"]) == 2
    assert len(turns) == 0


@pytest.mark.trio
async def test_loopback_is_spared(autojump_clock: trio.testing.MockClock) -> None:
    del autojump_clock
    assert await most_at_once(Turns(Limits()), ["127.0.0.1"] * 5) == 5
    assert await most_at_once(Turns(STRICT), ["127.0.0.1"] * 5) == 1


@pytest.mark.trio
async def test_who_gives_up_or_fails_leaves_no_trace(
    autojump_clock: trio.testing.MockClock,
) -> None:
    del autojump_clock
    turns = Turns(STRICT)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(most_at_once, turns, ["192.0.2.1"] * 3)
        await trio.sleep(0.5)
        nursery.cancel_scope.cancel()
    with pytest.raises(ZeroDivisionError):
        async with turns.of("192.0.2.1"):
            raise ZeroDivisionError

    assert len(turns) == 0
    assert await most_at_once(turns, ["192.0.2.1"]) == 1
