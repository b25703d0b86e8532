"""Answers are read from the world, bounded by frames, and sent only when the disk has caught up."""

import pytest
import trio
import trio.testing

from federation.codec import LIMITS
from federation.core import Code, PeerError
from federation.records import Record, parse_record, wire
from federation.replication import sync
from node.network import serving as module
from node.network.messages import (
    MOST_RECORDS,
    ROOM,
    Answer,
    BlobPart,
    Compare,
    Lack,
    Meet,
    Meeting,
    Question,
    Records,
    Same,
    Want,
    WantBlob,
    frame,
)
from node.network.serving import DEPTH, Serving
from tests.builders import artifact_text, propose
from tests.federation.protocol.town import Town
from tests.node.network.differing import Side, chain_of, durable, grow

ME, FIRST = b"me".ljust(32), bytes(32)


async def answers(side: Side, question: Question) -> list[Answer]:
    found = await Serving(lambda: side.world, side.heads, durable).answer(question, ME)
    assert all(len(frame(one)) <= LIMITS.frame for one in found)
    return found


async def lacking(side: Side, other: Side, start: bytes = FIRST, seen: int = 0) -> Records:
    (page,) = other.pages()
    (answer,) = await answers(side, Lack(page=page, start=start, seen=seen))
    assert isinstance(answer, Records)
    return answer


def ids(records: Records) -> list[bytes]:
    realm = Side().world.realm
    return [parse_record(realm, raw).id for raw in records.records]


def large(count: int) -> list[Record]:
    """Write proposals of about 12 KB."""
    pen = chain_of(0)
    return [
        pen.say(*propose(artifact_text(prose=f"{number} " + "x" * 11_000)))
        for number in range(count)
    ]


@pytest.mark.trio
async def test_nothing_leaves_before_it_is_durable() -> None:
    side, gate = Side(), trio.Event()
    found: list[Answer] = []

    async def ask() -> None:
        serving = Serving(lambda: side.world, side.heads, gate.wait)
        found.extend(await serving.answer(Meet(), ME))

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await trio.testing.wait_all_tasks_blocked()
            assert found == []
            gate.set()

    assert found == [Meeting(cut=0, seen=None)]


@pytest.mark.trio
async def test_equal_logs_are_told_by_their_hash() -> None:
    one, two = Side(), Side()
    digest = one.heads.digest(one.world.log)

    assert await answers(two, Compare(digest=digest)) == [Same(same=True)]

    two.hold(grow(chain_of(0), 1, "more"))

    assert await answers(two, Compare(digest=digest)) == [Same(same=False)]


@pytest.mark.trio
async def test_what_the_asker_lacks_comes_each_record_after_its_predecessor() -> None:
    one, two = Side(), Side()
    more = grow(chain_of(0), 3, "more")
    one.hold(more)
    answer = await lacking(one, two)

    assert ids(answer) == [record.id for record in more]
    assert answer.resume is None
    assert (await lacking(two, one)).records == ()


@pytest.mark.trio
async def test_only_authors_from_the_start_on_are_told_of() -> None:
    one, two = Side(), Side()
    chains = sorted((chain_of(0), chain_of(1)), key=lambda pen: pen.id)
    for pen in chains:
        one.hold(grow(pen, 1, "more"))

    assert len((await lacking(one, two)).records) == 2
    assert ids(await lacking(one, two, start=chains[1].id)) == [chains[1].head.id]
    assert (await lacking(one, two, start=b"\xff" * 32)).records == ()


@pytest.mark.trio
async def test_a_start_beyond_the_page_is_an_empty_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync, "ROWS", 1)
    one, two = Side(), Side()
    one.hold([record for number in range(3) for record in grow(chain_of(number), 1, "more")])
    first, *_ = two.pages()
    (answer,) = await answers(one, Lack(page=first, start=b"\xff" * 32))

    assert answer == Records(records=())


@pytest.mark.trio
async def test_a_malformed_page_is_the_askers_fault() -> None:
    with pytest.raises(PeerError) as refused:
        await answers(Side(), Lack(page=b"noise", start=FIRST))

    assert refused.value.code is Code.NOT_CANONICAL


