"""From what happens to what agents are told: once each, also when the node dies in between."""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import httpx
import pytest
import trio

from federation.protocol import custody
from federation.records import AgentSubscribe
from node.notification.letters import Letter, letter_of
from node.notification.service import Notification
from node.store import Store
from tests.node.api.living import Living, found, living, proposal, until


async def told(store: Store) -> list[tuple[bytes, Letter]]:
    """List all notices of a store, oldest first."""
    agents = await store.notices._fetch("SELECT DISTINCT agent FROM notices", ())
    found = [
        (one.agent, letter_of(one))
        for (agent,) in agents
        for one in await store.notices.unread(agent, 0, 10_000)  # type: ignore[arg-type]
    ]
    return sorted(found, key=lambda one: one[1].cursor)


def names(rows: list[tuple[bytes, Letter]]) -> Counter[tuple[bytes, str, str, str | None]]:
    return Counter((agent, one.kind.value, one.subject, one.phase) for agent, one in rows)


async def nothing(_: Notification) -> None:
    """Stand in for the task that writes notices."""
    await trio.sleep_forever()


async def until_told(store: Store, kind: str) -> None:
    """Wait until somebody was told something of a kind."""
    with trio.fail_after(20):
        while kind not in {one.kind for _, one in await told(store)}:  # noqa: ASYNC110 # none for it
            await trio.sleep(0.05)


async def propose(client: httpx.AsyncClient, **more: object) -> str:
    answer = await client.post("/v1/artifacts", json=proposal(**more))
    assert answer.is_success, answer.text
    return str(answer.json()["id"])


async def decided(it: Living, artifact: str, *, votes: str = "for") -> None:
    """Let everybody but the author vote, and wait for the verdict."""
    async with it.client(it.operator) as operator:

        async def shown() -> dict[str, object]:
            answer: dict[str, object] = (await operator.get(f"/v1/artifacts/{artifact}")).json()
            return answer

        with trio.fail_after(20):
            while (page := await shown())["phase"] != "commit":  # noqa: ASYNC110 # the same
                await trio.sleep(0.02)
        for agent in it.agents[1:]:
            answer = await operator.post(
                f"/v1/rounds/{page['round']}/vote",
                json={
                    "agent": agent.hex(),
                    "choice": votes,
                    "reason": "accurate",
                    "basis": "tool",
                },
            )
            assert answer.is_success, answer.text
        with trio.fail_after(20):
            while not (page := await shown())["verdict"]:  # noqa: ASYNC110 # the same
                await trio.sleep(0.02)


@pytest.mark.trio
async def test_what_happened_while_nobody_wrote_notices_is_told_after_a_restart_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = found(tmp_path)
    with trio.fail_after(60):
        async with living(tmp_path, data=data) as it:
            # A first start notes where it is.
            await until(lambda: it.node.notification._noticing._event)
        with monkeypatch.context() as patch:
            patch.setattr(Notification, "notice", nothing)
            async with living(tmp_path, data=data) as it, it.acting(0) as alice:
                artifact = await propose(alice)
                await decided(it, artifact)
                assert await told(it.node.store) == []
        async with living(tmp_path, data=data) as it:
            await until_told(it.node.store, "verdict")
            first = names(await told(it.node.store))
        async with living(tmp_path, data=data) as it:
            await trio.sleep(1)
            again = names(await told(it.node.store))
            alice_id, bert_id, *_ = it.agents

    assert first == again
    assert set(first.values()) == {1}
    kinds = {(agent, kind, phase) for agent, kind, _, phase in first}
    assert (alice_id, "verdict", None) in kinds
    assert (bert_id, "phase", "commit") in kinds
    assert (alice_id, "phase", "commit") not in kinds


