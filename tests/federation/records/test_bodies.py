"""Bodies of identity, admission, log and certificate records: one spelling, bounded fields."""

import msgspec
import pytest
from hypothesis import given

from federation.codec import decode, encode
from federation.core import PeerError
from federation.records import KINDS, Body, Kind, kind_of_body
from tests import strategies
from tests.builders import smallest


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


BOUNDS: list[tuple[Kind, str, object, object]] = [
    (Kind.INCEPT, "name", "n" * 128, "n" * 129),
    (Kind.INCEPT, "name", "水" * 128, ""),
    (Kind.INCEPT, "role", "agent", "moderator"),
    (Kind.INCEPT, "key", bytes(32), bytes(31)),
    (Kind.ROTATE, "reason", "r" * 500, "r" * 501),
    (Kind.ROTATE, "by", "recovery", "current"),
    (Kind.ROTATE, "disown_after", 2**53 - 1, 2**53),
    (Kind.REVOKE, "by", "recovery", "next"),
    (Kind.DELEGATE, "scope", ["review.argue"] * 64, ["review.argue"] * 65),
    (Kind.DELEGATE, "scope", ["unknown.kind"], ["Unknown.kind"]),
    (Kind.DELEGATE, "until", 0, -1),
    (Kind.OPERATOR_ADMIT, "proof", bytes(2_048), bytes(2_049)),
    (Kind.AGENT_ADMIT, "custody", "node", "cloud"),
    (Kind.AGENT_DECLARE, "cutoff", "2026-12", "2026-12-01"),
    (Kind.AGENT_DECLARE, "cutoff", None, "٢٠٢٦-١٢"),
    (Kind.AGENT_SUBSCRIBE, "topics", ["a/b/c/d/e/f"] * 32, ["a"] * 33),
    (Kind.AGENT_SUBSCRIBE, "topics", ["a-b_1"], ["a/b/c/d/e/f/g"]),
    (Kind.AGENT_SUBSCRIBE, "topics", ["a"], ["a\n"]),
    (Kind.AGENT_SUBSCRIBE, "on", False, 0),
    (Kind.CERTIFICATE, "fence", 2**63 - 1, 2**63),
    (Kind.CERTIFICATE, "slot", bytes(128), bytes(129)),
    (Kind.CERTIFICATE, "value", bytes(48_000), bytes(48_001)),
    (Kind.CERTIFICATE, "seals", [], [[bytes(32), 0, bytes(64)]] * 129),
    (Kind.LOG_FORK, "a", [bytes(1_024), bytes(64)], [bytes(1_025), bytes(64)]),
    (Kind.LOG_FAULT, "b", [bytes(40_000), bytes(64)], [bytes(40_001), bytes(64)]),
]


@pytest.mark.parametrize(("kind", "field", "last", "beyond"), BOUNDS)
def test_a_field_reaches_its_bound_and_not_beyond(
    kind: Kind, field: str, last: object, beyond: object
) -> None:
    fields = msgspec.msgpack.decode(encode(smallest(kind)[0]))

    decode(encode(fields | {field: last}), KINDS[kind].body, what="body")
    with pytest.raises(PeerError):
        decode(encode(fields | {field: beyond}), KINDS[kind].body, what="body")
