import pytest

from federation.crypto import Choice, Reason
from federation.records import bind_text
from node.demo.cruxeval import CruxItem, CruxModel, CruxSet, load
from node.demo.scenario import BATCH, Question, Scenario, draw

CRUX = load()

GOLDEN = [
    ("crux-test-#417", 7, (37, 27, 1)),
    ("crux-test-#347", 15, (0, 28, 16)),
    ("crux-test-#343", 3, (8, 38, 28)),
    ("crux-test-#769", 37, (18, 35, 23)),
]


def small(answers: tuple[str | None, ...], items: int = 8) -> CruxSet:
    return CruxSet(
        models=tuple(CruxModel(name=f"m{n}", family="f") for n in range(len(answers))),
        items=tuple(
            CruxItem(id=f"q{n}", code="def f(): ...", call="f()", truth="1", answers=answers)
            for n in range(items)
        ),
    )


def first(scenario: Scenario) -> Question:
    return scenario.questions[0]


def ids(scenario: Scenario) -> list[str]:
    return [question.item.id for question in scenario.questions]


def test_the_same_seed_draws_the_same_scenario() -> None:
    assert draw(CRUX, seed="a", items=20, reviewers=9) == draw(
        CRUX, seed="a", items=20, reviewers=9
    )


def test_another_seed_draws_another_order_other_proposers_and_other_reviewers() -> None:
    one = draw(CRUX, seed="a", items=800, reviewers=9)
    other = draw(CRUX, seed="b", items=800, reviewers=9)

    assert ids(one) != ids(other)
    by_id = {question.item.id: question for question in other.questions}
    shared = [(one, by_id[one.item.id]) for one in one.questions if one.item.id in by_id]
    assert any(one.proposer != other.proposer for one, other in shared)
    assert any(set(one.reviewers) != set(other.reviewers) for one, other in shared)


def test_the_draw_does_not_change_from_version_to_version() -> None:
    scenario = draw(CRUX, seed="1", items=4, reviewers=3)

    assert [(q.item.id, q.proposer, q.reviewers) for q in scenario.questions] == GOLDEN


def test_no_item_is_played_twice_and_all_can_be_played() -> None:
    scenario = draw(CRUX, seed="a", items=800, reviewers=3)
    silent = 800 - len(scenario.questions)

    assert len(set(ids(scenario))) == len(ids(scenario))
    assert 0 < silent < 40
    assert len(scenario.batches) == -(-800 // BATCH)


def test_proposers_rotate_so_that_each_comes_once_before_anybody_comes_twice() -> None:
    scenario = draw(small(("1",) * 5, items=10), seed="a", items=10, reviewers=3)
    proposers = [question.proposer for question in scenario.questions]

    assert sorted(proposers[:5]) == [0, 1, 2, 3, 4]
    assert proposers[5:] == proposers[:5]


def test_a_proposer_never_reviews_and_no_reviewer_is_drawn_twice() -> None:
    for question in draw(CRUX, seed="a", items=100, reviewers=9).questions:
        assert len(set(question.reviewers)) == 9
        assert question.proposer not in question.reviewers


def test_all_others_can_review() -> None:
    question = first(draw(CRUX, seed="a", items=1, reviewers=50))

    assert {*question.reviewers, question.proposer} == set(range(51))


def test_a_proposer_without_an_answer_is_left_out() -> None:
    scenario = draw(small((None, "1", "1", "1")), seed="a", items=8, reviewers=3)

    assert len(scenario.questions) == 6
    assert all(question.proposer != 0 for question in scenario.questions)
    assert [len(batch) for batch in scenario.batches] in ([4, 2], [5, 1])


def test_a_batch_may_be_empty() -> None:
    scenario = draw(small((None, None, None, None)), seed="a", items=7, reviewers=3)

    assert scenario.batches == ((), ())


@pytest.mark.parametrize(
    ("model", "choice", "reason"),
    [
        (1, Choice.FOR, Reason.ACCURATE),
        (2, Choice.AGAINST, Reason.INACCURATE),
        (3, Choice.ABSTAIN, Reason.UNCLEAR),
    ],
)
def test_a_model_votes_by_its_own_answer(model: int, choice: Choice, reason: Reason) -> None:
    item = small(("2", "2", "1", None)).items[0]
    question = Question(item=item, proposer=0, claimed="2", reviewers=(1, 2, 3))
    ballot = question.ballot(model)

    assert (ballot.choice, ballot.reason) == (choice, reason)


def test_a_claim_is_true_if_the_function_returns_it() -> None:
    item = small(("1", "2")).items[0]

    assert Question(item=item, proposer=0, claimed="1", reviewers=()).is_true
    assert not Question(item=item, proposer=1, claimed="2", reviewers=()).is_true


def test_the_artifact_has_one_claim_and_says_what_would_show_it_false() -> None:
    item = small(("1",)).items[0]
    text = Question(item=item, proposer=0, claimed="1", reviewers=()).text()

    assert text.claims == ("f() returns 1",)
    assert text.falsification == ("executing the function gives another value",)
    assert text.prose == item.code


def test_every_answer_of_the_set_makes_a_text_that_records_can_carry() -> None:
    for item in CRUX.items:
        for model, answer in enumerate(item.answers):
            if answer is not None:
                question = Question(item=item, proposer=model, claimed=answer, reviewers=())
                bind_text(question.text(), bytes(16))
