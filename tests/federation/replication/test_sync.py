from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from federation.codec import LIMITS, encode
from federation.core import Code, PeerError, RecordId
from federation.records import Record, Role
from federation.replication import (
    Added,
    HeadsPage,
    Log,
    heads_pages,
    paged,
    read_heads_page,
    sync,
    write_heads_page,
)
from federation.replication.sync import MOST_HEADS, ROWS
from tests.builders import REALM, Chain, named, person
from tests.federation.replication.trees import AUTHORS, OPS, Grove, declare

FIRST, LAST = bytes(32), b"\xff" * 32
A, B, C = sorted(named("author", number) for number in range(3))
HEAD = named("head")


def pages(heads: dict[bytes, tuple[tuple[int, bytes], ...]]) -> list[HeadsPage]:
    return [read_heads_page(raw) for raw in heads_pages(heads)]


def test_a_node_that_holds_nothing_says_so() -> None:
    assert pages({}) == [HeadsPage(low=FIRST, high=LAST, heads={})]


@given(
    heads=st.dictionaries(
        st.binary(min_size=32, max_size=32),
        st.sets(
            st.tuples(st.integers(0, 2**53 - 1), st.binary(min_size=32, max_size=32)),
            min_size=1,
            max_size=4,
        ).map(lambda rows: tuple(sorted(rows))),
        max_size=8,
    )
)
def test_reading_a_page_gives_what_was_told(
    heads: dict[bytes, tuple[tuple[int, bytes], ...]],
) -> None:
    assert pages(heads) == [HeadsPage(low=FIRST, high=LAST, heads=heads)]


def test_pages_cover_all_authors_without_a_gap_and_fit_a_frame() -> None:
    heads = {
        named("author", number): tuple(
            (2**50 + seq, named("head", number, seq)) for seq in range(1 + number % 9)
        )
        for number in range(2 * ROWS + 5)
    }
    raw = list(heads_pages(heads))
    told = [read_heads_page(one) for one in raw]

    assert len(told) > 2
    assert max(map(len, raw)) <= LIMITS.frame
    assert (told[0].low, told[-1].high) == (FIRST, LAST)
    for one, two in pairwise(told):
        assert int.from_bytes(two.low, "big") == int.from_bytes(one.high, "big") + 1
    assert {author: row for page in told for author, row in page.heads.items()} == heads


def test_the_fullest_page_fits_a_frame() -> None:
    heads = {
        named("author", number): tuple((2**50 + seq, named(seq)) for seq in range(MOST_HEADS))
        for number in range(400)
    }

    assert max(map(len, heads_pages(heads))) <= LIMITS.frame


def test_a_record_changes_the_page_of_its_author_and_no_other() -> None:
    heads = {named("author", number): ((0, HEAD),) for number in range(2 * ROWS)}
    before = list(heads_pages(heads))
    assert len(before) > 2
    for change in ({named("author", 7): ((1, named("new")),)}, {named("newcomer"): ((0, HEAD),)}):
        after = list(heads_pages(heads | change))

        assert len(after) == len(before)
        assert sum(one != two for one, two in zip(before, after, strict=True)) == 1


def test_a_page_that_is_too_full_is_laid_out_as_if_all_were_laid_out_anew() -> None:
    heads = {named("author", number): ((0, HEAD),) for number in range(2 * ROWS)}
    more = {named("newcomer", number): ((0, HEAD),) for number in range(2 * ROWS)}
    all_of_them = heads | more
    again = [
        write_heads_page(one)
        for page in paged(heads)
        for one in paged(
            {
                author: rows
                for author, rows in all_of_them.items()
                if page.low <= author <= page.high
            },
            page.low,
            page.high,
        )
    ]

    assert again == list(heads_pages(all_of_them))
    assert len(again) > len(list(paged(heads)))


def test_authors_that_crowd_together_are_still_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sync, "ROWS", 1)
    heads = {number.to_bytes(32, "big"): ((0, HEAD),) for number in range(5)}
    told = pages(heads)

    assert {author: row for page in told for author, row in page.heads.items()} == heads
    assert len(told) < 300


def test_of_a_much_forked_author_the_highest_heads_are_named() -> None:
    many = tuple((seq, HEAD) for seq in range(MOST_HEADS + 3))

    assert pages({A: many})[0].heads == {A: many[3:]}


@pytest.mark.parametrize(
    "page",
    [
        [FIRST, LAST, [[B, [[0, HEAD]]], [A, [[0, HEAD]]]]],
        [FIRST, LAST, [[A, [[0, HEAD]]], [A, [[0, HEAD]]]]],
        [FIRST, LAST, [[A, [[1, HEAD], [0, HEAD]]]]],
        [FIRST, LAST, [[A, [[0, HEAD], [0, HEAD]]]]],
        [B, LAST, [[A, [[0, HEAD]]]]],
        [FIRST, B, [[C, [[0, HEAD]]]]],
        [FIRST, LAST, [[A, []]]],
        [FIRST, LAST, [[A, [[seq, HEAD] for seq in range(MOST_HEADS + 1)]]]],
        [FIRST, LAST, [[A, [[-1, HEAD]]]]],
        [FIRST, LAST[1:], []],
        [FIRST, LAST, [], 0],
    ],
    ids=[
        "authors out of order",
        "an author twice",
        "heads out of order",
        "a head twice",
        "below the range",
        "above the range",
        "no head",
        "too many heads",
        "negative seq",
        "short id",
        "a field too many",
    ],
)
def test_a_malformed_page_is_refused(page: list[object]) -> None:
    with pytest.raises(PeerError) as caught:
        read_heads_page(encode(page))

    assert caught.value.code is Code.NOT_CANONICAL


