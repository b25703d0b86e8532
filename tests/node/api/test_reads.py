"""Routes that only look: good answers, and clear ones for what is not there."""

import base64
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from federation.artifacts import Flag
from federation.crypto import is_signed_by
from federation.records import parse_record, verify_record
from node.access.tokens import act
from node.api.reads import record_page
from node.network.links import Known
from node.runtime import Condition, Health
from tests.node.api.living import AGENTS, living, proposal, until
from tests.node.runtime.realm import realm

NOWHERE = bytes(32).hex()


@pytest.mark.trio
async def test_everything_about_one_artifact_can_be_read(tmp_path: Path) -> None:
    with trio.fail_after(30):
        async with living(tmp_path) as it, it.acting(0) as alice, it.client() as client:
            made = (await alice.post("/v1/artifacts", json=proposal())).json()
            waiting = (await client.get("/v1/artifacts")).json()
            await until(lambda: it.node.world.rounds)
            (name,) = it.node.world.rounds
            listed = (await client.get("/v1/artifacts", params={"topic": "science"})).json()
            by_id = (await client.get(f"/v1/artifacts/{made['id']}")).json()
            by_cid = (await client.get(f"/v1/artifacts/{made['cid']}")).json()
            by_prefix = (await client.get(f"/v1/artifacts/{made['id'][:12]}")).json()
            history = (await client.get(f"/v1/artifacts/{made['id']}/history")).json()
            why = (await client.get(f"/v1/artifacts/{made['id']}/why")).json()
            rounds = (await client.get("/v1/rounds", params={"most": 1})).json()["rounds"]
            none = (await client.get("/v1/rounds", params={"after": name.hex()})).json()
            glance = (await client.get("/v1/overview", params={"most": 1})).json()
            one = (await client.get(f"/v1/rounds/{name.hex()}")).json()
            bert = it.agents[1].hex()
            reviews = (await client.get(f"/v1/agents/{bert}/reviews")).json()["rounds"]

    # On a busy machine a cut may contain it already.
    assert [row["id"] for row in waiting["waiting"] + waiting["items"]] == [made["id"]]
    assert [row["id"] for row in listed["items"]] == [made["id"]]
    assert by_id["title"] == by_cid["title"] == by_prefix["title"] == proposal()["title"]
    assert history["events"][0]["event"] == "proposed"
    assert why["state"] == "under_review"
    assert [row["id"] for row in rounds] == [name.hex()] == [one["id"]]
    assert none == {"rounds": [], "next": None}
    assert [row["id"] for row in glance["open"]] == [name.hex()]
    assert one["ballots"] == []
    assert [row["act"] for row in reviews] == ["argue"]


@pytest.mark.trio
async def test_lists_come_in_pages(tmp_path: Path) -> None:
    with trio.fail_after(30):
        async with living(tmp_path) as it, it.acting(0) as alice, it.client() as client:
            await alice.post("/v1/artifacts", json=proposal())
            await until(lambda: it.node.world.state.cut >= 2)
            seen: list[str] = []
            after = None
            while True:
                query = {"most": 2} | ({"after": after} if after else {})
                page = (await client.get("/v1/agents", params=query)).json()
                seen += [row["name"] for row in page["items"]]
                after = page["next"]
                if after is None:
                    break
            first = (await client.get("/v1/snapshots", params={"most": 1})).json()
            rest = (await client.get("/v1/snapshots", params={"after": first["next"]})).json()
            world = it.node.world
            newest = rest["snapshots"][-1]

    assert sorted(seen) == sorted(AGENTS)
    assert [row["cut"] for row in first["snapshots"]] == [1] == [first["next"]]
    assert newest["cut"] == world.state.cut
    assert newest["world_digest"] == world.digest.hex()


