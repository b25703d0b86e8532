"""A keyword is taken apart as the search index takes texts apart."""

import sqlite3
from collections.abc import Iterator

import pytest

from node.recruitment.tokens import TOGETHER, Tokens


@pytest.fixture
def tokens() -> Iterator[Tokens]:
    made = Tokens()
    yield made
    made.close()


def test_texts_come_apart_in_order_without_case_and_accents(tokens: Tokens) -> None:
    assert tokens.of(["Water, BOILS twice: boils!", "Café-au-lait", "沸点 x"]) == [
        ("water", "boils", "twice", "boils"),
        ("cafe", "au", "lait"),
        ("沸", "点", "x"),
    ]


def test_what_holds_no_word_gives_none(tokens: Tokens) -> None:
    assert tokens.of(["", "--- !", "\x00", "a\x00b"]) == [(), (), (), ("a", "b")]
    assert tokens.of([]) == []


def test_nothing_of_one_question_is_left_for_the_next(tokens: Tokens) -> None:
    tokens.of(["one two three"])

    assert tokens.of(["four"]) == [("four",)]


def test_more_texts_than_are_taken_at_once_keep_their_places(tokens: Tokens) -> None:
    texts = [f"w{number}" for number in range(TOGETHER + 2)]

    assert tokens.of(texts) == [(text,) for text in texts]


def test_once_it_is_closed_it_answers_no_more() -> None:
    made = Tokens()
    made.close()

    with pytest.raises(sqlite3.ProgrammingError):
        made.of(["x"])
