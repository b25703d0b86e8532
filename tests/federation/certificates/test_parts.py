from federation.certificates import ListValue, Part, PartKind, part_address, value_digest
from federation.certificates.proofs import lock_hash
from federation.crypto import Domain, digest
from tests.federation.certificates.hall import (
    lock_of,
    lock_part_of,
    pinned,
    slot,
    value_part_of,
)


def test_each_part_has_the_address_under_which_messages_name_it() -> None:
    value = ListValue(records=(b"a" * 32,))
    lock = lock_of(pinned(4), 1, b"d" * 32, (0, 1, 2))

    assert part_address(value_part_of(pinned(4), value)) == value_digest(slot(), value)
    assert part_address(lock_part_of(lock)) == lock_hash(lock)
    assert part_address(Part(kind=PartKind.BLOB, content=b"x")) == digest(Domain.BLOB, b"x")


def test_no_two_kinds_of_one_content_share_an_address() -> None:
    assert len({part_address(Part(kind=kind, content=b"x")) for kind in PartKind}) == 3
