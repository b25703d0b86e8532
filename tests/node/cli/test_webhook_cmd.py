"""Webhooks as the operator types them."""

import base64
import json
from collections.abc import Iterator

import pytest
import trio

from node.store.notices import SaveNotice, Sending, SetDelivery
from tests.node.api.living import Background, background
from tests.node.cli.session import run

URL = "https://hooks.example.invalid/moot"


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Background]:
    with background(tmp_path_factory.mktemp("webhooks")) as it:
        yield it


@pytest.fixture(autouse=True)
def ours(town: Background, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLKMOOT_URL", town.it.url)
    monkeypatch.setenv("FOLKMOOT_TOKEN", town.it.operator)


def told(line: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    session = run(f"{line} --json", capsys)
    assert (session.code, session.people) == (0, ""), session
    found: dict[str, object] = json.loads(session.data)
    return found


def rows(line: str, name: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    found = told(line, capsys)[name]
    assert isinstance(found, list)
    return found


def test_a_webhook_is_made_once_listed_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    made = told(f"webhook add alice {URL}", capsys)
    again = told("webhook add alice https://HOOKS.example.invalid:443/moot", capsys)
    (row,) = rows("webhook list alice", "webhooks", capsys)
    people = run("webhook list alice", capsys)
    other = rows("webhook list bert", "webhooks", capsys)
    foreign = run(f"webhook remove bert {made['id']}", capsys)
    gone = run(f"webhook remove alice {made['id']}", capsys)
    left = rows("webhook list alice", "webhooks", capsys)

    assert made == again
    assert (made["url"], made["algorithm"], made["keyid"]) == (URL, "ed25519", made["id"])
    assert len(base64.b64decode(str(made["public_key"]), validate=True)) == 32
    assert (row["id"], row["on"], row["waiting"], row["dead"]) == (made["id"], True, 0, 0)
    assert str(made["public_key"]) in people.data
    assert other == []
    assert foreign.three[2].endswith("[NOT_FOUND]")
    assert gone.code == 0
    assert left == []


@pytest.mark.parametrize(
    "url", ["http://hooks.example.org/", "https://127.0.0.1/", "https://a@b.example/", "nonsense"]
)
def test_an_address_that_may_not_be_called_is_refused(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(f"webhook add alice {url}", capsys)

    assert session.code == 3
    assert session.three[2].endswith("[BAD_FIELD]")


def test_one_agent_has_four_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    made = [told(f"webhook add emil {URL}/{number}", capsys) for number in range(4)]
    fifth = run(f"webhook add emil {URL}/5", capsys)
    same = run(f"webhook add emil {URL}/3", capsys)
    for one in made:
        run(f"webhook remove emil {one['id']}", capsys)

    assert fifth.three[2].endswith("[BUSY]")
    assert same.code == 0


def test_a_dead_notice_is_listed_and_delivered_after_all(
    town: Background, capsys: pytest.CaptureFixture[str]
) -> None:
    made = told(f"webhook add dora {URL}", capsys)
    node = town.it.node

    async def die() -> None:
        await node.notification.webhooks.turn_off(bytes.fromhex(str(made["id"])), "it was rude")

    async def tell() -> list[object]:
        await node.store.write(
            [
                SaveNotice(
                    agent=town.it.agents[3],
                    kind="verdict",
                    subject=bytes(32),
                    about="",
                    body=b'{"why":"It ended."}',
                    at=1,
                )
            ]
        )
        found = await node.store.notices._fetch("SELECT id FROM deliveries", ())
        for (number,) in found:
            await node.store.write(
                [SetDelivery(id=int(str(number)), state=Sending.DEAD, tries=10, due=0, last="no")]
            )
        return [number for (number,) in found]

    (number,) = trio.from_thread.run(tell, trio_token=town.token)
    trio.from_thread.run(die, trio_token=town.token)
    (off,) = rows("webhook list dora", "webhooks", capsys)
    (row,) = rows("webhook dead dora", "dead", capsys)
    people = run("webhook dead dora", capsys)
    foreign = run(f"webhook retry alice {number}", capsys)
    done = run(f"webhook retry dora {number}", capsys)
    twice = run(f"webhook retry dora {number}", capsys)
    (on,) = rows("webhook list dora", "webhooks", capsys)

    assert (off["on"], off["why"], off["dead"]) == (False, "it was rude", 1)
    assert (row["n"], row["last"], row["tries"]) == (number, "no", 10)
    assert row["notice"]["kind"] == "verdict"  # type: ignore[index]
    assert "verdict" in people.data
    assert foreign.three[2].endswith("[NOT_FOUND]")
    assert done.code == 0
    assert twice.three[2].endswith("[NOT_FOUND]")
    assert (on["on"], on["why"], on["waiting"], on["dead"]) == (True, "", 1, 0)
