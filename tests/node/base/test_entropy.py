"""Randomness comes from the operating system, as much as was asked for."""

import pytest

from node.base.entropy import random_bytes


@pytest.mark.parametrize("count", [0, 1, 24, 32])
def test_it_gives_as_many_bytes_as_were_asked_for(count: int) -> None:
    assert len(random_bytes(count)) == count


def test_it_never_gives_the_same_twice() -> None:
    assert len({random_bytes(16) for _ in range(1_000)}) == 1_000
