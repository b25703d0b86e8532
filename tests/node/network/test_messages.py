"""What instances say is canonical, bounded, and of the kind that its stream allows."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.codec import LIMITS, encode
from federation.core import PeerError
from federation.protocol.digest import BUCKETS, TableName
from node.network import messages as m

HASHES = st.binary(min_size=32, max_size=32)
COUNTS = st.integers(min_value=0, max_value=2**53)
SMALL = st.binary(max_size=64)
PLAIN = st.text(
    alphabet=st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=64
)

HELLOS = st.builds(
    m.Hello,
    realm=HASHES,
    charter_hash=HASHES,
    low=COUNTS,
    high=COUNTS,
    instance=HASHES,
    cut=COUNTS,
    heads=COUNTS,
)
REFUSALS = st.builds(m.Refusal, code=PLAIN, why=PLAIN, fix=PLAIN)
RECORDS = st.builds(
    m.Records,
    records=st.lists(SMALL, max_size=4).map(tuple),
    more=st.booleans(),
    resume=st.none() | HASHES,
)
PUSHED = RECORDS | st.builds(m.PacketPart, more=st.booleans(), content=SMALL)
TABLES = st.sampled_from(list(TableName))
INQUIRIES = st.one_of(
    st.builds(m.AskWorld, cut=COUNTS),
    st.builds(m.AskBuckets, cut=COUNTS, table=TABLES),
    st.builds(
        m.AskRows,
        cut=COUNTS,
        table=TABLES,
        buckets=st.lists(st.integers(0, BUCKETS - 1), min_size=1, max_size=4).map(tuple),
        after=st.none() | HASHES,
    ),
)
FINDINGS = st.one_of(
    st.builds(
        m.WorldAt,
        cut=COUNTS,
        digest=HASHES,
        world_digest=HASHES,
        charter_hash=HASHES,
        beacon=HASHES,
        joining=HASHES,
        artifacts=HASHES,
        agents=HASHES,
        identities=HASHES,
        members=HASHES,
        rounds=HASHES,
        version=PLAIN,
        former=st.none() | st.builds(m.Former, digest=HASHES, world_digest=HASHES),
    ),
    HASHES.map(lambda one: m.Buckets(hashes=one * BUCKETS)),
    st.builds(
        m.Rows,
        rows=st.lists(st.binary(min_size=1, max_size=64), max_size=4).map(tuple),
        more=st.booleans(),
    ),
    st.builds(m.Elsewhere, cut=COUNTS),
)
QUESTIONS = st.one_of(
    INQUIRIES,
    st.builds(m.Compare, digest=HASHES),
    st.builds(m.Lack, page=SMALL, start=HASHES),
    st.builds(m.Want, records=st.lists(HASHES, max_size=4).map(tuple)),
    st.builds(m.WantBlob, blob=HASHES),
    st.just(m.Meet()),
)
ANSWERS = st.one_of(
    FINDINGS,
    st.builds(m.Same, same=st.booleans()),
    RECORDS,
    REFUSALS,
    st.builds(m.BlobPart, more=st.booleans(), content=SMALL),
    st.builds(
        m.Meeting,
        cut=COUNTS,
        seen=st.none() | st.tuples(SMALL, st.binary(min_size=64, max_size=64)),
    ),
)
READ: dict[str, tuple[Callable[[bytes], object], st.SearchStrategy[m.Message]]] = {
    "greeting": (m.read_greeting, HELLOS | REFUSALS),
    "pushed": (m.read_pushed, PUSHED),
    "question": (m.read_question, QUESTIONS),
    "answer": (m.read_answer, ANSWERS),
}
HASH = bytes(32)


@pytest.mark.parametrize("name", READ)
@given(data=st.data())
def test_what_is_framed_is_read_again(name: str, data: st.DataObject) -> None:
    read, said = READ[name]
    message = data.draw(said)

    assert read(m.frame(message)) == message


@pytest.mark.parametrize("name", READ)
@given(raw=st.binary(max_size=200))
def test_noise_is_refused_and_never_breaks_the_reader(name: str, raw: bytes) -> None:
    # No other error may come out of it.
    with suppress(PeerError):
        assert READ[name][0](raw) is not None


@pytest.mark.parametrize("name", READ)
@given(data=st.data())
def test_a_message_of_another_stream_is_refused(name: str, data: st.DataObject) -> None:
    read, own = READ[name]
    kinds = {
        "greeting": (m.Hello, m.Refusal),
        "pushed": (m.Records, m.PacketPart),
        "question": (
            *(m.Compare, m.Lack, m.Want, m.WantBlob, m.Meet),
            *(m.AskWorld, m.AskBuckets, m.AskRows),
        ),
        "answer": (
            *(m.Same, m.Records, m.BlobPart, m.Meeting, m.Refusal),
            *(m.WorldAt, m.Buckets, m.Rows, m.Elsewhere),
        ),
    }[name]
    strange = data.draw(
        st.one_of(one for _, one in READ.values()).filter(lambda one: not isinstance(one, kinds))
    )
    with pytest.raises(PeerError):
        read(m.frame(strange))
    assert read(m.frame(data.draw(own))) is not None


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (m.read_pushed, m.Records(records=(b"x" * (2 * LIMITS.record + 1),))),
        (m.read_pushed, m.Records(records=(b"",) * (m.MOST_RECORDS + 1))),
        (m.read_question, m.Want(records=(HASH,) * (m.MOST_WANTED + 1))),
        (m.read_question, m.Want(records=(bytes(31),))),
        (m.read_answer, m.Meeting(cut=-1, seen=None)),
        (m.read_answer, m.Meeting(cut=1, seen=(b"", bytes(63)))),
        (m.read_answer, m.Refusal(code="", why="", fix="")),
        (m.read_answer, m.Refusal(code="NO", why="x" * 513, fix="")),
        (m.read_pushed, m.PacketPart(more=False, content=b"x" * LIMITS.frame)),
        (m.read_question, m.AskWorld(cut=-1)),
        (m.read_question, m.AskBuckets(cut=1, table="journal")),  # type: ignore[arg-type] # no table
        (m.read_question, m.AskRows(cut=1, table=TableName.AGENTS, buckets=())),
        (m.read_question, m.AskRows(cut=1, table=TableName.AGENTS, buckets=(BUCKETS,))),
        (m.read_question, m.AskRows(cut=1, table=TableName.AGENTS, buckets=(-1,))),
        (
            m.read_question,
            m.AskRows(cut=1, table=TableName.AGENTS, buckets=(1,) * (m.MOST_BUCKETS + 1)),
        ),
        (
            m.read_question,
            m.AskRows(cut=1, table=TableName.AGENTS, buckets=(1,), after=bytes(31)),
        ),
        (m.read_answer, m.Buckets(hashes=bytes(BUCKETS * 32 - 1))),
        (m.read_answer, m.Buckets(hashes=bytes(BUCKETS * 32 + 1))),
        (m.read_answer, m.Rows(rows=(b"",), more=False)),
        (m.read_answer, m.Rows(rows=(b"r",) * (m.MOST_ROWS + 1), more=False)),
        (m.read_answer, m.Rows(rows=(bytes(LIMITS.record + 1),), more=False)),
        (m.read_answer, m.Elsewhere(cut=-1)),
    ],
)
def test_what_is_too_much_is_refused(read: Callable[[bytes], object], message: m.Message) -> None:
    with pytest.raises(PeerError):
        read(m.frame(message))


def test_an_unknown_field_or_word_is_refused() -> None:
    with pytest.raises(PeerError):
        m.read_question(encode(["meet", 1]))
    with pytest.raises(PeerError):
        m.read_question(encode(["hello again"]))


def test_a_full_part_and_its_frame_fit_into_one_frame() -> None:
    part = m.frame(m.PacketPart(more=True, content=b"x" * m.ROOM))

    assert len(part) <= LIMITS.frame
    assert m.read_pushed(part) == m.PacketPart(more=True, content=b"x" * m.ROOM)


def test_the_most_ids_that_may_be_wanted_fit_into_one_frame() -> None:
    assert len(m.frame(m.Want(records=(HASH,) * m.MOST_WANTED))) <= LIMITS.frame


def test_the_hashes_of_all_buckets_fit_into_one_frame() -> None:
    assert len(m.frame(m.Buckets(hashes=bytes(BUCKETS * 32)))) <= LIMITS.frame


@given(inquiry=INQUIRIES, answer=ANSWERS)
def test_an_inquiry_has_answers_of_its_own_kind_only(inquiry: m.Inquiry, answer: m.Answer) -> None:
    kinds = {
        m.AskWorld: (m.WorldAt,),
        m.AskBuckets: (m.Buckets, m.Elsewhere),
        m.AskRows: (m.Rows, m.Elsewhere),
    }[type(inquiry)]

    assert m.finding(inquiry, answer) == (answer if isinstance(answer, kinds) else None)
