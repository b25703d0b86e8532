"""Notices as the operator types for them."""

import json
from collections.abc import Iterator

import pytest
import trio

from node.store.notices import SaveNotice
from tests.node.api.living import Background, background
from tests.node.cli.session import run


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Background]:
    with background(tmp_path_factory.mktemp("notices")) as it:
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


def write(town: Background, agent: int, *numbers: int) -> None:
    """Store notices as the node does."""

    async def put() -> None:
        await town.it.node.store.write(
            [
                SaveNotice(
                    agent=town.it.agents[agent],
                    kind="match",
                    subject=number.to_bytes(32, "big"),
                    about="",
                    body=b'{"why":"Number %d \\u001b[2J of many."}' % number,
                    at=number,
                )
                for number in numbers
            ]
        )
        town.it.node.notification.mailboxes.wake([town.it.agents[agent]])

    trio.from_thread.run(put, trio_token=town.token)


def test_what_is_acknowledged_is_listed_no_more(
    town: Background, capsys: pytest.CaptureFixture[str]
) -> None:
    write(town, 1, 1, 2, 3)
    page = told("notice list bert", capsys)
    people = run("notice list bert", capsys)
    rows = page["notices"]
    assert isinstance(rows, list)
    done = run(f"notice ack bert {rows[1]['cursor']}", capsys)
    rest = told("notice list bert", capsys)["notices"]
    behind = told(f"notice list bert --after {page['next']}", capsys)["notices"]

    assert [one["at"] for one in rows] == [1, 2, 3]
    assert "Number 1" in people.data
    assert "\x1b" not in people.data
    assert done.code == 0
    assert rest == rows[2:]
    assert behind == []


def test_following_prints_a_line_each_and_acknowledges_if_told_to(
    town: Background, capsys: pytest.CaptureFixture[str]
) -> None:
    write(town, 2, 11, 12)
    seen = run("notice follow cleo --for 1 --json", capsys)
    again = run("notice follow cleo --for 1 --ack", capsys)
    empty = run("notice follow cleo --for 1", capsys)

    assert [json.loads(line)["at"] for line in seen.data.splitlines()] == [11, 12]
    assert again.data.count("\n") == 2
    assert empty.data == ""
    assert {seen.code, again.code, empty.code} == {0}


def test_what_it_cannot_be_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for line in ("notice list bert --most 0", "notice ack bert x", "notice follow bert --for 0"):
        assert run(line, capsys).code == 2
    assert run("notice list nobody", capsys).three[2].endswith("[NOT_FOUND]")
