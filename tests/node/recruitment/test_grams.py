"""Other forms of a word are near to it, words that look alike by chance are not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.recruitment.grams import NEAR, WINDOWS, Nearness, runs_of, windows_of, words_in


def nearness(phrase: str, *lines: str) -> int:
    return Nearness([phrase]).near(lines).get(0, 0)


@pytest.mark.parametrize(
    ("phrase", "line"),
    [
        ("vaccine", "Vaccines reduce mortality in adults"),
        ("sort algorithm", "Sorting algorithms are stable"),
        ("neural network", "Neural networks generalise"),
        ("immunology", "The immunological memory"),
        ("ai", "The AI act"),
        ("salt", "Salts of the sea"),
        ("Boiling Point", "the boiling-point of water"),
    ],
)
def test_a_word_in_another_form_is_near(phrase: str, line: str) -> None:
    assert NEAR <= nearness(phrase, line) <= 100


@pytest.mark.parametrize(
    ("phrase", "line"),
    [
        ("consequences", "Where two instances see differences"),
        ("statement", "A settlement of testaments"),
        ("water", "Later it was hotter"),
        ("---", "--- - ---"),
        ("water", ""),
        ("water", "!!!"),
    ],
)
def test_what_only_looks_alike_is_not(phrase: str, line: str) -> None:
    assert nearness(phrase, line) == 0


def test_the_same_words_are_as_near_as_can_be_wherever_they_stand() -> None:
    line = f"{'of this and that ' * 4} boiling point"

    assert nearness("boiling point", line) == 100
    assert Nearness(["x", "boiling point", "---"]).near([line]) == {1: 100}


def test_only_the_first_windows_are_looked_at() -> None:
    line = " ".join(f"w{number}" for number in range(WINDOWS)) + " water"

    assert len(windows_of([line] * 3)) == WINDOWS
    assert nearness("water", line) == 0
    assert nearness("water", "water", line) == 100


def test_without_phrases_nothing_is_near() -> None:
    assert Nearness([]).near(["water"]) == {}


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_texts_can_be_compared(phrase: str, line: str) -> None:
    assert 0 <= nearness(phrase, line) <= 100


@given(st.lists(st.text(max_size=20), min_size=1, max_size=4))
def test_runs_are_counted_text_by_text(texts: list[str]) -> None:
    together = runs_of([words_in(text) for text in texts])
    for place, text in enumerate(texts):
        alone = runs_of([words_in(text)])
        mine = together.texts == place

        assert np.array_equal(together.places[mine], alone.places)
        assert np.array_equal(together.counts[mine], alone.counts)
