import json
import tomllib

import pytest

from federation.charter import PROTOCOL
from node.cli.version_cmd import NUMBER
from tests.node.cli.session import ROOT, run


def test_the_version_is_the_project_s() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["version"] == NUMBER


def test_version_and_protocol_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("version", capsys).data == f"{NUMBER}\n"
    assert json.loads(run("version --json", capsys).data) == {
        "version": NUMBER,
        "protocol": PROTOCOL,
    }
