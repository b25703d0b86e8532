"""The server: where it listens, how many it serves, how it stops, what cannot stop it."""

import socket
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import trio

from node.api import serve
from node.api.limits import Rate
from node.base.errors import NetworkError, NodeCode
from tests.node.api.living import QUICK, Living, living, until

ASK = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"


async def connect(it: Living) -> trio.SocketStream:
    return await trio.open_tcp_stream("127.0.0.1", it.port)


async def whole_answer(line: trio.SocketStream) -> bytes:
    came = b""
    while not came.endswith(b"}"):
        came += await line.receive_some()
    return came


@pytest.mark.trio
async def test_port_zero_takes_a_free_port_and_tells_it(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client() as client:
            assert it.url.startswith("http://127.0.0.1:")
            assert it.port > 0
            assert (await client.get("/health")).json()["state"] == "ready"


@pytest.mark.trio
@pytest.mark.parametrize("host", ["127.0.0.1", "192.0.2.7", "no.such.host.invalid"])
async def test_an_address_that_cannot_be_had_is_told(tmp_path: Path, host: str) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it:
            with pytest.raises(NetworkError) as caught:
                await serve(
                    it.node, host=host, port=it.port, ready=lambda _: None, stop=trio.Event()
                )

    assert caught.value.code is NodeCode.NOT_BOUND
    assert str(it.port) in caught.value.what


@pytest.mark.trio
async def test_stopping_ends_streams_and_idle_connections_at_once(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path, limits=replace(QUICK, idle_s=60.0)) as it:
            idle = await connect(it)
            await idle.send_all(ASK)
            await whole_answer(idle)
            async with it.client() as client, client.stream("GET", "/v1/events") as stream:
                began = trio.current_time()
                it.stop.set()
                async for _ in stream.aiter_text():
                    pass
                async with idle:
                    assert await idle.receive_some() == b""

            assert trio.current_time() - began < 2.0
            assert not _accepts(it.port)


@pytest.mark.trio
async def test_a_request_in_progress_gets_its_answer_while_the_node_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    durable = trio.Event()
    answers = []

    async def ask(client: httpx.AsyncClient) -> None:
        answers.append(await client.get("/v1/realm"))

    with trio.fail_after(15):
        async with living(tmp_path, limits=replace(QUICK, drain_s=5.0)) as it, it.client() as one:
            monkeypatch.setattr(it.node, "flushed", durable.wait)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ask, one)
                await trio.sleep(0.2)
                it.stop.set()
                durable.set()

    assert answers[0].status_code == 200


@pytest.mark.trio
async def test_a_client_that_reads_nothing_cannot_keep_the_node_from_stopping(
    tmp_path: Path,
) -> None:
    free = Rate(per_second=10**6, burst=10**6)
    limits = replace(QUICK, send_s=60.0, by_address=free)
    with trio.fail_after(20):
        async with living(tmp_path, limits=limits) as it:
            lazy = await connect(it)
            lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            page = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n"
            with trio.move_on_after(1.0):
                while True:
                    await lazy.send_all(page)
            began = trio.current_time()
            it.stop.set()
            with trio.move_on_after(5.0):
                await until(lambda: not _accepts(it.port))
        assert trio.current_time() - began < 3.0
        await lazy.aclose()


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.trio
async def test_a_client_that_reads_nothing_is_cut_off(tmp_path: Path) -> None:
    free = Rate(per_second=10**6, burst=10**6)
    with trio.fail_after(20):
        async with living(tmp_path, limits=replace(QUICK, by_address=free)) as it:
            lazy = await connect(it)
            page = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n"

            async def ask_for_ever() -> None:
                while True:
                    await lazy.send_all(page * 20)

            with pytest.raises(trio.BrokenResourceError):
                await ask_for_ever()
            await lazy.aclose()


@pytest.mark.trio
async def test_one_connection_too_many_is_told_so(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path, limits=replace(QUICK, connections=2, idle_s=60.0)) as it:
            first, second = await connect(it), await connect(it)
            for line in (first, second):
                await line.send_all(ASK)
                assert b" 200 " in await whole_answer(line)
            async with it.client() as client:
                third = await client.get("/health")
            await first.aclose()
            await trio.sleep(0.1)
            async with it.client() as client:
                fourth = await client.get("/health")
            await second.aclose()

    assert (third.status_code, third.json()["code"]) == (503, "BUSY")
    assert fourth.status_code == 200


@pytest.mark.trio
async def test_an_address_with_too_many_connections_is_told_so(tmp_path: Path) -> None:
    limits = replace(QUICK, of_address=2, spares_loopback=False, idle_s=60.0)
    with trio.fail_after(15):
        async with living(tmp_path, limits=limits) as it:
            first, second = await connect(it), await connect(it)
            for line in (first, second):
                await line.send_all(ASK)
                assert b" 200 " in await whole_answer(line)
            async with it.client() as client:
                third = await client.get("/health")
            await first.aclose()
            await trio.sleep(0.1)
            async with it.client() as client:
                fourth = await client.get("/health")
            await second.aclose()

    assert (third.status_code, third.json()["code"]) == (503, "BUSY")
    assert fourth.status_code == 200


@pytest.mark.trio
async def test_a_fault_in_one_connection_ends_that_connection_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object) -> None:
        raise ValueError("a secret of this request")

    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client() as client:
            monkeypatch.setattr("node.api.server._Http._create_stream", broken)
            with pytest.raises(httpx.HTTPError):
                await client.get("/health")
            monkeypatch.undo()
            answer = await client.get("/health")

    assert answer.status_code == 200
    assert "ValueError" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.trio
async def test_no_token_stands_in_a_log_or_an_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client(it.operator) as client:
            seen = [
                (await client.request(method, path, json=body)).text
                for method, path, body in (
                    ("GET", "/v1/peers", None),
                    ("GET", f"/v1/artifacts/{it.operator}", None),
                    ("POST", "/v1/admin/peers", {"address": it.operator}),
                    ("POST", "/v1/artifacts", {it.operator: 1}),
                    ("POST", "/v1/artifacts", {"title": "t", "topics": [it.operator]}),
                )
            ]
            secret = it.operator[3:]

    # The client of this test logs what it asks for.
    logged = [one.getMessage() for one in caplog.records if not one.name.startswith("http")]
    assert secret not in "".join(logged)
    assert secret not in "".join(seen)


@pytest.mark.trio
async def test_a_host_of_several_addresses_listens_on_one_of_them(tmp_path: Path) -> None:
    stop = trio.Event()
    urls: list[str] = []

    def ready(url: str) -> None:
        urls.append(url)
        stop.set()

    with trio.fail_after(15):
        async with living(tmp_path) as it:
            await serve(it.node, host="localhost", port=0, ready=ready, stop=stop)

    assert len(urls) == 1
    assert urls[0].startswith(("http://127.0.0.1:", "http://[::1]:"))
