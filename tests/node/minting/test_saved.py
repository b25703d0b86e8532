import msgspec
import pytest
from msgspec.structs import replace

from federation.admission import work_bytes
from federation.codec import encode
from federation.crypto import plain_hash
from node.minting import Saved, read_saved, saved_bytes, start
from tests.node.minting.works import blank

HALF = replace(
    start(blank()), found=(b"12345678", None, None), nexts=(40, 17, 0), tried=57, spent_ms=900
)


def sealed(saved: msgspec.Struct | list[object]) -> bytes:
    """Give any value as a file whose hash is right."""
    whole = encode(saved)
    return whole + plain_hash(whole)


def test_what_is_saved_is_read_again() -> None:
    assert read_saved(saved_bytes(HALF)) == HALF
    assert HALF.work == blank()


def test_a_file_that_was_changed_anywhere_is_refused() -> None:
    raw = saved_bytes(HALF)
    for place in range(len(raw)):
        spoiled = bytearray(raw)
        spoiled[place] ^= 1
        assert read_saved(bytes(spoiled)) is None


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 100])
def test_a_file_that_was_cut_off_is_refused(size: int) -> None:
    assert read_saved(saved_bytes(HALF)[:size]) is None


@pytest.mark.parametrize("raw", [b"", bytes(5_000), b"\xff" * 32, b"x" * 1_000_000])
def test_what_was_never_a_file_of_ours_is_refused(raw: bytes) -> None:
    assert read_saved(raw) is None
    assert read_saved(raw + plain_hash(raw)) is None


@pytest.mark.parametrize(
    "spoiled",
    [
        replace(HALF, found=(None,), nexts=(0,)),
        replace(HALF, nexts=(0, 0)),
        replace(HALF, blank=b"none"),
        replace(HALF, blank=work_bytes(replace(blank(), bits=33))),
        replace(HALF, blank=work_bytes(replace(blank(), memory_kib=2**40))),
        replace(HALF, nexts=(2**52 + 1, 0, 0)),
        replace(HALF, tried=-1),
        replace(HALF, gate=b"long enough"),
        replace(HALF, version=2),  # type: ignore[arg-type]
        [1, work_bytes(blank())],
    ],
)
def test_what_no_search_can_go_on_from_is_refused(spoiled: Saved | list[object]) -> None:
    assert read_saved(sealed(spoiled)) is None
