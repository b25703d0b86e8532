"""Routes about who answers for whom: what they answer, and what they refuse."""

from pathlib import Path

import pytest
import trio

from federation.charter import preset
from federation.protocol import Keys, custody, incept
from federation.protocol.inputs import Arrived
from federation.records import OperatorAdmit, Role
from tests.node.api.living import AGENTS, living, until
from tests.node.api.test_page import EVIL, TURNED, Page


@pytest.mark.trio
async def test_operators_are_listed_and_shown_to_anybody(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as client:
            listed = (await client.get("/v1/operators")).json()
            (row,) = listed["items"]
            name = row["operator"]["id"]
            page = (await client.get(f"/v1/operators/{name}")).json()
            by_prefix = (await client.get(f"/v1/operators/{name[:10]}")).json()
            after = (await client.get("/v1/operators", params={"after": name})).json()

    assert listed["next"] is None
    assert page == by_prefix
    assert after == {"items": [], "next": None}
    assert {one["agent"]["name"] for one in page["agents"]} == set(AGENTS)
    assert row["quota"] == page["quota"]
    assert page["quota"]["used"] == len(AGENTS)
    assert row["weight"]["after"] == 1_000_000
    assert page["void"] == {"count": 0, "codes": [], "newest": []}
    assert all(sentence.endswith(".") for sentence in page["says"])


@pytest.mark.trio
async def test_an_instance_tells_what_it_admits(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as client:
            name = it.node.instance.hex()
            page = (await client.get(f"/v1/instances/{name}/admissions")).json()

    assert page["instance"]["id"] == name
    assert page["agents"]["most"] == preset("test").admission.instance_least
    assert (page["barred"], page["waiting"], page["admitted_agents"]) == (False, 0, len(AGENTS))
    assert page["free"]


@pytest.mark.trio
async def test_any_record_is_explained_by_its_full_id(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as client:
            name = it.agents[0].hex()
            found = (await client.get(f"/v1/records/{name}/why")).json()
            by_cid = (await client.get(f"/v1/records/{found['cid']}/why")).json()

    assert (found["kind"], found["fate"], found["code"]) == ("identity.incept", "counts", None)
    assert by_cid == found


@pytest.mark.trio
@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        (f"/v1/operators/{bytes(32).hex()}", 404, "NOT_FOUND"),
        ("/v1/operators/{agent}", 404, "NOT_FOUND"),
        ("/v1/operators/x", 400, "BAD_REQUEST"),
        ("/v1/operators?after={agent}", 404, "NOT_FOUND"),
        (f"/v1/operators?after={bytes(32).hex()}", 404, "NOT_FOUND"),
        ("/v1/operators?most=0", 422, "BAD_FIELD"),
        ("/v1/operators?most=201", 422, "BAD_FIELD"),
        ("/v1/operators?x=1", 422, "BAD_FIELD"),
        ("/v1/instances/{agent}/admissions", 404, "NOT_FOUND"),
        (f"/v1/instances/{bytes(32).hex()}/admissions", 404, "NOT_FOUND"),
        (f"/v1/records/{bytes(32).hex()}/why", 404, "NOT_FOUND"),
        ("/v1/records/abcdef/why", 422, "BAD_FIELD"),
    ],
)
async def test_what_is_not_there_is_refused_clearly(
    tmp_path: Path, path: str, status: int, code: str
) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as client:
            answer = await client.get(path.format(agent=it.agents[0].hex()))

    assert (answer.status_code, answer.json()["code"]) == (status, code)


@pytest.mark.trio
async def test_the_status_page_says_who_answers_for_whom(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as client:
            page = Page((await client.get("/")).text)
            (row,) = (await client.get("/v1/operators")).json()["items"]

    page.check()
    words = " ".join(page.words.split())
    assert "Who answers for whom" in words
    assert row["operator"]["name"] in words
    assert f"{len(AGENTS)} of {row['quota']['most']}" in words
    assert "100.0 %" in words


@pytest.mark.trio
async def test_hostile_names_of_operators_are_read_and_do_nothing(tmp_path: Path) -> None:
    named = EVIL + TURNED
    with trio.fail_after(30):
        async with living(tmp_path) as it, it.client() as client:
            seeds = Keys(current=bytes([1] * 32), next=bytes([2] * 32), recovery=bytes([3] * 32))
            first = incept(it.node.world.realm, named, Role.OPERATOR, seeds, at=1)
            it.node.driver.take(Arrived(records=(first,), peer=None))
            body = OperatorAdmit(operator=first.id, domain="evil.example.org")
            await it.node.sign(
                it.node.instance,
                lambda world, ring, now: custody.author(world, ring, body, now=now),
            )
            await until(lambda: first.id in it.node.world.state.operators)
            page = Page((await client.get("/")).text)
            shown = (await client.get(f"/v1/operators/{first.id.hex()}")).json()

    page.check()
    assert EVIL in page.words
    assert not set(page.words) & set("\u202e\u2066\u200f")
    assert "evil.example.org" in page.words
    assert not [at for _, at in page.tags if "evil.example.org" in str(at.get("href"))]
    assert (shown["operator"]["name"], shown["domain"]) == (named, "evil.example.org")
