"""Real processes of `folkmoot run`, one for each instance of a realm; killed and started at will."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import msgspec
import trio

from node.base.paths import write_private
from node.demo.instance import Instance
from node.keys import DEFAULT
from tests.cluster.town import LONG, town
from tests.node.runtime.realm import PASSPHRASE, Realm

_LOOK_S = 0.1
_READY_S = 40.0


@asynccontextmanager
async def processes(
    root: Path, *, commit: int = LONG
) -> AsyncIterator[tuple[Realm, list[Instance]]]:
    """Run three instances that know each other; each is stopped, or killed, at the end."""
    realm = town(root, cost=DEFAULT, commit=commit)
    secret = root / "passphrase"
    write_private(secret, PASSPHRASE + b"\n")
    running = [
        Instance(place=place, data=data, passphrase_file=secret, log=root / f"log{place}")
        for place, data in enumerate(realm.places)
    ]
    try:
        async with trio.open_nursery() as nursery:
            for one in running:
                nursery.start_soon(one.start)
        for number, one in enumerate(running):
            for other in running[:number]:
                assert other.address is not None
                answer = await one.post("/v1/admin/peers", {"address": other.address.addresses[0]})
                assert answer.is_success, answer.text
        for one in running:
            await is_ready(one)
        yield realm, running
    finally:
        with trio.CancelScope(shield=True):
            for one in running:
                await one.stop()
                await one.client.aclose()


async def is_ready(one: Instance) -> None:
    with trio.fail_after(_READY_S):
        while (await one.client.get(one.url + "/ready")).is_error:  # noqa: ASYNC110 # as below
            await trio.sleep(_LOOK_S)


async def look(one: Instance, path: str) -> dict[str, object]:
    """Read a route of an instance; empty while it has nothing there."""
    try:
        return msgspec.json.decode(await one.get(path), type=dict[str, object])
    except httpx.HTTPStatusError:
        return {}


async def until_all(
    running: list[Instance], path: str, claim: object, *, within: float = 40
) -> None:
    """Wait until a route of every instance says what it should."""
    assert callable(claim)
    with trio.fail_after(within):
        for one in running:
            while not claim(await look(one, path)):  # noqa: ASYNC110 # processes have no event
                await trio.sleep(_LOOK_S)
