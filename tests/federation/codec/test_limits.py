"""The limits that a stranger meets, as the design states them."""

import dataclasses

import pytest

from federation.codec import LIMITS


def test_the_limits_are_those_of_the_design() -> None:
    assert dataclasses.asdict(LIMITS) == {
        "record": 65_536,
        "text": 16_384,
        "blob": 1_048_576,
        "frame": 262_144,
        "depth": 8,
        "map_keys": 64,
        "list_items": 1_024,
    }


def test_the_limits_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        LIMITS.record = 1  # type: ignore[misc]
