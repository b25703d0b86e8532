import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.certificates import (
    VOID,
    CutValue,
    ListValue,
    Opened,
    Phase,
    Slot,
    Value,
    value_bytes,
    value_digest,
    value_from_bytes,
    value_from_plain,
    value_plain,
)
from federation.certificates.values import value_blobs
from federation.codec import encode
from federation.core import Code, PeerError
from federation.crypto import plain_hash
from tests.federation.certificates.hall import ROUND, cut_slot, name, slot

HASHES = st.binary(min_size=32, max_size=32)


def cut_value(*members: bytes, number: int = 5) -> CutValue:
    return CutValue(
        number=number,
        tick=True,
        positions=b"p" * 32,
        world=b"w" * 32,
        secrets=tuple(Opened(member=one, secret=None, next_hash=b"n" * 32) for one in members),
    )


@given(ids=st.sets(HASHES, max_size=20))
@settings(max_examples=50)
def test_a_list_survives_its_bytes(ids: set[bytes]) -> None:
    value = ListValue(records=tuple(sorted(ids)))

    assert value_from_bytes(value_bytes(slot(), value), slot()) == value


@pytest.mark.parametrize(
    ("of", "value"),
    [(slot(Phase.COMMIT), VOID), (cut_slot(), cut_value(b"a" * 32, b"b" * 32))],
)
def test_void_and_cuts_survive_their_bytes(of: Slot, value: Value) -> None:
    assert value_from_bytes(value_bytes(of, value), of) == value


def test_the_digest_is_that_of_the_design() -> None:
    value = ListValue(records=(b"a" * 32,))
    plain = encode(["folkmoot/1/value", [ROUND, "fast"], [b"a" * 32]])

    assert value_digest(slot(), value) == plain_hash(plain)
    assert value_plain(VOID) is None
    assert value_digest(slot(), value) != value_digest(slot(Phase.COMMIT), value)


def test_only_a_cut_names_a_blob() -> None:
    assert value_blobs(cut_value()) == (b"p" * 32,)
    assert value_blobs(VOID) == ()


@pytest.mark.parametrize(
    ("of", "plain"),
    [
        (slot(), "text"),
        (slot(), [b"short"]),
        (slot(), [b"b" * 32, b"a" * 32]),
        (slot(), [b"a" * 32, b"a" * 32]),
        (slot(), sorted(name(i) for i in range(1_025))),
        (cut_slot(), None),
        (cut_slot(), [5, True, b"p" * 32, b"w" * 32]),
        (cut_slot(), [4, True, b"p" * 32, b"w" * 32, []]),
        (
            cut_slot(),
            [5, True, b"p" * 32, b"w" * 32, [[b"b" * 32, None, b"n" * 32]] * 2],
        ),
    ],
)
def test_values_of_another_form_are_refused(of: Slot, plain: object) -> None:
    with pytest.raises(PeerError) as refusal:
        value_from_plain(of, plain)

    assert refusal.value.code is Code.NOT_CANONICAL


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        encode(["folkmoot/1/value", [ROUND, "fast"]]),
        encode(["folkmoot/1/vote", [ROUND, "fast"], []]),
        encode(["folkmoot/1/value", [ROUND, "commit"], []]),
        value_bytes(slot(), ListValue(records=())).replace(b"\x90", b"\xdc\x00\x00"),
        b"\x91" * 20_000,
    ],
)
def test_bytes_of_another_slot_or_spelling_are_refused(raw: bytes) -> None:
    with pytest.raises(PeerError) as refusal:
        value_from_bytes(raw, slot())

    assert refusal.value.code is Code.NOT_CANONICAL


def test_a_value_has_the_size_of_a_record_at_most() -> None:
    with pytest.raises(PeerError) as refusal:
        value_from_bytes(bytes(70_000), slot())

    assert refusal.value.code is Code.TOO_LARGE
