"""Who is found bad, who answers for it, and that neither order nor an unvouch is a way out."""

import functools
from dataclasses import replace as alter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.charter import preset
from federation.core import MILLION, AgentId
from federation.crypto import KeySigner
from federation.protocol import State, World, begin, liabilities, rebuild, restore, snapshot
from federation.protocol.invariants import broken
from federation.records import Role
from federation.trust import Evidence, EvidenceKind
from tests.federation.protocol.acts import next_cut, next_tick
from tests.federation.protocol.alike import differences
from tests.federation.protocol.town import Town, founding, keys, verify
from tests.federation.protocol.trial import Trial, records_of
from tests.federation.protocol.vouching import unvouch, vouch

REALM = founding(1, 8, operators=8)
RULES = preset("test")
_LIABILITY = EvidenceKind.LIABILITY
SHARE, WINDOW = RULES.trust.evidence.liability, RULES.trust.window


class Books:
    """A certified world without a network: rows are put in and liability is charged, tick by tick."""

    def __init__(self, *vouches: tuple[int, int], r_min: int | None = None) -> None:
        charter = REALM.charter
        if r_min is not None:
            charter = replace(charter, review=replace(charter.review, r_min=r_min))
        self.state: State = begin(charter, REALM.records, verify=verify).state
        for by, agent in vouches:
            self.state.graph.vouch(self.name(by), self.name(agent), 9)

    def name(self, index: int) -> AgentId:
        return REALM.agents[index]

    def row(self, index: int, negative: int, *, number: int = 0, positive: int = 0) -> Evidence:
        """Make a row of the coming tick, in millionths; `number` tells rows and sources apart."""
        return Evidence(
            tick=self.state.tick + 1,
            cause=bytes([100 + number]) * 32,
            kind=EvidenceKind.VOTE,
            subject=self.name(index),
            source=bytes([number]) * 32,
            positive=positive,
            negative=negative,
            practice=False,
        )

    def tick(self, *rows: Evidence, by: int = 1) -> None:
        """Let ticks pass; rows count at the first of them."""
        self.state.tick += 1
        self.state.ledger.add(rows)
        liabilities.charge(self.state, rows)
        for _ in range(by - 1):
            self.tick()

    def bad(self, index: int, negative: int = 4 * MILLION) -> None:
        """Let one outcome at the next tick bring an agent as far down as it says."""
        self.tick(self.row(index, negative))

    def paid(self, index: int) -> list[int]:
        """List what an agent answers for, oldest first."""
        return [
            row.negative
            for row in self.state.ledger.rows(self.name(index))
            if row.kind is EvidenceKind.LIABILITY
        ]

    def found(self, index: int) -> int | None:
        return self.state.agents[self.name(index)].found_bad


def rejected(town: Town, times: int = 3) -> None:
    """Let founder 0 propose what everybody who may vote rejects, and let a tick count that."""
    for number in range(times):
        town.vote(town.propose(0, f"Nonsense {number}"), {1: -1, 2: -1, 4: -1, 5: -1})
    next_tick(town)


def test_who_vouched_for_an_agent_that_is_found_bad_answers_for_it() -> None:
    town = Town.of(3, 6)
    vouch(town, 1, town.agent(0), 1)
    vouch(town, 5, town.agent(1), 255)
    vouch(town, 4, town.agent(2))
    next_cut(town)
    rejected(town)
    world = town.world()
    state = world.state
    bad = state.agents[town.agent(0)]

    assert (bad.found_bad, bad.r < state.charter.review.r_min) == (state.tick, True)
    rows = {
        index: [row for row in state.ledger.rows(town.agent(index)) if row.kind is _LIABILITY]
        for index in range(6)
    }
    assert {index for index, found in rows.items() if found} == {1, 5}
    (first,), (second,) = rows[1], rows[5]
    # Three rejections of 1.0 each, discounted by source: a quarter, and half of that.
    assert (first.negative, second.negative) == (636_904, 318_452)
    assert (first.cause, first.source, first.tick) == (bad.agent, bad.operator, state.tick)
    # It counts at once, in the standing of the same tick.
    assert state.agents[town.agent(1)].r < state.agents[town.agent(4)].r
    assert state.agents[town.agent(1)].found_bad is None
    next_tick(town, 2)
    assert state.agents[town.agent(0)].found_bad == first.tick
    assert [row.tick for row in state.ledger.rows(town.agent(1)) if row.kind is _LIABILITY] == [
        first.tick
    ]
    assert len({one.digest for one in town.live()}) == 1
    assert not any(broken(one) for one in town.live())


