import json
import os
from pathlib import Path

import pytest

from federation.charter import preset
from node.base.paths import DataDir
from node.base.settings import Settings, load
from node.cli.init_cmd import AGENTS
from node.cli.main import COMMANDS
from node.keys import Keystore, obtain
from node.setup import read_genesis
from tests.node.cli.session import run


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty directory, without the variables of whoever runs the tests."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("FOLKMOOT_", "CREDENTIALS_"))]:
        monkeypatch.delenv(name)


def test_without_a_question_there_is_an_instance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run("init", capsys)
    data = DataDir(tmp_path / "folkmoot-data")
    settings = load(data.settings, {})
    genesis = read_genesis(data.genesis)

    assert (session.code, session.data) == (0, "")
    assert str(tmp_path / "folkmoot-data.passphrase") in session.people
    assert "folkmoot run --data folkmoot-data" in session.people
    assert genesis.charter.preset == "solo"
    assert len(genesis.charter.genesis.founders) == len(AGENTS)
    assert (
        settings.passphrase_file == tmp_path / "folkmoot-data" / ".." / "folkmoot-data.passphrase"
    )
    keystore = Keystore.unlock(data.keys, obtain(file=settings.passphrase_file, environ={}))
    assert len(keystore.identities()) == len(AGENTS) + 2


def test_the_data_says_all_that_was_made(capsys: pytest.CaptureFixture[str]) -> None:
    session = run(
        "init --data moot --name moot --preset test --agents ada,noether --http-port 0 "
        "--listen /ip4/127.0.0.1/tcp/0 --listen /ip6/::1/tcp/0 --json",
        capsys,
    )
    told = json.loads(session.data)
    data = DataDir(Path("moot"))
    genesis = read_genesis(data.genesis)
    (command,) = [one for one in COMMANDS if one.name == "init"]

    assert (session.code, session.people) == (0, "")
    assert told.keys() == command.data.keys()
    assert told["realm"] == genesis.realm.hex()
    assert [agent["name"] for agent in told["agents"]] == ["ada", "noether"]
    assert told["warnings"] > 0
    assert genesis.charter.timing == preset("test").timing
    assert load(data.settings, {}) == Settings(
        name="moot",
        http_port=0,
        listen=("/ip4/127.0.0.1/tcp/0", "/ip6/::1/tcp/0"),
        passphrase_file=Path("moot") / ".." / "moot.passphrase",
    )


def test_founders_may_hold_offices(capsys: pytest.CaptureFixture[str]) -> None:
    line = "init --data moot --agents ada,bell,curie --arbiters ada,bell --moderators bell"
    assert run(line, capsys).code == 0
    founders = read_genesis(DataDir(Path("moot")).genesis).charter.genesis.founders

    assert sorted(founder.badges for founder in founders) == [
        (),
        ("arbiter",),
        ("arbiter", "moderator"),
    ]


def test_the_directory_may_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FOLKMOOT_DATA", "elsewhere")

    assert run("init", capsys).code == 0
    DataDir(Path("elsewhere")).check()


def test_a_passphrase_file_of_ones_own_is_named_in_the_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "secret"
    file.write_text("correct horse\n")
    file.chmod(0o600)

    assert run("init --passphrase-file secret", capsys).code == 0
    data = DataDir(tmp_path / "folkmoot-data")
    assert load(data.settings, {}).passphrase_file == file
    Keystore.unlock(data.keys, b"correct horse")
    assert not (tmp_path / "folkmoot-data.passphrase").exists()


def test_a_passphrase_from_a_descriptor_stands_in_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"correct horse\n")
    os.close(writer)
    session = run(f"init --passphrase-fd {reader} --json", capsys)
    os.close(reader)
    data = DataDir(tmp_path / "folkmoot-data")

    assert json.loads(session.data)["passphrase_file"] is None
    assert load(data.settings, {}).passphrase_file is None
    Keystore.unlock(data.keys, b"correct horse")


def test_a_systemd_credential_is_used_and_stays_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "credentials").mkdir()
    (tmp_path / "credentials" / "folkmoot-passphrase").write_text("correct horse")
    (tmp_path / "credentials" / "folkmoot-passphrase").chmod(0o600)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path / "credentials"))

    assert run("init", capsys).code == 0
    Keystore.unlock(tmp_path / "folkmoot-data" / "keys", b"correct horse")


@pytest.mark.parametrize("again", ["init", "init --preset test --agents noether"])
def test_a_second_time_is_refused_kindly_and_changes_nothing(
    again: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("init", capsys)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    session = run(again, capsys)

    assert session.code == 3
    assert "it holds an instance of realm 'folkmoot' already" in session.three[1]
    assert "folkmoot run --data folkmoot-data" in session.three[2]
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_directory_with_other_things_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folkmoot-data").mkdir()
    (tmp_path / "folkmoot-data" / "thesis.txt").touch()
    session = run("init", capsys)

    assert session.code == 3
    assert session.three[2].endswith("[ALREADY_INITIALISED]")
    assert [path.name for path in (tmp_path / "folkmoot-data").iterdir()] == ["thesis.txt"]


def test_a_missing_passphrase_file_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run("init --passphrase-file none", capsys)

    assert session.code == 1
    assert "none" in session.three[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--preset nothing", "--preset"),
        ("--agents ada,ada", "names must differ"),
        ("--agents ada,,bell", "1 to 64 printable"),
        (f"--agents {','.join(f'a{n}' for n in range(201))}", "200 are the most"),
        ("--http-port 65536", "65536"),
        ("--listen 127.0.0.1:4420", "not an address"),
        ("--passphrase-file a --passphrase-fd 3", "not allowed with"),
        ("--passphrase secret", "--passphrase"),
        ("--arbiters ada,nobody", "'nobody' is to be arbiter"),
        ("--agents bell --moderators ada", "'ada' is to be moderator"),
    ],
)
def test_a_line_that_makes_no_sense_is_explained_and_leaves_nothing(
    options: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(f"init {options}", capsys)

    assert session.code == 2
    assert why in session.three[1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("line", ["run", "doctor", "agent tokens", "artifact list", "status"])
def test_where_there_is_no_instance_every_command_says_what_to_do(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(line, capsys)

    assert session.code == 1
    assert session.three[0] == "folkmoot: no instance in folkmoot-data"
    assert "folkmoot init" in session.three[2]
    assert session.three[2].endswith("[NOT_INITIALISED]")
