"""Routes about other instances and other realms, on real instances."""

import base64
import json
from pathlib import Path

import httpx
import pytest
import trio

from federation.records import Kind
from node.partners import read_head, read_partners
from node.partners.policy import Partners
from tests.builders import OTHER_REALM, named
from tests.node.api.living import Living, living, until
from tests.node.api.test_writes import VOTE, act, open_round
from tests.node.partners.signed import KEY, file, head
from tests.node.runtime.realm import realm

PLACE = "/v1/federation"


def word(**changes: object) -> dict[str, object]:
    """Give the body of a good link."""
    return {
        "realm": OTHER_REALM.hex(),
        "key": KEY.hex(),
        "weight": 100,
        "head": base64.b64encode(file(head((named("key"), 255)))).decode(),
        **changes,
    }


def kept(it: Living) -> Partners:
    return read_partners(it.data.federation)


@pytest.mark.trio
async def test_only_the_operator_is_told_of_the_policy(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as anybody, it.acting(0) as alice:
            answers = [
                await client.get(f"{PLACE}/{what}")
                for client in (anybody, alice)
                for what in ("policy", "disagreement", "links")
            ]

    assert [one.status_code for one in answers] == [401] * 3 + [403] * 3


@pytest.mark.trio
async def test_seeds_of_my_own_turn_a_verdict_and_the_weights_are_named(tmp_path: Path) -> None:
    with trio.fail_after(60):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            name = await open_round(it, "commit")
            against = VOTE | {"choice": "against"}
            for index, body in ((1, VOTE), (2, VOTE), (3, VOTE), (4, against)):
                assert (await act(it, index, name, "vote", **body)).status_code == 201
            await until(lambda: it.node.world.rounds[name].phase is None)
            before = (await operator.get(f"{PLACE}/disagreement")).json()
            seeds = await operator.post(f"{PLACE}/seeds", json={"agents": [it.agents[4].hex()]})
            mine = (await operator.get(f"{PLACE}/disagreement")).json()
            charter = await operator.post(f"{PLACE}/seeds", json={"charter": True})
            after = (await operator.get(f"{PLACE}/disagreement")).json()
            shown = (await operator.get(f"/v1/rounds/{name.hex()}")).json()

    assert (before["compared"], before["parted"]) == (1, 0)
    assert seeds.status_code == charter.status_code == 200
    assert [one["name"] for one in seeds.json()["seeds"]] == ["emil"]
    assert not seeds.json()["from_charter"]
    (parting,) = mine["rounds"]
    assert (parting["canonical"], parting["local"]) == ("accept", "reject")
    assert parting["round"] == name.hex()
    assert {one["voter"]["name"] for one in parting["shifts"]} == {"bert", "cleo", "dora", "emil"}
    assert parting["shifts"][0]["voter"]["name"] == "emil"
    assert charter.json()["from_charter"]
    assert (after["compared"], after["parted"]) == (1, 0)
    assert shown["verdict"]["decision"] == "accept"


@pytest.mark.trio
async def test_an_instance_is_observed_and_allowed_again_also_after_a_restart(
    tmp_path: Path,
) -> None:
    town = realm(tmp_path, instances=2, agents=2)
    other = town.founded.instances[1].id.hex()
    with trio.fail_after(40):
        async with living(tmp_path, data=town.places[0]) as it, it.client(it.operator) as operator:
            me = it.node.instance.hex()
            policy = f"{PLACE}/instances/{other}"
            observed = await operator.post(policy, json={"policy": "observe"})
            own = await operator.post(f"{PLACE}/instances/{me}", json={"policy": "observe"})
            no_word = await operator.post(policy, json={"policy": "drop"})
            nobody = await operator.post(
                f"{PLACE}/instances/{town.founded.agents[0].id.hex()}", json={"policy": "observe"}
            )
        async with living(tmp_path, data=town.places[0]) as it, it.client(it.operator) as operator:
            still = (await operator.get(f"{PLACE}/policy")).json()
            allowed = await operator.post(policy, json={"policy": "allow"})

    def words(told: dict[str, list[dict[str, object]]]) -> set[object]:
        return {one["policy"] for one in told["instances"] if not one["ours"]}

    assert words(observed.json()) == words(still) == {"observe"}
    assert words(allowed.json()) == {"allow"}
    assert (own.status_code, own.json()["code"]) == (403, "NOT_ALLOWED")
    assert (no_word.status_code, no_word.json()["code"]) == (422, "BAD_FIELD")
    assert (nobody.status_code, nobody.json()["code"]) == (404, "NOT_FOUND")


@pytest.mark.trio
async def test_a_policy_that_leaves_no_seed_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    town = realm(tmp_path, instances=2, agents=2)
    theirs = town.agents_of(1)[0].hex()
    other = town.founded.instances[1].id.hex()
    with trio.fail_after(20):
        async with living(tmp_path, data=town.places[0]) as it, it.client(it.operator) as operator:
            seeds = await operator.post(f"{PLACE}/seeds", json={"agents": [theirs]})
            refused = await operator.post(f"{PLACE}/instances/{other}", json={"policy": "observe"})
            policy = kept(it)

    assert seeds.status_code == 200
    assert (refused.status_code, refused.json()["code"]) == (400, "BAD_REQUEST")
    assert policy.observed == frozenset()


@pytest.mark.trio
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"agents": []},
        {"agents": ["x"]},
        {"agents": [bytes(32).hex()]},
        {"agents": None, "charter": False},
        {"agents": ["ab" * 32], "charter": True},
        {"surprise": 1, "charter": True},
    ],
    ids=str,
)
async def test_seeds_that_are_none_are_refused(tmp_path: Path, body: dict[str, object]) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            answer = await operator.post(f"{PLACE}/seeds", json=body)
            instance = await operator.post(
                f"{PLACE}/seeds", json={"agents": [it.node.instance.hex()]}
            )
            exists = it.data.federation.exists()

    assert answer.status_code in {404, 422}, answer.text
    assert (instance.status_code, instance.json()["code"]) == (422, "BAD_FIELD")
    assert not exists


