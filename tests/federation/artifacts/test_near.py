"""How near two texts are: bounds, symmetry, and what a small change comes to."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from federation.artifacts.near import MOST, cosine, likeness, runs_of, whole
from federation.core import MILLION
from tests.builders import artifact_text

texts = st.text(max_size=60)
ABOUT_WATER = (
    "Water boils at one hundred degrees Celsius at the pressure of the sea. On a mountain it "
    "boils at less, because the air presses less. Salt raises the point by about half a degree."
)


@given(texts, texts)
def test_likeness_is_symmetric_and_a_share(one: str, other: str) -> None:
    found = likeness(one, other)

    assert found == likeness(other, one)
    assert 0 <= found <= MILLION


@given(texts)
def test_a_text_is_wholly_like_itself_unless_it_says_nothing(text: str) -> None:
    assert likeness(text, text) == (MILLION if text.split() else 0)


@given(st.dictionaries(st.integers(0, 9), st.integers(1, 9)))
def test_the_cosine_does_not_depend_on_the_order_in_which_runs_were_counted(
    counts: dict[int, int],
) -> None:
    turned = Counter(dict(reversed(counts.items())))

    assert cosine(Counter(counts), turned) == (MILLION if counts else 0)


def test_the_cosine_is_that_of_the_school_rounded_down() -> None:
    assert cosine(Counter({1: 3, 2: 4}), Counter({1: 4, 2: 3})) == 960_000
    assert cosine(Counter({1: 1, 2: 1}), Counter({1: 1})) == 707_106
    assert cosine(Counter({1: 1}), Counter({2: 1})) == 0
    assert cosine(Counter(), Counter({2: 1})) == 0


def test_case_and_white_space_make_no_difference() -> None:
    assert likeness("Water  boils\n", "\twater BOILS") == MILLION


def test_a_word_exchanged_leaves_texts_near_and_another_subject_does_not() -> None:
    changed = ABOUT_WATER.replace("about half", "roughly half")

    assert 950_000 <= likeness(ABOUT_WATER, changed) < MILLION
    assert likeness(ABOUT_WATER, "The council met on a Tuesday and voted on the budget.") < 300_000


def test_the_same_words_in_another_order_are_nearer_than_other_words() -> None:
    turned = " ".join(reversed(ABOUT_WATER.split()))

    assert 700_000 < likeness(ABOUT_WATER, turned) < 950_000


def test_what_stands_behind_the_bound_is_not_read() -> None:
    long = "ab " * MOST
    wide = "ΐ" * MOST

    assert runs_of(long) == runs_of(long + "something else")
    assert sum(runs_of(wide).values()) <= 3 * (MOST + 2)


def test_title_claims_and_prose_of_an_artifact_are_compared() -> None:
    text = artifact_text(title="Water boils")

    assert whole(text).startswith("Water boils\n")
    assert all(claim in whole(text) for claim in text.claims)
    assert whole(text).endswith(text.prose)
