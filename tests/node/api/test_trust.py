"""Trust through the API: vouch and take back, every clear refusal, the page and the graph."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import msgspec
import pytest
import trio

from federation.charter import preset
from federation.codec import encode
from federation.protocol import Keys, incept
from federation.records import Role, wire
from node.base.entropy import random_bytes
from node.base.settings import Settings
from node.setup import found_solo, write_instance
from tests.node.api.living import AGENTS, CHEAP, PASSPHRASE, Living, living, until
from tests.node.queries.test_trust import with_rows

GOOD = {"weight": 64, "reason": "I know its work."}
HOSTILE = "</text><script>alert(1)</script>"


async def vouch(
    it: Living, by: int, whom: bytes, verb: str = "vouch", **body: object
) -> httpx.Response:
    async with it.acting(by) as agent:
        return await agent.post(f"/v1/agents/{whom.hex()}/{verb}", json=body)


def weight_of(it: Living, by: int, whom: bytes) -> int:
    return it.node.world.state.graph.edge(it.agents[by], whom).vouch


def problem(answer: httpx.Response) -> tuple[int, str]:
    found = answer.json()
    assert set(found) == {"code", "what", "why", "fix", "retry_at"}
    assert found["what"]
    assert found["why"]
    assert found["fix"]
    return answer.status_code, found["code"]


@asynccontextmanager
async def sparing(root: Path) -> AsyncIterator[Living]:
    """Run an instance whose agents have three vouches an epoch, which lasts an hour."""
    founded = found_solo(
        name="town",
        preset="test",
        agents=AGENTS,
        timing=msgspec.structs.replace(preset("test").timing, epoch=3_600_000),
    )
    data = write_instance(
        root / "instance",
        founded,
        passphrase=PASSPHRASE,
        settings=Settings(name="town", http_port=0, listen=("/ip4/127.0.0.1/tcp/0",)),
        cost=CHEAP,
    )
    async with living(root, data=data) as it:
        state = it.node.world.state
        quotas = msgspec.structs.replace(state.charter.quotas, vouches_epoch=3)
        state.charter = msgspec.structs.replace(state.charter, quotas=quotas)
        yield it


@pytest.mark.trio
async def test_a_vouch_counts_is_shown_and_is_taken_back(tmp_path: Path) -> None:
    with trio.fail_after(40):
        async with living(tmp_path) as it, it.client() as client:
            whom = it.agents[1]
            made = await vouch(it, 0, whom, **GOOD)
            again = await vouch(it, 0, whom, **GOOD)
            await until(lambda: weight_of(it, 0, whom) == 64)
            later = await vouch(it, 0, whom, **GOOD | {"reason": "As I said."})
            heavier = await vouch(it, 0, whom, **GOOD | {"weight": 65})
            await until(lambda: weight_of(it, 0, whom) == 65)
            page = (await client.get(f"/v1/agents/{whom.hex()}/trust")).json()
            graph = (await client.get("/v1/trust")).json()
            ended = await vouch(it, 0, whom, "unvouch", reason="No more.")
            ended_again = await vouch(it, 0, whom, "unvouch", reason="No more.")
            await until(lambda: not weight_of(it, 0, whom))
            nothing_left = await vouch(it, 0, whom, "unvouch", reason="No more.")
            anew = await vouch(it, 0, whom, **GOOD)

    assert [one.status_code for one in (made, again, later, heavier, ended)] == [201] * 5
    assert made.json() == again.json() == later.json()
    assert made.json()["kind"] == "agent.vouch"
    assert made.json()["agent"] == it.agents[0].hex()
    assert heavier.json()["id"] != made.json()["id"]
    (received,) = page["vouches_received"]
    assert (received["by"]["name"], received["weight"]) == ("alice", 65)
    assert received["reason"] == GOOD["reason"]
    assert [(one["by"], one["weight"]) for one in graph["edges"]] == [(it.agents[0].hex(), 65)]
    assert ended.json()["kind"] == "agent.unvouch"
    assert ended_again.json() == ended.json() or ended_again.status_code == 409
    assert problem(nothing_left) == (409, "NO_VOUCH")
    assert anew.status_code == 201
    assert anew.json()["id"] not in {made.json()["id"], heavier.json()["id"]}


@pytest.mark.trio
async def test_each_refusal_has_a_code_and_signs_nothing(tmp_path: Path) -> None:
    with trio.fail_after(40):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            stranger = incept(
                it.node.world.realm, HOSTILE, Role.AGENT, Keys.derived(random_bytes(32))
            )
            await operator.post(
                "/v1/records",
                content=encode([wire(stranger)]),
                headers={"content-type": "application/msgpack"},
            )
            made = await operator.post("/v1/admin/agents", json={"name": HOSTILE})
            newcomer = bytes.fromhex(made.json()["id"])
            await until(lambda: newcomer in it.node.world.state.agents)
            before = sum(it.node.world.log.count_of(agent) for agent in (*it.agents, newcomer))
            itself = await vouch(it, 0, it.agents[0], **GOOD)
            unadmitted = await vouch(it, 0, stranger.id, **GOOD)
            nobody = await vouch(it, 0, bytes(32), **GOOD)
            instance = it.node.world.me
            assert instance is not None
            no_agent = await vouch(it, 0, instance.instance, **GOOD)
            ineligible = await operator.post(
                f"/v1/agents/{it.agents[0].hex()}/vouch", json={"agent": newcomer.hex()} | GOOD
            )
            never = await vouch(it, 0, it.agents[1], "unvouch", reason="No more.")
            foreign = await vouch(it, 0, it.agents[1], agent=it.agents[2].hex(), **GOOD)
            async with it.client() as client:
                without = await client.post(f"/v1/agents/{newcomer.hex()}/vouch", json=GOOD)
                page = await client.get(f"/v1/agents/{newcomer.hex()}/trust")
                no_page = await client.get(f"/v1/agents/{instance.instance.hex()}/trust")
                nobodys = await client.get(f"/v1/agents/{'00' * 32}/trust")
            after = sum(it.node.world.log.count_of(agent) for agent in (*it.agents, newcomer))

    assert problem(itself) == (422, "SELF_VOUCH")
    assert problem(unadmitted) == (404, "UNKNOWN_AGENT")
    assert problem(nobody) == (404, "NOT_FOUND")
    assert problem(no_agent) == (404, "UNKNOWN_AGENT")
    assert problem(ineligible) == (403, "NOT_ELIGIBLE")
    assert problem(never) == (409, "NO_VOUCH")
    assert problem(foreign) == (403, "NOT_ALLOWED")
    assert problem(without) == (401, "NO_TOKEN")
    assert page.json()["agent"]["name"] == HOSTILE
    assert page.headers["content-type"].startswith("application/json")
    assert problem(no_page) == (400, "BAD_REQUEST")
    assert problem(nobodys) == (404, "NOT_FOUND")
    assert after == before


@pytest.mark.trio
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"weight": 0}, "$.weight"),
        ({"weight": 256}, "$.weight"),
        ({"weight": -1}, "$.weight"),
        ({"weight": 1.5}, "$.weight"),
        ({"weight": "64"}, "$.weight"),
        ({"weight": 10**30}, "$.weight"),
        ({"weight": None}, "$.weight"),
        ({"reason": ""}, "$.reason"),
        ({"reason": "x" * 501}, "$.reason"),
        ({"reason": 7}, "$.reason"),
        ({"agent": "x"}, "$.agent"),
    ],
)
async def test_a_field_at_fault_is_named(
    tmp_path: Path, changes: dict[str, object], field: str
) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it:
            before = len(it.node.world.log)
            answer = await vouch(it, 0, it.agents[1], **GOOD | changes)
            after = len(it.node.world.log)

    assert problem(answer) == (422, "BAD_FIELD")
    assert f"`{field}`" in answer.json()["why"]
    assert after == before


@pytest.mark.trio
async def test_a_reason_that_no_record_may_hold_is_refused(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it:
            answers = [
                await vouch(it, 0, it.agents[1], **GOOD | {"reason": reason})
                for reason in ("Cafe\u0301", "a\0b")
            ]

    assert [answer.status_code for answer in answers] == [422, 422]


@pytest.mark.trio
async def test_more_vouches_than_an_epoch_allows_are_refused(tmp_path: Path) -> None:
    with trio.fail_after(40):
        async with sparing(tmp_path) as it:
            made = [await vouch(it, 0, it.agents[index], **GOOD) for index in (1, 2, 3)]
            await until(lambda: weight_of(it, 0, it.agents[3]))
            more = await vouch(it, 0, it.agents[4], **GOOD)
            same = await vouch(it, 0, it.agents[1], **GOOD)
            async with it.client() as client:
                page = (await client.get(f"/v1/agents/{it.agents[0].hex()}/trust")).json()
            ended = await vouch(it, 0, it.agents[1], "unvouch", reason="No more.")

    assert [one.status_code for one in made] == [201] * 3
    assert problem(more) == (429, "OVER_QUOTA")
    assert (same.status_code, same.json()) == (201, made[0].json())
    assert page["vouches_left"] == 0
    assert ended.status_code == 201


@pytest.mark.trio
async def test_a_look_at_a_large_realm_costs_more_than_at_a_small_one(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client() as client:
            state = it.node.world.state
            founder = next(iter(state.agents.values()))
            few = (await client.get("/v1/trust")).status_code
            # Nobody's page asks for them before the request is paid.
            state.agents |= {number.to_bytes(32): founder for number in range(60_000)}
            many = [(await client.get("/v1/trust")).status_code for _ in range(40)]

    assert few == 200
    assert 429 in many


@pytest.mark.trio
async def test_a_look_at_a_dense_graph_costs_more_than_at_a_thin_one(tmp_path: Path) -> None:
    """A few hundred agents who all judged each other are as dear as very many who did not."""
    with trio.fail_after(20):
        async with living(tmp_path) as it:
            graph = it.node.world.state.graph
            place = f"/v1/agents/{it.agents[0].hex()}/trust"
            async with it.client() as client:
                few = [(await client.get(place)).status_code for _ in range(30)]
            for by in range(200):
                # The loop has other work, too.
                await trio.lowlevel.checkpoint()
                for of in range(200):
                    graph.vouch(by.to_bytes(32), of.to_bytes(32), 1)
            async with it.client() as client:
                many = [(await client.get(place)).status_code for _ in range(30)]

    assert set(few) == {200}
    assert 429 in many


@pytest.mark.trio
async def test_the_page_of_an_agent_with_much_evidence_costs_more(tmp_path: Path) -> None:
    """Every row of it is weighed anew for each page: others than its owner may ask, too."""
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as client:
            busy, idle = it.agents[:2]
            with_rows(it.node.world, busy, 1_000)

            async def statuses(name: bytes) -> list[int]:
                return [
                    (await client.get(f"/v1/agents/{name.hex()}/trust")).status_code
                    for _ in range(30)
                ]

            cheap, dear = await statuses(idle), await statuses(busy)

    assert set(cheap) == {200}
    assert 429 in dear
