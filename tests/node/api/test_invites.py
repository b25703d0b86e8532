"""Routes about invites."""

from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import trio

from node.access.tokens import act
from node.api.limits import Rate
from node.base.errors import NodeCode, RequestError
from node.runtime.inviting import CODE_LENGTH
from tests.node.api.living import QUICK, Living, living, until
from tests.node.api.registering import town
from tests.node.runtime.newcomers import join, newcomer

PLACE = "/v1/admin/invites"


def of(it: Living, index: int = 0) -> str:
    return f"/v1/agents/{it.agents[index].hex()}/invites"


async def made(client: httpx.AsyncClient, path: str, **body: int) -> dict[str, str]:
    answer = await client.post(path, json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, str] = answer.json()
    return found


async def listed(client: httpx.AsyncClient, **query: object) -> list[dict[str, object]]:
    answer = await client.get(PLACE, params=query)  # type: ignore[arg-type]
    assert answer.status_code == 200, answer.text
    found: list[dict[str, object]] = answer.json()["invites"]
    return found


@pytest.mark.trio
async def test_an_agent_invites_by_its_own_token_and_by_no_other(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with (
            living(tmp_path) as it,
            it.acting(0) as alice,
            it.acting(1) as bert,
            it.client() as anybody,
            it.client(it.token("read")) as reader,
            it.client(it.operator) as operator,
        ):
            answers = [
                await client.post(of(it), json={})
                for client in (alice, operator, bert, anybody, reader)
            ]

    assert [one.status_code for one in answers] == [201, 201, 403, 401, 403]
    told = answers[0].json()
    assert set(told) == {"id", "code", "until"}
    assert len(told["code"]) == CODE_LENGTH
    assert told["code"].startswith(f"fmi_{told['id']}_")


@pytest.mark.trio
async def test_only_the_operator_sees_invites_and_takes_them_back(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with (
            living(tmp_path) as it,
            it.acting(0) as alice,
            it.client() as anybody,
            it.client(it.operator) as operator,
        ):
            told = await made(alice, of(it))
            answers = [
                answer
                for client in (anybody, alice)
                for answer in (
                    await client.get(PLACE),
                    await client.delete(f"{PLACE}/{told['id']}"),
                )
            ]
            before = await listed(operator)
            done = [await operator.delete(f"{PLACE}/{told['id'].upper()}") for _ in range(2)]
            after = await listed(operator)
            unknown = [
                await operator.delete(f"{PLACE}/{name}") for name in ("00000000", told["code"], "é")
            ]

    assert [one.status_code for one in answers] == [401, 401, 403, 403]
    assert [one.status_code for one in done] == [200, 200]
    assert [one.status_code for one in unknown] == [404] * 3
    assert told["code"] not in unknown[1].text
    assert [(one["state"], one["why"]) for one in (*before, *after)] == [
        ("open", ""),
        ("revoked", "it was taken back"),
    ]


@pytest.mark.trio
@pytest.mark.parametrize(
    "body",
    [
        {"weight": 0},
        {"weight": 256},
        {"uses": 0},
        {"uses": 65},
        {"days": 0},
        {"days": 91},
        {"days": "7"},
        {"weight": True},
        {"days": 1.5},
        {"agent": "alice"},
        [],
    ],
)
async def test_a_field_that_it_cannot_be_is_refused(tmp_path: Path, body: object) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.acting(0) as alice:
            answer = await alice.post(of(it), json=body)

            assert it.node.invites.book.all() == []
    assert (answer.status_code, answer.json()["code"]) == (422, "BAD_FIELD")


@pytest.mark.trio
async def test_who_may_not_vouch_is_told_why_it_cannot_invite(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            young = await it.node.admit("young")
            early = await operator.post(f"/v1/agents/{young.hex()}/invites", json={})
            await until(lambda: young in it.node.world.state.agents)
            async with it.client(it.token(act(young))) as its_own:
                answer = await its_own.post(f"/v1/agents/{young.hex()}/invites", json={})
            instance = await operator.post(f"/v1/agents/{it.node.instance.hex()}/invites", json={})
            nobody = await operator.post(f"/v1/agents/{'ab' * 32}/invites", json={})

    assert (early.status_code, early.json()["code"]) == (403, "NOT_ADMITTED")
    assert (answer.status_code, answer.json()["code"]) == (403, "NOT_ELIGIBLE")
    assert "tier 1" in answer.json()["why"]
    assert (instance.status_code, instance.json()["code"]) == (403, "NOT_ADMITTED")
    assert nobody.status_code == 404


@pytest.mark.trio
async def test_the_list_tells_how_far_everybody_is(tmp_path: Path) -> None:
    with trio.fail_after(30):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            told = await made(operator, of(it), uses=3, weight=99)
            invites, realm = it.node.invites, it.node.world.realm
            noted = newcomer(realm, 1).id
            await invites.note(invites.redeem(told["code"], noted), noted)
            agent = await join(it.node, told["code"], 2)
            (soon,) = await listed(operator)
            await until(lambda: (one := invites.book.invited(agent)) and one.is_settled)
            (row,) = await listed(operator)
            text = (await operator.get(PLACE)).text

    assert (row["weight"], row["uses"], row["used"], row["state"]) == (99, 3, 2, "open")
    assert row["inviter"]["name"] == "alice"  # type: ignore[index]
    first, second = row["invited"]  # type: ignore[misc]
    assert (first["stage"], first["record"]) == ("noted", None)
    assert first["why"]
    assert second["stage"] == "vouched"
    assert len(second["record"]) == 64
    assert second["agent"]["name"] == "newcomer 2"
    assert soon["invited"][1]["stage"] in {"admission_waits", "vouch_waits", "vouched"}  # type: ignore[index]
    assert told["code"] not in text
    assert told["code"][13:] not in text


@pytest.mark.trio
async def test_the_list_comes_in_pages_newest_first(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            ids = [(await made(operator, of(it)))["id"] for _ in range(5)]
            found, after = list[object](), None
            while True:
                query = {"most": 2} if after is None else {"most": 2, "after": after}
                page = (await operator.get(PLACE, params=query)).json()
                found += [one["id"] for one in page["invites"]]
                after = page["next"]
                if after is None:
                    break
            exact = (await operator.get(PLACE, params={"most": 5})).json()
            lost = (await operator.get(PLACE, params={"after": "00000000"})).json()
            bad = [
                await operator.get(PLACE, params=query)  # type: ignore[arg-type]
                for query in ({"after": "x"}, {"most": 0}, {"most": 201}, {"code": "fmi_"})
            ]

    assert found == ids[::-1]
    assert [one["id"] for one in exact["invites"]] == ids[::-1]
    assert exact["next"] is None
    assert lost == {"invites": [], "next": None}
    assert [one.status_code for one in bad] == [422] * 4


@pytest.mark.trio
async def test_a_code_in_an_error_is_shown_to_nobody(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client(it.operator) as operator:
            told = await made(operator, of(it))
            answer = await operator.get(f"/v1/agents/{told['code']}")

    assert answer.status_code == 400
    assert told["code"][13:] not in answer.text


@pytest.mark.trio
async def test_an_agent_cannot_fill_the_book_faster_than_its_bucket_and_its_share(
    tmp_path: Path,
) -> None:
    free = replace(QUICK, by_token=Rate(per_second=10_000, burst=10_000))
    with trio.fail_after(30):
        async with living(tmp_path, limits=free) as it, it.acting(0) as alice, it.acting(1) as bert:
            answers = [await alice.post(of(it), json={"days": 1}) for _ in range(66)]
            other = await bert.post(of(it, 1), json={})
            with pytest.raises(RequestError) as unknown:
                it.node.invites.redeem("fmi_", bytes(32))

    assert [one.status_code for one in answers] == [201] * 64 + [503] * 2
    assert answers[-1].json()["code"] == NodeCode.BUSY
    assert other.status_code == 201
    assert unknown.value.code is NodeCode.INVITE_REFUSED


@pytest.mark.trio
async def test_who_guesses_codes_soon_has_no_guess_left(tmp_path: Path) -> None:
    async with town(tmp_path, registration="invited", limits=QUICK) as here:
        agent, word = here.agent()
        work = await here.work(agent)
        guesses = [
            await here.post(agent, work, word, invite=f"fmi_00000000_{number:043}")
            for number in range(12)
        ]

    statuses = [one.status_code for one in guesses]
    assert statuses == sorted(statuses)
    assert set(statuses) == {403, 429}
    assert statuses.count(403) <= QUICK.by_address.burst // QUICK.bad_token
    assert {one.json()["code"] for one in guesses} == {"INVITE_REFUSED", "TOO_MANY_REQUESTS"}
