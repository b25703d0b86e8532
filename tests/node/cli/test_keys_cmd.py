import json
from pathlib import Path

import pytest

from node.base.paths import DataDir
from node.base.settings import Settings
from node.cli.keys_cmd import unlock
from node.cli.main import parser
from node.keys import Keystore, read_key, write_key
from node.setup import Founded, found_solo, read_genesis, write_instance
from tests.node.cli.session import run


@pytest.fixture
def founded() -> Founded:
    return found_solo(name="moot", preset="test", agents=("ada", "curie"))


@pytest.fixture
def data(tmp_path: Path, founded: Founded, monkeypatch: pytest.MonkeyPatch) -> DataDir:
    """Write an instance that keeps the keys of all but one agent."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOLKMOOT_DATA", "data")
    private(tmp_path / "secret", "secret\n")
    return write_instance(
        tmp_path / "data",
        founded,
        passphrase=b"secret",
        settings=Settings(passphrase_file=Path("../secret")),
        keep=founded.kept_by(0)[:3],
    )


def private(file: Path, content: str) -> None:
    file.write_text(content)
    file.chmod(0o600)


def test_an_open_export_is_the_agent_s_current_key_for_its_owner_only(
    data: DataDir, founded: Founded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run("agent export ada --out ada.key --open --json", capsys)
    told = json.loads(session.data)
    file = tmp_path / "ada.key"

    assert session.code == 0
    assert told == {
        "agent": founded.agents[0].id.hex(),
        "file": "ada.key",
        "key_index": 0,
        "encrypted": False,
    }
    assert read_key(file.read_bytes(), None) == founded.agents[0].keys.current
    assert file.stat().st_mode & 0o777 == 0o600
    assert data.root.exists()


def test_an_encrypted_export_needs_its_own_passphrase(
    data: DataDir, founded: Founded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del data
    private(tmp_path / "other", "other\n")
    session = run("agent export ada --out ada.key --key-passphrase-file other", capsys)

    assert session.code == 0
    assert "Key 0 of ada is in ada.key." in session.people
    raw = (tmp_path / "ada.key").read_bytes()
    assert read_key(raw, b"other") == founded.agents[0].keys.current


def test_an_export_overwrites_nothing(
    data: DataDir, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del data
    (tmp_path / "ada.key").write_text("mine")
    session = run("agent export ada --out ada.key --open", capsys)

    assert session.code == 3
    assert (tmp_path / "ada.key").read_text() == "mine"


@pytest.mark.parametrize("how", ["", "--open --key-passphrase-file secret"])
def test_an_export_is_either_encrypted_or_open(
    how: str, data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    del data
    session = run(f"agent export ada --out ada.key {how}", capsys)

    assert session.code == 2
    assert "--open" in session.three[2]


def test_an_export_into_a_place_that_is_not_there_is_told(
    data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    del data
    session = run("agent export ada --out none/ada.key --open", capsys)

    assert session.code == 1
    assert session.three[2].endswith("[NOT_WRITTEN]")


def test_a_key_comes_back_from_its_file(
    data: DataDir, founded: Founded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = _key_of(founded, tmp_path)
    curie = founded.agents[1]
    session = run(f"agent import curie {raw} --json", capsys)

    assert session.code == 0
    assert json.loads(session.data) == {"agent": curie.id.hex(), "name": "curie"}
    keystore = Keystore.unlock(data.keys, b"secret")
    founders = {row.agent for row in read_genesis(data.genesis).charter.genesis.founders}
    assert founders <= {kept.id for kept in keystore.identities()}


def test_the_key_of_another_agent_is_refused(
    data: DataDir, founded: Founded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del data
    (tmp_path / "ada.key").write_bytes(write_key(founded.agents[0].keys.current, None))
    session = run("agent import curie ada.key", capsys)

    assert session.code == 1
    assert session.three[2].endswith("[BAD_OPENSSH_KEY]")


def test_an_import_takes_no_kept_key_away(
    data: DataDir, founded: Founded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ada.key").write_bytes(write_key(founded.agents[0].keys.current, None))
    before = {one.id: one for one in Keystore.unlock(data.keys, b"secret").identities()}
    session = run("agent import ada ada.key", capsys)

    assert session.code == 3
    assert session.three[2].endswith("[KEY_WOULD_BE_LOST]")
    assert {one.id: one for one in Keystore.unlock(data.keys, b"secret").identities()} == before
    assert before[founded.agents[0].id].next is not None


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("agent import nobody x", "NOT_FOUND"),
        ("agent import curie none", "NOT_READABLE"),
        ("agent export nobody --out x --open", "NOT_IN_CUSTODY"),
    ],
)
def test_what_is_not_there_is_told(
    line: str, code: str, data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    del data
    session = run(line, capsys)

    assert session.code in {1, 3}
    assert session.three[2].endswith(f"[{code}]")


def test_a_wrong_passphrase_is_refused(
    data: DataDir, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del data
    private(tmp_path / "wrong", "wrong\n")
    session = run("agent export ada --out x --open --passphrase-file wrong", capsys)

    assert session.code == 3
    assert session.three[2].endswith("[WRONG_PASSPHRASE]")
    assert not (tmp_path / "x").exists()


def test_people_are_told_when_an_imported_key_is_used(
    data: DataDir, founded: Founded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del data
    session = run(f"agent import curie {_key_of(founded, tmp_path)}", capsys)

    assert "after its" in session.people


def test_the_settings_name_the_passphrase_unless_the_line_does(data: DataDir) -> None:
    arguments = parser().parse_args(["run"])

    assert len(unlock(arguments, data).identities()) == 3


def _key_of(founded: Founded, folder: Path) -> Path:
    file = folder / "curie.key"
    private(file, write_key(founded.agents[1].keys.current, None).decode())
    return file