@pytest.mark.trio
async def test_an_answer_ends_at_the_frame_and_says_where_to_go_on() -> None:
    one, two = Side(), Side()
    records = large(40)
    one.hold(records)
    answer = await lacking(one, two)

    assert 1 < len(answer.records) < 40
    assert sum(map(len, answer.records)) <= ROOM
    assert (answer.resume, answer.reached) == (records[0].author, len(answer.records) + 1)
    await two.take(answer.records)
    rest = await lacking(one, two, start=records[0].author)
    assert (
        ids(answer) + ids(rest) == [record.id for record in records][: len(ids(answer) + ids(rest))]
    )


@pytest.mark.trio
async def test_an_answer_ends_at_the_most_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_RECORDS", 2)
    one, two = Side(), Side()
    records = grow(chain_of(0), 4, "more")
    one.hold(records)
    found, start, seen = [], FIRST, 0
    for _ in range(10):
        answer = await lacking(one, two, start, seen)
        found += ids(answer)
        if answer.resume is None:
            break
        # As if nothing of it had been new here: it goes on all the same.
        start, seen = answer.resume, answer.reached

    assert found == [record.id for record in records]
    assert MOST_RECORDS > 2


@pytest.mark.trio
async def test_records_by_id_come_with_what_stands_before_them() -> None:
    one = Side()
    records = grow(chain_of(0), DEPTH + 10, "more")
    one.hold(records)
    wanted = Want(records=(records[-1].id, records[-2].id, b"unknown".ljust(32)))
    (answer,) = await answers(one, wanted)

    assert isinstance(answer, Records)
    assert ids(answer) == [record.id for record in records[-DEPTH - 1 :]]
    assert not answer.more


@pytest.mark.trio
async def test_what_is_unknown_is_an_empty_answer() -> None:
    assert await answers(Side(), Want(records=(FIRST,))) == [Records(records=())]
    assert await answers(Side(), WantBlob(blob=FIRST)) == [BlobPart(more=False, content=b"")]


@pytest.mark.trio
async def test_many_records_come_in_several_frames_and_within_bounds() -> None:
    one = Side()
    records = large(40)
    one.hold(records)
    found = await answers(one, Want(records=tuple(record.id for record in records)))

    assert len(found) > 1
    assert all(isinstance(one, Records) for one in found)
    assert [one.more for one in found if isinstance(one, Records)] == [True] * (len(found) - 1) + [
        False
    ]
    got = [name for one in found if isinstance(one, Records) for name in ids(one)]
    assert set(got) >= {record.id for record in records}
    assert len(got) == len(set(got))


@pytest.mark.trio
async def test_one_question_cannot_make_an_answer_of_any_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 100_000)
    one = Side()
    records = large(40)
    one.hold(records)
    newest_first = tuple(record.id for record in records[::-1])
    found = await answers(one, Want(records=newest_first))
    size = sum(len(raw) for one in found if isinstance(one, Records) for raw in one.records)

    # One record with what stands before it, however large, and then no more.
    assert size <= 100_000 + (DEPTH + 1) * max(len(wire(record)) for record in records)


@pytest.mark.trio
@pytest.mark.parametrize("size", [1, ROOM - 1, ROOM, ROOM + 1, 2 * ROOM + 5])
async def test_a_blob_is_cut_into_parts_exactly(size: int) -> None:
    side = Side()
    content = bytes(number % 251 for number in range(size))
    name = side.world.blobs.put(content)
    found = await answers(side, WantBlob(blob=name))
    parts = [one for one in found if isinstance(one, BlobPart)]

    assert b"".join(part.content for part in parts) == content
    assert [part.more for part in parts] == [True] * (len(parts) - 1) + [False]
    assert len(parts) == -(-size // ROOM)


@pytest.mark.trio
async def test_a_peer_hears_the_cut_and_the_last_message_that_was_heard_of_it() -> None:
    town = Town.of(2, 4, seed="meeting")
    town.in_cut(1)
    world, (_, other) = town.world(), town.founding.instances
    serving = Serving(lambda: world, Side().heads, durable)
    (met,) = await serving.answer(Meet(), other)
    heard = world.heard[other]

    assert met == Meeting(cut=world.state.cut, seen=(heard.raw, heard.signature))