@pytest.mark.trio
async def test_a_head_is_signed_once_a_cut_and_read_by_others(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            # Not in the moment in which a cut may come.
            while True:
                first = (await operator.post(f"{PLACE}/head")).json()
                again = (await operator.post(f"{PLACE}/head")).json()
                if first["cut"] == again["cut"]:
                    break
            said = it.node.world.log.by_kind(Kind.TRUST_HEAD)
            agents = set(it.agents)
            me = it.node.instance

    raw = base64.b64decode(first["file"])
    key = bytes.fromhex(first["key"])
    record = read_head(raw, realm=bytes.fromhex(first["realm"]), key=key, own=OTHER_REALM)
    assert first == again
    assert record.id.hex() == first["record"]
    assert record.author == me
    assert {one.id for one in said} >= {record.id}
    assert {row.agent for row in record.body.top} == agents  # type: ignore[union-attr]
    assert first["agents"] == 5


@pytest.mark.trio
async def test_a_realm_is_linked_shown_and_unlinked(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            ours = it.node.world.state.identities[it.agents[1]].keys.key
            body = head((ours, 255), (named("strange key"), 9), cut=41)
            linked = await operator.post(
                f"{PLACE}/links", json=word(head=base64.b64encode(file(body)).decode())
            )
            shown = (await operator.get(f"{PLACE}/links")).json()
            policy = (await operator.get(f"{PLACE}/policy")).json()
            short = await operator.delete(f"{PLACE}/links/{OTHER_REALM.hex()[:5]}")
            gone = await operator.delete(f"{PLACE}/links/{OTHER_REALM.hex()[:8]}")
            missing = await operator.delete(f"{PLACE}/links/{OTHER_REALM.hex()}")
            left = kept(it).links

    (row,) = shown["links"]
    assert linked.status_code == 200, linked.text
    assert (row["realm"], row["key"], row["weight"]) == (OTHER_REALM.hex(), KEY.hex(), 100)
    assert (row["head_cut"], row["head_agents"], row["known"]) == (41, 2, 1)
    (agent,) = row["agents"]
    assert (agent["agent"]["name"], agent["weight"]) == ("bert", 255)
    assert agent["local_reputation"] > agent["reputation"]
    assert not policy["neutral"]
    assert short.status_code == missing.status_code == 404
    assert (gone.status_code, left) == (200, ())


@pytest.mark.trio
@pytest.mark.parametrize(
    ("changes", "status", "code", "why"),
    [
        ({"weight": 0}, 422, "BAD_FIELD", "$.weight"),
        ({"weight": 256}, 422, "BAD_FIELD", "$.weight"),
        ({"realm": "ab"}, 422, "BAD_FIELD", "$.realm"),
        ({"key": named("another key").hex()}, 422, "HEAD_REFUSED", "has not signed"),
        ({"realm": named("third").hex()}, 422, "HEAD_REFUSED", "it is of realm"),
        ({"head": "no base64!"}, 422, "BAD_FIELD", "$.head"),
        ({"head": ""}, 422, "HEAD_REFUSED", ""),
        ({"head": "A" * 90_000}, 422, "HEAD_REFUSED", ""),
        ({"head": "A" * 100_000}, 422, "BAD_FIELD", "$.head"),
    ],
    ids=str,
)
async def test_a_bad_link_is_refused_and_nothing_is_kept(
    tmp_path: Path, changes: dict[str, object], status: int, code: str, why: str
) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            answer = await operator.post(f"{PLACE}/links", json=word(**changes))
            exists = it.data.federation.exists()

    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert why in answer.json()["why"]
    assert not exists


@pytest.mark.trio
async def test_our_own_head_and_an_older_one_are_refused(tmp_path: Path) -> None:
    def sent(body: bytes, **changes: object) -> dict[str, object]:
        return word(head=base64.b64encode(body).decode(), **changes)

    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            own = (await operator.post(f"{PLACE}/head")).json()
            ours = await operator.post(
                f"{PLACE}/links", json=word(realm=own["realm"], key=own["key"], head=own["file"])
            )
            newer = await operator.post(f"{PLACE}/links", json=sent(file(head(cut=9))))
            older = await operator.post(f"{PLACE}/links", json=sent(file(head(cut=8))))
            links = kept(it).links

    assert (ours.status_code, ours.json()["code"]) == (422, "HEAD_REFUSED")
    assert "this realm itself" in ours.json()["why"]
    assert newer.status_code == 200
    assert (older.status_code, older.json()["code"]) == (422, "HEAD_REFUSED")
    assert [one.head.cut for one in links] == [9]


@pytest.mark.trio
async def test_a_damaged_policy_is_told_and_not_guessed(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            it.data.federation.write_text(json.dumps({"version": 9}))
            answers: list[httpx.Response] = [
                await operator.get(f"{PLACE}/policy"),
                await operator.get(f"{PLACE}/disagreement"),
                await operator.post(f"{PLACE}/seeds", json={"charter": True}),
            ]
            kept_as_it_was = it.data.federation.read_text()
            health = await operator.get("/health")

    assert {(one.status_code, one.json()["code"]) for one in answers} == {(503, "BAD_SETTINGS")}
    assert kept_as_it_was == '{"version": 9}'
    assert health.status_code == 200
