import json
from pathlib import Path

import pytest

from node.access.tokens import OPERATOR, READ, TokenFile
from node.base.paths import DataDir
from node.base.settings import Settings
from node.cli import token_cmd
from node.cli.tables import moment
from node.keys import Cost
from node.setup import Founded, found_solo, write_instance
from tests.node.cli.session import run

CHEAP = Cost(memory=8, passes=1)


@pytest.fixture
def founded() -> Founded:
    return found_solo(name="moot", preset="test", agents=("ada", "curie"))


@pytest.fixture
def data(tmp_path: Path, founded: Founded, monkeypatch: pytest.MonkeyPatch) -> DataDir:
    monkeypatch.setenv("FOLKMOOT_DATA", str(tmp_path / "data"))
    return write_instance(
        tmp_path / "data", founded, passphrase=b"secret", settings=Settings(), cost=CHEAP
    )


def test_the_scopes_are_those_of_the_api() -> None:
    assert token_cmd._SCOPES == (READ, "act", OPERATOR)


def test_a_token_acts_for_its_agent_only(
    data: DataDir, founded: Founded, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run("agent token ada", capsys)
    caller = TokenFile(data).caller(session.data.strip())
    ada, curie = founded.agents

    assert session.code == 0
    assert "shown this once" in session.people
    assert caller is not None
    assert not caller.operates
    assert caller.may_act_for(ada.id)
    assert not caller.may_act_for(curie.id)


def test_a_token_is_kept_nowhere_in_clear(
    data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    token = json.loads(run("agent token ada --json", capsys).data)["token"]

    for path in data.root.rglob("*"):
        assert path.is_dir() or token.encode() not in path.read_bytes()


@pytest.mark.parametrize("scopes", ["read", "read,act", "operator", "act"])
def test_a_token_allows_what_was_asked_for(
    scopes: str, data: DataDir, founded: Founded, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads(run(f"agent token curie --scopes {scopes} --json", capsys).data)
    caller = TokenFile(data).caller(told["token"])

    assert caller is not None
    assert caller.operates == (scopes == "operator")
    assert caller.may_act_for(founded.agents[1].id) == (scopes != "read")
    assert told["agent"] == founded.agents[1].id.hex()


def test_an_agent_is_named_by_the_first_digits_of_its_id_too(
    data: DataDir, founded: Founded, capsys: pytest.CaptureFixture[str]
) -> None:
    del data
    told = json.loads(run(f"agent token {founded.agents[0].id.hex()[:12]} --json", capsys).data)

    assert told["agent"] == founded.agents[0].id.hex()


@pytest.mark.parametrize("name", ["nobody", "moot", "a", "operator"])
def test_only_agents_that_are_kept_here_get_tokens(
    name: str, data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    del data
    session = run(f"agent token {name}", capsys)

    assert session.code == 3
    assert "ada" in session.three[2]
    assert session.three[2].endswith("[NOT_IN_CUSTODY]")


@pytest.mark.parametrize("scopes", ["", "write", "read,read", "act:ab"])
def test_scopes_that_there_are_not_are_refused(
    scopes: str, data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    del data
    session = run(f"agent token ada --scopes '{scopes}'", capsys)

    assert session.code == 2
    assert "read, act, operator" in session.three[1]


def test_tokens_are_listed_without_their_secret_and_can_be_taken_back(
    data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    made = json.loads(run("agent token ada --note 'a program' --json", capsys).data)
    listed = json.loads(run("agent tokens --json", capsys).data)["tokens"]
    people = run("agent tokens", capsys)

    assert [token["note"] for token in listed] == ["the local operator", "a program"]
    assert made["token"] not in json.dumps(listed) + people.data
    assert "a program" in people.data
    assert all(moment(token["created"]) in people.data for token in listed)

    gone = run(f"agent revoke-token {made['id']}", capsys)
    assert gone.code == 0
    assert "a program" in gone.people
    assert TokenFile(data).caller(made["token"]) is None
    again = run(f"agent revoke-token {made['id']} --json", capsys)
    assert again.code == 1
    assert again.three[2].endswith("[NOT_FOUND]")


def test_taking_back_says_which(data: DataDir, capsys: pytest.CaptureFixture[str]) -> None:
    del data
    made = json.loads(run("agent token ada --json", capsys).data)
    told = json.loads(run(f"agent revoke-token {made['id']} --json", capsys).data)

    assert told == {"id": made["id"]}


def test_an_agent_whose_name_is_not_its_own_is_named_by_its_id(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (found_solo(name="moot", preset="test", agents=("ada",)) for _ in range(2))
    write_instance(
        tmp_path / "two",
        one,
        passphrase=b"secret",
        settings=Settings(),
        cost=CHEAP,
        keep=[*one.kept_by(0), other.agents[0]],
    )
    monkeypatch.setenv("FOLKMOOT_DATA", str(tmp_path / "two"))
    session = run("agent token ada", capsys)

    assert session.code == 1
    assert session.three[2].endswith("[AMBIGUOUS]")
