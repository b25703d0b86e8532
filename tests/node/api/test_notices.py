"""Notices over HTTP: what an agent is told, once, until it says that it has dealt with it."""

from functools import partial
from pathlib import Path

import httpx
import pytest
import trio

from node.api.notices import PATIENT, _opened
from node.store.notices import SaveNotice
from node.store.schema import NOTICES_KEPT
from tests.node.api.living import Living, found, living, proposal, until
from tests.node.api.test_events import Following, Told


def box(it: Living, index: int = 1) -> str:
    return f"/v1/agents/{it.agents[index].hex()}/notices"


async def read(client: httpx.AsyncClient, it: Living, index: int = 1, **query: int) -> dict:  # type: ignore[type-arg]
    answer = await client.get(box(it, index), params=query, timeout=40)
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


def made(agent: bytes, number: int, kind: str = "match") -> SaveNotice:
    return SaveNotice(
        agent=agent,
        kind=kind,
        subject=number.to_bytes(32, "big"),
        about="",
        body=b'{"why":"It may be of interest."}',
        at=number,
    )


async def fill(it: Living, *notices: SaveNotice) -> None:
    """Store notices as the node does, and wake who waits for them."""
    await it.node.store.write(notices)
    it.node.notification.mailboxes.wake({one.agent for one in notices})


@pytest.mark.trio
async def test_a_reviewer_is_told_when_it_may_vote_and_the_author_how_it_ended(
    tmp_path: Path,
) -> None:
    with trio.fail_after(40):
        async with living(tmp_path) as it, it.acting(0) as alice, it.acting(1) as bert:
            proposed = (await alice.post("/v1/artifacts", json=proposal())).json()["id"]
            first = await read(bert, it, wait=25)
            told = [one for one in first["notices"] if one["kind"] == "phase"]
            while not told:
                first = await read(bert, it, after=first["next"], wait=25)
                told = [one for one in first["notices"] if one["kind"] == "phase"]
            last = await read(alice, it, 0, wait=25)
            while last["notices"][-1]["kind"] != "verdict":
                last = await read(alice, it, 0, after=last["next"], wait=25)

    assert (told[0]["phase"], told[0]["act"], told[0]["artifact"]) == ("commit", "vote", proposed)
    assert last["notices"][-1]["artifact"] == proposed
    assert not [one for one in last["notices"] if one["act"] == "vote"], "never its author"


@pytest.mark.trio
async def test_what_is_not_acknowledged_is_told_again_also_after_a_restart(tmp_path: Path) -> None:
    data = found(tmp_path)
    with trio.fail_after(40):
        async with living(tmp_path, data=data) as it, it.acting(1) as bert:
            await fill(it, *(made(it.agents[1], number) for number in range(5)))
            whole = (await read(bert, it))["notices"]
            again = (await read(bert, it))["notices"]
            done = await bert.post(f"{box(it)}/ack", json={"cursor": whole[1]["cursor"]})
            twice = await bert.post(f"{box(it)}/ack", json={"cursor": whole[1]["cursor"]})
        async with living(tmp_path, data=data) as it, it.acting(1) as bert:
            rest = (await read(bert, it))["notices"]
            behind = (await read(bert, it, after=whole[3]["cursor"]))["notices"]
            page = await read(bert, it, most=2)

    assert done.json() == twice.json() == {"done": True}
    assert [one["at"] for one in whole] == [0, 1, 2, 3, 4]
    assert again == whole
    assert rest == whole[2:]
    assert behind == whole[4:]
    assert page["next"] == whole[3]["cursor"]


