"""`folkmoot run`: it says where it listens, and ends in order, whoever hangs on to it."""

import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import trio

from node.base.errors import LockedError, NetworkError, NodeCode, NodeError, StoreError
from node.runtime import running as module
from node.runtime.running import Running, run
from tests.node.runtime.drive import break_disk
from tests.node.runtime.quick import agents_of, propose, quick
from tests.node.runtime.realm import Realm, introduce, until


@asynccontextmanager
async def running(
    town: Realm, *, stop: Callable[[], None] | None = None, http_port: int = 0
) -> AsyncIterator[Running]:
    """Run an instance as the command line does; it must have ended by itself within 5 s."""
    found: list[Running] = []
    ready, over = trio.Event(), trio.Event()
    event = trio.Event()

    def tell(one: Running) -> None:
        found.append(one)
        ready.set()

    async def main() -> None:
        names = ("moot.example",)
        settings = replace(town.settings(0), http_port=http_port, http_names=names)
        await run(town.places[0], settings, town.keystore(0), ready=tell, stop=event)
        over.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(main)
        with trio.fail_after(10):
            await ready.wait()
        yield found[0]
        (stop or event.set)()
        with trio.fail_after(5):
            await over.wait()


@pytest.mark.trio
async def test_it_says_where_it_listens_as_long_as_it_does(tmp_path: Path) -> None:
    town = quick(tmp_path)
    place = town.places[0].address
    async with running(town) as it:
        told = json.loads(place.read_bytes())

        assert told == {"url": it.url, "addresses": list(it.addresses), "pid": os.getpid()}
        assert place.stat().st_mode & 0o777 == 0o600
        assert it.node.host is not None
        assert it.addresses == it.node.host.addresses
        async with httpx.AsyncClient(base_url=it.url, trust_env=False) as client:
            assert (await client.get("/ready")).status_code == 200
            named = await client.get("/ready", headers={"host": "moot.example"})
            assert named.status_code == 200
    assert not place.exists()


@pytest.mark.trio
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_in_order(tmp_path: Path, number: signal.Signals) -> None:
    town = quick(tmp_path)
    async with running(town, stop=lambda: os.kill(os.getpid(), number)) as it:
        record = await propose(it.node, agents_of(town)[0])
    async with town.node(0) as node:
        assert record.id in node.world.log


@pytest.mark.trio
async def test_it_ends_soon_although_streams_are_open_and_peers_connected(
    tmp_path: Path,
) -> None:
    town = quick(tmp_path, instances=2, agents=2)
    with trio.fail_after(40):
        async with town.node(1) as other, httpx.AsyncClient(trust_env=False, timeout=20) as client:
            ended = []
            async with trio.open_nursery() as nursery:

                async def follow(url: str, started: trio.Event) -> None:
                    async with client.stream("GET", f"{url}/v1/events") as stream:
                        async for _ in stream.aiter_bytes():
                            started.set()
                    ended.append(url)

                async with running(town) as it:
                    introduce([it.node, other])
                    await until(lambda: other.links.connected == (it.node.instance,))
                    for _ in range(3):
                        started = trio.Event()
                        nursery.start_soon(follow, it.url, started)
                        await started.wait()
                    await until(lambda: it.node.health().state == "ready")
                    record = await propose(it.node, agents_of(town)[0])
                    began = trio.current_time()
                assert trio.current_time() - began < 5
            assert len(ended) == 3
            async with town.node(0) as node:
                assert record.id in node.world.log


@pytest.mark.trio
async def test_a_port_that_is_taken_is_told_instead_of_waiting_for_ever(tmp_path: Path) -> None:
    town = quick(tmp_path)
    with trio.fail_after(20):
        (taken,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = taken.socket.getsockname()[1]
        with pytest.raises(NetworkError) as refused:
            await run(town.places[0], replace(town.settings(0), http_port=port), town.keystore(0))
        await taken.aclose()
        # Nothing is left that would keep it from starting.
        async with running(town, http_port=port):
            pass

    assert refused.value.code is NodeCode.NOT_BOUND
    assert not town.places[0].address.exists()


@pytest.mark.trio
async def test_a_held_directory_is_one_plain_error(tmp_path: Path) -> None:
    town = quick(tmp_path)
    with trio.fail_after(20):
        async with town.node(0):
            with pytest.raises(LockedError):
                await run(town.places[0], town.settings(0), town.keystore(0))


@pytest.mark.trio
async def test_a_store_that_fails_ends_it_with_the_reason(tmp_path: Path) -> None:
    town = quick(tmp_path)

    def tell(one: Running) -> None:
        # The next cut cannot be stored.
        break_disk(one.node.store)

    with trio.fail_after(20), pytest.raises(StoreError) as failed:
        await run(town.places[0], town.settings(0), town.keystore(0), ready=tell)

    assert failed.value.code is NodeCode.STORE_FAILED
    assert not town.places[0].address.exists()


@pytest.mark.trio
async def test_a_surface_that_fails_listens_again_where_it_was_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    town = quick(tmp_path)
    serve, calls = module.serve, list[int]()
    broken = trio.Event()

    async def failing(*args: object, port: int, **rest: object) -> None:
        calls.append(port)
        if len(calls) > 1:
            await serve(*args, port=port, **rest)  # type: ignore[arg-type] # passed on as it came
            return
        async with trio.open_nursery() as nursery:

            async def once() -> None:
                await serve(*args, port=port, **rest)  # type: ignore[arg-type] # as above

            nursery.start_soon(once)
            await broken.wait()
            raise OSError("it broke")

    monkeypatch.setattr(module, "serve", failing)
    async with running(town) as it:
        broken.set()
        await until(lambda: len(calls) == 2)
        async with httpx.AsyncClient(base_url=it.url, trust_env=False) as client:
            with trio.fail_after(10):
                while True:
                    try:
                        assert (await client.get("/ready")).status_code == 200
                        break
                    except httpx.TransportError:
                        await trio.sleep(0.05)

    assert calls == [0, int(it.url.rpartition(":")[2])]


def test_of_several_errors_the_first_of_ours_is_told() -> None:
    ours = NodeError("no", why="w", fix="f", code=NodeCode.BUSY)
    group = BaseExceptionGroup("", [ValueError(), BaseExceptionGroup("", [OSError(), ours])])

    assert module._first(group) is ours
    assert module._first(BaseExceptionGroup("", [ValueError()])) is None


@pytest.mark.trio
async def test_what_is_no_error_of_ours_is_not_hidden(tmp_path: Path) -> None:
    town = quick(tmp_path)

    def tell(one: Running) -> None:
        del one
        raise LookupError("a bug")

    with trio.fail_after(20), pytest.raises(BaseExceptionGroup) as raised:
        await run(town.places[0], town.settings(0), town.keystore(0), ready=tell)

    assert raised.value.subgroup(LookupError) is not None


@pytest.mark.trio
async def test_an_operators_token_that_is_gone_is_made_anew(tmp_path: Path) -> None:
    town = quick(tmp_path)
    place = town.places[0]
    lost = place.operator_token.read_text(encoding="ascii").strip()
    # What the error about damaged tokens tells an operator to do.
    place.tokens.unlink()
    place.operator_token.unlink()
    async with running(town) as it, httpx.AsyncClient(trust_env=False) as client:
        fresh = place.operator_token.read_text(encoding="ascii").strip()
        peers = f"{it.url}/v1/peers"
        old, new = [
            (await client.get(peers, headers={"Authorization": f"Bearer {token}"})).status_code
            for token in (lost, fresh)
        ]

    assert (old, new) == (401, 200)
    assert place.operator_token.stat().st_mode & 0o777 == 0o600
