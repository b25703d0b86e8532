"""Every question is a question: nothing that is typed is ever an error."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.records import Role
from node.store.words import MOST_TERMS, expression_of, shared_words, spread, terms_of, words_of
from tests.builders import Chain, artifact_text, person, propose
from tests.node.store.ledger import say


def ask(question: str, *texts: str) -> list[str]:
    """Put a question to SQLite as a store does; give the texts that it finds."""
    database = sqlite3.connect(":memory:")
    try:
        database.execute(
            'CREATE VIRTUAL TABLE words USING fts5(x, tokenize="unicode61 remove_diacritics 2")'
        )
        database.executemany("INSERT INTO words VALUES (?)", [(spread(text),) for text in texts])
        expression = expression_of(question)
        if expression is None:
            return []
        found = database.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid", (expression,)
        )
        return [texts[number - 1] for (number,) in found.fetchall()]
    finally:
        database.close()


@pytest.mark.parametrize(
    "question",
    [
        "NEAR(",
        "title:water",
        "water AND",
        "NOT water",
        "-water",
        "^water",
        "wat*er",
        '"water',
        '""""""',
        "'); DROP TABLE words; --",
        "{title claims}: x",
        "water\x00boils",
        "\ud800water",
        "(((((((((((((((((((",
        "water" * 5_000,
        "a " * 5_000,
        "\u202ewater",
    ],
)
def test_whatever_is_typed_is_looked_for_and_never_an_error(question: str) -> None:
    ask(question, "Water boils.")


@given(st.text(max_size=60))
def test_no_text_at_all_is_an_error(question: str) -> None:
    ask(question, "Water boils.", question.replace("\ud800", ""))


def test_operators_are_words_like_others() -> None:
    assert ask("NOT boils", "Water boils.", "It does not, boils or no.") == [
        "It does not, boils or no."
    ]


def test_all_terms_must_occur_and_a_phrase_as_it_stands() -> None:
    texts = ("Water boils at 100 °C.", "At 100 °C water is hot; it boils.")

    assert ask("boils WATER", *texts) == list(texts)
    assert ask('"water boils"', *texts) == [texts[0]]
    assert ask("cafe", "Café") == ["Café"]


def test_a_script_without_spaces_is_searched_by_its_characters() -> None:
    assert ask("沸点", "水的沸点是100度", "点沸") == ["水的沸点是100度"]


@pytest.mark.parametrize("question", ["", " ", "---", '"', "°", "\x00"])
def test_what_holds_no_letter_asks_for_nothing(question: str) -> None:
    assert expression_of(question) is None


def test_only_so_many_terms_are_read_and_each_once() -> None:
    assert terms_of("a a b") == ("a", "b")
    assert len(terms_of(" ".join(f"t{n}" for n in range(60)))) == MOST_TERMS


def test_some_of_the_longest_words_of_a_text_are_asked_for_each_once() -> None:
    assert shared_words('the "thermometer" and the Thermometer*') == (
        '"thermometer" OR "and" OR "the"'
    )
    assert shared_words('--- " ° \x00') is None
    many = shared_words(" ".join(f"word{n}" for n in range(60)))
    assert many is not None
    assert many.count(" OR ") == MOST_TERMS - 1


def test_only_proposals_whose_text_is_held_have_words() -> None:
    chain = Chain(person(Role.AGENT))
    record = chain.say(*propose(artifact_text(title="Water", claims=("It boils.", "It is wet."))))
    words = words_of(record)

    assert words is not None
    assert words[:2] == ("Water", "It boils.\nIt is wet.")
    assert words_of(record.with_text(None)) is None
    assert words_of(say(1, 2)[1]) is None
