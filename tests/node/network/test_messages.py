"""What instances say is canonical, bounded, and of the kind that its stream allows."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.codec import LIMITS, encode
from federation.core import PeerError
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
QUESTIONS = st.one_of(
    st.builds(m.Compare, digest=HASHES),
    st.builds(m.Lack, page=SMALL, start=HASHES),
    st.builds(m.Want, records=st.lists(HASHES, max_size=4).map(tuple)),
    st.builds(m.WantBlob, blob=HASHES),
    st.just(m.Meet()),
)
ANSWERS = st.one_of(
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
        "question": (m.Compare, m.Lack, m.Want, m.WantBlob, m.Meet),
        "answer": (m.Same, m.Records, m.BlobPart, m.Meeting, m.Refusal),
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
