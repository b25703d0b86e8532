"""Bodies of identity, admission, log and certificate records: one spelling, bounded fields."""

import re

import msgspec
import pytest
from hypothesis import given

from federation.codec import LIMITS, decode, encode
from federation.core import Code, PeerError
from federation.records import (
    KINDS,
    Body,
    Kind,
    LogFault,
    Role,
    SignedMessage,
    kind_of_body,
    wire,
)
from tests import strategies
from tests.builders import Chain, person
from tests.smallest_bodies import smallest


@given(strategies.bodies)
def test_every_body_survives_the_way_there_and_back(body: Body) -> None:
    raw = encode(body)

    assert decode(raw, type(body), what="body") == body
    assert encode(msgspec.msgpack.decode(raw)) == raw


@given(strategies.bodies)
def test_all_fields_stand_in_the_map_nil_included(body: Body) -> None:
    fields = msgspec.msgpack.decode(encode(body))

    assert set(fields) == set(body.__struct_fields__)


@pytest.mark.parametrize("kind", Kind)
def test_a_field_missing_or_unknown_is_refused(kind: Kind) -> None:
    body, _ = smallest(kind)
    fields = msgspec.msgpack.decode(encode(body))
    for name in fields:
        fewer = {other: value for other, value in fields.items() if other != name}
        with pytest.raises(PeerError):
            decode(encode(fewer), KINDS[kind].body, what="body")
    with pytest.raises(PeerError):
        decode(encode(fields | {"unknown": None}), KINDS[kind].body, what="body")
    assert kind_of_body(body) is kind


SCOPE = [f"review.k_{first}{second}" for first in "abcd" for second in "abcdefghijklmnopq"]
TOPICS = [f"a/b/c/d/e/{number}" for number in range(10, 43)]
BOUNDS: list[tuple[Kind, str, object, object]] = [
    (Kind.INCEPT, "name", "n" * 128, "n" * 129),
    (Kind.INCEPT, "name", "水" * 128, ""),
    (Kind.INCEPT, "role", "agent", "moderator"),
    (Kind.INCEPT, "key", bytes(32), bytes(31)),
    (Kind.ROTATE, "reason", "r" * 500, "r" * 501),
    (Kind.ROTATE, "by", "recovery", "current"),
    (Kind.ROTATE, "disown_after", 2**53 - 1, 2**53),
    (Kind.REVOKE, "by", "recovery", "next"),
    (Kind.DELEGATE, "scope", SCOPE[:64], SCOPE[:65]),
    (Kind.DELEGATE, "scope", ["unknown.kind"], ["Unknown.kind"]),
    (Kind.DELEGATE, "until", 0, -1),
    (Kind.OPERATOR_ADMIT, "proof", bytes(2_048), bytes(2_049)),
    (Kind.AGENT_ADMIT, "custody", "node", "cloud"),
    (Kind.AGENT_DECLARE, "cutoff", "2026-12", "2026-12-01"),
    (Kind.AGENT_DECLARE, "cutoff", None, "٢٠٢٦-١٢"),
    (Kind.AGENT_SUBSCRIBE, "topics", TOPICS[:32], TOPICS[:33]),
    (Kind.AGENT_SUBSCRIBE, "topics", ["a-b_1"], ["a/b/c/d/e/f/g"]),
    (Kind.AGENT_SUBSCRIBE, "topics", ["a"], ["a\n"]),
    (Kind.AGENT_SUBSCRIBE, "on", False, 0),
    (Kind.AGENT_VOUCH, "agent", bytes(32), bytes(33)),
    (Kind.AGENT_VOUCH, "weight", 1, 0),
    (Kind.AGENT_VOUCH, "weight", 255, 256),
    (Kind.AGENT_VOUCH, "reason", "水" * 500, "r" * 501),
    (Kind.AGENT_UNVOUCH, "reason", "", "r" * 501),
    (Kind.TRUST_HEAD, "cut", 2**53 - 1, 2**53),
    (Kind.CERTIFICATE, "fence", 2**63 - 1, 2**63),
    (Kind.CERTIFICATE, "slot", bytes(128), bytes(129)),
    (Kind.CERTIFICATE, "value", bytes(48_000), bytes(48_001)),
    (Kind.CERTIFICATE, "seals", [], [[bytes(32), 0, bytes(64)]] * 257),
    (Kind.AGENT_SUBSCRIBE, "keywords", TOPICS[:32], TOPICS[:33]),
    (Kind.LOG_FORK, "a", [bytes(1_024), bytes(64), None], [bytes(1_025), bytes(64), None]),
    (Kind.LOG_FORK, "b", [b"", bytes(64), bytes(32)], [b"", bytes(64), bytes(31)]),
    (Kind.LOG_FORK, "b", [b"", bytes(64), None], [b"", bytes(64)]),
    (Kind.LOG_FAULT, "b", [bytes(31_500), bytes(64)], [bytes(31_501), bytes(64)]),
    (Kind.LOG_FAULT, "a", [b"", bytes(64)], [b"", bytes(64), None]),
]


