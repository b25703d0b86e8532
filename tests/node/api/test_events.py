"""The stream of events: resumable, bounded, alive, and over when the node stops."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import h11
import httpx
import msgspec
import pytest
import trio

from federation.protocol.effects import Happening
from tests.node.api.living import QUICK, Living, found, living, proposal


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One event as a client reads it."""

    id: int
    event: str
    data: dict[str, object]


class Following:
    """A client of the stream, on a plain socket: events, and comments as text."""

    def __init__(self, line: trio.SocketStream) -> None:
        self._line = line
        self._http = h11.Connection(h11.CLIENT)
        self._text = ""
        self.status = 0

    async def ask(self, path: str, headers: dict[str, str]) -> None:
        request = h11.Request(
            method="GET", target=path, headers=[("host", "localhost"), *headers.items()]
        )
        await self._line.send_all(self._http.send(request) + self._http.send(h11.EndOfMessage()))
        answer = await self._next()
        assert isinstance(answer, h11.Response)
        kind = dict(answer.headers)[b"content-type"]
        assert kind.startswith(b"text/event-stream") == (answer.status_code == 200)
        self.status = answer.status_code

    async def _next(self) -> object:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self._http.receive_data(await self._line.receive_some())
        return event

    async def one(self) -> Told | str:
        """Give the next event or comment."""
        while True:
            while "\n\n" not in self._text:
                event = await self._next()
                assert isinstance(event, h11.Data), event
                self._text += event.data.decode()
            block, _, self._text = self._text.partition("\n\n")
            if block.startswith(":"):
                return block
            fields = dict(line.split(": ", 1) for line in block.splitlines())
            if "event" in fields:
                return Told(
                    id=int(fields["id"]),
                    event=fields["event"],
                    data=msgspec.json.decode(fields["data"]),
                )

    async def told(self, count: int) -> list[Told]:
        """Give the next events, without comments."""
        found: list[Told] = []
        while len(found) < count:
            one = await self.one()
            if isinstance(one, Told):
                found.append(one)
        return found


@asynccontextmanager
async def follow(it: Living, query: str = "", **headers: str) -> AsyncIterator[Following]:
    """Follow the events."""
    line = await trio.open_tcp_stream("127.0.0.1", it.port)
    async with line:
        came = Following(line)
        await came.ask(f"/v1/events{query}", {k.replace("_", "-"): v for k, v in headers.items()})
        yield came


async def follows_again(it: Living) -> None:
    """Wait until there is room for one stream more."""
    status = 0
    while status != 200:
        async with follow(it) as came:
            status = came.status


@pytest.mark.trio
async def test_what_happens_is_told_with_growing_cursors(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, follow(it) as came, it.acting(0) as alice:
            await alice.post("/v1/artifacts", json=proposal())
            told = await came.told(3)
            rounds = {one.hex() for one in it.node.world.rounds}

    assert {one.event for one in told} <= {word.value for word in Happening}
    assert [one.id for one in told] == sorted({one.id for one in told})
    assert all(one.data["cursor"] == one.id for one in told)
    assert {one.data["subject"] for one in told if one.event == "round"} <= rounds
    assert {one.data["phase"] for one in told if one.event == "phase"} == {"deliberate"}


@pytest.mark.trio
async def test_a_client_that_comes_back_misses_nothing_also_after_a_restart(
    tmp_path: Path,
) -> None:
    data = found(tmp_path)
    with trio.fail_after(30):
        async with living(tmp_path, data=data) as it, it.acting(0) as alice:
            await alice.post("/v1/artifacts", json=proposal())
            async with follow(it, "?after=0") as came:
                whole = await came.told(4)
            async with follow(it, "?after=0", last_event_id=str(whole[1].id)) as came:
                rest = await came.told(2)
        async with (
            living(tmp_path, data=data) as again,
            follow(again, f"?after={whole[0].id}") as came,
        ):
            after_restart = await came.told(3)

    assert rest == whole[2:]
    assert after_restart == whole[1:]


@pytest.mark.trio
async def test_without_a_cursor_only_what_is_new_is_told(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.acting(0) as alice:
            await alice.post("/v1/artifacts", json=proposal())
            async with follow(it, "?after=0") as came:
                await came.told(3)
            newest = it.node.events.last
            async with follow(it) as came:
                (first,) = await came.told(1)

    assert first.id > newest


@pytest.mark.trio
async def test_a_cursor_of_another_store_is_told_to_begin_anew(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, follow(it, "?after=1000000") as came:
            first, second = await came.told(2)

    assert first.event == "reset"
    assert first.id < 1_000_000
    assert second.id > first.id


@pytest.mark.trio
async def test_a_quiet_stream_shows_signs_of_life(tmp_path: Path) -> None:
    with trio.fail_after(20):
        limits = replace(QUICK, heartbeat_s=0.05)
        async with living(tmp_path, limits=limits) as it, follow(it) as came:
            while isinstance(one := await came.one(), Told):
                pass

    assert one == ": alive"


@pytest.mark.trio
async def test_a_stream_outlives_the_idle_time_of_a_connection(tmp_path: Path) -> None:
    limits = replace(QUICK, idle_s=0.1, heartbeat_s=0.05, send_s=0.2)
    with trio.fail_after(20):
        async with living(tmp_path, limits=limits) as it, follow(it) as came:
            seen = 0
            while seen < 12:
                seen += isinstance(await came.one(), str)

    assert seen == 12


@pytest.mark.trio
@pytest.mark.parametrize("cursor", ["x", "-1", "1.5", "9" * 30, ""])
async def test_what_is_no_cursor_is_refused(tmp_path: Path, cursor: str) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as client:
            by_query = await client.get("/v1/events", params={"after": cursor})
            by_header = await client.get("/v1/events", headers={"last-event-id": cursor})

    assert by_query.status_code == by_header.status_code == 422
    assert "after" in by_query.json()["why"]
    assert "Last-Event-ID" in by_header.json()["why"]


@pytest.mark.trio
async def test_one_stream_too_many_is_told_so_until_another_ends(tmp_path: Path) -> None:
    with trio.fail_after(20):
        limits = replace(QUICK, streams=1)
        async with living(tmp_path, limits=limits) as it, it.client() as client:
            async with follow(it):
                refused = await client.get("/v1/events")
                health = await client.get("/health")
            await follows_again(it)

    assert health.status_code == 200
    assert (refused.status_code, refused.json()["code"]) == (503, "BUSY")


@pytest.mark.trio
async def test_asking_for_the_head_of_a_stream_gives_a_head(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as client:
            answer = await client.head("/v1/events")

    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")


@pytest.mark.trio
async def test_a_client_that_goes_frees_its_stream(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path, limits=replace(QUICK, streams=1, heartbeat_s=60.0)) as it:
            for _ in range(3):
                await follows_again(it)


@pytest.mark.trio
async def test_a_stream_that_fails_is_cut_off_where_everybody_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(cursor: int, most: int) -> list[object]:
        raise ValueError(f"{cursor} {most}")

    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as client:
            monkeypatch.setattr(it.node.events, "after", fail)
            with pytest.raises(httpx.RemoteProtocolError):
                await client.get("/v1/events?after=0")
            monkeypatch.undo()
            assert (await client.get("/health")).status_code == 200
