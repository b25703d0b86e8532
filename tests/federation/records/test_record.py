"""A record parses to what was signed, or is refused; damage never gives the same id."""

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.codec import encode
from federation.core import NOBODY, Code, PeerError, RefusedError
from federation.crypto import KeySigner, plain_hash, public_key, sign
from federation.records import (
    Body,
    Kind,
    LogFault,
    Propose,
    Record,
    Role,
    SignedMessage,
    parse_record,
    parse_unless,
    record_id,
    sign_record,
    signing_payload,
    verify_record,
    wire,
)
from tests import strategies
from tests.builders import (
    OTHER_REALM,
    REALM,
    Chain,
    artifact_text,
    named,
    person,
    propose,
)
from tests.smallest_bodies import smallest
from tests.vectors import second_reader
from tests.vectors.second_schemas import SCHEMAS

KEY = public_key(named("key"))


def rewrap(record: Record, *, body: bytes | None = None, text: bytes | None = None) -> bytes:
    """Write a record's parts again with another body or text, signed as before."""
    body = record.body_raw if body is None else body
    return encode([record.statement_raw, body, text, record.signature])


@given(strategies.records())
def test_a_record_of_every_kind_survives_the_way_there_and_back(record: Record) -> None:
    read = parse_record(REALM, wire(record))

    verify_record(read, KEY)
    assert read == record
    assert wire(read) == wire(record)


def test_a_record_is_parsed_unless_it_is_known() -> None:
    alice = Chain(person(Role.AGENT))
    alice.say(*propose())
    asked: list[tuple[bytes, bool]] = []

    def is_known(name: bytes, text: bool) -> bool:
        asked.append((name, text))
        return name == alice.records[0].id

    read = [parse_unless(REALM, wire(record), is_known) for record in alice.records]

    assert read == [None, alice.head]
    assert asked == [(alice.records[0].id, False), (alice.head.id, True)]


def test_a_known_record_is_read_no_further_than_its_id() -> None:
    record = Chain(person(Role.AGENT)).head

    assert parse_unless(REALM, rewrap(record, body=b"junk"), lambda *_: True) is None
    with pytest.raises(PeerError, match="not the one the statement was signed for"):
        parse_unless(REALM, rewrap(record, body=b"junk"), lambda *_: False)
    with pytest.raises(PeerError, match="not canonical"):
        parse_unless(REALM, wire(record) + b"!", lambda *_: True)


@given(strategies.records())
def test_a_second_reader_agrees_with_every_record(record: Record) -> None:
    raw, role = wire(record), next(iter(SCHEMAS[record.kind][0]))

    assert second_reader.judge(REALM, raw, key=KEY, role=role) == second_reader.OK
    assert second_reader.record_id(REALM, record.statement_raw) == record.id
    assert second_reader.kept_text(raw) == record.text_raw


def is_refused(raw: bytes) -> bool:
    """Tell whether parsing or verifying refuses `raw`; anything but PeerError fails the test."""
    try:
        verify_record(parse_record(REALM, raw), KEY)
    except PeerError:
        return True
    return False


@settings(max_examples=300)
@given(strategies.records(), st.data())
def test_any_damage_is_refused_or_touches_the_text_only(
    record: Record, data: st.DataObject
) -> None:
    raw = wire(record)
    damaged = data.draw(strategies.damaged(raw))
    if is_refused(damaged):
        return
    read = parse_record(REALM, damaged)

    assert read.id == record.id
    assert read == record.with_text(None)


@given(strategies.records((Kind.PROPOSE, Kind.REVISE, Kind.ARGUE, Kind.DISPUTE)), st.data())
def test_a_damaged_text_is_ignored_and_the_record_stands(
    record: Record, data: st.DataObject
) -> None:
    text = record.text_raw or b"a text where there is none"
    read = parse_record(REALM, rewrap(record, text=data.draw(strategies.damaged(text))))

    verify_record(read, KEY)
    assert read.id == record.id
    assert read.text_raw is None


@given(strategies.records())
def test_damage_to_the_statement_changes_the_id_or_is_refused(record: Record) -> None:
    for at in range(len(record.statement_raw)):
        bent = bytearray(record.statement_raw)
        bent[at] ^= 1
        raw = encode([bytes(bent), record.body_raw, record.text_raw, record.signature])

        assert is_refused(raw)
        assert record_id(REALM, bytes(bent)) != record.id


@settings(max_examples=40)
@given(strategies.records(), st.data())
def test_a_damaged_body_never_passes_under_the_same_statement(
    record: Record, data: st.DataObject
) -> None:
    with pytest.raises(PeerError) as refused:
        parse_record(REALM, rewrap(record, body=data.draw(strategies.damaged(record.body_raw))))

    assert refused.value.code is Code.NOT_CANONICAL


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_parsing_any_bytes_gives_a_record_or_a_peer_error(raw: bytes) -> None:
    assert is_refused(raw)


def test_a_record_of_another_realm_looks_like_a_bad_signature() -> None:
    raw = wire(person(Role.AGENT, realm=OTHER_REALM).inception)
    with pytest.raises(PeerError) as refused:
        verify_record(parse_record(REALM, raw), person(Role.AGENT).key)

    assert refused.value.code is Code.BAD_SIGNATURE
    assert "another realm" in refused.value.why


def test_an_inception_speaks_for_the_identity_it_makes() -> None:
    identity = person(Role.OPERATOR, 3)
    chain = Chain(identity)
    second = chain.revoke()

    assert identity.inception.statement.author == NOBODY
    assert identity.inception.author == identity.inception.id == identity.id
    assert (identity.inception.kind, identity.inception.seq) == (Kind.INCEPT, 0)
    assert identity.inception.prev is None
    assert (second.author, second.seq, second.prev) == (identity.id, 1, identity.id)


