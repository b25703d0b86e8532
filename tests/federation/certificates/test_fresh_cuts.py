from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from federation.certificates import (
    CutValue,
    CutWitness,
    Entry,
    Fresh,
    Missing,
    NoValue,
    Opened,
    Outcome,
    Position,
    Positions,
    Witnessed,
    blob_hash,
    chains_blob,
    fresh_cut,
    positions_from_blob,
    quorum,
)
from federation.crypto import plain_hash
from tests.federation.certificates.hall import cut_slot, name, voice

FOUR = quorum(4, three_available=False)
WORLD = name("world")
ANN, BOB = sorted((name("ann"), name("bob")))


@dataclass
class Book:
    """Chains of records: what everybody holds, and what each witness names."""

    entries: dict[bytes, Entry] = field(default_factory=dict)

    def write(
        self,
        author: bytes,
        prev: bytes | None,
        *,
        tag: object = 0,
        recovery: bool = False,
        picks: bytes | None = None,
    ) -> bytes:
        before = None if prev is None else self.entries[prev]
        record = name(author, prev, tag)
        self.entries[record] = Entry(
            author=author,
            seq=0 if before is None else before.seq + 1,
            prev=prev,
            is_recovery=recovery,
            picks=picks,
        )
        return record

    def chain(self, author: bytes, length: int, prev: bytes | None = None) -> list[bytes]:
        ids: list[bytes] = []
        for _ in range(length):
            prev = self.write(author, prev)
            ids.append(prev)
        return ids

    def view(self, ids: Sequence[bytes], last: Positions) -> bytes:
        """Encode what a member holds above the last positions."""
        held: dict[bytes, list[list[bytes]]] = {}
        for one in sorted(ids, key=lambda one: self.entries[one].seq):
            entry = self.entries[one]
            start = last[entry.author].seq + 1 if entry.author in last else 0
            levels = held.setdefault(entry.author, [])
            while len(levels) <= entry.seq - start:
                levels.append([])
            levels[entry.seq - start].append(one)
        return chains_blob(held, beacon=b"b" * 32)

    def cut(
        self,
        *views: Sequence[bytes],
        last: Positions | None = None,
        rows: Sequence[Witnessed] | None = None,
        promised: Mapping[bytes, bytes] | None = None,
        held: set[bytes] | None = None,
    ) -> Outcome:
        last = last or {}
        if rows is None:
            rows = [row(i, self.view(ids, last)) for i, ids in enumerate(views)]
        known = {k: e for k, e in self.entries.items() if held is None or k in held}
        return fresh_cut(cut_slot(), rows, FOUR, known.get, last=last, promised=promised or {})


def row(
    who: int, chains: bytes, *, world: bytes = WORLD, tick: bool = False, secret: bytes = b"s" * 32
) -> Witnessed:
    body = CutWitness(
        chains=blob_hash(chains), tick=tick, world=world, secret=secret, next_hash=name("next", who)
    )
    return Witnessed(operator=name("operator", who), voice=voice(who), body=body, chains=chains)


def positions(outcome: Outcome) -> Positions:
    assert isinstance(outcome, Fresh)
    assert isinstance(outcome.value, CutValue)
    (part,) = outcome.parts
    assert blob_hash(part.content) == outcome.value.positions
    return positions_from_blob(part.content)


def value(outcome: Outcome) -> CutValue:
    assert isinstance(outcome, Fresh)
    assert isinstance(outcome.value, CutValue)
    return outcome.value


def test_a_chain_comes_as_far_as_enough_witnesses_hold_it() -> None:
    book = Book()
    ann, bob = book.chain(ANN, 4), book.chain(BOB, 2)

    found = positions(book.cut([*ann[:4], *bob], ann[:3], ann[:1]))

    assert found == {ANN: Position(seq=2, head=ann[2])}


def test_the_run_starts_after_the_last_position() -> None:
    book = Book()
    ann, bob = book.chain(ANN, 4), book.chain(BOB, 1)
    last = {ANN: Position(seq=1, head=ann[1]), BOB: Position(seq=0, head=bob[0])}

    found = positions(book.cut(ann[2:], ann[2:], [], last=last))

    assert found == {ANN: Position(seq=3, head=ann[3])}


