from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.records import Record, Role
from federation.replication.waiting import WaitingArea
from tests.builders import Chain, named, person, propose

MIB = 1024 * 1024


def chain(number: int, length: int) -> list[Record]:
    pen = Chain(person(Role.AGENT, number))
    for _ in range(length):
        pen.say(*propose())
    return pen.records[1:]


ALICE = chain(1, 12)
BOB = chain(2, 12)


def put(area: WaitingArea, record: Record) -> None:
    assert record.prev is not None
    area.put(record, record.prev)


def released(area: WaitingArea, record: Record) -> list[Record]:
    assert record.prev is not None
    return area.release(record.prev)


def test_a_record_waits_for_its_predecessor_only() -> None:
    area = WaitingArea(most=80, most_bytes=MIB)
    put(area, ALICE[3])

    assert area.release(ALICE[3].id) == []
    assert area.release(ALICE[2].id) == [ALICE[3]]
    assert area.release(ALICE[2].id) == []
    assert (len(area), area.held_bytes) == (0, 0)


def test_the_same_copy_waits_once() -> None:
    area = WaitingArea(most=80, most_bytes=MIB)
    put(area, ALICE[3])
    size = area.held_bytes
    put(area, ALICE[3])

    assert (len(area), area.held_bytes) == (1, size)


def test_a_forged_copy_does_not_keep_the_true_one_out() -> None:
    area = WaitingArea(most=80, most_bytes=MIB)
    forged = replace(ALICE[3], signature=bytes(64))
    put(area, forged)
    put(area, ALICE[3])

    assert released(area, ALICE[3]) == [forged, ALICE[3]]


def test_a_copy_with_the_text_completes_one_without() -> None:
    area = WaitingArea(most=80, most_bytes=MIB)
    bare = ALICE[3].with_text(None)
    put(area, bare)
    put(area, ALICE[3])
    put(area, bare)

    assert released(area, ALICE[3]) == [ALICE[3]]
    assert area.held_bytes == 0


def test_an_author_gets_an_eighth_of_the_room_and_loses_its_own_oldest() -> None:
    area = WaitingArea(most=16, most_bytes=MIB)
    put(area, BOB[0])
    for record in ALICE[:5]:
        put(area, record)

    assert len(area) == 3
    assert [released(area, record) for record in ALICE[:5]] == [[], [], [], [ALICE[3]], [ALICE[4]]]
    assert released(area, BOB[0]) == [BOB[0]]


def test_when_the_room_is_full_the_oldest_of_all_gives_way() -> None:
    area = WaitingArea(most=3, most_bytes=MIB)
    firsts = [chain(number, 1)[0] for number in range(3, 7)]
    for record in firsts:
        put(area, record)

    assert [released(area, record) for record in firsts] == [[], *([one] for one in firsts[1:])]


def test_bytes_are_bounded_too() -> None:
    area = WaitingArea(most=80, most_bytes=2_500)
    put(area, ALICE[0])
    size = area.held_bytes
    for record in ALICE[1:] + BOB:
        put(area, record)

    assert len(area) == 2_500 // size < 10
    assert area.held_bytes <= 2_500


def test_a_late_text_counts_against_the_bytes() -> None:
    bare = [record.with_text(None) for record in (ALICE[0], BOB[0])]
    area = WaitingArea(most=80, most_bytes=MIB)
    for record in bare:
        put(area, record)
    tight = WaitingArea(most=80, most_bytes=area.held_bytes)
    for record in bare:
        put(tight, record)
    put(tight, BOB[0])

    assert released(tight, ALICE[0]) == []
    assert released(tight, BOB[0]) == [BOB[0]]


def test_the_missing_id_is_the_first_that_is_not_even_waiting() -> None:
    area = WaitingArea(most=80, most_bytes=MIB)
    for record in (ALICE[5], ALICE[4], ALICE[3]):
        put(area, record)

    assert area.missing(ALICE[5].id) == ALICE[2].id
    assert area.missing(named("elsewhere")) == named("elsewhere")


@given(
    moves=st.lists(st.tuples(st.booleans(), st.sampled_from(ALICE + BOB)), max_size=40),
    most=st.integers(1, 24),
)
def test_no_bound_is_ever_passed_and_nothing_leaks(
    moves: list[tuple[bool, Record]], most: int
) -> None:
    area = WaitingArea(most=most, most_bytes=8_000)
    for puts, record in moves:
        if puts:
            put(area, record)
        else:
            released(area, record)
        assert len(area) <= most
        assert area.held_bytes <= 8_000
    for record in ALICE + BOB:
        released(area, record)

    assert (len(area), area.held_bytes) == (0, 0)
    assert not area._after
    assert not area._by_author
    assert not area._copies
