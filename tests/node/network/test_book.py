"""The book of peers: scores that decay, bans that end, reasons that can be read."""

from hypothesis import given
from hypothesis import strategies as st

from node.network.book import (
    FIRST_BAN,
    HALF_LIFE,
    LIMIT,
    LONGEST_BAN,
    MOST_PEERS,
    MOST_REASONS,
    PROBATION,
    PeerBook,
    Reason,
)

PEER, OTHER = b"p" * 32, b"o" * 32
WALL = 1_700_000_000_000


class Time:
    def __init__(self) -> None:
        self.now = 1_000

    def __call__(self) -> int:
        return self.now

    def wall(self) -> int:
        return WALL + self.now


def book() -> tuple[PeerBook, Time]:
    time = Time()
    return PeerBook(time, time.wall), time


def test_a_stranger_is_spotless() -> None:
    kept, _ = book()
    assert (kept.score(PEER), kept.is_banned(PEER), kept.why(PEER)) == (0, False, ())
    assert kept.banned_until_wall(PEER) is kept.banned_why(PEER) is None
    assert len(kept) == 0


def test_faults_add_up_to_a_ban_that_ends() -> None:
    kept, time = book()
    kept.fault(PEER, "BAD", "it lied", 60)
    assert (kept.score(PEER), kept.is_banned(PEER)) == (60, False)
    kept.fault(PEER, "WORSE", "it lied again", 40)
    assert kept.is_banned(PEER)
    assert not kept.is_banned(OTHER)
    assert kept.banned_until(PEER) == time.now + FIRST_BAN
    assert kept.banned_until_wall(PEER) == WALL + time.now + FIRST_BAN
    assert kept.banned_why(PEER) == "for 10 more minutes; last: it lied again"

    time.now += FIRST_BAN - 1
    assert kept.banned_why(PEER) == "for 1 more minutes; last: it lied again"
    time.now += 1
    assert not kept.is_banned(PEER)
    assert kept.score(PEER) == 0


def test_the_why_table_tells_when_what_why_and_the_cost() -> None:
    kept, time = book()
    kept.fault(PEER, "BAD", "it lied", 60)
    time.now += 5
    kept.note(PEER, "ODD", "it hesitated")
    assert kept.why(PEER) == (
        Reason(at=WALL + 1_000, code="BAD", why="it lied", cost=60),
        Reason(at=WALL + 1_005, code="ODD", why="it hesitated", cost=0),
    )
    assert kept.score(PEER) == 60


def test_a_score_halves_with_each_half_life_of_quiet() -> None:
    kept, time = book()
    kept.fault(PEER, "BAD", "", 80)
    time.now += HALF_LIFE // 2
    assert kept.score(PEER) == 60
    time.now += HALF_LIFE // 2
    assert kept.score(PEER) == 40
    time.now += 10 * HALF_LIFE
    assert kept.score(PEER) == 1
    time.now += 1_000 * HALF_LIFE
    assert kept.score(PEER) == 0


def test_faults_during_a_ban_are_written_and_do_not_prolong_it() -> None:
    kept, time = book()
    kept.fault(PEER, "BAD", "", LIMIT)
    until = kept.banned_until(PEER)
    time.now += 10
    kept.fault(PEER, "LATE", "it was under way", LIMIT)
    assert kept.banned_until(PEER) == until
    assert kept.why(PEER)[-1].code == "LATE"


def test_each_ban_is_twice_as_long_up_to_a_day_and_a_day_of_peace_forgets_that() -> None:
    kept, time = book()
    lengths = []
    for _ in range(10):
        kept.fault(PEER, "BAD", "", LIMIT)
        until = kept.banned_until(PEER)
        assert until is not None
        lengths.append(until - time.now)
        time.now = until
    assert lengths[:3] == [FIRST_BAN, 2 * FIRST_BAN, 4 * FIRST_BAN]
    assert lengths[-1] == LONGEST_BAN

    time.now += PROBATION
    kept.fault(PEER, "BAD", "", LIMIT)
    assert kept.banned_until(PEER) == time.now + FIRST_BAN


def test_an_operator_bans_and_ends_the_ban() -> None:
    kept, time = book()
    kept.ban(PEER, minutes=3, why="the operator said so")
    assert kept.banned_until(PEER) == time.now + 3 * 60_000
    assert kept.banned_why(PEER) == "for 3 more minutes; last: the operator said so"
    kept.ban(PEER, minutes=0, why="the operator said so")
    assert not kept.is_banned(PEER)
    assert [row.code for row in kept.why(PEER)] == ["BANNED", "BANNED"]


def test_reasons_are_bounded() -> None:
    kept, _ = book()
    for place in range(100):
        kept.note(PEER, f"N{place}", "x" * 10_000)
    rows = kept.why(PEER)
    assert len(rows) == MOST_REASONS
    assert rows[-1].code == "N99"
    assert all(len(row.why) == 256 for row in rows)


def test_peers_are_bounded_and_a_swarm_of_strangers_lifts_no_ban() -> None:
    kept, _ = book()
    kept.fault(PEER, "BAD", "", LIMIT)
    kept.note(OTHER, "SEEN", "")
    for place in range(2 * MOST_PEERS):
        kept.note(place.to_bytes(32, "big"), "SEEN", "")
    assert len(kept) == MOST_PEERS
    assert kept.is_banned(PEER)
    assert kept.why(OTHER) == ()


def test_when_all_are_banned_the_one_whose_ban_ends_first_gives_way() -> None:
    kept, time = book()
    for place in range(MOST_PEERS + 1):
        kept.fault(place.to_bytes(32, "big"), "BAD", "", LIMIT)
        time.now += 1
    assert len(kept) == MOST_PEERS
    assert not kept.is_banned(bytes(32))
    assert kept.is_banned((1).to_bytes(32, "big"))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, HALF_LIFE)), max_size=30))
def test_a_score_is_never_beyond_the_limit_nor_what_was_added(
    faults: list[tuple[int, int]],
) -> None:
    kept, time = book()
    total = 0
    for cost, pause in faults:
        kept.fault(PEER, "BAD", "", cost)
        total += cost
        assert 0 <= kept.score(PEER) <= min(LIMIT, total)
        before = kept.score(PEER)
        time.now += pause
        assert kept.score(PEER) <= before
