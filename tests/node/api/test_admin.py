"""Routes of the operator."""

from pathlib import Path

import pytest
import trio

from node.access.tokens import act
from tests.node.api.living import living, proposal, until
from tests.node.runtime.realm import realm

ADDRESS = "/ip4/127.0.0.1/tcp/9/p2p/12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN"


@pytest.mark.trio
async def test_an_agent_is_created_and_acts_once_it_is_admitted(tmp_path: Path) -> None:
    with trio.fail_after(30):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            made = await operator.post("/v1/admin/agents", json={"name": "fritz"})
            agent = bytes.fromhex(made.json()["id"])
            await until(lambda: agent in it.node.world.state.agents)
            async with it.client(it.token(act(agent))) as fritz:
                proposed = await fritz.post("/v1/artifacts", json=proposal())

    assert made.status_code == 201
    assert made.json()["name"] == "fritz"
    assert proposed.status_code == 201, proposed.text


@pytest.mark.trio
@pytest.mark.parametrize("name", ["", "x" * 65, None, 7])
async def test_a_bad_name_is_refused(tmp_path: Path, name: object) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            answer = await operator.post("/v1/admin/agents", json={"name": name})

    assert answer.status_code == 422
    assert "$.name" in answer.json()["why"]


@pytest.mark.trio
async def test_peers_are_added_and_bad_addresses_refused(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            added = await operator.post("/v1/admin/peers", json={"address": ADDRESS})
            refused = await operator.post("/v1/admin/peers", json={"address": "127.0.0.1"})
            kept = it.data.peers.read_text()

    assert (added.status_code, added.json()) == (200, {"done": True})
    assert ADDRESS in kept
    assert refused.status_code == 422
    assert set(refused.json()) == {"code", "what", "why", "fix", "retry_at"}


@pytest.mark.trio
async def test_who_is_no_peer_can_be_neither_dropped_nor_banned(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            name = it.agents[0].hex()
            dropped = await operator.delete(f"/v1/admin/peers/{name}")
            banned = await operator.post(f"/v1/admin/peers/{name}/ban", json={"minutes": 5})
            too_long = await operator.post(f"/v1/admin/peers/{name}/ban", json={"minutes": -1})

    assert dropped.status_code == banned.status_code == 404
    assert (too_long.status_code, too_long.json()["code"]) == (422, "BAD_FIELD")


@pytest.mark.trio
async def test_a_peer_is_shown_banned_and_dropped(tmp_path: Path) -> None:
    town = realm(tmp_path, instances=2, agents=2)
    with trio.fail_after(20):
        async with (
            living(tmp_path, data=town.places[0]) as it,
            it.client(it.operator) as operator,
        ):
            (peer,) = (await operator.get("/v1/peers")).json()["peers"]
            path = f"/v1/admin/peers/{peer['instance'][:16]}"
            banned = await operator.post(f"{path}/ban", json={"minutes": 5})
            (refused,) = (await operator.get("/v1/peers")).json()["peers"]
            page = await operator.get("/")
            freed = await operator.post(f"{path}/ban", json={"minutes": 0})
            (again,) = (await operator.get("/v1/peers")).json()["peers"]
            dropped = await operator.delete(path)
            ready = await operator.get("/ready")

    assert (peer["connected"], peer["banned_until"], peer["why"]) == (False, None, [])
    assert banned.status_code == freed.status_code == dropped.status_code == 200
    assert refused["banned_until"] > 0
    assert refused["why"][0]["why"]
    assert "banned" in page.text
    assert "never" in page.text
    assert again["banned_until"] is None
    assert ready.status_code == 503
    assert ready.json()["state"] == "waiting_for_quorum"
