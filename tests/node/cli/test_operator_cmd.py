"""`folkmoot operator list` and `show`, and `folkmoot why` of any record, with a running node."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from federation.records import Role
from node.cli.errors import Exit
from node.cli.operator_cmd import _put_agents, put_void, sentences_of
from node.cli.output import Output
from node.cli.tables import row_of
from node.queries import operators
from node.queries.admissions import admissions
from tests.node.cli.running import folkmoot, started
from tests.node.cli.session import run
from tests.node.queries import joiners
from tests.node.queries.scenes import plain


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Start a realm of one instance."""
    folder = tmp_path_factory.mktemp("node")
    made = folkmoot(
        f"init --data {folder / 'data'} --preset test --http-port 0 "
        "--listen /ip4/127.0.0.1/tcp/0 --agents ada,brahe"
    )
    assert made.code == 0, made.people
    with started(f"run --data {folder / 'data'}", folder / "log"):
        yield folder / "data"


@pytest.fixture(autouse=True)
def ours(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every command line find the node by its data directory."""
    for name in ("FOLKMOOT_URL", "FOLKMOOT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FOLKMOOT_DATA", str(data))


def told(line: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """Run a command line with --json; give what it told."""
    session = run(f"{line} --json", capsys)
    assert (session.code, session.people) == (0, ""), session
    assert session.data.count("\n") == 1
    found: dict[str, object] = json.loads(session.data)
    return found


def test_the_list_shows_each_operator_with_its_agents(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = told("operator list", capsys)["operators"]  # type: ignore[misc]
    session = run("operator list", capsys)

    assert session.code == Exit.OK
    assert row["operator"]["id"][:12] in session.data
    assert f"2 of {row['quota']['most']}" in session.data
    assert "100.0 %" in session.data
    assert "FOUND BAD" in session.people


def test_one_operator_is_shown_by_name_and_by_id(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = told("operator list", capsys)["operators"]  # type: ignore[misc]
    name = row["operator"]["name"]
    by_name = told(f"operator show '{name}'", capsys)
    assert told(f"operator show {row['operator']['id']}", capsys) == by_name
    assert told(f"operator show {row['operator']['id'][:8]}", capsys) == by_name
    session = run(f"operator show '{name}'", capsys)

    assert session.code == Exit.OK
    for words in ("It answers for 2 of at most", row["operator"]["id"], "ada", "brahe", "did:key:"):
        assert words in session.data
    assert "(none)" in session.people


def test_an_operator_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for said in ("nobody", "00" * 32, "ada"):
        session = run(f"operator show {said}", capsys)
        assert session.code != Exit.OK
        assert "[NOT_FOUND]" in session.three[2]


def test_why_tells_of_any_record_by_its_full_id(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = told("operator list", capsys)["operators"]  # type: ignore[misc]
    name = row["operator"]["id"]
    found = told(f"why {name}", capsys)
    session = run(f"why {row['operator']['cid']}", capsys)

    assert (found["fate"], found["kind"]) == ("counts", "identity.incept")
    assert session.code == Exit.OK
    assert "counts." in session.data
    for said in (name[:10], "00" * 32):
        assert "[NOT_FOUND]" in run(f"why {said}", capsys).three[2]
    assert "by their full id only" in run(f"why {name[:10]}", capsys).three[1]


def test_an_instance_tells_of_its_own_door(capsys: pytest.CaptureFixture[str]) -> None:
    me = told("status", capsys)["realm"]["me"]  # type: ignore[index]
    by_name = told(f"peer why '{me['name']}'", capsys)
    session = run(f"peer why {me['id'][:8]}", capsys)

    assert told(f"peer why {me['id']}", capsys) == by_name
    assert (by_name["instance"], by_name["score"], by_name["why"]) == (me["id"], 0, [])
    assert by_name["admissions"] is not None
    assert session.code == Exit.OK
    assert "is this instance itself" in session.data
    assert "As a door for newcomers" in session.people
    # It is no peer for all that.
    assert "[NOT_FOUND]" in run(f"peer ban {me['id']}", capsys).three[2]


def test_the_peer_of_nobody_is_still_not_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert "[NOT_FOUND]" in run("peer why nobody", capsys).three[2]


def test_hostile_names_and_void_admissions_are_shown_harmlessly() -> None:
    here = joiners.town()
    one = here.stranger(Role.AGENT)
    record = joiners.admit(here, one, proof=None, instance=2)
    joiners.decided(here, record)
    page = row_of(plain(admissions(here.world(), here.founding.instances[2])))  # type: ignore[arg-type]
    void = row_of(page.get("void"))
    (row,) = void["newest"]  # type: ignore[misc]
    evil = "a\x1b[2Jb\u202ec\n"
    row["newcomer"]["name"] = row["says"] = evil  # type: ignore[index,call-overload]
    operator = row_of(plain(operators.one(here.world(), here.founding.operators[0])))  # type: ignore[arg-type]
    operator["agents"][0]["agent"]["name"] = evil  # type: ignore[index,call-overload]
    data, people = io.StringIO(), io.StringIO()
    output = Output(data=data, people=people, quiet=False)
    put_void(output, void)
    _put_agents(output, operator)
    data.writelines(sentences_of(page))

    assert record.id.hex() in data.getvalue()
    assert "PROOF_MISSING" in data.getvalue()
    assert not set(data.getvalue()) & set("\x1b\u202e")
    assert "a\N{REPLACEMENT CHARACTER}[2Jb" in data.getvalue()


def test_an_answer_of_another_shape_is_shown_as_nothing() -> None:
    data, people = io.StringIO(), io.StringIO()
    output = Output(data=data, people=people, quiet=False)
    for page in ({}, {"newest": 3}, {"newest": [{}]}, {"newest": [{"record": 1}], "count": "x"}):
        put_void(output, row_of(page))
        _put_agents(output, row_of({"agents": page}))
    assert list(sentences_of({"says": None})) == []
