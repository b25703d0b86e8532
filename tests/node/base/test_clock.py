"""The clock of an instance goes on where it was, and never behind a stored fact."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import given
from hypothesis import strategies as st

from node.base.clock import ClockState, SteadyClock, boot

ELSEWHERE = "another boot of the machine"
TIMES = st.integers(min_value=0, max_value=10**12)


def since_boot() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


@contextmanager
def around(least: int) -> Iterator[list[int]]:
    """Bound a reading from below, and from above by the time that passed meanwhile.

    Some milliseconds are forgiven: where the machine is a virtual one, its processors may differ.
    """
    began, read = since_boot(), list[int]()
    yield read
    assert least <= read[0] <= least + since_boot() - began + 20


def test_a_new_instance_begins_at_zero() -> None:
    with around(0) as read:
        read.append(SteadyClock(None).now())


def test_it_goes_on_with_the_machine_while_the_process_is_down() -> None:
    before = SteadyClock(None, at_least=5_000)
    stored = before.state()
    after = SteadyClock(stored)

    assert after.offset == before.offset
    assert after.boot_id == stored.boot_id == boot()
    assert stored.last <= after.now()


def test_what_was_stored_last_does_not_hold_it_back_in_the_same_boot() -> None:
    stored = ClockState(boot_id=boot(), offset=since_boot() - 60_000, last=10)

    assert SteadyClock(stored).now() >= 60_000


@given(last=TIMES, offset=st.integers(min_value=-(10**12), max_value=10**12))
def test_after_a_reboot_it_goes_on_from_the_last_time_that_was_stored(
    last: int, offset: int
) -> None:
    with around(last) as read:
        stored = ClockState(boot_id=ELSEWHERE, offset=offset, last=last)
        read.append(SteadyClock(stored).now())


@given(last=TIMES, fact=TIMES, boot_id=st.sampled_from([boot(), ELSEWHERE]))
def test_it_is_never_behind_a_stored_fact(last: int, fact: int, boot_id: str) -> None:
    stored = ClockState(boot_id=boot_id, offset=since_boot() - last, last=last)
    with around(max(last, fact)) as read:
        read.append(SteadyClock(stored, at_least=fact).now())


def test_a_lost_row_of_the_clock_does_not_set_it_back_behind_a_fact() -> None:
    with around(70_000) as read:
        read.append(SteadyClock(None, at_least=70_000).now())


def test_it_never_runs_backwards() -> None:
    clock = SteadyClock(None)
    readings = [clock.now() for _ in range(1_000)]

    assert readings == sorted(readings)


def test_wall_time_is_unix_time_in_milliseconds() -> None:
    before = time.time_ns() // 1_000_000
    read = SteadyClock(None).wall()

    assert before <= read <= time.time_ns() // 1_000_000
