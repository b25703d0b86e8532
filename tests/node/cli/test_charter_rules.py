import json
from pathlib import Path

import msgspec
import pytest

from federation.charter import HOUR, preset
from federation.codec import encode
from node.cli.charter_cmd import imagined
from node.cli.charter_rules import rules_from
from node.cli.errors import CommandError, UsageError

BASE = json.loads(msgspec.json.encode(preset("community")))


def test_single_values_replace_what_was() -> None:
    rules = rules_from(
        BASE,
        None,
        [
            "review.k=9",
            "review.contest=2h",
            "review.mode=rounds",
            "trust.evidence.survived=7",
            "trust.squared=true",
            'review.topics=[{"prefix": "a", "sensitivity": "low"}]',
        ],
    )

    assert (rules.review.k, rules.review.contest, rules.review.mode) == (9, 2 * HOUR, "rounds")
    assert (rules.trust.evidence.survived, rules.trust.squared) == (7, True)
    assert [one.prefix for one in rules.review.topics] == ["a"]
    assert rules.quotas == preset("community").quotas
    # What a node told is left as it was.
    assert json.loads(msgspec.json.encode(preset("community"))) == BASE


@pytest.mark.parametrize(
    ("text", "value"),
    [("250ms", 250), ("3s", 3_000), ("90min", 5_400_000), ("2d", 172_800_000), ("10", 10)],
)
def test_durations_may_have_a_unit(text: str, value: int) -> None:
    assert rules_from(BASE, None, [f"review.commit={text}"]).review.commit == value


def test_a_file_may_hold_some_sections_and_what_is_shown_beside_them(tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    file.write_text(json.dumps({"hash": "ab", "number": 3, "review": {"k": 9, "q_min": 4}}))
    rules = rules_from(BASE, file, ["review.k=8"])

    assert (rules.review.k, rules.review.q_min) == (8, 4)
    assert rules.review.commit == preset("community").review.commit


def test_a_file_may_be_a_charter_in_its_own_bytes(tmp_path: Path) -> None:
    file = tmp_path / "charter"
    file.write_bytes(encode(imagined("federation", operators=2, founders=4)))

    assert rules_from(BASE, file, []) == preset("federation")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("review.k", "no '='"),
        ("k=3", "there is no k"),
        ("review=3", "there is no review"),
        ("review.nothing=3", "there is no review.nothing"),
        ("genesis.seeds=3", "there is no genesis.seeds"),
        ("review.k.x=3", "there is no review.k.x"),
        ("review.k=0", ">= 1"),
        ("review.k=many", "Expected `int`, got `str`"),
        ("review.k=1.5", "got `float`"),
        ("review.mode=loud", "Invalid enum value"),
        ("review.k=" + "[" * 100_000, "Expected `int`"),
        ("=", "there is no "),
    ],
)
def test_what_no_rules_can_hold_is_refused_with_its_place(change: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        rules_from(BASE, None, [change])

    assert why in caught.value.why


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "is no JSON"),
        ('{"number": 1}', "none of the sections"),
        ('{"review": {"unknown": 1}}', "there is no review.unknown"),
        ('{"review": 3}', "Expected `object`"),
    ],
)
def test_a_file_that_holds_no_rules_is_refused(content: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "rules"
    file.write_text(content)

    with pytest.raises(UsageError) as caught:
        rules_from(BASE, file, [])
    assert why in caught.value.why


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file"):
        rules_from(BASE, tmp_path / "none", [])
