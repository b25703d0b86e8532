"""Bans: how long, of whom, how many are remembered."""

from hypothesis import given
from hypothesis import strategies as st

from node.api.bans import Bans, banned
from node.api.errors import explain
from node.api.limits import Limits

LIMITS = Limits(ban_s=10, ban_most_s=50, buckets=3)
SECOND = 1_000


def test_a_ban_ends_after_its_time_and_not_before() -> None:
    bans = Bans(LIMITS)

    assert bans.until("192.0.2.1", 0) == 0
    assert bans.ban("192.0.2.1", 5) == 5 + 10 * SECOND
    assert bans.until("192.0.2.1", 10 * SECOND) == 5 + 10 * SECOND
    assert bans.until("192.0.2.1", 10 * SECOND + 5) == 0
    assert bans.until("192.0.2.2", 10) == 0


def test_each_further_ban_is_twice_as_long_up_to_the_longest() -> None:
    bans, now, lasts = Bans(LIMITS), 0, []
    for _ in range(5):
        until = bans.ban("192.0.2.1", now)
        lasts.append((until - now) // SECOND)
        now = until

    assert lasts == [10, 20, 40, 50, 50]


def test_who_is_quiet_for_as_long_as_the_longest_ban_begins_anew() -> None:
    bans = Bans(LIMITS)
    until = bans.ban("192.0.2.1", 0)
    again = bans.ban("192.0.2.1", until + 50 * SECOND - 1)
    assert again == until + 50 * SECOND - 1 + 20 * SECOND

    assert bans.ban("192.0.2.1", again + 50 * SECOND) == again + 60 * SECOND


def test_thousands_of_bans_in_a_row_are_no_number_too_large() -> None:
    bans = Bans(LIMITS)
    for now in range(5_000):
        bans.ban("192.0.2.1", now)

    assert bans.until("192.0.2.1", 5_000) == 4_999 + 50 * SECOND


def test_a_household_of_ipv6_is_one_and_an_ipv4_address_in_disguise_is_itself() -> None:
    bans = Bans(LIMITS)
    bans.ban("2001:db8:1:2::3", 0)
    bans.ban("::ffff:192.0.2.1", 0)

    assert bans.until("2001:db8:1:2:ffff::9", 1)
    assert bans.until("192.0.2.1", 1)
    assert not bans.until("2001:db8:1:3::3", 1)


def test_loopback_is_spared_because_a_proxy_there_speaks_for_many() -> None:
    bans, strict = Bans(LIMITS), Bans(Limits(spares_loopback=False))
    for address in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"):
        assert bans.ban(address, 0) == 0
        assert bans.until(address, 1) == 0
        assert strict.ban(address, 0) > 0


def test_the_address_that_was_banned_longest_ago_makes_room() -> None:
    bans = Bans(LIMITS)
    for number in (1, 2, 3, 1, 4):
        bans.ban(f"192.0.2.{number}", number)

    assert len(bans) == 3
    assert not bans.until("192.0.2.2", 10)
    assert bans.until("192.0.2.1", 10)


def test_listeners_hear_the_bucket_and_the_port_to_spare() -> None:
    bans = Bans(LIMITS)
    heard: list[tuple[str, int]] = []
    bans.listen(lambda bucket, port: heard.append((bucket, port)))
    bans.ban("::ffff:192.0.2.1", 0, spare=4_711)
    bans.ban("127.0.0.1", 0, spare=1)

    assert heard == [("192.0.2.1", 4_711)]


def test_the_banned_are_told_why_and_until_when() -> None:
    status, problem = explain(banned(12_345))

    assert (status, problem.code, problem.retry_at) == (403, "BANNED", 12_345)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 40_000)), max_size=60))
def test_a_ban_never_outlasts_the_longest_and_their_number_is_bounded(
    acts: list[tuple[int, int]],
) -> None:
    bans, now = Bans(LIMITS), 0
    for number, passes in acts:
        now += passes
        until = bans.ban(f"192.0.2.{number}", now)

        assert now + 10 * SECOND <= until <= now + 50 * SECOND
        assert len(bans) <= 3


def test_the_first_ban_may_be_shorter_and_still_doubles() -> None:
    bans = Bans(LIMITS)
    until = bans.ban("192.0.2.1", 0, seconds=2)

    assert until == 2 * SECOND
    assert bans.ban("192.0.2.1", until, seconds=2) == until + 4 * SECOND
