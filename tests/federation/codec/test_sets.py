"""A list that means a set has one order; whoever breaks it learns where."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.codec import as_set, check_set

ITEMS = st.lists(st.binary(max_size=2), max_size=6)


@given(ITEMS, st.randoms())
def test_a_set_has_one_spelling_whatever_order_it_came_in(items: list[bytes], dice: object) -> None:
    shuffled = list(items)
    dice.shuffle(shuffled)  # type: ignore[attr-defined]

    assert as_set(items) == as_set(shuffled + items)
    assert set(as_set(items)) == set(items)


@given(ITEMS)
def test_exactly_the_one_spelling_is_accepted(items: list[bytes]) -> None:
    check_set("items", as_set(items))
    if tuple(items) != as_set(items):
        with pytest.raises(ValueError, match=r"^items\[[1-5]\]: this item of a set stands "):
            check_set("items", items)


@pytest.mark.parametrize(
    ("items", "fault"),
    [
        (["a", "c", "b"], "topics[2]: this item of a set stands out of order"),
        (["a", "b", "b"], "topics[2]: this item of a set stands twice"),
        (["B", "a", "A"], "topics[2]: this item of a set stands out of order"),
    ],
)
def test_the_first_wrong_item_is_named(items: list[str], fault: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(fault)}$"):
        check_set("topics", items)
