"""Search, queue, subscriptions and hiding, on a real instance."""

from pathlib import Path

import httpx
import pytest
import trio

from node.recruitment import Why
from tests.node.api.living import Living, living, proposal, until
from tests.node.api.test_writes import VOTE, act, open_round


async def told(client: httpx.AsyncClient, path: str, **query: str | int) -> dict[str, object]:
    answer = await client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def rows(page: dict[str, object], name: str) -> list[dict[str, object]]:
    found = page[name]
    assert isinstance(found, list)
    return found


async def accepted(it: Living) -> str:
    """Have an artifact accepted; give its id."""
    name = await open_round(it, "commit")
    for index in (1, 2, 3):
        assert (await act(it, index, name, "vote", **VOTE)).status_code == 201
    await until(lambda: it.node.world.rounds[name].closed)
    return it.node.world.rounds[name].pin.artifact.hex()


@pytest.mark.trio
async def test_accepted_knowledge_is_found_until_the_operator_hides_it(tmp_path: Path) -> None:
    with trio.fail_after(60):
        async with (
            living(tmp_path) as it,
            it.client() as anybody,
            it.client(it.operator) as operator,
        ):
            name = await accepted(it)
            before = await told(anybody, "/v1/search", q='"water boils"')
            path = f"/v1/admin/artifacts/{name}/hide"
            hidden = await operator.post(path, json={"reason": "Private data."})
            listed = await told(operator, "/v1/admin/hidden")
            after = await told(anybody, "/v1/search", q="water", state="any")
            page = await told(anybody, f"/v1/artifacts/{name}")
            record = await told(anybody, f"/v1/records/{name}")
            html = (await anybody.get(f"/a/{name}")).text
            status = (await anybody.get("/")).text
            overview = (await anybody.get("/v1/overview")).text
            shown = await operator.delete(path)
            again = await told(anybody, "/v1/search", q="water")
            twice = await operator.delete(path)

    (hit,) = rows(before, "items")
    assert isinstance(hit["artifact"], dict)
    assert hit["artifact"]["id"] == name
    assert hit["artifact"]["verdict"]["narrow"]
    assert (hidden.status_code, shown.status_code, twice.status_code) == (200, 200, 404)
    assert [row["reason"] for row in rows(listed, "items")] == ["Private data."]
    assert after["items"] == []
    assert (page["text"], page["title"], page["prose"]) == ("hidden", None, None)
    assert "Private data." in str(page["hidden"])
    assert record["text"] is None
    for text in (html, status, overview):
        assert "Water boils" not in text
    assert "Private data." in html
    assert len(rows(again, "items")) == 1


@pytest.mark.trio
@pytest.mark.parametrize("question", ["NEAR(", '"', "a AND", "\x00", "-", "é" * 100, "*"])
async def test_no_question_is_an_error(tmp_path: Path, question: str) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as anybody:
            answer = await anybody.get("/v1/search", params={"q": question})

    assert answer.status_code == 200, answer.text


@pytest.mark.trio
async def test_an_agent_that_subscribes_is_matched_and_finds_its_queue(tmp_path: Path) -> None:
    with trio.fail_after(60):
        async with living(tmp_path) as it, it.client() as anybody, it.acting(1) as bert:
            agent = it.agents[1]
            said = await bert.post(
                f"/v1/agents/{agent.hex()}/subscribe",
                json={"topics": ["science"], "keywords": ["boils"]},
            )
            waiting = await told(anybody, f"/v1/agents/{agent.hex()}/subscription")
            await until(lambda: it.node.world.state.agents[agent].offer is not None)
            stands = await told(anybody, f"/v1/agents/{agent.hex()}/subscription")
            name = await open_round(it, "commit")
            artifact = it.node.world.rounds[name].pin.artifact
            matched = await it.node.recruitment.matching.matches(it.node.world, artifact)
            everybody = await told(anybody, "/v1/queue")
            mine = await told(anybody, "/v1/queue", agent=agent.hex())
            author = await told(anybody, "/v1/queue", agent=it.agents[0].hex())

    assert said.status_code == 201
    offer = {"on": True, "topics": ["science"], "keywords": ["boils"]}
    assert waiting["waiting"] == stands["offer"] == offer
    assert stands["waiting"] is None
    assert [(one.agent, one.why) for one in matched] == [(agent, Why.TOPIC)]
    (row,) = rows(everybody, "rows")
    assert (row["round"], row["act"]) == (name.hex(), None)
    (own,) = rows(mine, "rows")
    assert (own["act"], own["matches"]) == ("vote", True)
    assert author["rows"] == []


@pytest.mark.trio
async def test_a_proposal_that_no_cut_contains_can_be_hidden_too(tmp_path: Path) -> None:
    with trio.fail_after(30):
        async with (
            living(tmp_path) as it,
            it.acting(0) as alice,
            it.client(it.operator) as operator,
        ):
            made = (await alice.post("/v1/artifacts", json=proposal())).json()
            answer = await operator.post(f"/v1/admin/artifacts/{made['id']}/hide", json={})
            page = await told(alice, f"/v1/artifacts/{made['id']}")
            listed = (await alice.get("/v1/artifacts")).text

    assert answer.status_code == 200
    assert (page["text"], page["title"]) == ("hidden", None)
    assert "Water boils" not in listed