@pytest.mark.trio
async def test_a_question_that_waits_is_answered_when_something_comes(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.acting(1) as bert:
            pages: list[dict[str, object]] = []

            async def ask() -> None:
                pages.append(await read(bert, it, wait=25))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(ask)
                await until(lambda: it.node.notification.mailboxes._moved)
                await fill(it, made(it.agents[2], 1))
                await trio.sleep(0.2)
                assert not pages, "it is another's"
                await fill(it, made(it.agents[1], 2))
            nothing = await read(bert, it, after=10**6, wait=1)

    assert [one["at"] for one in pages[0]["notices"]] == [2]  # type: ignore[attr-defined]
    assert nothing == {"notices": [], "next": 10**6, "missed": False}


@pytest.mark.trio
async def test_a_question_that_waits_ends_when_the_node_stops(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.acting(1) as bert, trio.open_nursery() as nursery:
            ended = trio.Event()

            async def ask() -> None:
                await read(bert, it, wait=25)
                ended.set()

            nursery.start_soon(ask)
            await until(lambda: it.node.notification.mailboxes._moved)
            it.stop.set()
            with trio.fail_after(3):
                await ended.wait()


@pytest.mark.trio
async def test_a_flood_of_one_kind_is_bounded_and_pushes_out_no_other(tmp_path: Path) -> None:
    with trio.fail_after(60):
        async with living(tmp_path) as it, it.acting(1) as bert:
            await fill(it, made(it.agents[1], 7, "sanction"))
            for start in range(0, 10_000, 1_000):
                await fill(it, *(made(it.agents[1], start + one) for one in range(1_000)))
            whole, after = list[dict[str, object]](), 0
            missed = []
            while True:
                page = await read(bert, it, after=after, most=200)
                missed.append(page["missed"])
                if not page["notices"]:
                    break
                whole += page["notices"]
                after = page["next"]
            await bert.post(f"{box(it)}/ack", json={"cursor": after})
            left = await it.node.store.notices._fetch("SELECT count(*) FROM notices", ())
            empty = await read(bert, it)

    kinds = [one["kind"] for one in whole]
    assert kinds.count("sanction") == 1
    assert kinds.count("match") == NOTICES_KEPT
    assert whole[-1]["at"] == 9_999
    assert missed[0] is True
    assert missed[-1] is False
    assert left[0][0] <= 64
    assert empty["notices"] == []


@pytest.mark.trio
async def test_the_same_notice_is_one(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.acting(1) as bert:
            for _ in range(3):
                await fill(it, made(it.agents[1], 1), made(it.agents[1], 1))
            found = (await read(bert, it))["notices"]

    assert len(found) == 1


@pytest.mark.trio
@pytest.mark.parametrize(
    "query",
    [{"after": -1}, {"after": "x"}, {"most": 0}, {"most": 201}, {"wait": 26}, {"wait": "1.5"}],
)
async def test_a_question_that_cannot_be_is_refused(
    tmp_path: Path, query: dict[str, object]
) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.acting(1) as bert:
            answer = await bert.get(box(it), params=query)  # type: ignore[arg-type]

    assert (answer.status_code, answer.json()["code"]) == (422, "BAD_FIELD")


@pytest.mark.trio
async def test_only_the_agent_itself_and_the_operator_read_and_acknowledge(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with (
            living(tmp_path) as it,
            it.acting(0) as alice,
            it.client(it.operator) as operator,
            it.client(it.token("read")) as reader,
        ):
            await fill(it, made(it.agents[1], 1))
            others = [
                await client.request(method, box(it) + end, **more)  # type: ignore[arg-type]
                for client in (alice, reader)
                for method, end, more in (
                    ("GET", "", {}),
                    ("GET", "/stream", {}),
                    ("POST", "/ack", {"json": {"cursor": 10**6}}),
                )
            ]
            seen = await read(operator, it)
            answers_for = it.node.world.state.instances[it.node.instance]
            own = await operator.get(f"/v1/agents/{answers_for.hex()}/notices")
            instance = await operator.get(f"/v1/agents/{it.node.instance.hex()}/notices")

    assert [one.status_code for one in others] == [403] * 6
    assert len(seen["notices"]) == 1
    assert own.status_code == 200
    assert instance.status_code == 404


async def follow(it: Living, index: int, **headers: str) -> Following:
    came = Following(await trio.open_tcp_stream("127.0.0.1", it.port))
    from node.access.tokens import act  # noqa: PLC0415

    told = {k.replace("_", "-"): v for k, v in headers.items()}
    await came.ask(
        f"{box(it, index)}/stream",
        {"authorization": f"Bearer {it.token(act(it.agents[index]))}", **told},
    )
    return came


@pytest.mark.trio
async def test_a_stream_begins_with_what_waits_and_goes_on_where_it_was(tmp_path: Path) -> None:
    data = found(tmp_path)
    with trio.fail_after(40):
        async with living(tmp_path, data=data) as it:
            await fill(it, *(made(it.agents[1], number) for number in range(3)))
            came = await follow(it, 1)
            early = await came.told(3)
            await fill(it, made(it.agents[1], 3))
            late = await came.told(1)
            await came._line.aclose()
        async with living(tmp_path, data=data) as it:
            came = await follow(it, 1, last_event_id=str(early[1].id))
            rest = await came.told(2)
            await came._line.aclose()
            lost = await follow(it, 1, last_event_id=str(10**9))
            reset, first = await lost.told(2)
            await lost._line.aclose()

    assert [one.data["at"] for one in early + late] == [0, 1, 2, 3]
    assert {one.event for one in early} == {"match"}
    assert rest == [early[2], *late]
    assert reset.event == "reset"
    assert first == early[0]


@pytest.mark.trio
async def test_a_quiet_stream_shows_signs_of_life(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it:
            came = await follow(it, 1)
            while isinstance(one := await came.one(), Told):
                pass
            await came._line.aclose()

    assert one == ": alive"


@pytest.mark.trio
async def test_one_agent_does_not_take_the_places_of_all_who_wait(tmp_path: Path) -> None:
    with trio.fail_after(30):
        async with living(tmp_path) as it, it.acting(1) as bert, it.acting(2) as carl:
            async with trio.open_nursery() as nursery:
                for _ in range(PATIENT):
                    nursery.start_soon(partial(read, bert, it, wait=25))
                await until(lambda: _opened()[it.agents[1]] == PATIENT)
                with trio.fail_after(5):
                    at_once = await read(bert, it, wait=25)
                stream = await bert.get(f"{box(it)}/stream")
                other = await follow(it, 2)
                await fill(it, made(it.agents[2], 1))
                told = await other.told(1)
                await other._line.aclose()
                # All who wait are answered, and then there is room again.
                await fill(it, made(it.agents[1], 1))
            await bert.post(f"{box(it)}/ack", json={"cursor": 10**6})
            again = trio.current_time()
            await read(bert, it, wait=1)
            waited = trio.current_time() - again
            assert (await read(carl, it, 2))["notices"]

    assert at_once["notices"] == []
    assert (stream.status_code, stream.json()["code"]) == (503, "BUSY")
    assert told[0].event == "match"
    assert waited >= 1
