import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.certificates import (
    CutSlot,
    Phase,
    RoundSlot,
    Slot,
    slot_from_plain,
    slot_key,
    slot_plain,
)
from federation.codec import decode_plain
from federation.core import Code, PeerError

HASHES = st.binary(min_size=32, max_size=32)
SLOTS: st.SearchStrategy[Slot] = st.one_of(
    st.builds(RoundSlot, round_id=HASHES, phase=st.sampled_from(Phase)),
    st.builds(CutSlot, number=st.integers(1, 2**63 - 1), previous=HASHES),
)


@given(slot=SLOTS)
@settings(max_examples=50)
def test_a_slot_survives_its_bytes(slot: Slot) -> None:
    assert slot_from_plain(decode_plain(slot_key(slot), what="slot")) == slot


def test_the_plain_forms_are_those_of_the_design() -> None:
    assert slot_plain(RoundSlot(round_id=b"r" * 32, phase=Phase.COMMIT)) == (b"r" * 32, "commit")
    assert slot_plain(CutSlot(number=3, previous=b"p" * 32)) == ("cut", 3, b"p" * 32)


@pytest.mark.parametrize(
    "plain",
    [
        None,
        [],
        [b"r" * 32],
        [b"r" * 31, "commit"],
        [b"r" * 32, "vote"],
        ["cut", 0, b"p" * 32],
        ["cut", -1, b"p" * 32],
        ["cut", True, b"p" * 32],
        ["cut", 2**63, b"p" * 32],
        ["cut", 1, b"p" * 33],
        ["tick", 1, b"p" * 32],
        ["cut", 1, b"p" * 32, 0],
    ],
)
def test_anything_else_is_no_slot(plain: object) -> None:
    with pytest.raises(PeerError) as refusal:
        slot_from_plain(plain)

    assert refusal.value.code is Code.NOT_CANONICAL
