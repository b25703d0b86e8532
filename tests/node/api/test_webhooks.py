"""Webhooks over HTTP: made, listed, removed, and what they post can be checked by what was told."""

import base64
from pathlib import Path

import pytest
import trio

from node.store.notices import SaveNotice
from tests.node.api.living import Living, found, living, proposal, until
from tests.node.notification.receiver import Got, receiving


def hooks(it: Living, index: int = 0) -> str:
    return f"/v1/agents/{it.agents[index].hex()}/webhooks"


def made(agent: bytes, *numbers: int) -> list[SaveNotice]:
    return [
        SaveNotice(
            agent=agent,
            kind="match",
            subject=number.to_bytes(32, "big"),
            about="",
            body=b'{"why":"It may be of interest."}',
            at=number,
        )
        for number in numbers
    ]


@pytest.mark.trio
async def test_what_happens_in_a_round_is_posted_and_can_be_checked(tmp_path: Path) -> None:
    with trio.fail_after(40):
        async with (
            receiving(tmp_path) as receiver,
            living(tmp_path) as it,
            it.acting(0) as alice,
            it.acting(1) as bert,
        ):
            it.node.notification.outside = receiver.outside()
            answer = await bert.post(hooks(it, 1), json={"url": receiver.url()})
            told = answer.json()
            artifact = (await alice.post("/v1/artifacts", json=proposal())).json()["id"]
            await until(lambda: receiver.got)
            receiver.check(receiver.got[0], base64.b64decode(told["public_key"]), told["keyid"])
            queue = (await bert.get(hooks(it, 1).replace("webhooks", "notices"))).json()

    assert answer.status_code == 201
    assert set(told) == {"id", "url", "keyid", "algorithm", "public_key"}
    posted = receiver.got[0].told
    assert posted["notice"] == queue["notices"][0]
    assert posted["notice"]["artifact"] == artifact
    assert posted["agent"] == it.agents[1].hex()


@pytest.mark.trio
async def test_the_secret_half_of_a_key_is_in_no_answer(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.acting(0) as alice:
            first = await alice.post(hooks(it), json={"url": "https://a.example.invalid/"})
            again = await alice.post(hooks(it), json={"url": "https://A.example.invalid:443"})
            listed = await alice.get(hooks(it))
            (kept,) = it.node.notification.webhooks.all()
            text = first.text + again.text + listed.text

    assert first.json() == again.json()
    assert base64.b64encode(kept.secret_key).decode() not in text
    assert kept.secret_key.hex() not in text


@pytest.mark.trio
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"url": ""},
        {"url": 1},
        {"url": "http://a.example/"},
        {"url": "https://127.0.0.1/"},
        {"url": "https://[::1]/"},
        {"url": "https://a.example/" + "x" * 1_000},
        {"url": "https://a.example/", "secret": "x"},
    ],
)
async def test_an_address_that_may_not_be_called_is_refused(tmp_path: Path, body: object) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.acting(0) as alice:
            answer = await alice.post(hooks(it), json=body)

            assert it.node.notification.webhooks.all() == []
    assert (answer.status_code, answer.json()["code"]) == (422, "BAD_FIELD")


@pytest.mark.trio
async def test_only_its_agent_touches_a_webhook(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.acting(0) as alice, it.acting(1) as bert:
            told = (await alice.post(hooks(it), json={"url": "https://a.example.invalid/"})).json()
            name = told["id"]
            others = [
                await bert.get(hooks(it)),
                await bert.get(f"{hooks(it)}/dead"),
                await bert.delete(f"{hooks(it)}/{name}"),
                await bert.post(f"{hooks(it)}/dead/1/retry"),
                await bert.post(hooks(it), json={"url": "https://b.example.invalid/"}),
            ]
            foreign = await bert.delete(f"{hooks(it, 1)}/{name}")
            odd = [
                await alice.delete(f"{hooks(it)}/{one}")
                for one in ("x", "ab" * 7, "ab" * 9, "ä" * 16)
            ]
            odd += [
                await alice.post(f"{hooks(it)}/dead/{one}/retry")
                for one in ("x", "-1", "1" * 40, "٣", "0")
            ]
            gone = await alice.delete(f"{hooks(it)}/{name}")
            left = (await alice.get(hooks(it))).json()

    assert [one.status_code for one in others] == [403] * 5
    assert foreign.status_code == 404
    assert [one.status_code for one in odd] == [404] * 9
    assert gone.json() == {"done": True}
    assert left == {"webhooks": []}


@pytest.mark.trio
async def test_what_was_not_delivered_waits_through_a_restart_and_a_dead_one_is_revived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("node.notification.delivering.MOST_TRIES", 1)
    broken = [True]

    async def says(_: Got) -> int:
        return 503 if broken[0] else 200

    data = found(tmp_path)
    with trio.fail_after(60):
        async with receiving(tmp_path, says) as receiver:
            async with living(tmp_path, data=data) as it, it.acting(0) as alice:
                it.node.notification.outside = receiver.outside()
                await alice.post(hooks(it), json={"url": receiver.url()})
                await it.node.store.write(made(it.agents[0], 1, 2))
                it.node.notification.mailboxes.wake([it.agents[0]])
                await until(lambda: len(receiver.got) >= 2)
            async with living(tmp_path, data=data) as it, it.acting(0) as alice:
                it.node.notification.outside = receiver.outside()
                first = (await alice.get(f"{hooks(it)}/dead", params={"most": 1})).json()
                rest = (
                    await alice.get(f"{hooks(it)}/dead", params={"after": first["next"]})
                ).json()
                (row,) = first["dead"]
                broken[0] = False
                done = await alice.post(f"{hooks(it)}/dead/{row['n']}/retry")
                await until(lambda: len(receiver.got) >= 3)
                listed = (await alice.get(hooks(it))).json()["webhooks"]

    assert (row["tries"], row["last"]) == (1, "it answers with status 503")
    assert row["notice"]["at"] == 1
    assert [one["notice"]["at"] for one in rest["dead"]] == [2]
    assert done.json() == {"done": True}
    assert receiver.got[2].at == 1
    assert [(one["on"], one["dead"]) for one in listed] == [(True, 1)]
