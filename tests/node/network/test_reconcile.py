"""Whatever two instances hold, a few pulls make them equal; no liar makes a pull endless."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.core import PeerError
from federation.records import Record, wire
from federation.replication import read_heads_page, sync
from node.network import serving as serving_module
from node.network.messages import (
    Answer,
    BlobPart,
    Compare,
    Lack,
    Meeting,
    Question,
    Records,
    Refusal,
    Same,
)
from node.network.reconcile import MOST_FRUITLESS, ByHeads
from tests.node.network.differing import (
    FOUNDERS,
    STRANGERS,
    TOWN,
    Side,
    chain_of,
    differences,
    durable,
    grow,
    held,
)

ROUNDS = 3
"""Pulls in each direction that must be enough, whatever the difference."""


@contextmanager
def frames_of(records: int, authors: int) -> Iterator[None]:
    """Let frames and pages hold little, so that little data meets every bound."""
    kept = serving_module.MOST_RECORDS, sync.ROWS
    serving_module.MOST_RECORDS, sync.ROWS = records, authors  # type: ignore[misc] # Final
    try:
        yield
    finally:
        serving_module.MOST_RECORDS, sync.ROWS = kept  # type: ignore[misc] # Final


def chain_in(side: Side, author: bytes) -> set[bytes]:
    """Give the ids of an author's records that a side holds."""
    return {one for ids in side.world.log.above(author, -1) for one in ids}


@settings(max_examples=40)
@given(
    sides=differences(),
    records=st.sampled_from([3, 5, 512]),
    authors=st.sampled_from([1, 2, 1_000]),
)
def test_two_logs_become_equal_in_bounded_rounds(
    sides: tuple[list[Record], list[Record]], records: int, authors: int
) -> None:
    one, two = Side(), Side()
    one.hold(sides[0])
    two.hold(sides[1])
    union = held(one.world.log) | held(two.world.log)

    async def play() -> int:
        for number in range(ROUNDS):
            if held(one.world.log) == held(two.world.log):
                return number
            await one.pull(two)
            await two.pull(one)
        return ROUNDS

    with frames_of(records, authors):
        trio.run(play)
        before = one.asked

        assert held(one.world.log) == held(two.world.log) == union
        # Those who hold the same say so with one question.
        assert trio.run(one.pull, two) == 0
        assert one.asked == before + 1


@settings(max_examples=30)
@given(sides=differences(), records=st.sampled_from([3, 512]))
def test_one_pull_brings_all_of_a_chain_that_is_the_longer_one_there(
    sides: tuple[list[Record], list[Record]], records: int
) -> None:
    one, two = Side(), Side()
    one.hold(sides[0])
    two.hold(sides[1])
    mine = held(one.world.log)
    longer = {
        author: theirs
        for author in two.world.log.authors()
        if (theirs := chain_in(two, author)) >= chain_in(one, author)
    }
    with frames_of(records, 1_000):
        trio.run(one.pull, two)

    assert mine.union(*longer.values()) <= held(one.world.log)


def test_a_fork_deeper_than_a_frame_is_reached() -> None:
    pen = chain_of(0)
    before = grow(pen, 9, "before")
    twin = pen.fork()
    one, two = Side(), Side()
    one.hold([*before, *grow(pen, 4, "left")])
    two.hold([*before, *grow(twin, 4, "right")])
    with frames_of(3, 1_000):
        trio.run(one.pull, two)
        trio.run(two.pull, one)

    assert held(one.world.log) == held(two.world.log)
    assert one.world.log.is_forked(pen.id)


def test_records_that_have_no_room_here_do_not_hold_up_the_others() -> None:
    one, two = Side(), Side()
    for number in range(FOUNDERS, FOUNDERS + STRANGERS):
        stranger = chain_of(number)
        room = TOWN.founding.charter.quotas.unadmitted_records
        grow(stranger, 3 * room, "talkative")
        # The other has an operator that asked for all of it.
        two.world.asked |= {record.id for record in stranger.records}
        two.hold(stranger.records)
    said = [record for number in range(FOUNDERS) for record in grow(chain_of(number), 3, "said")]
    two.hold(said)
    with frames_of(4, 1_000):
        trio.run(one.pull, two)

    assert {record.id for record in said} <= held(one.world.log)
    assert held(one.world.log) < held(two.world.log)
    assert one.asked < 40


