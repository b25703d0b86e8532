import json
import os
import sys
from pathlib import Path

import pytest

from federation.records import did_key
from node.base.paths import DataDir, hold
from node.base.settings import Settings
from node.keys import Keystore
from node.setup import Founded, found_solo, write_instance
from tests.node.cli.session import run


@pytest.fixture
def founded() -> Founded:
    return found_solo(name="moot", preset="test", agents=("ada", "curie"))


@pytest.fixture
def data(tmp_path: Path, founded: Founded, monkeypatch: pytest.MonkeyPatch) -> DataDir:
    """Write an instance whose settings name the file `secret`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOLKMOOT_DATA", "data")
    for name in ("secret", "fresh"):
        private(name)
    return write_instance(
        tmp_path / "data",
        founded,
        passphrase=b"secret",
        settings=Settings(passphrase_file=Path("../secret")),
    )


def private(name: str, content: str | None = None) -> None:
    file = Path(name)
    file.write_text(f"{content or name}\n")
    file.chmod(0o600)


def opens(data: DataDir, passphrase: bytes) -> int:
    return len(Keystore.unlock(data.keys, passphrase).identities())


def bytes_of(data: DataDir) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in data.keys.iterdir()}


def test_the_list_names_everybody_whose_keys_are_kept(
    data: DataDir, founded: Founded, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads(run("keys list --json", capsys).data)["identities"]
    people = run("keys list", capsys)
    kept = Keystore.unlock(data.keys, b"secret").identities()

    assert {one["id"]: one for one in told} == {
        one.id.hex(): {
            "id": one.id.hex(),
            "role": one.role.value,
            "name": one.name,
            "key_index": 0,
            "did": did_key(one.public),
        }
        for one in kept
    }
    assert [one["name"] for one in told if one["role"] == "agent"] == ["ada", "curie"]
    assert len(told) == len(founded.kept_by(0)) == len(people.data.splitlines())
    assert all(did_key(one.public) in people.data for one in kept)


def test_the_list_shows_nothing_secret_and_needs_no_passphrase(
    data: DataDir, founded: Founded, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("secret").unlink()
    with hold(data):
        session = run("keys list --json", capsys)

    assert session.code == 0
    for one in founded.kept_by(0):
        for seed in (one.keys.current, one.keys.next, one.keys.recovery):
            assert seed.hex() not in session.data


def test_the_new_passphrase_opens_what_the_old_one_no_longer_does(
    data: DataDir, founded: Founded, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Keystore.unlock(data.keys, b"secret").identities()
    session = run("keys passphrase --new-passphrase-file fresh --json", capsys)

    assert session.code == 0
    assert json.loads(session.data) == {
        "identities": len(founded.kept_by(0)),
        "passphrase_file": str(Path("secret").resolve()),
        "file_is_current": False,
    }
    assert Keystore.unlock(data.keys, b"fresh").identities() == before
    again = run("keys passphrase --new-passphrase-file fresh", capsys)
    assert again.code == 3
    assert again.three[2].endswith("[WRONG_PASSPHRASE]")


def test_who_names_a_file_in_the_settings_is_told_to_put_the_new_one_there(
    data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run("keys passphrase --new-passphrase-file fresh", capsys)

    assert session.code == 0
    assert session.data == ""
    assert f"Now put it into {Path('secret').resolve()}" in session.people
    assert "still open with the old one" in session.people
    assert opens(data, b"fresh")


def test_a_new_passphrase_may_stand_in_the_file_of_the_settings_already(
    data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    private("old", "secret")
    private("secret", "newer")
    line = "keys passphrase --passphrase-file old --new-passphrase-file secret"
    session = run(line, capsys)

    assert session.code == 0
    assert "The node reads it from" in session.people
    assert "Now put it" not in session.people
    assert opens(data, b"newer")


@pytest.mark.parametrize("damage", ["gone", "open"])
def test_a_file_of_the_settings_that_a_node_could_not_read_is_not_current(
    damage: str, data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    del data
    private("old", "secret")
    if damage == "gone":
        Path("secret").unlink()
    else:
        private("secret", "fresh")
        Path("secret").chmod(0o644)
    line = "keys passphrase --passphrase-file old --new-passphrase-file fresh --json"

    assert json.loads(run(line, capsys).data)["file_is_current"] is False


def test_without_a_file_in_the_settings_none_is_mentioned(
    data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = data.settings.read_text()
    data.settings.write_text(
        "".join(
            line
            for line in kept.splitlines(keepends=True)
            if not line.startswith("passphrase_file")
        )
    )
    line = "keys passphrase --passphrase-file secret --new-passphrase-file fresh"
    session = run(line, capsys)
    back = run(
        "keys passphrase --passphrase-file fresh --new-passphrase-file secret --json", capsys
    )

    assert (session.code, back.code) == (0, 0)
    assert len(session.people.splitlines()) == 2
    told = json.loads(back.data)
    assert (told["passphrase_file"], told["file_is_current"]) == (None, None)


def test_while_the_directory_is_held_nothing_changes(
    data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    before = bytes_of(data)
    with hold(data):
        session = run("keys passphrase --new-passphrase-file fresh", capsys)

    assert session.code == 3
    assert f"process {os.getpid()}" in session.three[1]
    assert "stop it" in session.three[2]
    assert session.three[2].endswith("[LOCKED]")
    assert bytes_of(data) == before


def test_a_lock_that_cannot_be_taken_for_another_reason_is_told_as_it_is(
    data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    data.lock.unlink(missing_ok=True)
    data.lock.mkdir()
    session = run("keys passphrase --new-passphrase-file fresh", capsys)

    assert session.code == 3
    assert "cannot be held" in session.three[0]


@pytest.mark.parametrize(
    ("line", "leaves", "code"),
    [
        ("--passphrase-file fresh --new-passphrase-file other", 3, "WRONG_PASSPHRASE"),
        ("--new-passphrase-file secret", 2, "USAGE"),
        ("--passphrase-file fresh --new-passphrase-file ./fresh", 2, "USAGE"),
        ("--new-passphrase-file copy", 1, "BAD_PASSPHRASE"),
        ("--new-passphrase-file empty", 1, "BAD_PASSPHRASE"),
        ("--new-passphrase-file open", 1, "KEYS_EXPOSED"),
        ("--new-passphrase-file none", 1, "KEYSTORE_FAILED"),
        ("", 1, "NO_PASSPHRASE"),
        ("--data none --new-passphrase-file fresh", 1, "NOT_INITIALISED"),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(
    line: str, leaves: int, code: str, data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    private("other")
    private("copy", "secret")
    private("empty", "\n")
    private("open")
    Path("open").chmod(0o644)
    before = bytes_of(data)
    session = run(f"keys passphrase {line}", capsys)

    assert session.code == leaves
    assert session.three[2].endswith(f"[{code}]")
    assert bytes_of(data) == before


def test_the_new_one_is_never_the_credential_and_is_asked_twice(
    data: DataDir, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("credentials").mkdir()
    private("credentials/folkmoot-passphrase", "secret")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", "credentials")
    asked: list[str] = []

    def typed(prompt: str) -> str:
        asked.append(prompt)
        return "typed"

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("getpass.getpass", typed)
    session = run("keys passphrase", capsys)

    assert session.code == 0
    assert len(asked) == 2
    assert asked[0].startswith("New passphrase")
    assert opens(data, b"typed")


def test_an_open_descriptor_gives_the_old_one(
    data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    inside, outside = os.pipe()
    os.write(outside, b"secret\n")
    os.close(outside)
    private("secret", "newest")
    try:
        session = run(
            f"keys passphrase --passphrase-fd {inside} --new-passphrase-file secret", capsys
        )
    finally:
        os.close(inside)

    assert session.code == 0
    assert opens(data, b"newest")