def test_a_fork_ends_the_run_before_it() -> None:
    book = Book()
    ann = book.chain(ANN, 2)
    rivals = [book.write(ANN, ann[1], tag=tag) for tag in ("a", "b")]
    after = book.write(ANN, rivals[0])
    view = [*ann, *rivals, after]

    assert positions(book.cut(view, view, view)) == {ANN: Position(seq=1, head=ann[1])}


def test_a_branch_that_too_few_name_is_no_fork() -> None:
    book = Book()
    ann = book.chain(ANN, 2)
    rivals = [book.write(ANN, ann[1], tag=tag) for tag in ("a", "b")]

    found = positions(book.cut([*ann, *rivals], [*ann, rivals[0]], [*ann, rivals[0]]))

    assert found == {ANN: Position(seq=2, head=rivals[0])}


def test_two_branches_are_never_spliced() -> None:
    book = Book()
    ann = book.chain(ANN, 1)
    a, b = (book.write(ANN, ann[0], tag=tag) for tag in ("a", "b"))
    after_b = book.write(ANN, b)
    # Each place has one record that two witnesses name, but they are of two branches.
    views = [[*ann, a], [*ann, a, after_b], [*ann, b, after_b]]
    last: Positions = {}
    rows = []
    for who, ids in enumerate(views):
        levels = [[one for one in ids if book.entries[one].seq == seq] for seq in range(3)]
        held = {ANN: [one for one in levels if one]}
        rows.append(row(who, chains_blob(held, beacon=b"b" * 32)))

    assert positions(book.cut(rows=rows, last=last)) == {ANN: Position(seq=1, head=a)}


def test_a_recovery_rotation_wins_over_what_a_thief_wrote() -> None:
    book = Book()
    ann = book.chain(ANN, 2)
    thief = book.write(ANN, ann[1], tag="thief")
    owner = book.write(ANN, ann[1], tag="owner", recovery=True)
    after = book.write(ANN, owner)
    view = [*ann, thief, owner, after]

    assert positions(book.cut(view, view, view)) == {ANN: Position(seq=3, head=after)}


def test_two_recovery_rotations_decide_nothing() -> None:
    book = Book()
    ann = book.chain(ANN, 2)
    rivals = [book.write(ANN, ann[1], tag=tag, recovery=True) for tag in ("a", "b")]
    view = [*ann, *rivals]

    assert positions(book.cut(view, view, view)) == {ANN: Position(seq=1, head=ann[1])}


def test_a_named_rotation_picks_its_branch() -> None:
    book = Book()
    ann = book.chain(ANN, 2)
    a, b = (book.write(ANN, ann[1], tag=tag) for tag in ("a", "b"))
    further = book.write(ANN, b)
    rotation = book.write(ANN, further, picks=further)
    view = [*ann, a, b, further, rotation]

    assert positions(book.cut(view, view, view)) == {ANN: Position(seq=4, head=rotation)}


def test_rotations_that_pick_both_branches_pick_none() -> None:
    book = Book()
    ann = book.chain(ANN, 2)
    a, b = (book.write(ANN, ann[1], tag=tag) for tag in ("a", "b"))
    view = [*ann, a, b, book.write(ANN, a, picks=a), book.write(ANN, b, picks=b)]

    assert positions(book.cut(view, view, view)) == {ANN: Position(seq=1, head=ann[1])}


def test_a_pick_of_something_unnamed_is_no_pick_and_blocks_nothing() -> None:
    book = Book()
    ann = book.chain(ANN, 2)
    a, b = (book.write(ANN, ann[1], tag=tag) for tag in ("a", "b"))
    view = [*ann, a, b, book.write(ANN, a, picks=name("nowhere"))]

    assert positions(book.cut(view, view, view)) == {ANN: Position(seq=1, head=ann[1])}


