"""The shipped set against facts measured on the public sources before it was compacted."""

import ast

import pytest

from node.demo.cruxeval import CruxSet, load, plurality, plurality_right, right_by_model

# Share of true answers per model, in 1/10,000, as published beside the sources.
PUBLISHED = {
    "Athene-70B": 5350,
    "Llama-3.1-405B-Inst-fp8": 7188,
    "Llama-3.1-405B-Inst@sambanova": 7125,
    "Meta-Llama-3-8B-Instruct": 3762,
    "Mistral-Large-2": 7463,
    "Phi-3-mini-4k-instruct": 4450,
    "Qwen2.5-3B-Instruct": 3550,
    "chatgpt-4o-latest-24-09-07": 8575,
    "claude-3-5-sonnet-20241022": 8525,
    "deepseek-v2.5-0908": 6875,
    "gemini-1.5-pro-exp-0827": 7950,
    "gemma-2-2b-it": 2425,
    "gpt-4o-2024-08-06": 8675,
    "grok-2-1212": 7463,
    "o1-preview-2024-09-12": 9612,
    "yi-large-preview": 6338,
}


@pytest.fixture(scope="module")
def crux() -> CruxSet:
    return load()


def test_the_set_has_51_models_of_13_families_and_800_items(crux: CruxSet) -> None:
    assert len(crux.models) == 51
    assert len({model.family for model in crux.models}) == 13
    assert len(crux.items) == 800
    assert len({item.id for item in crux.items}) == 800
    assert all(len(item.answers) == 51 for item in crux.items)


def test_every_model_scores_what_was_published(crux: CruxSet) -> None:
    scores = dict(zip((model.name for model in crux.models), right_by_model(crux), strict=True))

    # The published shares are rounded to four places: half a unit of the last place.
    assert all(
        abs(scores[name] / 800 - share / 10_000) <= 6e-5 for name, share in PUBLISHED.items()
    )


def test_the_plurality_is_right_on_851_of_1000_items(crux: CruxSet) -> None:
    assert abs(plurality_right(crux) / 800 - 0.851) < 0.001


def test_where_the_plurality_is_wrong_somebody_nearly_always_knows(crux: CruxSet) -> None:
    wrong = [item for item in crux.items if plurality(item.answers) != item.truth]
    knowing = [item.answers.count(item.truth) for item in wrong]

    assert len(wrong) == 119
    assert sum(count > 0 for count in knowing) == 116
    assert sum(1 <= count <= 5 for count in knowing) == 52


def test_the_code_and_the_call_are_python(crux: CruxSet) -> None:
    for item in crux.items:
        ast.parse(item.code)
        ast.parse(item.call, mode="eval")


def test_running_the_code_gives_the_truth(crux: CruxSet) -> None:
    for item in crux.items[:40]:
        scope: dict[str, object] = {}
        exec(item.code, scope)  # noqa: S102 # the benchmark's own snippets, not a model's output

        assert repr(eval(item.call, scope)) == repr(ast.literal_eval(item.truth))  # noqa: S307


def test_no_answer_is_none_and_not_an_empty_text(crux: CruxSet) -> None:
    answers = [answer for item in crux.items for answer in item.answers]

    assert answers.count(None) == 162
    assert "" not in answers


def test_the_plurality_of_equals_is_the_first_and_silence_does_not_count() -> None:
    assert plurality(["2", "1", None, "1", "2", None, None]) == "2"
    assert plurality([None, None]) is None
