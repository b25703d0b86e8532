"""Acting through the API: a round from proposal to verdict, and each clear refusal on the way."""

import base64
from dataclasses import replace
from pathlib import Path

import httpx
import msgspec
import pytest
import trio

from federation.codec import encode
from federation.core import RoundId
from federation.crypto import Choice
from federation.protocol import Keys, custody, incept
from federation.records import AgentDeclare, Record, Role, wire
from node.api.limits import Rate
from node.base.entropy import random_bytes
from tests.node.api.living import QUICK, Living, living, proposal, until

VOTE = {"choice": "for", "reason": "accurate", "basis": "tool"}
MSGPACK = {"content-type": "application/msgpack"}


async def propose(it: Living, **changes: object) -> httpx.Response:
    async with it.acting(0) as alice:
        return await alice.post("/v1/artifacts", json=proposal(**changes))


async def open_round(it: Living, phase: str) -> RoundId:
    """Propose, and wait until its round is in this phase."""
    made = await propose(it)
    assert made.status_code == 201, made.text
    await until(lambda: it.node.world.rounds)
    (name,) = it.node.world.rounds
    await until(lambda: it.node.world.rounds[name].phase == phase)
    return name


async def act(it: Living, index: int, name: RoundId, verb: str, **body: object) -> httpx.Response:
    async with it.acting(index) as agent:
        return await agent.post(f"/v1/rounds/{name.hex()}/{verb}", json=body)


@pytest.mark.trio
async def test_a_round_is_played_to_its_verdict_and_the_node_reveals_by_itself(
    tmp_path: Path,
) -> None:
    evidence = ["ab" * 32, "01" * 32]
    with trio.fail_after(40):
        async with living(tmp_path) as it, it.client() as client:
            name = await open_round(it, "deliberate")
            argued = await act(it, 1, name, "argue", stance="for", note="It does, I looked.")
            reply = await act(
                it, 2, name, "argue", stance="neutral", level="technical", note="Where?",
                replies_to=argued.json()["cid"],
            )  # fmt: skip
            await until(lambda: it.node.world.rounds[name].phase == "commit")
            relies = {"arguments": [argued.json()["id"]], "evidence": evidence}
            votes = [await act(it, 1, name, "vote", **VOTE, **relies)]
            sealed = (await client.get(f"/v1/rounds/{name.hex()}")).text
            votes += [await act(it, index, name, "vote", **VOTE) for index in (2, 3, 4)]
            again = await act(it, 4, name, "vote", **VOTE)
            await until(lambda: it.node.world.rounds[name].verdict)
            shown = (await client.get(f"/v1/rounds/{name.hex()}")).json()

    assert argued.status_code == reply.status_code == 201
    assert [vote.status_code for vote in votes] == [201] * 4
    assert votes[0].json()["kind"] == "review.commit"
    assert again.status_code == 409
    assert again.json()["code"] in {"ALREADY_COMMITTED", "NOT_IN_PHASE"}
    assert evidence[0] not in sealed
    assert shown["verdict"]["decision"] == "accept"
    assert {one["choice"] for one in shown["ballots"]} == {"for"}
    assert [one["evidence"] for one in shown["ballots"] if one["evidence"]] == [sorted(evidence)]
    assert {one["note"] for one in shown["arguments"]} == {"It does, I looked.", "Where?"}


@pytest.mark.trio
async def test_the_rules_refuse_before_anything_is_signed(tmp_path: Path) -> None:
    with trio.fail_after(30):
        async with living(tmp_path) as it:
            name = await open_round(it, "deliberate")
            log = it.node.world.log
            before = [log.count_of(agent) for agent in it.agents]
            early = await act(it, 1, name, "vote", **VOTE)
            late = await act(it, 1, name, "object", reason="unsourced")
            nowhere = await act(it, 1, bytes(32), "vote", **VOTE)
            async with it.acting(1) as bob:
                copied = await bob.post("/v1/artifacts", json=proposal())
            again = await propose(it)
            await until(lambda: it.node.world.rounds[name].phase == "commit")
            own = await act(it, 0, name, "vote", **VOTE)
            after = [log.count_of(agent) for agent in it.agents]

    assert (own.status_code, own.json()["code"]) == (403, "NOT_ELIGIBLE")
    assert (early.status_code, early.json()["code"]) == (409, "NOT_IN_PHASE")
    assert (late.status_code, late.json()["code"]) == (409, "NOT_IN_PHASE")
    assert (nowhere.status_code, nowhere.json()["code"]) == (404, "NOT_FOUND")
    assert (copied.status_code, copied.json()["code"]) == (409, "DUPLICATE")
    # Its own author has only said again what it said before.
    assert (again.status_code, again.json()["agent"]) == (201, it.agents[0].hex())
    assert after == before


