"""Buckets fill at their rate, hold no more than a burst, and are bounded in number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.api.limits import DEAREST_LOOK, Buckets, Limits, Places, Rate, bucket_of, price_of_look

RATE = Rate(per_second=10, burst=3)


def test_a_burst_is_let_through_and_then_the_wait_is_told() -> None:
    buckets = Buckets(RATE, most=8)

    assert [buckets.take("a", 1, 0) for _ in range(5)] == [0, 0, 0, 100, 100]
    assert buckets.take("b", 1, 0) == 0


def test_who_waits_as_told_is_let_through() -> None:
    buckets = Buckets(RATE, most=8)
    for _ in range(3):
        buckets.take("a", 1, 0)
    wait = buckets.take("a", 1, 0)

    assert buckets.take("a", 1, wait - 1) == 1
    assert buckets.take("a", 1, wait) == 0


def test_a_bucket_holds_no_more_than_a_burst() -> None:
    buckets = Buckets(RATE, most=8)
    buckets.take("a", 1, 0)

    assert [buckets.take("a", 1, 10**9) for _ in range(4)] == [0, 0, 0, 100]


def test_a_price_higher_than_a_burst_is_never_paid() -> None:
    assert Buckets(RATE, most=8).take("a", 4, 0) == 100


def test_a_look_at_much_is_dearer_and_can_always_be_paid() -> None:
    assert price_of_look(499, 2_499) == 0
    assert price_of_look(1_000, 0) == 2
    assert price_of_look(0, 25_000) == 10
    assert price_of_look(500, 2_500, 149) == 4
    assert price_of_look(10**9, 10**9) == DEAREST_LOOK
    limits = Limits()
    for rate in (limits.by_token, limits.by_address):
        assert Buckets(rate, most=1).take("a", 1 + DEAREST_LOOK, 0) == 0


def test_the_bucket_used_longest_ago_makes_room() -> None:
    buckets = Buckets(RATE, most=2)
    for name in ("a", "b", "a", "c"):
        buckets.take(name, 3, 0)

    assert len(buckets) == 2
    assert buckets.take("a", 1, 0) > 0


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(1, 3)), max_size=60))
def test_over_any_time_no_more_passes_than_burst_and_rate_allow(
    steps: list[tuple[int, int]],
) -> None:
    buckets, now, passed = Buckets(RATE, most=2), 0, 0
    for pause, cost in steps:
        now += pause
        if buckets.take("a", cost, now) == 0:
            passed += cost

    assert passed * 1_000 <= RATE.burst * 1_000 + now * RATE.per_second


def test_one_household_has_one_bucket() -> None:
    assert bucket_of("127.0.0.1") == "127.0.0.1"
    assert bucket_of("2001:db8::1") == bucket_of("2001:db8::ffff") != bucket_of("2001:db8:1::1")
    assert bucket_of("::ffff:192.0.2.7") == "192.0.2.7"
    assert bucket_of("somewhere") == "somewhere"


def test_one_address_cannot_take_all_places() -> None:
    places = Places(Limits(connections=6, of_address=2))
    household = ("2001:db8::1", "2001:db8::2", "2001:db8::3")

    assert [places.take("192.0.2.7") for _ in range(3)] == [True, True, False]
    assert [places.take(one) for one in household] == [True, True, False]
    assert [places.take(f"198.51.100.{one}") for one in range(3)] == [True, True, False]
    places.leave("192.0.2.7")
    assert places.take("192.0.2.7")
    assert not places.take("192.0.2.9")


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_a_proxy_on_this_machine_may_take_all_places(address: str) -> None:
    places = Places(Limits(connections=5, of_address=2))

    assert [places.take(address) for _ in range(6)] == [True] * 5 + [False]


def test_what_is_no_address_has_places_like_one() -> None:
    places = Places(Limits(of_address=1))

    assert [places.take("somewhere"), places.take("somewhere")] == [True, False]


def test_nobody_who_has_left_is_remembered() -> None:
    places = Places(Limits())
    for number in range(100):
        places.take(f"192.0.2.{number}")
        places.take("127.0.0.1")
        places.leave("127.0.0.1")
        places.leave(f"192.0.2.{number}")

    assert len(places) == 0
