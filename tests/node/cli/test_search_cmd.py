"""What people are told of what was found and of what asks for a look."""

import json

import pytest

from tests.node.cli.session import run
from tests.node.cli.test_client import stranger

HIT = {
    "artifact": {
        "id": "ab" * 32,
        "state": "active",
        "title": "Water\x1b[2J boils",
        "verdict": {"v": 500_000, "narrow": [{"reason": "few", "why": "Few."}]},
    },
    "excerpt": "… at 100 °C …",
    "support": 2,
}
ROW = {
    "urgency": "closing",
    "act": "vote",
    "round": "cd" * 32,
    "artifact": "ab" * 32,
    "phase": "commit",
    "window": {"submit_within": 60_000},
    "sensitivity": "high",
    "title": "Water",
    "why": "1 of the 3 ballots of a quorum are in the box.",
    "warnings": [{"why": "4 of 5 commitments are by agents of one."}],
}


def test_what_was_found_is_shown_with_its_tally_and_what_rests_on_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = {"items": [HIT], "next": "ab" * 32, "partial": True}
    with stranger(content=json.dumps(page).encode()) as (url, _):
        shown = run(f"search water boils --url {url}", capsys)

    assert shown.code == 0
    assert shown.data.split()[:5] == ["ab" * 6, "active", "0.500", "yes", "2"]
    assert "\x1b" not in shown.data
    assert "at 100 °C" in shown.people
    assert "--after " + "ab" * 32 in shown.people
    assert "There may be more" in shown.people


def test_a_row_of_the_queue_says_why_and_what_is_unusual(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with stranger(content=json.dumps({"rows": [ROW], "more": 3}).encode()) as (url, _):
        shown = run(f"queue --url {url}", capsys)

    assert shown.code == 0
    assert shown.data.split()[:5] == ["closing", "vote", "cd" * 6, "ab" * 6, "commit"]
    assert "1 of the 3 ballots" in shown.people
    assert "unusual: 4 of 5" in shown.people
    assert "3 more" in shown.people


@pytest.mark.parametrize("line", ["search", "search x --state hidden", "queue --most 201"])
def test_what_cannot_be_asked_is_told(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line, capsys).code == 2