def test_a_page_above_one_frame_is_refused_unread() -> None:
    with pytest.raises(PeerError) as caught:
        read_heads_page(bytes(LIMITS.frame + 1))

    assert caught.value.code is Code.TOO_LARGE


def agent(number: int = 1) -> Chain:
    return Chain(person(Role.AGENT, number))


def filled(records: Iterable[Record]) -> Log:
    log = Log(REALM)
    for record in records:
        log.add(record)
    return log


def ids(records: Iterable[Record]) -> list[RecordId]:
    return [one.id for one in records]


def test_a_peer_that_knows_nothing_gets_everything_in_several_batches() -> None:
    alice, bob = agent(1), agent(2)
    for number in range(7):
        alice.say(declare(str(number)))
        bob.say(declare(str(number)))
    log, peer = filled([*alice.records, *bob.records]), Log(REALM)
    batches = 0
    while batch := log.missing_from(peer.author_heads(), most=5):
        assert len(batch) <= 5
        for record in batch:
            assert peer.add(record) == Added((record,))
        batches += 1

    assert batches == 4
    assert peer.author_heads() == log.author_heads()
    assert len(peer) == len(log)


def test_a_peer_with_the_same_heads_gets_nothing() -> None:
    log = filled(agent().records)

    assert log.missing_from(log.author_heads()) == []


def test_a_node_that_is_behind_holds_back_until_it_has_caught_up() -> None:
    alice = agent()
    for model in "abcd":
        alice.say(declare(model))
    behind, ahead = filled(alice.records[:3]), filled(alice.records)

    assert behind.missing_from(ahead.author_heads()) == []
    assert ids(ahead.missing_from(behind.author_heads())) == ids(alice.records[3:])


def test_heads_of_another_author_s_records_are_not_believed() -> None:
    alice, bob = agent(1), agent(2)
    log = filled([alice.head, bob.head])

    assert ids(log.missing_from({alice.id: ((0, bob.id),), bob.id: ((0, bob.id),)})) == [alice.id]


def test_a_batch_starts_where_the_caller_says_and_comes_round() -> None:
    log = filled(agent(number).head for number in range(5))
    first, second, third, fourth, fifth = log.authors()

    assert ids(log.missing_from({}, start=fourth)) == [fourth, fifth, first, second, third]
    assert ids(log.missing_from({}, start=fourth, most=3)) == [fourth, fifth, first]
    assert ids(log.missing_from({}, within=(second, third))) == [second, third]


class TwoNodes(RuleBasedStateMachine):
    """Two logs that see a grove's records by gossip in any order, and now and then synchronise."""

    def __init__(self) -> None:
        super().__init__()
        self.grove = Grove()
        self.logs = (Log(REALM), Log(REALM))
        self.arrived: set[bytes] = set()

    def deliver(self, record: Record, to: int) -> None:
        self.arrived.add(record.id)
        try:
            self.logs[to].add(record)
        except PeerError:
            assert record.id not in self.grove.accepted

    def send(self, sender: int, most: int) -> int:
        """Answer every page of the other's heads once; give how many records went over."""
        sent = 0
        for raw in heads_pages(self.logs[1 - sender].author_heads()):
            page = read_heads_page(raw)
            within = (page.low, page.high)
            for record in self.logs[sender].missing_from(page.heads, most=most, within=within):
                assert record.prev is None or record.prev in self.logs[1 - sender]
                self.deliver(record, 1 - sender)
                sent += 1
        return sent

    @rule(
        author=st.integers(0, AUTHORS - 1),
        which=st.integers(0, 9),
        op=st.sampled_from(OPS),
        to=st.sampled_from([(), (0,), (1,), (0, 1)]),
    )
    def write(self, author: int, which: int, op: str, to: tuple[int, ...]) -> None:
        record = self.grove.write((author, which, op))
        for node in to:
            self.deliver(record, node)

    @rule(back=st.integers(0, 30), to=st.integers(0, 1))
    def gossip(self, back: int, to: int) -> None:
        records = self.grove.records
        self.deliver(records[-1 - back % len(records)], to)

    @rule(sender=st.integers(0, 1), most=st.integers(1, 4))
    def one_batch(self, sender: int, most: int) -> None:
        self.send(sender, most)

    @invariant()
    def every_stored_record_follows_a_stored_one(self) -> None:
        for log in self.logs:
            stored = [record for record in self.grove.records if record.id in log]
            assert len(stored) == len(log)
            assert {record.id for record in stored} <= self.grove.accepted & self.arrived
            assert all(record.prev is None or record.prev in log for record in stored)
            names = {record.id for record in stored} - {record.prev for record in stored}
            heads = log.author_heads()
            assert {head for row in heads.values() for _, head in row} == names

    def teardown(self) -> None:
        # Nobody writes any more: some rounds of sync must end with nothing left to send.
        for _ in range(len(self.grove.records) + 2):
            if not self.send(0, 8) + self.send(1, 8):
                break
        one, two = self.logs

        assert one.author_heads() == two.author_heads()
        assert one.forks() == two.forks()
        assert len(one) == len(two)
        # Whatever reached either of them and has all its ancestors there is in both.
        for record in self.grove.records:
            reachable = record.id in self.arrived & self.grove.accepted
            if reachable and (record.prev is None or record.prev in one):
                assert record.id in one


TestTwoNodes = TwoNodes.TestCase
TestTwoNodes.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
