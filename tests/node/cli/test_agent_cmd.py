"""`folkmoot agent create` waits as long as the charter's proof of work takes, and says so."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from node.cli import agent_cmd
from node.cli.agent_cmd import _search_s
from node.cli.client import Client
from node.cli.output import Json
from tests.node.api.living import Background
from tests.node.cli.registering import LONG_MS, town
from tests.node.cli.session import run

COMMUNITY: dict[str, Json] = {
    "memory_kib": 16_384,
    "passes": 1,
    "parts": 4,
    "bits": 9,
    "gate_bits": 18,
    "left": 8,
}


@pytest.fixture(autouse=True)
def nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FOLKMOOT_URL", "FOLKMOOT_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Background]:
    with town(tmp_path, epoch=LONG_MS) as running:
        yield running


def at(running: Background) -> str:
    return f"--url {running.it.url} --token {running.it.operator}"


def test_it_says_that_the_node_searches_and_the_agent_is_there(
    asking: Background, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(f"agent create grace {at(asking)}", capsys)

    assert session.code == 0, session
    assert "about 1 s on average" in session.people
    assert "not the search" in session.people
    made = run(f"agent create hedy {at(asking)} --json", capsys)
    assert (made.code, made.people) == (0, "")
    names = {kept.id.hex(): kept.name for kept in asking.it.node.keystore.identities()}
    assert names[json.loads(made.data)["id"]] == "hedy"


def test_where_no_proof_is_asked_for_it_says_nothing_of_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with town(tmp_path, asks=False) as free:
        session = run(f"agent create grace {at(free)}", capsys)

    assert session.code == 0, session
    assert "search" not in session.people


def test_it_waits_longer_for_harder_proofs(
    asking: Background, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = list[float]()
    post = Client.post

    def watched(
        self: Client, *path: str, body: dict[str, Json] | None = None, wait_s: float = 0.0
    ) -> Json:
        waited.append(wait_s)
        return post(self, *path, body=body, wait_s=wait_s)

    monkeypatch.setattr(Client, "post", watched)
    for seconds in (1, 100):
        monkeypatch.setattr(agent_cmd, "_search_s", lambda _, seconds=seconds: seconds)
        assert run(f"agent create grace {at(asking)}", capsys).code == 0

    assert waited == [80.0, 2_060.0]


def test_the_estimate_is_that_of_the_design() -> None:
    # 4 parts of 2^9 hashes of 10 ms, and a gate of some tenths of a second.
    assert _search_s({"free": False, "agents": COMMUNITY}) == 21
    assert _search_s({"free": False, "agents": {**COMMUNITY, "bits": 12}}) in range(150, 180)
    assert _search_s({"free": True, "agents": COMMUNITY}) is None


@pytest.mark.parametrize("page", [{}, {"agents": None}, {"agents": {"bits": "9"}}])
def test_an_answer_of_another_version_costs_no_command(page: dict[str, Json]) -> None:
    assert _search_s(page) == 1
