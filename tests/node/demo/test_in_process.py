import pytest

from federation.artifacts import DecidedBy
from federation.core import MILLION
from node.demo import in_process
from node.demo.cruxeval import load
from node.demo.in_process import hold
from node.demo.outcome import Outcome, UnfinishedError
from node.demo.realm import found_realm
from node.demo.scenario import draw

CRUX = load()


def play(seed: str, items: int, reviewers: int = 9) -> Outcome:
    scenario = draw(CRUX, seed=seed, items=items, reviewers=reviewers)
    return hold(scenario, found_realm(CRUX, seed=seed, reviewers=reviewers))


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return play("1", 12)


def test_all_instances_come_to_the_same_world(outcome: Outcome) -> None:
    assert len(outcome.digests) == 3
    assert len(set(outcome.digests)) == 1
    assert outcome.verdicts_equal
    assert outcome.agrees


def test_every_answer_gets_its_verdict_from_the_ballots_that_its_reviewers_hold(
    outcome: Outcome,
) -> None:
    agents = outcome.agents_in_order
    assert len(outcome.judged) == 12
    for one in outcome.judged:
        opened = {ballot.voter: ballot.ballot.choice for ballot in one.verdict.ballots}
        expected = {agents[model]: one.question.choice(model) for model in one.question.reviewers}
        assert opened == expected
        assert one.verdict.unrevealed == ()


def test_a_verdict_follows_from_its_ballots_and_weights(outcome: Outcome) -> None:
    for one in outcome.judged:
        counted = [(ballot.weight, ballot.ballot.choice) for ballot in one.verdict.ballots]
        numerator = sum(weight * choice for weight, choice in counted)
        share = numerator * MILLION / sum(weight for weight, _ in counted)
        if share >= 300_000 or share <= -200_000:
            assert one.verdict.by is DecidedBy.VOTE
            assert one.accepted == (share > 0)
        else:
            assert one.verdict.by is DecidedBy.SIGN
            assert one.accepted == (numerator > 0)


def test_six_answers_are_decided_between_two_ticks(outcome: Outcome) -> None:
    # One cut opens the rounds of a batch, the next one is a tick and contains their verdicts.
    assert outcome.ticks == 2
    assert outcome.cuts == 2 * outcome.ticks


def test_reputation_moves_weights_after_a_tick(outcome: Outcome) -> None:
    early, late = outcome.judged[:6], outcome.judged[6:]

    assert {ballot.weight for one in early for ballot in one.verdict.ballots} == {700_000}
    assert len({ballot.weight for one in late for ballot in one.verdict.ballots}) > 1


def test_a_run_can_be_repeated_to_the_last_byte() -> None:
    one, again = play("s", 4, reviewers=3), play("s", 4, reviewers=3)

    assert one == again


def test_another_seed_is_another_run() -> None:
    one, other = play("s", 4, reviewers=3), play("t", 4, reviewers=3)

    assert one.digests != other.digests


def test_everybody_can_review() -> None:
    (one,) = play("1", 1, reviewers=50).judged

    assert len(one.verdict.ballots) == 50


def test_progress_ends_with_all_verdicts() -> None:
    told: list[tuple[int, int]] = []
    scenario = draw(CRUX, seed="1", items=7, reviewers=3)
    hold(
        scenario,
        found_realm(CRUX, seed="1", reviewers=3),
        progress=lambda done, total: told.append((done, total)),
    )

    assert told == [(0, 7), (6, 7), (7, 7)]


def test_a_run_that_does_not_finish_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_process, "_PATIENCE", -1)

    with pytest.raises(UnfinishedError, match="verdicts are missing"):
        play("1", 1, reviewers=3)
