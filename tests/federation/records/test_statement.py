"""The signed line: what its id hashes and what its signature covers."""

import hashlib

import pytest
from hypothesis import given

from federation.codec import decode, encode
from federation.core import PeerError
from federation.records import Statement, record_id, signing_payload
from tests import strategies
from tests.builders import OTHER_REALM, REALM


@given(strategies.statements)
def test_a_statement_survives_the_way_there_and_back(statement: Statement) -> None:
    raw = encode(statement)

    assert decode(raw, Statement, what="statement") == statement
    assert raw[0] == 0x99


@given(strategies.statements)
def test_an_id_hashes_domain_realm_and_statement(statement: Statement) -> None:
    raw = encode(statement)
    name = record_id(REALM, raw)

    assert name == hashlib.sha256(b"folkmoot/1/record" + REALM + raw).digest()
    assert name != record_id(OTHER_REALM, raw)
    assert signing_payload(name) == b"folkmoot/1/sign" + name


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (0, 0),
        (0, True),
        (1, "nodot"),
        (1, "review.argue\n"),
        (1, "review." + "a" * 21),
        (2, bytes(31)),
        (3, -1),
        (4, 2**53),
        (5, b""),
        (6, "1"),
        (7, None),
        (8, bytes(33)),
    ],
)
def test_a_field_out_of_range_is_refused(field: int, value: object) -> None:
    parts: list[object] = [1, "review.argue", bytes(32), 0, 1, bytes(32), 0, 0, bytes(32)]
    decode(encode(parts), Statement, what="statement")
    parts[field] = value
    with pytest.raises(PeerError):
        decode(encode(parts), Statement, what="statement")
