"""Draws that anybody can recompute."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from federation.core import Lots
from tests.builders import named

POOL = [named("agent", number) for number in range(5)]


def test_the_stream_is_the_hash_of_its_names_and_a_counter() -> None:
    lots = Lots("run", 7)

    assert lots.bytes32() == hashlib.sha256(b"run/7#1").digest()
    assert lots.bytes32() == hashlib.sha256(b"run/7#2").digest()


def test_the_same_names_give_the_same_draws() -> None:
    one, two = Lots("seed"), Lots("seed")

    assert [one.below(1_000) for _ in range(9)] == [two.below(1_000) for _ in range(9)]
    assert Lots("another").bytes32() != Lots("seed").bytes32()


@given(st.integers(1, 2**64), st.integers())
def test_a_draw_below_a_bound_stays_below_it(bound: int, seed: int) -> None:
    assert 0 <= Lots(seed).below(bound) < bound


@given(st.integers(-100, 100), st.integers(0, 9), st.integers())
def test_a_draw_between_two_ends_may_reach_both(low: int, width: int, seed: int) -> None:
    lots = Lots(seed)
    drawn = {lots.between(low, low + width) for _ in range(200)}

    assert drawn == set(range(low, low + width + 1))


def test_chance_is_in_millionths() -> None:
    lots = Lots("chance")
    hits = sum(lots.chance(250_000) for _ in range(4_000))

    assert 900 < hits < 1_100
    assert not any(lots.chance(0) for _ in range(100))
    assert all(lots.chance(1_000_000) for _ in range(100))


def test_a_pick_is_a_member_and_every_member_is_picked() -> None:
    lots = Lots("pick")

    assert {lots.pick(POOL) for _ in range(100)} == set(POOL)


@given(st.lists(st.integers(), max_size=8), st.integers(0, 10), st.integers())
def test_a_sample_has_no_member_twice_and_is_as_large_as_the_pool_allows(
    pool: list[int], size: int, seed: int
) -> None:
    drawn = Lots(seed).sample(range(len(pool)), size)

    assert len(drawn) == len(set(drawn)) == min(size, len(pool))
    assert set(drawn) <= set(range(len(pool)))
