"""Names of 32 bytes: their length is part of their type."""

import msgspec
import pytest

from federation.core import NOBODY, Digest, Signature, short


def test_a_short_name_shows_its_first_six_bytes() -> None:
    assert short(bytes(range(32))) == "000102030405"


def test_nobody_is_a_name_of_zeros() -> None:
    assert bytes(32) == NOBODY


@pytest.mark.parametrize(("kind", "size"), [(Digest, 32), (Signature, 64)])
def test_a_name_of_another_length_is_not_decoded(kind: type[bytes], size: int) -> None:
    for wrong in (0, size - 1, size + 1):
        with pytest.raises(msgspec.ValidationError):
            msgspec.msgpack.decode(msgspec.msgpack.encode(bytes(wrong)), type=kind)

    assert msgspec.msgpack.decode(msgspec.msgpack.encode(bytes(size)), type=kind) == bytes(size)