@pytest.mark.trio
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"title": ""}, "$.title"),
        ({"title": "x" * 301}, "$.title"),
        ({"title": 7}, "$.title"),
        ({"prose": "x" * 12_001}, "$.prose"),
        ({"topics": []}, "$.topics"),
        ({"topics": ["a", "a"]}, "$.topics"),
        ({"topics": ["Not A Topic"]}, "$.topics[0]"),
        ({"claims": ["x"] * 17}, "$.claims"),
        ({"claims": [""]}, "$.claims[0]"),
        ({"sources": ["x" * 2_001]}, "$.sources[0]"),
        ({"falsification": [None]}, "$.falsification[0]"),
        ({"source_digests": ["zz"]}, "$.source_digests[0]"),
        ({"source_digests": ["ab" * 32] * 2}, "$.source_digests"),
        ({"lang": "English"}, "$.lang"),
        ({"agent": "x"}, "$.agent"),
    ],
)
async def test_a_field_at_fault_is_named(
    tmp_path: Path, changes: dict[str, object], field: str
) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it:
            before = len(it.node.world.log)
            answer = await propose(it, **changes)
            after = len(it.node.world.log)

    assert answer.status_code == 422, answer.text
    assert f"`{field}`" in answer.json()["why"]
    assert after == before


@pytest.mark.trio
async def test_text_that_is_not_in_composed_form_is_refused_by_the_core(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it:
            answer = await propose(it, title="Cafe\u0301")
            nul = await propose(it, title="a\0b")

    assert (answer.status_code, answer.json()["code"]) == (422, "NOT_CANONICAL")
    assert nul.status_code == 422


@pytest.mark.trio
async def test_an_agent_whose_key_is_elsewhere_is_told_to_sign_itself(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client(it.operator) as client:
            record = stranger(it)
            await client.post("/v1/records", content=encode([wire(record)]), headers=MSGPACK)
            answer = await client.post("/v1/artifacts", json=proposal(agent=record.id.hex()))

    assert (answer.status_code, answer.json()["code"]) == (409, "NOT_IN_CUSTODY")


def stranger(it: Living) -> Record:
    """Sign the inception of an agent that nobody knows."""
    keys = Keys.derived(random_bytes(32))
    return incept(it.node.world.realm, "stranger", Role.AGENT, keys)


def declared(it: Living) -> bytes:
    """Sign a record of an agent that a cut has admitted."""
    agent = it.agents[0]
    ring = it.node.keystore.keyring(agent)
    assert ring is not None
    body = AgentDeclare(family="f", provider="p", model="m")
    return wire(custody.author(it.node.world, ring, body, now=0))


@pytest.mark.trio
async def test_finished_records_are_taken_in_both_forms_and_each_has_an_outcome(
    tmp_path: Path,
) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client() as client:
            first, second = stranger(it), stranger(it)
            coded = [base64.b64encode(wire(first)).decode(), base64.b64encode(b"junk").decode()]
            as_json = await client.post("/v1/records", json={"records": coded})
            packed = await client.post(
                "/v1/records", content=encode([wire(second), wire(first)]), headers=MSGPACK
            )
            held = {name for name in (first.id, second.id) if name in it.node.world.log}
            stored = await it.node.store.record(first.id)

    one, junk = as_json.json()["records"]
    assert as_json.status_code == packed.status_code == 200
    assert (one["id"], one["stored"]) == (first.id.hex(), True)
    assert (junk["id"], junk["stored"], junk["code"]) == (None, False, "NOT_CANONICAL")
    assert junk["why"]
    assert junk["fix"]
    assert [row["id"] for row in packed.json()["records"]] == [second.id.hex(), first.id.hex()]
    assert held == {first.id, second.id}
    assert stored == wire(first)


@pytest.mark.trio
async def test_records_that_are_all_refused_give_the_status_of_the_refusal(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client() as client:
            record = stranger(it)
            forged = wire(record)[:-1] + bytes([wire(record)[-1] ^ 1])
            bad = await client.post("/v1/records", content=encode([forged]), headers=MSGPACK)
            junk = await client.post("/v1/records", content=encode([b""]), headers=MSGPACK)
            held = record.id in it.node.world.log

    assert (bad.status_code, bad.json()["records"][0]["code"]) == (422, "BAD_SIGNATURE")
    assert (junk.status_code, junk.json()["records"][0]["code"]) == (422, "NOT_CANONICAL")
    assert not held


@pytest.mark.trio
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"\xc1", "msgpack"),
        (b"", "msgpack"),
        (msgspec.msgpack.encode({"records": []}), "msgpack"),
        (msgspec.msgpack.encode([]), "msgpack"),
        (msgspec.msgpack.encode([b""] * 257), "msgpack"),
        (msgspec.msgpack.encode(["text"]), "msgpack"),
        (b"\x91" * 50_000, "msgpack"),
        (b'{"records":[]}', "json"),
        (b'{"records":["***"]}', "json"),
        (b'{"records":["\xc3\xa9"]}', "json"),
        (b'{"records":"AAAA"}', "json"),
    ],
)
async def test_a_body_that_holds_no_records_is_refused(
    tmp_path: Path, body: bytes, kind: str
) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client() as client:
            answer = await client.post(
                "/v1/records", content=body, headers={"content-type": f"application/{kind}"}
            )

    assert answer.status_code in {400, 422}
    assert set(answer.json()) == {"code", "what", "why", "fix", "retry_at"}


