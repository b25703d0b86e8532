"""Sentences are places in their text, in order, without overlap, and never too long."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.deliberation import LONGEST, sentences
from tests import strategies


def split(text: str) -> list[str]:
    return [one.of(text) for one in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t ", []),
        ("It holds.", ["It holds."]),
        ("It holds. It does not! Does it? No…", ["It holds.", "It does not!", "Does it?", "No…"]),
        ("See e.g. the source. It says so.", ["See e.g. the source.", "It says so."]),
        ("Version 1.2 is out.", ["Version 1.2 is out."]),
        ("He said “no.” Then he left.", ["He said “no.”", "Then he left."]),
        ("one line\nanother\r\n\r\nthird", ["one line", "another", "third"]),
        ("水は濡れている。いや\uff1fそう", ["水は濡れている。", "いや\uff1f", "そう"]),
        ("一。二。", ["一。", "二。"]),
        ("...", ["..."]),
        ("Ends without a mark", ["Ends without a mark"]),
    ],
)
def test_a_text_is_split_where_people_stop(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_what_has_no_marks_is_cut_between_words_and_called_a_part() -> None:
    text = "wordier " * 200
    found = [*sentences(text)]

    assert all(one.part for one in found)
    assert all(len(one.of(text)) <= LONGEST for one in found)
    assert {*" ".join(split(text)).split()} == {"wordier"}
    assert " ".join(split(text)) == text.strip()


def test_what_has_no_words_either_is_cut_after_so_many_characters() -> None:
    found = split("a" * 12_000)

    assert len(found) == 12_000 // LONGEST
    assert {len(one) for one in found} == {LONGEST}


def test_blanks_within_a_long_sentence_make_no_sentence() -> None:
    assert split("before" + " " * 2_000 + "after") == ["before", "after"]


def test_a_sentence_of_the_longest_length_is_whole() -> None:
    (whole,) = sentences("a" * LONGEST)
    first, second = sentences("a" * (LONGEST + 1))

    assert not whole.part
    assert first.part
    assert second.part


@pytest.mark.parametrize(
    "text",
    [
        "." * 12_000,
        ". " * 6_000,
        ".\"'" * 4_000,
        "\n" * 12_000,
        "e.g. " * 2_400,
        " " * 12_000,
        "。」" * 6_000,
        "a" * 12_000,
        "\u202e\u0301" * 6_000,
        "😀" * 12_000,
    ],
    ids=range(10),
)
def test_no_text_of_the_largest_size_is_slow(text: str) -> None:
    began = time.process_time()
    found = split(text)

    assert time.process_time() - began < 0.5
    assert all(one in text and one == one.strip() and one for one in found)


@given(strategies.texts(400) | st.text(alphabet="ab .!?\n\"'”。」\u202e", max_size=700))
def test_sentences_lie_in_their_text_in_order_and_lose_only_blanks(text: str) -> None:
    found = [*sentences(text)]
    last = 0
    for one in found:
        assert not text[last : one.start].strip()
        assert one.start < one.end <= one.start + LONGEST
        assert one.of(text) == one.of(text).strip()
        last = one.end

    assert not text[last:].strip()
