"""What people are told of links and disagreements beyond the bare numbers."""

import json

import pytest

from tests.node.cli.session import run
from tests.node.cli.test_client import stranger


@pytest.mark.parametrize(("known", "hinted"), [(0, True), (2, False)])
def test_a_link_that_lends_nothing_says_so(
    known: int, hinted: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with stranger(content=json.dumps({"links": [{"realm": "ab", "known": known}]}).encode()) as (
        url,
        _,
    ):
        shown = run(f"federation links --url {url}", capsys)

    assert shown.code == 0
    assert ("lends nothing" in shown.people) is hinted


def test_a_decision_of_ones_own_names_its_rule(capsys: pytest.CaptureFixture[str]) -> None:
    """Without it `reject V 1.000` looks like a mistake: too few ballots count."""
    row = {
        "round": "cd",
        "cut": 7,
        "canonical": "accept",
        "canonical_v": 1_000_000,
        "local": "reject",
        "local_v": 1_000_000,
        "local_by": "shortfall",
        "title": "Water",
    }
    with stranger(content=json.dumps({"rounds": [row]}).encode()) as (url, _):
        shown = run(f"federation disagreement --url {url}", capsys)

    assert "accept V 1.000 -> reject V 1.000 by shortfall  Water" in shown.data
