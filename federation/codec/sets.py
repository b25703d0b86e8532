"""One spelling for sets: a list that means a set is strictly ascending, texts by code point.

Two orders, or an item twice, would give one meaning several byte strings, and so several ids.
Whoever makes such a list sorts it with `as_set`; the structs that hold one call `check_set`.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

Item = TypeVar("Item", bytes, str)


def as_set(items: Iterable[Item]) -> tuple[Item, ...]:
    """Give the one spelling of a set: ascending, each item once."""
    return tuple(sorted(set(items)))


def check_set(name: str, items: Sequence[Item]) -> None:
    """Raise ValueError, naming field and item, unless `items` are strictly ascending."""
    for index, (before, item) in enumerate(pairwise(items), start=1):
        if item <= before:
            why = "twice" if item == before else "out of order"
            raise ValueError(f"{name}[{index}]: this item of a set stands {why}")
