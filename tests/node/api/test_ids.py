"""An id is 64 hex digits or its one CID; everything else names nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.api.ids import read_id
from node.base.errors import RequestError
from node.queries.names import cid_of

ID = bytes(range(32))


@given(st.binary(min_size=32, max_size=32))
def test_both_spellings_mean_the_same(name: bytes) -> None:
    assert read_id("id", name.hex()) == name
    assert read_id("id", name.hex().upper()) == name
    assert read_id("id", cid_of(name)) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        ID.hex()[:-1],
        ID.hex() + "0",
        " " + ID.hex()[1:],
        ID.hex()[:31] + "  " + ID.hex()[33:],
        "g" * 64,
        cid_of(ID).upper(),
        cid_of(ID)[:-1] + "1",
        "b" * 59,
        "é" * 59,
    ],
)
def test_what_is_neither_is_refused_with_the_field(text: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_id("$.replies_to", text)
    assert "$.replies_to" in caught.value.why


@given(st.text(min_size=50, max_size=70))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read_id("id", text)
    except RequestError:
        return
    assert text.lower() in {found.hex(), cid_of(found)}
