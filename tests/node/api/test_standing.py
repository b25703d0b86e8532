"""Routes about standing and sanctions: what they answer, and what they refuse."""

from pathlib import Path

import pytest
import trio

from federation.protocol import discipline
from federation.sanctions import RuleId
from tests.node.api.living import living


@pytest.mark.trio
async def test_a_standing_is_shown_to_anybody(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as client:
            name = it.agents[0].hex()
            page = (await client.get(f"/v1/agents/{name}/standing")).json()
            by_prefix = (await client.get(f"/v1/agents/{name[:10]}/standing")).json()

    assert page == by_prefix
    assert page["agent"]["id"] == name
    assert page["level"]["level"] == 0
    assert {one["what"] for one in page["may"]} >= {"propose", "vote", "dispute", "moderate"}


@pytest.mark.trio
async def test_a_violation_is_listed_shown_and_told_to_its_operator(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as client:
            state = it.node.world.state
            agent = it.agents[0]
            discipline.abuse(state, agent, RuleId.ABUSE, b"\x07" * 32)
            state.tick += 1
            discipline.tick(state)
            listed = (await client.get("/v1/sanctions")).json()
            (row,) = listed["items"]
            one = (await client.get(f"/v1/sanctions/{row['id'][:12]}")).json()
            operator = state.agents[agent].operator.hex()
            told = (await client.get(f"/v1/operators/{operator}/notices")).json()

    assert one["id"] == row["id"]
    assert row["rule"] == "abuse.proven"
    assert [(item["agent"]["id"], item["cause"]) for item in told["items"]] == [
        (agent.hex(), "ban")
    ]


@pytest.mark.trio
async def test_the_rules_are_one_answer(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as client:
            page = (await client.get("/v1/rules")).json()

    assert page["charter"] == it.node.world.state.charter_hash.hex()
    assert len(page["ladder"]) == 6


@pytest.mark.trio
@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        (f"/v1/agents/{bytes(32).hex()}/standing", 404, "NOT_FOUND"),
        ("/v1/agents/x/standing", 400, "BAD_REQUEST"),
        (f"/v1/sanctions/{bytes(32).hex()}", 404, "NOT_FOUND"),
        ("/v1/sanctions/xyz", 400, "BAD_REQUEST"),
        ("/v1/sanctions?most=0", 422, "BAD_FIELD"),
        ("/v1/sanctions?most=201", 422, "BAD_FIELD"),
        (f"/v1/sanctions?after={bytes(32).hex()}", 404, "NOT_FOUND"),
        (f"/v1/operators/{bytes(32).hex()}/notices", 404, "NOT_FOUND"),
    ],
)
async def test_what_is_not_there_is_refused(
    tmp_path: Path, path: str, status: int, code: str
) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as client:
            answer = await client.get(path)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