def test_a_verifier_can_be_passed_in() -> None:
    record = person(Role.AGENT).inception
    asked: list[tuple[bytes, bytes, bytes]] = []

    def accept(key: bytes, payload: bytes, signature: bytes) -> bool:
        asked.append((key, payload, signature))
        return True

    verify_record(record, KEY, accept)

    assert asked == [(KEY, signing_payload(record.id), record.signature)]


def test_a_record_above_64_kib_is_too_large() -> None:
    with pytest.raises(PeerError) as refused:
        parse_record(REALM, bytes(65_537))

    assert refused.value.code is Code.TOO_LARGE


# Kinds that this version does not know.


def unknown(body: bytes, text: bytes | None = None) -> bytes:
    """Sign a record of a kind that is not in the table."""
    statement = encode(
        [1, "future.kind", named("author"), 0, 1, named("prev"), 0, len(body), plain_hash(body)]
    )
    signature = sign(named("key"), signing_payload(record_id(REALM, statement)))
    return encode([statement, body, text, signature])


def test_an_unknown_kind_is_kept_and_not_interpreted() -> None:
    raw = unknown(encode({"anything": [1, b"x", {"deep": None}]}))
    record = parse_record(REALM, raw)

    verify_record(record, KEY)
    assert record.body is None
    assert wire(record) == raw


def test_an_unknown_kind_may_carry_prose_by_the_same_two_fields() -> None:
    text = b"any bytes"
    bound = encode({"text_hash": plain_hash(text), "text_len": len(text)})
    longer = encode({"text_hash": plain_hash(text), "text_len": len(text) + 1})

    assert parse_record(REALM, unknown(bound, text)).text_raw == text
    assert parse_record(REALM, unknown(longer, text)).text_raw is None
    assert parse_record(REALM, unknown(encode([]), text)).text_raw is None
    assert parse_record(REALM, unknown(encode({}), text)).text_raw is None


def test_an_unknown_kind_must_be_canonical_too() -> None:
    for body in (b"\xcc\x01", b"\x82\xa1b\x00\xa1a\x00", b"", b"\x91" * 9 + b"\x00"):
        with pytest.raises(PeerError) as refused:
            parse_record(REALM, unknown(body))
        assert refused.value.code is Code.NOT_CANONICAL


# The local door.


def signing(body: Body, text: bytes | None = None, **changes: object) -> Callable[[], Record]:
    """Prepare to sign a body at an ordinary place of a chain."""
    place: dict[str, object] = {
        "author": named("author"),
        "key_index": 0,
        "seq": 1,
        "prev": named("prev"),
        "at": 0,
    }
    return lambda: sign_record(
        body,
        realm=REALM,
        signer=KeySigner(named("key")),
        text=text,
        **(place | changes),  # type: ignore[arg-type]
    )


def body_of(kind: Kind, **changes: object) -> Body:
    return msgspec.structs.replace(smallest(kind)[0], **changes)


@pytest.mark.parametrize(
    "refused",
    [
        signing(body_of(Kind.AGENT_DECLARE, model="e\u0301")),
        signing(body_of(Kind.AGENT_DECLARE, model="")),
        signing(body_of(Kind.AGENT_SUBSCRIBE, topics=("Not A Topic",))),
        signing(body_of(Kind.COMMIT, sealed=b"short")),
        signing(body_of(Kind.PROPOSE, text_len=0)),
        signing(body_of(Kind.REVOKE), at=-1),
        signing(body_of(Kind.REVOKE), seq=2**53),
        signing(body_of(Kind.REVOKE), author=NOBODY),
        signing(body_of(Kind.REVOKE), prev=None),
        signing(body_of(Kind.REVOKE), seq=0),
        signing(body_of(Kind.INCEPT)),
        signing(body_of(Kind.REVOKE), text=b"a text no body names"),
        signing(propose()[0], text=propose(artifact_text(title="another"))[1]),
    ],
)
def test_what_every_peer_would_refuse_is_not_signed(refused: Callable[[], Record]) -> None:
    with pytest.raises(RefusedError) as error:
        refused()

    assert error.value.code is Code.NOT_CANONICAL
    assert error.value.what == "record not signed"


def test_a_record_above_the_limit_is_not_signed() -> None:
    message = SignedMessage(bytes(40_000), bytes(64))
    long = LogFault(a=message, b=message)
    for refused in (signing(long), signing(propose()[0], bytes(16_385))):
        with pytest.raises(RefusedError) as error:
            refused()
        assert error.value.code is Code.TOO_LARGE


def test_a_text_above_its_limit_is_too_large_and_one_at_it_only_unfitting() -> None:
    body, text = propose()
    record = signing(body, text)()
    with pytest.raises(PeerError) as error:
        parse_record(REALM, rewrap(record, text=bytes(16_385)))

    assert error.value.code is Code.TOO_LARGE
    assert error.value.why == "its text has 16385 bytes, the limit is 16384"
    assert parse_record(REALM, rewrap(record, text=bytes(16_384))).text_raw is None


def test_a_body_that_was_forced_out_of_order_is_not_signed() -> None:
    body, text = propose()
    msgspec.structs.force_setattr(body, "topics", ("b", "a"))
    with pytest.raises(RefusedError) as error:
        signing(body, text)()

    assert error.value.code is Code.NOT_CANONICAL
    assert error.value.why.endswith("topics[1]: this item of a set stands out of order")


def test_a_record_may_be_signed_without_its_text() -> None:
    body, text = propose()
    bare, whole = signing(body)(), signing(body, text)()

    assert isinstance(bare.body, Propose)
    assert bare.text_raw is None
    assert bare.id == whole.id
