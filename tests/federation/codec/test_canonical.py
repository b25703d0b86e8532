"""One value, one byte string: what is decoded encodes to the same bytes, or it is refused."""

from collections.abc import Callable
from typing import Annotated, Literal

import msgpack
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta

from federation.codec import LIMITS, decode, decode_plain, encode, find_fault
from federation.codec.canonical import Plain
from federation.core import Code, PeerError
from tests import strategies
from tests.vectors.spellings import NON_CANONICAL

FIX = "encode with sorted keys and sets, shortest forms, no floats and NFC text"


class Pair(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    number: int
    words: str = ""


class Row(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    tag: Annotated[str, Meta(pattern=r"\A[a-z]+\Z")]
    digest: bytes | None = None


@given(strategies.plain_values())
def test_a_plain_value_survives_the_way_there_and_back(value: Plain) -> None:
    raw = encode(value)

    assert decode_plain(raw, what="value") == value
    assert raw == msgpack.packb(msgpack.unpackb(raw), use_bin_type=True)


@settings(max_examples=200)
@given(strategies.spellings() | st.binary(max_size=40))
def test_decode_of_anything_agrees_with_the_walk(raw: bytes) -> None:
    faulty = find_fault(raw) is not None
    readers: tuple[Callable[[], object], ...] = (
        lambda: decode_plain(raw, what="value"),
        lambda: decode(raw, object, what="value"),
    )
    for reader in readers:
        if faulty:
            with pytest.raises(PeerError) as refused:
                reader()
            assert refused.value.code is Code.NOT_CANONICAL
        else:
            assert encode(reader()) == raw


@pytest.mark.parametrize("name", NON_CANONICAL)
def test_a_typed_reader_refuses_every_spelling_that_is_not_canonical(name: str) -> None:
    for kind in (object, dict, list, dict[str, object], Pair, Row, str, bytes, int):
        with pytest.raises(PeerError) as refused:
            decode(NON_CANONICAL[name], kind, what="value")
        assert refused.value.code is Code.NOT_CANONICAL


def test_the_order_of_fields_does_not_matter_to_the_writer() -> None:
    assert encode({"b": 1, "a": [True, None]}) == b"\x82\xa1a\x92\xc3\xc0\xa1b\x01"
    assert encode(Pair(number=1, words="x")) == b"\x82\xa6number\x01\xa5words\xa1x"


def test_a_refusal_says_what_why_and_how_to_fix_it() -> None:
    with pytest.raises(PeerError) as refused:
        decode(b"\x82\xa6number\xcc\x01\xa5words\xa0", Pair, what="pair")

    assert refused.value.what == "pair refused"
    assert refused.value.why == "its bytes are not canonical: $.number: not the shortest form"
    assert refused.value.fix == FIX


def test_bytes_above_the_limit_are_refused_before_they_are_parsed() -> None:
    raw = encode(bytes(100))
    readers: tuple[Callable[[int], object], ...] = (
        lambda most: decode(raw, bytes, what="blob", most=most),
        lambda most: decode_plain(raw, what="blob", most=most),
    )
    for read in readers:
        assert read(102) == bytes(100)
        with pytest.raises(PeerError) as refused:
            read(101)
        assert refused.value.code is Code.TOO_LARGE
        assert refused.value.why == "it has 102 bytes, the limit is 101"


def test_a_record_is_the_default_limit() -> None:
    with pytest.raises(PeerError) as refused:
        decode(bytes(LIMITS.record + 1), bytes, what="record")

    assert refused.value.code is Code.TOO_LARGE


def test_a_field_left_out_is_refused_though_it_has_a_default() -> None:
    with pytest.raises(PeerError) as refused:
        decode(b"\x81\xa6number\x01", Pair, what="pair")
    with pytest.raises(PeerError):
        decode(b"\x91\xa1a", Row, what="row")

    assert "it encodes to other bytes than these" in refused.value.why


def test_a_field_too_many_is_refused() -> None:
    with pytest.raises(PeerError):
        decode(encode({"number": 1, "words": "", "x": 0}), Pair, what="pair")
    with pytest.raises(PeerError):
        decode(encode(["a", None, 0]), Row, what="row")


def test_text_in_a_typed_value_obeys_the_rules_of_text() -> None:
    for words in ("a\0b", "e\u0301", "\u0378"):
        with pytest.raises(PeerError):
            decode(encode({"number": 1, "words": words}), Pair, what="pair")


def test_a_strangers_words_in_an_error_are_cut_short() -> None:
    raw = encode({"number": 1, "words": "", "z" * 4_000: 0})
    with pytest.raises(PeerError) as refused:
        decode(raw, Pair, what="pair")

    assert len(refused.value.why) < 260


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        (str, b"\xa3e\xcc\x81"),
        (list[str], b"\x91\xa3e\xcc\x81"),
        (tuple[str, ...], b"\x91\xa3e\xcc\x81"),
        (tuple[int, str], b"\x92\x01\xa3e\xcc\x81"),
        (str | None, b"\xa3e\xcc\x81"),
        (dict[str, int], b"\x81\xa3e\xcc\x81\x01"),
        (Annotated[str, Meta(description="a word")], b"\xa3e\xcc\x81"),
        (frozenset[str], b"\x91\xa3e\xcc\x81"),
        (float, b"\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00"),
        (Pair, b"\x82\xa6number\x01\xa5words\xa3e\xcc\x81"),
    ],
)
def test_free_text_is_found_in_every_shape_of_type(kind: type, raw: bytes) -> None:
    with pytest.raises(PeerError) as refused:
        decode(raw, kind, what="value")

    assert refused.value.code is Code.NOT_CANONICAL


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Row, Row("abc", b"x")),
        (Literal["é"], "é"),
        (tuple[int, ...], (0, 2**64 - 1, -(2**63))),
        (tuple[bool, None], (True, None)),
        (int | bytes | None, b"x"),
        (dict[str, int], {"é": 1}),
        (Annotated[int, Meta(description="a count")], 3),
        (Annotated[str, Meta(description="a word")], "é"),
    ],
)
def test_a_typed_value_survives_the_way_there_and_back(kind: type, value: object) -> None:
    assert decode(encode(value), kind, what="value") == value
