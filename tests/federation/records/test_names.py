"""Names for people: other tools can compute them from what we publish."""

import base64
import hashlib

from hypothesis import example, given

from federation.records import Role, cid, cid_preimage, did_key
from tests import strategies
from tests.builders import REALM, person
from tests.vectors import second_reader


def test_a_cid_is_the_hash_of_a_preimage_that_anybody_can_rebuild() -> None:
    record = person(Role.AGENT).inception
    preimage = cid_preimage(REALM, record)
    name = cid(record)
    padded = name[1:].upper() + "=" * (-len(name[1:]) % 8)

    assert preimage == b"folkmoot/1/record" + REALM + record.statement_raw
    assert base64.b32decode(padded) == b"\x01\x55\x12\x20" + hashlib.sha256(preimage).digest()
    assert name.startswith("bafkrei")
    assert name == second_reader.cid(record.id)


@given(strategies.digests)
@example(bytes(32))
@example(b"\xff" * 32)
def test_a_did_key_reads_back_as_the_key(key: bytes) -> None:
    name = did_key(key)

    assert name.startswith("did:key:z6Mk")
    assert second_reader.key_of_did(name) == key