def test_an_agent_that_stays_above_what_an_author_needs_is_not_found_bad() -> None:
    books = Books((1, 0))
    books.bad(0, 2 * MILLION)

    # 1 of 4 is what an author needs, exactly.
    assert books.state.ledger.own_r(books.name(0), 1) == 250_000
    assert (books.found(0), books.paid(1)) == (None, [])
    books.tick(books.row(0, 100_000, number=1))
    assert (books.found(0), books.paid(1)) == (2, [2_100_000 * SHARE // MILLION])


def test_founders_are_found_bad_like_anybody_else_and_a_revocation_is_no_way_out() -> None:
    town = Town.of(3, 6)
    vouch(town, 1, town.agent(0))
    next_cut(town)
    for number in range(3):
        town.vote(town.propose(0, f"Nonsense {number}"), {1: -1, 2: -1, 4: -1, 5: -1})
    town.arrive(town.world(), town.pen(Role.AGENT, 0).revoke(reason="leaves"))
    next_tick(town)
    agent = town.world().state.agents[town.agent(0)]

    assert agent.founder is not None
    assert agent.found_bad == 1
    kinds = {row.kind for row in town.world().state.ledger.rows(town.agent(1))}
    assert _LIABILITY in kinds


def test_a_realm_that_asks_nothing_of_authors_finds_nobody_bad() -> None:
    books = Books((1, 0), r_min=0)
    books.bad(0, 100 * MILLION)

    assert (books.found(0), books.paid(1)) == (None, [])


def test_where_the_first_outcome_finds_an_agent_below_already_it_is_found_bad() -> None:
    books = Books((1, 0), r_min=600_000)
    books.tick()
    assert books.found(0) is None
    books.bad(0, 1)

    assert (books.found(0), books.paid(1)) == (2, [])


def test_what_is_shared_is_discounted_and_does_not_fade_and_is_no_older_than_the_window() -> None:
    books = Books((1, 0))
    books.tick(books.row(0, 700_000, positive=0))
    books.tick(books.row(0, 0, positive=2 * MILLION, number=5), by=WINDOW - 1)
    assert books.state.tick == WINDOW
    rows = [alter(books.row(0, 3 * MILLION), cause=bytes([50 + n]) * 32) for n in range(4)]
    books.tick(*rows)

    # Tick 1 is a window ago by now; of four rows of one source the later count for less.
    assert books.found(0) == WINDOW + 1
    counted = sum(3 * MILLION * 5 // (5 + n) for n in range(4))
    assert books.paid(1) == [counted * SHARE // MILLION]


def test_an_operator_cannot_fill_the_books_of_its_agent_to_ruin_who_vouched_for_it() -> None:
    books = Books((1, 0))
    # All from artifacts of one operator, its own, and some good in between to stay above the line.
    for number in range(WINDOW - 1):
        rows = [alter(books.row(0, MILLION), cause=bytes([1 + n, number]) * 16) for n in range(9)]
        books.tick(*rows, books.row(0, 0, positive=3 * MILLION, number=40 + number % 200))
    books.tick(books.row(0, 40 * MILLION, number=7))
    against = books.state.ledger.undecayed(books.name(0)).beta - MILLION

    assert books.found(0) is not None
    assert sum(books.paid(1)) <= against * SHARE // MILLION


def test_liability_makes_nobody_bad_and_is_not_passed_on() -> None:
    books = Books((1, 0), (2, 1), (3, 2))
    books.tick(books.row(1, 300_000, number=7))
    books.bad(0, 40 * MILLION)
    state = books.state

    assert books.paid(1) == [10 * MILLION]
    assert state.ledger.standing(books.name(1), state.tick).r < 250_000
    assert books.found(1) is None
    # One more outcome of its own, far from enough by itself.
    books.tick(books.row(1, 300_000, number=8))
    assert books.found(1) is None
    assert (books.paid(2), books.paid(3)) == ([5 * MILLION], [])
    # And if it goes bad by itself, it is by its own outcomes alone that others pay.
    books.tick(books.row(1, 3 * MILLION, number=9))
    assert books.found(1) == 4
    assert books.paid(2) == [5 * MILLION, 3_600_000 * SHARE // MILLION]
    assert books.paid(3) == [3_600_000 * SHARE // MILLION // 2]


def test_a_vouch_taken_back_within_the_window_is_no_way_out() -> None:
    town = Town.of(3, 6)
    vouch(town, 1, town.agent(0))
    vouch(town, 2, town.agent(0))
    next_cut(town)
    for number in range(3):
        town.vote(town.propose(0, f"Nonsense {number}"), {1: -1, 2: -1, 4: -1, 5: -1})
    unvouch(town, 1, town.agent(0))
    next_cut(town)
    if town.world().state.tick == 0:
        next_tick(town)
    state = town.world().state

    assert not state.graph.edge(town.agent(1), town.agent(0)).vouch
    paid = {
        index: sum(
            row.negative for row in state.ledger.rows(town.agent(index)) if row.kind is _LIABILITY
        )
        for index in (1, 2)
    }
    assert paid == {1: 636_904, 2: 636_904}


@pytest.mark.parametrize(("later", "paid"), [(WINDOW, [MILLION]), (WINDOW + 1, [])])
def test_a_vouch_taken_back_counts_for_a_window_and_is_then_forgotten(
    later: int, paid: list[int]
) -> None:
    books = Books()
    books.state.unvouched[books.name(1), books.name(0)] = 0
    books.tick(by=later - 1)
    books.bad(0)

    assert books.paid(1) == paid
    assert len(books.state.unvouched) == len(paid)


def test_who_took_back_and_who_stands_are_charged_once_also_in_a_circle() -> None:
    books = Books((1, 0), (2, 1))
    books.state.unvouched[books.name(1), books.name(0)] = 0
    books.state.unvouched[books.name(0), books.name(2)] = 0
    books.state.unvouched[books.name(1), books.name(2)] = 0
    books.bad(0)

    assert (books.paid(0), books.paid(1), books.paid(2)) == ([], [MILLION], [MILLION // 2])


def test_who_is_bad_is_found_again_only_after_it_was_better_and_for_what_is_new() -> None:
    books = Books((1, 0))
    books.bad(0, 2_200_000)
    assert books.paid(1) == [550_000]
    # While it is bad, more of the same costs whoever vouched no more.
    books.tick(books.row(0, 100_000, number=1))
    assert books.paid(1) == [550_000]
    books.tick(by=30)
    assert books.state.ledger.own_r(books.name(0), books.state.tick) > 250_000
    books.tick(books.row(0, 2 * MILLION, number=2))

    # The outcome in between was never shared, and is now.
    assert books.paid(1) == [550_000, 2_100_000 * SHARE // MILLION]
    assert books.found(0) == books.state.tick


def test_many_who_are_found_bad_at_once_do_not_change_each_others_share() -> None:
    pairs = ((1, 0), (2, 1), (0, 3))
    rows = [(0, 4), (1, 8), (2, 12)]
    worlds = []
    for order in (rows, rows[::-1]):
        books = Books(*pairs)
        books.tick(*(books.row(who, much * MILLION, number=who) for who, much in order))
        worlds.append(books)
    one, other = worlds

    assert [one.found(index) for index in range(4)] == [1, 1, 1, None]
    # Agent 2 answers for 1 itself and for 0 through it; 1 for 0.
    assert sorted(one.paid(2)) == [MILLION // 2, 2 * MILLION]
    assert (one.paid(1), one.paid(0), one.paid(3)) == ([MILLION], [], [])
    for index in range(4):
        name = one.name(index)
        assert one.state.ledger.rows(name) == other.state.ledger.rows(name)
        assert one.state.agents[name] == other.state.agents[name]


OUTCOMES = st.lists(
    st.tuples(
        st.integers(1, 3),
        st.integers(0, 5),
        st.integers(0, 6 * MILLION),
        st.integers(0, MILLION),
    ),
    max_size=20,
)
PAIRS = st.tuples(st.integers(0, 5), st.integers(0, 5))


@settings(max_examples=60)
@given(
    vouches=st.lists(PAIRS, max_size=10),
    former=st.lists(PAIRS, max_size=6),
    outcomes=OUTCOMES,
)
def test_whoever_pays_stood_behind_somebody_bad_and_pays_no_more_than_its_share(
    vouches: list[tuple[int, int]],
    former: list[tuple[int, int]],
    outcomes: list[tuple[int, int, int, int]],
) -> None:
    books, alone = Books(*vouches), Books()
    for by, agent in former:
        books.state.unvouched[books.name(by), books.name(agent)] = 0
    for tick in (1, 2, 3):
        now = [
            (who, negative, number, positive)
            for number, (at, who, negative, positive) in enumerate(outcomes)
            if at == tick
        ]
        for one in (books, alone):
            one.tick(
                *(
                    one.row(who, negative, number=number, positive=positive)
                    for who, negative, number, positive in now
                )
            )
    own = [sum(n for _, who, n, _ in outcomes if who == index) for index in range(6)]
    behind = {index: {by for by, of in (*vouches, *former) if of == index} for index in range(6)}

    for index in range(6):
        # Who is found bad, and when, does not depend on anybody's vouch.
        assert books.found(index) == alone.found(index)
        for row in books.state.ledger.rows(books.name(index)):
            if row.kind is not _LIABILITY:
                continue
            bad = REALM.agents.index(row.cause)
            near = index in behind[bad]
            assert bad != index
            assert books.found(bad) is not None
            assert near or any(index in behind[by] for by in behind[bad])
            assert row.negative * MILLION <= own[bad] * SHARE // (1 if near else 2)
            assert row.positive == 0
    assert not any(alone.paid(index) for index in range(6))


@functools.cache
def busy() -> Trial:
    """Let an agent be found bad, with one vouch that stands and one that was taken back."""
    town = Trial.of(3, 6, operators=6)
    vouch(town, 1, town.agent(0))
    vouch(town, 2, town.agent(0))
    vouch(town, 4, town.agent(1))
    next_cut(town)
    unvouch(town, 2, town.agent(0))
    rejected(town)
    town.rest(2_000)
    state = town.world().state
    assert state.agents[town.agent(0)].found_bad
    assert len(state.unvouched) == 1
    return town


def test_liability_is_the_same_for_records_in_any_order() -> None:
    town = busy()
    world = town.world()
    for seed in range(3):
        records = list(records_of(world))
        Random(seed).shuffle(records)
        blobs = town.durable(0).blobs
        found = rebuild(town.founding.charter, town.founding.records, records, blobs, verify=verify)

        assert (found.state.cut, found.digest) == (world.state.cut, world.digest)
        assert found.state.agents == world.state.agents
        assert found.state.unvouched == world.state.unvouched
        for name in world.state.agents:
            assert found.state.ledger.rows(name) == world.state.ledger.rows(name)


def test_a_start_from_a_snapshot_finds_the_same_and_goes_on_alike() -> None:
    town = busy()
    world = town.world()

    def back(content: bytes | None) -> World:
        found, _ = restore(
            town.founding.charter,
            town.founding.records,
            town.durable(0),
            instance=town.founding.instances[0],
            signer=KeySigner(keys(town.seed, "instance", 0).current),
            now=town.now,
            verify=verify,
            snapshot=content,
        )
        return found

    quick, slow = back(snapshot.take(world)), back(None)

    assert differences(quick, slow) == []
    assert quick.state.agents == world.state.agents
    assert quick.state.unvouched == world.state.unvouched
    worlds = quick, slow
    for one in worlds:
        state = one.state
        fresh = [
            alter(row, tick=state.tick + 1, cause=bytes([n]) * 32, negative=5 * MILLION, positive=0)
            for n, row in enumerate(state.ledger.rows(town.agent(1))[:2])
        ]
        state.tick += 1
        state.ledger.add(fresh)
        liabilities.charge(state, fresh)
    rows = [one.state.ledger.rows(town.agent(4)) for one in worlds]
    assert rows[0] == rows[1]
    assert _LIABILITY in {row.kind for row in rows[0]}
