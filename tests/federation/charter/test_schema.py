import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.charter import PRESETS, Charter, build
from federation.codec import LIMITS, decode, encode
from federation.core import PeerError
from tests.federation.charter.founding import SALT, founded, genesis_of


@pytest.mark.parametrize("base", PRESETS)
def test_a_charter_survives_its_encoding(base: str) -> None:
    charter = founded(base, genesis_of([2, 1]))

    assert decode(encode(charter), Charter, what="charter") == charter


def test_a_full_genesis_fits_into_one_record() -> None:
    genesis = genesis_of([3] * 50)
    charter = founded("community", genesis)

    assert len(encode(charter)) <= LIMITS.record


def test_an_unknown_field_is_refused() -> None:
    charter = founded("test", genesis_of([1]))
    fields = msgspec.msgpack.decode(encode(charter))
    fields["review"]["secret"] = 1

    with pytest.raises(PeerError):
        decode(encode(fields), Charter, what="charter")


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("review", "k", 0),
        ("review", "tau_accept", 1_000_001),
        ("review", "shortfall_low", "guess"),
        ("timing", "three", "maybe"),
        ("trust", "decay", 600_000),
        ("quotas", "witness_ids", 8_193),
    ],
)
def test_a_value_out_of_range_is_refused_on_the_wire(
    section: str, field: str, value: object
) -> None:
    charter = founded("test", genesis_of([1]))
    fields = msgspec.msgpack.decode(encode(charter))
    fields[section][field] = value

    with pytest.raises(PeerError):
        decode(encode(fields), Charter, what="charter")


@settings(max_examples=25, deadline=None)
@given(
    name=st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=1, max_size=64),
    accept=st.integers(-1_000_000, 1_000_000),
    k=st.integers(1, 1_000_000),
)
def test_any_legal_charter_has_one_encoding(name: str, accept: int, k: int) -> None:
    base = build("test", name=name, salt=SALT, genesis=genesis_of([1]))
    charter = replace(base, review=replace(base.review, tau_accept=accept, k=k))
    raw = encode(charter)

    assert encode(decode(raw, Charter, what="charter")) == raw