def test_the_losing_branch_of_an_old_fork_does_not_stop_the_chain() -> None:
    book = Book()
    ann = book.chain(ANN, 2)
    lost = book.write(ANN, ann[0], tag="lost")
    more = book.write(ANN, lost)
    new = book.write(ANN, ann[1])
    last = {ANN: Position(seq=1, head=ann[1])}

    assert positions(book.cut(*[[more, new]] * 3, last=last)) == {ANN: Position(seq=2, head=new)}


def test_a_record_named_at_a_place_not_its_own_does_not_count() -> None:
    book = Book()
    ann, bob = book.chain(ANN, 1), book.chain(BOB, 1)
    wrong = chains_blob({ANN: [[bob[0]], [ann[0]]]}, beacon=b"b" * 32)
    rows = [row(who, wrong) for who in range(3)]

    assert positions(book.cut(rows=rows)) == {}


def test_what_is_named_enough_and_not_held_is_missing() -> None:
    book = Book()
    ann = book.chain(ANN, 3)

    assert book.cut(ann, ann[:2], ann[:2], held={ann[0]}) == Missing(records=(ann[1],))


def test_the_world_is_the_only_one_that_enough_witnesses_name() -> None:
    book = Book()
    empty = book.view([], {})
    other = name("other")

    two = [row(0, empty), row(1, empty), row(2, empty, world=other)]
    three = [row(0, empty), row(1, empty, world=name("third")), row(2, empty, world=other)]

    assert value(book.cut(rows=two)).world == WORLD
    assert isinstance(book.cut(rows=three), NoValue)


def test_two_worlds_make_no_value_where_everybody_must_agree() -> None:
    two = quorum(2, three_available=False)
    empty = Book().view([], {})
    rows = [row(0, empty), row(1, empty, world=name("other"))]

    outcome = fresh_cut(cut_slot(), rows, two, lambda _: None, last={}, promised={})

    assert isinstance(outcome, NoValue)


def test_a_tick_needs_enough_witnesses() -> None:
    book = Book()
    empty = book.view([], {})

    def ticks(count: int) -> bool:
        rows = [row(i, empty, tick=i < count) for i in range(3)]
        return value(book.cut(rows=rows)).tick

    assert [ticks(count) for count in range(4)] == [False, False, True, True]


def test_a_secret_opens_only_if_its_hash_stood_in_the_cut_before() -> None:
    book = Book()
    empty = book.view([], {})
    rows = [row(i, empty, secret=name("secret", i)) for i in range(3)]
    promised = {
        name("operator", 0): plain_hash(name("secret", 0)),
        name("operator", 1): plain_hash(name("another")),
    }

    secrets = value(book.cut(rows=rows, promised=promised)).secrets

    assert list(secrets) == sorted(secrets, key=lambda one: one.member)
    assert set(secrets) == {
        Opened(
            member=name("operator", i),
            secret=name("secret", 0) if i == 0 else None,
            next_hash=name("next", i),
        )
        for i in range(3)
    }


def test_exactly_q_witnesses_with_their_chains_make_a_cut() -> None:
    book = Book()
    empty = book.view([], {})
    rows = [row(i, empty) for i in range(4)]
    bare = Witnessed(operator=name("operator", 2), voice=voice(2), body=rows[2].body, chains=None)

    assert isinstance(book.cut(rows=rows), NoValue)
    assert isinstance(book.cut(rows=[*rows[:2], rows[0]]), NoValue)
    assert isinstance(book.cut(rows=[*rows[:2], bare]), NoValue)
    assert value(book.cut(rows=rows[:3])).number == 5


@given(heights=st.lists(st.integers(0, 5), min_size=3, max_size=3), order=st.permutations(range(3)))
@settings(max_examples=40)
def test_a_cut_takes_the_second_highest_of_honest_views_in_any_order(
    heights: list[int], order: list[int]
) -> None:
    book = Book()
    ann = book.chain(ANN, 5)
    views = [ann[: heights[i]] for i in order]
    second = sorted(heights)[1]
    expected = {ANN: Position(seq=second - 1, head=ann[second - 1])} if second else {}

    assert positions(book.cut(*views)) == expected
