"""A head is taken under a pinned key only, and every refusal says what is wrong."""

import os

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.codec import encode
from federation.crypto import plain_hash
from federation.records import AgentVouch, Kind, signing_payload, wire
from federation.records.statement import Statement, record_id
from node.base.errors import NodeCode, RequestError
from node.partners import head_file, read_head
from node.partners.heads import LARGEST
from tests.builders import OTHER_REALM, REALM, named
from tests.node.partners.signed import INSTANCE, KEY, SIGNER, file, head, signed

HEAD = head((named("key"), 255), (named("other key"), 3))


def why(raw: bytes, **changes: bytes) -> str:
    how = {"realm": OTHER_REALM, "key": KEY, "own": REALM, **changes}
    with pytest.raises(RequestError) as refused:
        read_head(raw, **how)
    assert refused.value.code is NodeCode.HEAD_REFUSED
    assert refused.value.fix
    return refused.value.why


def test_a_head_is_read_as_it_was_signed() -> None:
    record = read_head(file(HEAD), realm=OTHER_REALM, key=KEY, own=REALM)

    assert record.body == HEAD
    assert record.author == INSTANCE


def test_our_own_realm_is_no_other() -> None:
    assert "this realm itself" in why(file(HEAD, realm=REALM), realm=REALM)


def test_a_head_of_another_realm_than_named_is_refused() -> None:
    assert OTHER_REALM.hex() in why(file(HEAD), realm=named("a third realm"))


def test_a_head_that_was_signed_in_another_realm_is_refused() -> None:
    relabelled = head_file(OTHER_REALM, signed(HEAD, realm=named("a third realm")))

    assert "has not signed" in why(relabelled)


def test_another_key_is_refused() -> None:
    assert "has not signed" in why(file(HEAD), key=named("another key"))
    assert "has not signed" in why(file(HEAD), key=bytes(32))


def test_another_record_of_the_same_key_is_no_head() -> None:
    vouch = AgentVouch(agent=named("agent"), weight=1, reason="Good work.")

    assert "agent.vouch" in why(file(vouch))


def test_a_root_that_is_not_of_the_rows_is_refused() -> None:
    """Its own key has signed it: only the rows tell."""
    forged = head((named("key"), 255))
    msgspec.structs.force_setattr(forged, "root", named("another root"))
    body = encode(forged)
    statement = encode(
        Statement(
            1, Kind.TRUST_HEAD, INSTANCE, 0, 5, named("before"), 1, len(body), plain_hash(body)
        )
    )
    signature = SIGNER.sign(signing_payload(record_id(OTHER_REALM, statement)))
    raw = encode([1, OTHER_REALM, encode([statement, body, None, signature])])

    assert "root" in why(raw)


def test_bytes_that_nobody_wrote_are_refused() -> None:
    whole = file(HEAD)
    record = wire(signed(HEAD))
    for raw in (
        b"",
        b"\x93",
        os.urandom(300),
        whole[:-1],
        whole + b"\0",
        record,
        encode([2, OTHER_REALM, record]),
        encode([1, OTHER_REALM[:-1], record]),
        encode([1, OTHER_REALM, record, None]),
        encode([1, OTHER_REALM, b""]),
        encode({"realm": OTHER_REALM}),
    ):
        assert why(raw)


def test_a_file_larger_than_any_head_is_refused_unread() -> None:
    assert str(LARGEST) in why(bytes(LARGEST + 1))


@given(place=st.integers(0, 10**6), flip=st.integers(1, 255))
def test_no_flipped_byte_gets_through(place: int, flip: int) -> None:
    raw = bytearray(file(HEAD))
    raw[place % len(raw)] ^= flip

    with pytest.raises(RequestError):
        read_head(bytes(raw), realm=OTHER_REALM, key=KEY, own=REALM)