# Liars --------------------------------------------------------------------------------------------

HONEST = [record for number in range(FOUNDERS) for record in grow(chain_of(number), 4, "true")]
WIRES = [wire(record) for record in HONEST]
HEIGHTS = 64
"""Seqs that an instance may be led through, though it holds all that stands there."""
IDS = st.binary(min_size=32, max_size=32) | st.sampled_from(
    [bytes(32), b"\xff" * 32, *(record.author for record in HONEST)]
)
LIES: st.SearchStrategy[Answer] = st.one_of(
    st.builds(
        Records,
        records=st.lists(
            st.sampled_from(WIRES) | st.binary(max_size=40), min_size=0, max_size=3
        ).map(tuple),
        more=st.booleans(),
        resume=st.none() | IDS,
        reached=st.integers(0, 8) | st.just(2**53),
    ),
    st.builds(Same, same=st.booleans()),
    st.just(Meeting(cut=1, seen=None)),
    st.just(BlobPart(more=False, content=b"")),
    st.just(Refusal(code="NO", why="", fix="")),
)


class Asked(Exception):  # noqa: N818 # not an error of ours
    """The liar was asked more often than anybody may be."""


def interrogated(lies: Iterator[Answer], most: int) -> tuple[Side, int]:
    """Pull from a liar; gives how often it was asked before it ended or was found out."""
    side, asked = Side(), 0

    async def ask(question: Question) -> Answer:
        nonlocal asked
        asked += 1
        if asked > most:
            raise Asked
        if isinstance(question, Compare):
            return Same(same=False)
        assert isinstance(question, Lack)
        return next(lies)

    async def play() -> None:
        with suppress(PeerError):
            await ByHeads(lambda: side.world, side.heads, durable).pull(ask, side.take)

    trio.run(play)
    return side, asked


@settings(max_examples=60)
@given(lies=st.lists(LIES, max_size=12), last=LIES)
def test_a_liar_is_asked_a_bounded_number_of_times(lies: list[Answer], last: Answer) -> None:
    def told() -> Iterator[Answer]:
        yield from lies
        while True:
            yield last

    interrogated(told(), most=MOST_FRUITLESS + len(lies) + HEIGHTS + 8)


def test_a_liar_that_always_stays_where_it_is_is_found_out() -> None:
    side = Side()
    first = read_heads_page(side.pages()[0]).low

    def told() -> Iterator[Answer]:
        at = int.from_bytes(first, "big")
        while True:
            yield Records(records=(b"garbage",), resume=at.to_bytes(32, "big"))
            at += 1

    _, asked = interrogated(told(), most=MOST_FRUITLESS + 3)

    # One more than may be fruitless, and the comparison.
    assert asked == MOST_FRUITLESS + 2


def test_a_liar_that_drips_what_is_true_is_asked_as_often_as_it_brings_something() -> None:
    def told() -> Iterator[Answer]:
        for raw in WIRES:
            yield Records(records=(raw,), resume=bytes(32))
        while True:
            yield Records(records=(WIRES[0],), resume=bytes(32))

    side, asked = interrogated(told(), most=len(WIRES) + 4)

    assert {record.id for record in HONEST} <= held(side.world.log)
    assert asked <= len(WIRES) + 4


def test_resuming_at_the_very_last_author_ends_the_pull() -> None:
    _, asked = interrogated(iter([Records(records=(b"garbage",), resume=b"\xff" * 32)] * 3), most=3)

    assert asked == 2


@pytest.mark.parametrize(
    "answer",
    [
        Meeting(cut=1, seen=None),
        Records(records=(), resume=bytes(32)),
        Same(same=False),
    ],
)
def test_what_is_no_answer_to_the_question_is_the_peers_fault(answer: Answer) -> None:
    side = Side()

    async def ask(question: Question) -> Answer:
        return Same(same=False) if isinstance(question, Compare) else answer

    with pytest.raises(PeerError, match="does not belong to the question"):
        trio.run(ByHeads(lambda: side.world, side.heads, durable).pull, ask, side.take)


def test_something_else_than_yes_or_no_to_the_first_question_is_the_peers_fault() -> None:
    side = Side()

    async def ask(question: Question) -> Answer:
        del question
        return Records(records=())

    with pytest.raises(PeerError):
        trio.run(ByHeads(lambda: side.world, side.heads, durable).pull, ask, side.take)