@pytest.mark.trio
async def test_a_body_of_records_may_be_larger_than_others(tmp_path: Path) -> None:
    large = b" " * 200_000
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client(it.operator) as client:
            records = await client.post(
                "/v1/records", content=b'{"records":["AAAA"]}' + large,
                headers={"content-type": "application/json"},
            )  # fmt: skip
            other = await client.post(
                "/v1/artifacts", content=b"{}" + large,
                headers={"content-type": "application/json"},
            )  # fmt: skip

    assert records.json()["records"][0]["code"] == "NOT_CANONICAL"
    assert (other.status_code, other.json()["code"]) == (413, "BODY_TOO_LARGE")


def test_choices_are_those_of_a_ballot() -> None:
    assert {choice.name.lower() for choice in Choice} == {"for", "abstain", "against"}


@pytest.mark.trio
async def test_many_records_cost_more_than_one_request(tmp_path: Path) -> None:
    limits = replace(QUICK, by_address=Rate(per_second=1, burst=40))
    many = encode([b""] * 256)
    with trio.fail_after(15):
        async with living(tmp_path, limits=limits) as it, it.client() as client:
            found = [
                (await client.post("/v1/records", content=many, headers=MSGPACK)).status_code
                for _ in range(2)
            ]
            other = (await client.get("/health")).status_code

    assert found == [422, 429]
    assert other == 200


@pytest.mark.trio
async def test_a_record_of_a_stranger_costs_as_much_as_many_requests(tmp_path: Path) -> None:
    limits = replace(QUICK, by_address=Rate(per_second=1, burst=50), stranger=20)
    with trio.fail_after(15):
        async with living(tmp_path, limits=limits) as it, it.client() as client:
            records = [stranger(it) for _ in range(3)]
            found = []
            for record in records:
                answer = await client.post(
                    "/v1/records", content=encode([wire(record)]), headers=MSGPACK
                )
                found.append(answer.status_code)
            held = [record.id in it.node.world.log for record in records]

    assert found == [200, 200, 429]
    assert held == [True, True, False]


@pytest.mark.trio
async def test_a_record_of_an_admitted_agent_costs_what_a_request_costs(tmp_path: Path) -> None:
    limits = replace(QUICK, by_address=Rate(per_second=1, burst=3), stranger=20)
    with trio.fail_after(15):
        async with living(tmp_path, limits=limits) as it, it.client() as client:
            known = it.node.world.log.get(it.agents[0])
            assert known is not None
            answers = [
                await client.post("/v1/records", content=encode([raw]), headers=MSGPACK)
                for raw in (declared(it), wire(known))
            ]

    assert [answer.status_code for answer in answers] == [200, 200]


@pytest.mark.trio
async def test_only_so_many_records_of_strangers_are_taken_at_a_time(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client() as client:
            records = [stranger(it) for _ in range(9)]
            before = len(it.node.world.log)
            many = await client.post(
                "/v1/records", content=encode([wire(one) for one in records]), headers=MSGPACK
            )
            between = len(it.node.world.log)
            few = await client.post(
                "/v1/records", content=encode([wire(one) for one in records[:8]]), headers=MSGPACK
            )
            after = len(it.node.world.log)

    assert (many.status_code, many.json()["code"]) == (422, "BAD_FIELD")
    assert few.status_code == 200
    assert (between, after) == (before, before + 8)


@pytest.mark.trio
async def test_a_large_body_costs_more_than_a_small_one(tmp_path: Path) -> None:
    limits = replace(QUICK, by_address=Rate(per_second=1, burst=20))
    large = encode([bytes(300_000)])
    with trio.fail_after(15):
        async with living(tmp_path, limits=limits) as it, it.client() as client:
            found = [
                (await client.post("/v1/records", content=large, headers=MSGPACK)).status_code
                for _ in range(2)
            ]

    assert found == [413, 429]
