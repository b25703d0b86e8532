import json
import sqlite3
from pathlib import Path

import pytest

from node.base.paths import DataDir
from node.base.settings import Settings
from node.cli.doctor_cmd import DOCTOR
from node.keys import Cost
from node.setup import found_solo, write_instance
from tests.node.cli.session import run

CHEAP = Cost(memory=8, passes=1)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataDir:
    monkeypatch.setenv("FOLKMOOT_DATA", str(tmp_path / "data"))
    return write_instance(
        tmp_path / "data",
        found_solo(name="moot", preset="test", agents=("ada",)),
        passphrase=b"secret",
        settings=Settings(),
        cost=CHEAP,
    )


def findings(capsys: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    """Run the doctor both ways; give the codes of what it found, by part."""
    session = run("doctor --json", capsys)
    people = run("doctor", capsys)
    told = json.loads(session.data)
    found = {part: [finding["code"] for finding in rows] for part, rows in told["findings"].items()}

    assert told.keys() == DOCTOR.data.keys()
    assert told["sound"] == (session.code == 0) == (people.code == 0)
    for codes in found.values():
        for code in codes:
            assert f"[{code}]" in people.data
    return {part: codes for part, codes in found.items() if codes}


def test_a_new_instance_is_sound(data: DataDir, capsys: pytest.CaptureFixture[str]) -> None:
    assert not data.database.exists()
    assert findings(capsys) == {}


def test_a_wrong_setting_is_found(data: DataDir, capsys: pytest.CaptureFixture[str]) -> None:
    data.settings.write_text("http_port = 70000")

    assert findings(capsys) == {"settings": ["BAD_SETTINGS"]}


def test_a_damaged_genesis_is_found_and_the_rest_examined(
    data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    data.genesis.write_bytes(data.genesis.read_bytes()[:-1])
    data.tokens.write_text("{")

    assert findings(capsys) == {"genesis": ["GENESIS_DAMAGED"], "tokens": ["TOKENS_DAMAGED"]}


def test_a_damaged_key_file_is_found(data: DataDir, capsys: pytest.CaptureFixture[str]) -> None:
    one = next(data.keys.glob("*.key"))
    one.write_bytes(one.read_bytes()[:-1])

    assert findings(capsys) == {"keys": ["KEY_FILE_DAMAGED"]}


def test_a_missing_instance_key_is_found(data: DataDir, capsys: pytest.CaptureFixture[str]) -> None:
    for one in data.keys.glob("*.key"):
        one.unlink()

    assert findings(capsys) == {"keys": ["NOT_INITIALISED"]}


def test_a_token_that_others_can_read_is_found(
    data: DataDir, capsys: pytest.CaptureFixture[str]
) -> None:
    data.operator_token.chmod(0o644)

    assert findings(capsys) == {"rights": ["KEYS_EXPOSED"]}


def test_a_store_that_is_none_is_found(data: DataDir, capsys: pytest.CaptureFixture[str]) -> None:
    with sqlite3.connect(data.database) as database:
        database.execute("CREATE TABLE notes (line TEXT)")
    database.close()
    found = findings(capsys)

    assert found.keys() == {"store"}