@pytest.mark.parametrize(("kind", "field", "last", "beyond"), BOUNDS)
def test_a_field_reaches_its_bound_and_not_beyond(
    kind: Kind, field: str, last: object, beyond: object
) -> None:
    fields = msgspec.msgpack.decode(encode(smallest(kind)[0]))

    decode(encode(fields | {field: last}), KINDS[kind].body, what="body")
    with pytest.raises(PeerError):
        decode(encode(fields | {field: beyond}), KINDS[kind].body, what="body")


def test_two_of_the_longest_messages_fit_into_one_record() -> None:
    longest = SignedMessage(bytes(31_500), bytes(64))
    record = Chain(person(Role.AGENT)).say(LogFault(a=longest, b=longest))

    assert len(wire(record)) <= LIMITS.record


# Lists that mean sets: every kind that has one, with a value of two items.

_LOW, _HIGH = bytes(32), b"\xff" * 32
SETS: list[tuple[Kind, str, list[object]]] = [
    (Kind.DELEGATE, "scope", ["review.argue", "review.commit"]),
    (Kind.AGENT_SUBSCRIBE, "topics", ["history", "science/physics"]),
    (Kind.AGENT_SUBSCRIBE, "keywords", ["\uffee", "\U00010000"]),
    (Kind.PROPOSE, "topics", ["a", "b"]),
    (Kind.PROPOSE, "cites", [_LOW, _HIGH]),
    (Kind.PROPOSE, "sources", [_LOW, _HIGH]),
    (Kind.ARGUE, "evidence", [_LOW, _HIGH]),
]


@pytest.mark.parametrize(("kind", "field", "both"), SETS)
def test_a_set_has_one_spelling_in_bytes_and_in_our_own_code(
    kind: Kind, field: str, both: list[object]
) -> None:
    body, _ = smallest(kind)
    fields = msgspec.msgpack.decode(encode(body))
    low, high = both

    decode(encode(fields | {field: both}), KINDS[kind].body, what="body")
    for other, why in (([high, low], "out of order"), ([low, low], "twice")):
        reason = f"{field}[1]: this item of a set stands {why}"
        with pytest.raises(PeerError) as refused:
            decode(encode(fields | {field: other}), KINDS[kind].body, what="body")
        assert refused.value.code is Code.NOT_CANONICAL
        assert refused.value.why == f"its bytes are not canonical: {reason}"
        with pytest.raises(ValueError, match=re.escape(reason)):
            msgspec.structs.replace(body, **{field: tuple(other)})


def test_sets_of_text_are_in_the_order_of_their_bytes() -> None:
    # UTF-16 would order these two the other way: the second is written with surrogates there.
    words = ("\uffee", "\U00010000")

    assert sorted(words) == sorted(words, key=str.encode) == list(words)
    assert sorted(words, key=lambda word: word.encode("utf-16-be")) != list(words)
