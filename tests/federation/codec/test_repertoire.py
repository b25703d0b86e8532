"""Text holds characters of Unicode 14.0 only, whatever the interpreter knows."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.codec.repertoire import first_unassigned

KNOWS_14 = unicodedata.unidata_version == "14.0.0"


@pytest.mark.skipif(not KNOWS_14, reason="only Python 3.11 carries Unicode 14.0 to compare with")
def test_the_table_is_that_of_unicode_14() -> None:
    every = [chr(code) for code in range(0x110000)]
    unassigned = [one for one in every if unicodedata.category(one) == "Cn"]

    assert [one for one in every if first_unassigned(one)] == unassigned


def test_what_this_interpreter_does_not_know_is_refused() -> None:
    unknown = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Cn"]

    assert all(first_unassigned(one) == one for one in unknown)


@pytest.mark.parametrize(
    "newer",
    ["\U0001fae8", "\U00016d63", "\U000105c9"],
    ids=["a face of 15.0", "a vowel of 16.0 that composes", "a letter of 16.0 that decomposes"],
)
def test_a_character_of_a_later_unicode_is_refused(newer: str) -> None:
    assert first_unassigned(f"abc{newer}def") == newer


@pytest.mark.parametrize("text", ["", "plain", "é水🌳", "\ue000", "\U0010fffd", "\u0377"])
def test_assigned_and_private_characters_pass(text: str) -> None:
    assert first_unassigned(text) is None


@given(st.text(st.characters(exclude_categories=["Cn"], codec="utf-8"), max_size=20))
def test_the_first_stranger_is_the_one_named(text: str) -> None:
    expected = first_unassigned(text)

    assert first_unassigned(text + "\u0378\ufdd0") == (expected or "\u0378")
