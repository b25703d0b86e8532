"""Routes of what operators decide together, on real instances."""

import json
from pathlib import Path

import msgspec
import pytest
import trio

from federation.charter import preset, rules_of
from tests.node.api.living import living, until
from tests.node.api.test_writes import open_round
from tests.node.runtime.realm import introduce, realm


def rules(**changes: object) -> dict[str, object]:
    """Give the rules of the preset as JSON, with some values of the section on review changed."""
    now = preset("test")
    review = msgspec.structs.replace(now.review, contest=0, rule=0, **changes)
    told = json.loads(msgspec.json.encode(msgspec.structs.replace(now, review=review)))
    assert isinstance(told, dict)
    return told


@pytest.mark.trio
async def test_acts_are_for_everybody_and_signing_is_for_the_operator(tmp_path: Path) -> None:
    body = {"rules": rules(k=8), "reason": "r"}
    decision = {"subject": "ab" * 32, "decision": "hide", "reason": "r"}
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as anybody, it.acting(0) as alice:
            shown = [await anybody.get(path) for path in ("/v1/acts", "/v1/charter/rules")]
            answers = [
                await client.post(path, json=said)
                for client in (anybody, alice)
                for path, said in (
                    ("/v1/charter/adopt", body),
                    ("/v1/charter/check", {"rules": body["rules"]}),
                    ("/v1/admin/reviews", decision),
                    (f"/v1/agents/{it.agents[0].hex()}/health", {"state": "broken"}),
                )
            ]
            answers += [await client.get("/v1/admin/queue") for client in (anybody, alice)]
            before = it.node.world.state.acts.open

    assert [one.status_code for one in shown] == [200, 200]
    assert [one.status_code for one in answers] == [401] * 4 + [403] * 4 + [401, 403]
    assert before == {}


@pytest.mark.trio
async def test_rules_are_checked_without_signing_and_refused_with_all_faults(
    tmp_path: Path,
) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            seq = it.node.world.log.author_heads()
            good = await operator.post("/v1/charter/check", json={"rules": rules(k=8)})
            bad = await operator.post("/v1/charter/check", json={"rules": rules(q_min=9)})
            adopted = await operator.post(
                "/v1/charter/adopt", json={"rules": rules(q_min=9), "reason": "r"}
            )
            wild = await operator.post(
                "/v1/charter/adopt", json={"rules": rules(k=0), "reason": "r"}
            )
            long = await operator.post(
                "/v1/charter/adopt", json={"rules": rules(k=8), "reason": "r" * 501}
            )
            operators = it.node.world.state.instances[it.node.instance]
            after = it.node.world.log.author_heads()

    assert (good.json()["number"], good.json()["errors"]) == (1, 0)
    assert bad.json()["errors"] == 2
    assert bad.json()["findings"][0]["severity"] == "error"
    assert (adopted.status_code, adopted.json()["code"]) == (422, "BAD_CHARTER")
    assert "review.q_min is 9" in adopted.json()["why"]
    assert (wild.status_code, wild.json()["code"]) == (422, "BAD_FIELD")
    assert "$.rules.review.k" in wild.json()["why"]
    assert (long.status_code, long.json()["code"]) == (422, "BAD_FIELD")
    assert after[operators] == seq[operators]


@pytest.mark.trio
async def test_two_operators_change_the_rules_of_their_realm_together(tmp_path: Path) -> None:
    town = realm(tmp_path, instances=2, agents=2)
    with trio.fail_after(80):
        async with (
            living(tmp_path, data=town.places[0]) as one,
            living(tmp_path, data=town.places[1]) as two,
            one.client(one.operator) as first,
            two.client(two.operator) as second,
        ):
            introduce([one.node, two.node])
            for it in (one, two):
                await until(lambda it=it: it.node.world.me.settled)  # type: ignore[misc]
            told = (await first.get("/v1/charter/rules")).json()["rules"]
            told["review"]["k"] = 9
            signed = await first.post("/v1/charter/adopt", json={"rules": told, "reason": "More."})
            assert signed.status_code == 201, signed.text
            act = signed.json()["id"]
            await until(lambda: bytes.fromhex(act) in two.node.world.state.acts.open)
            (row,) = (await second.get("/v1/acts")).json()["open"]
            early = (await first.get("/v1/charter")).json()
            word = await second.post(f"/v1/acts/{act[:8]}/cosign")
            for it in (one, two):
                await until(lambda it=it: it.node.world.charter.number == 1)  # type: ignore[misc]
            pages = [(await client.get("/v1/charter")).json() for client in (first, second)]
            again = await second.post(f"/v1/acts/{act}/cosign")
            cut = max(it.node.world.state.cut for it in (one, two))
            for it in (one, two):
                await until(lambda it=it: it.node.world.state.cut > cut)  # type: ignore[misc]

    assert signed.status_code == word.status_code == 201
    assert (row["missing"], row["mine"], row["reason"]) == (1, False, "More.")
    assert row["changes"] == [{"field": "review.k", "old": "7", "new": "9"}]
    assert early["number"] == 0
    assert [page["review"]["k"] for page in pages] == [9, 9]
    assert pages[0]["hash"] == pages[1]["hash"] != early["hash"]
    assert (again.status_code, again.json()["code"]) == (409, "DUPLICATE")


@pytest.mark.trio
async def test_an_artifact_is_hidden_by_hand_and_a_round_waits_for_its_phase(
    tmp_path: Path,
) -> None:
    with trio.fail_after(40):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            name = await open_round(it, "deliberate")
            artifact = it.node.world.rounds[name].pin.artifact
            said = {"subject": artifact.hex()[:12], "decision": "hide", "reason": "It harms."}
            hidden = await operator.post("/v1/admin/reviews", json=said)
            early = await operator.post(
                "/v1/admin/reviews", json=said | {"decision": "keep", "round": name.hex()}
            )
            other = await operator.post(
                "/v1/admin/reviews", json=said | {"subject": "ab" * 32, "round": name.hex()}
            )
            nothing = await operator.post("/v1/admin/reviews", json=said | {"subject": "ab" * 32})
            await until(lambda: bool(it.node.world.state.acts.passed))
            queue = (await operator.get("/v1/admin/queue")).json()

    assert hidden.status_code == 201
    assert (early.status_code, early.json()["code"]) == (409, "NOT_IN_PHASE")
    assert (other.status_code, other.json()["code"]) == (422, "BAD_FIELD")
    assert (nothing.status_code, nothing.json()["code"]) == (404, "NOT_FOUND")
    assert (queue["acts"], queue["rounds"]) == ([], [])


@pytest.mark.trio
async def test_an_operator_tells_the_health_of_its_own_agents(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            place = f"/v1/agents/{it.agents[1].hex()}/health"
            said = await operator.post(place, json={"state": "broken", "note": "At random."})
            wrong = await operator.post(place, json={"state": "tired"})
            nobody = await operator.post(
                f"/v1/agents/{bytes(32).hex()}/health", json={"state": "broken"}
            )
            rules_now = rules_of(it.node.world.charter)

    assert (said.status_code, said.json()["kind"]) == (201, "agent.health")
    assert (wrong.status_code, wrong.json()["code"]) == (422, "BAD_FIELD")
    assert nobody.status_code == 404
    assert rules_now.review.k == 7
