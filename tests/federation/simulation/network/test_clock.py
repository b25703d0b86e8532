from hypothesis import given
from hypothesis import strategies as st

from federation.simulation.network.clock import LocalClock


def test_a_clock_is_ahead_by_its_offset_and_by_every_jump() -> None:
    clock = LocalClock(100)

    assert clock.read(5) == 105
    clock.jump(1_000)
    assert clock.read(6) == 1_106
    assert clock.when(1_206) == 106


def test_a_clock_that_jumps_back_stands_still_until_time_has_caught_up() -> None:
    clock = LocalClock()
    clock.read(500)
    clock.jump(-200)

    assert [clock.read(501), clock.read(700), clock.read(701)] == [500, 500, 501]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(-100, 100)), max_size=20))
def test_no_clock_ever_goes_back(moves: list[tuple[int, int]]) -> None:
    clock, now, last = LocalClock(), 0, 0
    for passed, jump in moves:
        now += passed
        clock.jump(jump)
        shown = clock.read(now)
        assert shown >= last
        last = shown
