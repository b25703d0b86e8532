"""Token buckets and the budgets of peers."""

from hypothesis import given
from hypothesis import strategies as st

from node.network.budgets import Allowance, Budgets, TokenBucket

SMALL = Allowance(messages_per_s=10, messages_at_once=5, bytes_per_s=1_000, bytes_at_once=500)


def test_a_bucket_gives_its_burst_at_once_and_its_rate_after_that() -> None:
    bucket = TokenBucket(rate=10, burst=3)
    assert [bucket.take(1, 0) for _ in range(4)] == [True, True, True, False]
    assert not bucket.take(1, 99)
    assert bucket.take(1, 100)
    assert not bucket.take(1, 100)
    assert [bucket.take(1, 10_000) for _ in range(4)] == [True, True, True, False]


def test_a_bucket_gives_all_or_nothing() -> None:
    bucket = TokenBucket(rate=1, burst=5)
    assert bucket.take(3, 0)
    assert not bucket.take(3, 0)
    assert bucket.take(2, 0)


def test_time_that_runs_backwards_fills_nothing() -> None:
    bucket = TokenBucket(rate=1_000, burst=10)
    assert bucket.take(10, 5_000)
    assert not bucket.take(1, 1_000)
    assert bucket.take(1, 1_001)


@given(st.integers(1, 100), st.integers(1, 100), st.integers(1, 100), st.integers(0, 10_000))
def test_what_one_is_told_to_wait_is_enough_and_no_more(
    rate: int, burst: int, count: int, now: int
) -> None:
    count = min(count, burst)
    bucket = TokenBucket(rate=rate, burst=burst)
    bucket.take(burst, now)
    wait = bucket.wait_ms(count, now)
    assert not bucket.take(count, now + wait - 1)
    assert bucket.take(count, now + wait)
    assert TokenBucket(rate=rate, burst=burst).wait_ms(count, now) == 0


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 300)), max_size=40))
def test_in_the_long_run_nobody_gets_more_than_burst_and_rate(
    asked: list[tuple[int, int]],
) -> None:
    bucket, now, given_out = TokenBucket(rate=20, burst=30), 0, 0
    for count, pause in asked:
        now += pause
        given_out += count if bucket.take(count, now) else 0
    assert given_out <= 30 + now * 20 // 1_000


def test_a_peer_is_charged_by_message_and_by_byte() -> None:
    budgets = Budgets(SMALL)
    assert all(budgets.spend(b"talker", 1, 0) for _ in range(5))
    assert not budgets.spend(b"talker", 1, 0)
    assert budgets.spend(b"heavy", 500, 0)
    assert not budgets.spend(b"heavy", 1, 0)
    assert budgets.spend(b"other", 100, 0)


def test_a_peer_is_told_how_long_to_wait() -> None:
    budgets = Budgets(SMALL)
    assert budgets.wait_ms(b"peer", 400, 0) == 0
    assert budgets.spend(b"peer", 400, 0)
    assert budgets.wait_ms(b"peer", 400, 0) == 300
    assert budgets.wait_ms(b"peer", 10_000, 0) == 400, "more than fits at once waits for a full one"


def test_peers_are_remembered_within_bounds_and_the_quietest_is_forgotten() -> None:
    budgets = Budgets(SMALL, most_peers=2)
    for peer in (b"one", b"two", b"one", b"three"):
        budgets.spend(peer, 500, 0)
    assert len(budgets) == 2
    assert not budgets.spend(b"one", 1, 0)
    assert budgets.spend(b"two", 500, 0)