@pytest.mark.trio
async def test_a_match_is_told_to_who_offers_to_review_the_topic(tmp_path: Path) -> None:
    with trio.fail_after(40):
        async with living(tmp_path) as it, it.acting(0) as alice:
            offer = AgentSubscribe(topics=("science",), keywords=(), on=True)
            await it.node.sign(
                it.agents[1],
                lambda world, keyring, now: custody.author(world, keyring, offer, now=now),
            )
            await until(lambda: it.node.world.state.agents[it.agents[1]].offer)
            far = await propose(alice, title="Something else", topics=["art"], prose="Else.")
            await until(lambda: len(it.node.world.rounds) == 1)
            near = await propose(alice)
            await until_told(it.node.store, "match")
            rows = [(agent, one) for agent, one in await told(it.node.store) if one.kind == "match"]

    assert [(agent, one.artifact) for agent, one in rows] == [(it.agents[1], near)]
    assert far != near


@pytest.mark.trio
async def test_an_author_is_told_that_its_artifact_does_not_stand_any_more(tmp_path: Path) -> None:
    with trio.fail_after(60):
        async with living(tmp_path) as it, it.acting(0) as alice:
            artifact = await propose(alice)
            await decided(it, artifact)
            await until(
                lambda: it.node.world.state.artifacts[bytes.fromhex(artifact)].state == "active"
            )
            gone = await alice.post(
                f"/v1/artifacts/{artifact}/withdraw", json={"reason": "It was wrong."}
            )
            assert gone.is_success, gone.text
            await until_told(it.node.store, "retracted")
            rows = await told(it.node.store)

    assert {(agent, one.artifact) for agent, one in rows if one.kind == "retracted"} == {
        (it.agents[0], artifact)
    }
    assert not [one for _, one in rows if one.kind == "flagged"]


@pytest.mark.trio
async def test_what_was_told_and_forgotten_is_not_told_again(tmp_path: Path) -> None:
    data = found(tmp_path)
    with trio.fail_after(60):
        async with living(tmp_path, data=data) as it, it.acting(0) as alice:
            await decided(it, await propose(alice))
            await until_told(it.node.store, "verdict")
        with closing(sqlite3.connect(data.database)) as database, database:
            database.execute("DELETE FROM notices")
        async with living(tmp_path, data=data) as it:
            await trio.sleep(1)
            assert await told(it.node.store) == []


@pytest.mark.trio
async def test_of_what_was_over_before_the_first_start_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = found(tmp_path)
    with trio.fail_after(60):
        with monkeypatch.context() as patch:
            patch.setattr(Notification, "notice", nothing)
            async with living(tmp_path, data=data) as it, it.acting(0) as alice:
                await decided(it, await propose(alice))
                await until(lambda: all(one.closed for one in it.node.world.rounds.values()))
        async with living(tmp_path, data=data) as it, it.acting(0) as alice:
            await until(lambda: it.node.notification._noticing._event)
            await propose(alice, title="Another", prose="Another.")
            await until_told(it.node.store, "phase")
            rows = await told(it.node.store)

    assert {one.kind for _, one in rows} == {"phase"}


@pytest.mark.trio
async def test_where_events_are_gone_the_open_rounds_stand_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = found(tmp_path)
    with trio.fail_after(60):
        with monkeypatch.context() as patch:
            patch.setattr(Notification, "notice", nothing)
            async with living(tmp_path, data=data) as it, it.acting(0) as alice:
                await propose(alice)
                await until(
                    lambda: [
                        one for one in it.node.world.rounds.values() if one.phase == "deliberate"
                    ]
                )
                await it.node.flushed()
        with closing(sqlite3.connect(data.database)) as database, database:
            database.execute("INSERT INTO noted (one, event, tick) VALUES (1, 0, 0)")
            database.execute("UPDATE events SET cursor = cursor + 1000000")
        async with living(tmp_path, data=data) as it:
            await until_told(it.node.store, "phase")
            assert it.node.notification._noticing._event > 1_000_000


@pytest.mark.trio
async def test_a_text_that_cannot_be_compared_holds_up_nothing(tmp_path: Path) -> None:
    async def fails(_: object, artifact: bytes) -> list[bytes]:
        raise ZeroDivisionError(artifact)

    with trio.fail_after(40):
        async with living(tmp_path) as it, it.acting(0) as alice:
            it.node.notification._noticing._interested = fails  # type: ignore[assignment]
            await propose(alice)
            await until_told(it.node.store, "phase")
