from dataclasses import replace

import msgspec
import pytest

from federation.artifacts import DecidedBy
from node.demo.cruxeval import load
from node.demo.in_process import hold
from node.demo.outcome import Outcome
from node.demo.realm import found_realm
from node.demo.report import close_up, summary, tables
from node.demo.scenario import draw
from tests.node.demo.verdicts import KEYS, judged

CRUX = load()


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    scenario = draw(CRUX, seed="1", items=6, reviewers=5)
    return hold(scenario, found_realm(CRUX, seed="1", reviewers=5))


def test_the_data_has_exactly_the_promised_keys_in_their_order(outcome: Outcome) -> None:
    told = msgspec.json.decode(msgspec.json.encode(summary(outcome, seconds=1.23456)))

    assert list(told) == KEYS
    assert told["seconds"] == 1.235
    assert [bytes.fromhex(digest) for digest in told["digests"]] == list(outcome.digests)


def test_decided_and_ambiguous_are_all_artifacts(outcome: Outcome) -> None:
    told = summary(outcome, seconds=0)

    assert told.artifacts == told.decided + told.ambiguous == 6
    assert (told.instances, told.agents) == (3, 51)


def test_decided_rounds_and_all_rounds_are_scored_apart(outcome: Outcome) -> None:
    rounds = (
        judged(1, 1, 1, accepted=True, true=True),
        judged(1, 1, -1, accepted=False, true=True),
        judged(1, -1, 0, accepted=True, true=True, by=DecidedBy.SIGN),
    )
    told = summary(replace(outcome, judged=rounds), seconds=0)

    assert (told.decided, told.ambiguous) == (2, 1)
    assert (told.accuracy, told.majority_accuracy) == (0.5, 1)
    assert (told.accuracy_all, told.majority_accuracy_all) == (0.6667, 0.6667)


def test_people_see_one_round_close_up(outcome: Outcome) -> None:
    text = close_up(outcome)
    shown = next(one for one in outcome.judged if one.question.item.id in text)

    assert shown.question.text().claims[0] in text
    for model in shown.question.reviewers:
        assert CRUX.models[model].name in text
    assert f"Executing the function gives {shown.question.item.truth}" in text


def test_the_round_shown_is_not_unanimous_if_there_is_one(outcome: Outcome) -> None:
    text = close_up(outcome)

    assert "    for " in text
    assert "    against " in text


def test_people_see_a_table_and_the_digests(outcome: Outcome) -> None:
    text = tables(outcome, summary(outcome, seconds=2))

    for word in ("accepted", "retracted", "precision", "recall", "accuracy", "plain majority"):
        assert word in text
    for digest in outcome.digests:
        assert digest.hex() in text
    assert "equal." in text


def test_people_are_told_loudly_when_worlds_differ(outcome: Outcome) -> None:
    split = replace(outcome, digests=(bytes(32), *outcome.digests[1:]))

    assert "DIFFERENT." in tables(split, summary(split, seconds=2))
    assert not split.agrees


def test_without_a_division_the_first_round_is_shown_and_without_rounds_none(
    outcome: Outcome,
) -> None:
    unanimous = tuple(judged(1, 1, accepted=True, true=True) for _ in range(2))
    agent = outcome.agents_in_order[0]
    first = replace(
        unanimous[0],
        verdict=replace(
            unanimous[0].verdict,
            ballots=tuple(replace(one, voter=agent) for one in unanimous[0].verdict.ballots),
        ),
    )

    assert close_up(replace(outcome, judged=(first,))).startswith("One round, close up: q")
    assert close_up(replace(outcome, judged=())) == ""


def test_a_share_of_nothing_is_shown_as_a_dash(outcome: Outcome) -> None:
    nothing = replace(outcome, judged=())

    row = tables(nothing, summary(nothing, seconds=0)).splitlines()[2]

    assert row.split()[-5:] == ["0", "0", "-", "-", "-"]
