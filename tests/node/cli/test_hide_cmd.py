"""What this node does not show is listed for its operator."""

import json

import pytest

from tests.node.cli.session import run
from tests.node.cli.test_client import stranger


def test_what_is_hidden_is_listed_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    page = {"items": [{"id": "ab" * 32, "reason": "Private data.", "at": 0}]}
    with stranger(content=json.dumps(page).encode()) as (url, _):
        shown = run(f"artifact hidden --url {url}", capsys)

    assert shown.data.split() == ["ab" * 6, "1970-01-01", "00:00:00Z", "Private", "data."]


def test_a_hidden_text_is_shown_with_the_reason_in_its_place(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = {"id": "ab" * 32, "text": "hidden", "prose": None, "hidden": {"why": "Private data."}}
    with stranger(content=json.dumps(page).encode()) as (url, _):
        shown = run(f"artifact show {'ab' * 32} --url {url}", capsys)

    assert "The text is hidden. Private data." in shown.data