@pytest.mark.trio
async def test_realm_charter_members_and_overview_can_be_read(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client() as client:
            realm, charter, members, overview, agent = [
                (await client.get(path)).json()
                for path in (
                    "/v1/realm",
                    "/v1/charter",
                    "/v1/members",
                    "/v1/overview",
                    f"/v1/agents/{it.agents[0].hex()}",
                )
            ]
            instance = it.node.instance.hex()

    assert realm["name"] == "town"
    assert charter["hash"] == realm["charter"]
    assert members["n"] == 1
    assert overview["realm"]["id"] == realm["id"]
    assert agent["name"] == "alice"
    assert realm["me"]["id"] == instance


@pytest.mark.trio
async def test_a_record_can_be_checked_by_whoever_gets_it(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.acting(0) as alice, it.client() as client:
            made = (await alice.post("/v1/artifacts", json=proposal())).json()
            found = (await client.get(f"/v1/records/{made['cid']}")).json()
            inception = (await client.get(f"/v1/records/{it.agents[0].hex()}")).json()
            realm = it.node.world.realm
            key = it.node.world.state.identities[it.agents[0]].keys.key

    record = parse_record(realm, base64.b64decode(found["wire"]))
    verify_record(record, key, is_signed_by)
    assert record.id.hex() == found["id"] == made["id"]
    assert (found["kind"], found["seq"]) == ("artifact.propose", 1)
    assert found["prev"] == inception["id"]
    assert found["body"]["topics"] == ["science/physics"]
    assert len(found["body"]["text_hash"]) == 64
    assert found["text"]["prose"] == "It does."
    assert (inception["prev"], inception["text"]) == (None, None)


@pytest.mark.trio
async def test_the_record_of_a_hidden_artifact_comes_without_its_text(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.acting(0) as alice:
            made = (await alice.post("/v1/artifacts", json=proposal())).json()
            name = bytes.fromhex(made["id"])
            await until(lambda: name in it.node.world.state.artifacts)
            world = it.node.world
            record = world.log.get(name)
            assert record is not None
            shown = record_page(world, record)
            artifact = world.state.artifacts[name]
            world.state.artifacts[name] = replace(artifact, flags=frozenset({Flag.HIDDEN}))
            without = record_page(world, record)
            world.state.artifacts[name] = artifact

    assert b"It does." in base64.b64decode(shown.wire)
    assert b"It does." not in base64.b64decode(without.wire)
    assert bytes(without.text) == b"null"
    assert without.id == shown.id


@pytest.mark.trio
async def test_peers_are_counted_for_all_and_shown_to_the_operator(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it:
            shown = []
            for token in (None, it.token(act(it.agents[0])), it.operator):
                async with it.client(token) as client:
                    shown.append((await client.get("/v1/peers")).json())
            for_anybody, for_alice, for_operator = shown

    nothing = {"known": 0, "connected": 0, "peers": None, "gossip": None}
    assert for_anybody == for_alice == nothing
    assert for_operator["peers"] == []


@pytest.mark.trio
async def test_the_operator_sees_what_was_lost_on_the_way(tmp_path: Path) -> None:
    town = realm(tmp_path, instances=2, agents=2)
    with trio.fail_after(15):
        async with living(tmp_path, data=town.places[0]) as it, it.client(it.operator) as client:
            before = (await client.get("/v1/peers")).json()
            network = it.node.network
            assert network is not None
            (other,) = (peer.instance for peer in it.node.peers())
            it.node.links.known[other] = Known(instance=other, dropped=5)
            network.hints.dropped = 1
            network.host.gossip.router.dropped = 2
            network.topic.dropped = 3
            network.host.gossip.pubsub.refused = 4
            after = (await client.get("/v1/peers")).json()

    names = ("published_dropped", "undelivered", "received_dropped", "refused")
    assert before["gossip"] == dict.fromkeys(names, 0)
    assert [peer["dropped"] for peer in before["peers"]] == [0]
    assert after["gossip"] == dict(zip(names, (1, 2, 3, 4), strict=True))
    assert [peer["dropped"] for peer in after["peers"]] == [5]


@pytest.mark.trio
async def test_an_instance_that_is_not_ready_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client() as client:
            good = await client.get("/ready")
            waits = Health(state=Condition.WAITING, reasons=("1 of 3 members are here",))
            monkeypatch.setattr(it.node, "health", lambda: waits)
            health, ready = await client.get("/health"), await client.get("/ready")
            monkeypatch.undo()

    assert good.status_code == health.status_code == 200
    assert ready.status_code == 503
    assert ready.json() == health.json()
    assert ready.json()["state"] == "waiting_for_quorum"
    assert ready.json()["reasons"] == ["1 of 3 members are here"]


@pytest.mark.trio
async def test_what_is_not_there_is_not_found_and_what_is_no_name_is_refused(
    tmp_path: Path,
) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client() as client:
            for path in (
                "/v1/artifacts/{}",
                "/v1/artifacts/{}/history",
                "/v1/artifacts/{}/why",
                "/v1/rounds/{}",
                "/v1/agents/{}",
                "/v1/agents/{}/reviews",
                "/v1/records/{}",
                "/a/{}",
            ):
                missing = await client.get(path.format(NOWHERE))
                nonsense = await client.get(path.format("%00%ff%e2%80%ae"))

                assert (missing.status_code, missing.json()["code"]) == (404, "NOT_FOUND"), path
                assert nonsense.status_code in {400, 422}, path
                assert nonsense.json()["code"] in {"BAD_REQUEST", "BAD_FIELD"}


@pytest.mark.trio
@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/v1/artifacts?state=nonsense", "state"),
        ("/v1/artifacts?most=0", "most"),
        ("/v1/artifacts?most=201", "most"),
        ("/v1/artifacts?most=many", "most"),
        ("/v1/agents?after=x", "after"),
        ("/v1/snapshots?after=-2", "after"),
        ("/v1/snapshots?most=-1", "most"),
    ],
)
async def test_a_query_out_of_range_is_refused_by_name(
    tmp_path: Path, path: str, field: str
) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client() as client:
            answer = await client.get(path)

    assert answer.status_code == 422
    assert f"$.{field}" in answer.json()["why"]
