"""An offer names something, and taking it back names nothing."""

import json

import pytest

from tests.node.cli.session import run
from tests.node.cli.test_client import stranger


@pytest.mark.parametrize("line", ["subscribe ada", "subscribe ada --off --topic water"])
def test_an_offer_that_says_nothing_or_too_much_is_refused(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(line, capsys)

    assert session.code == 2
    assert "--off" in session.three[2]


def test_an_offer_is_shown_with_what_waits(capsys: pytest.CaptureFixture[str]) -> None:
    page = {
        "agent": {"id": "ab" * 32, "name": "ada"},
        "offer": {"on": True, "topics": ["water"], "keywords": []},
        "waiting": {"on": False, "topics": [], "keywords": []},
    }
    with stranger(content=json.dumps(page).encode()) as (url, _):
        shown = run(f"subscription show {'ab' * 32} --url {url}", capsys)

    assert shown.code == 0
    assert "topics    water" in shown.data
    assert "From the next cut on: on no" in shown.people
