import hashlib

import msgpack
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.charter import (
    beacon0,
    charter_hash,
    cut0_digest,
    realm_id,
    realm_of,
)
from federation.codec import encode
from tests.federation.charter.founding import founded, genesis_of

KEYS = st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=5, unique=True)


def _sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


@settings(max_examples=30, deadline=None)
@given(name=st.sampled_from(["Moot", "Ting", "Þing"]), keys=KEYS, data=st.data())
def test_the_realm_is_the_documented_hash_whatever_the_order_of_keys(
    name: str, keys: list[bytes], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(keys))
    salt = b"s" * 32
    expected = _sha(b"folkmoot/1/realm", msgpack.packb([1, name, salt, sorted(keys)]))

    assert realm_id(name, salt, shuffled) == expected


def test_the_realm_of_a_charter_uses_its_inception_keys() -> None:
    charter = founded("test", genesis_of([1, 1]))
    keys = [member.key for member in charter.genesis.instances]

    assert realm_of(charter) == realm_id("Moot", b"s" * 32, keys)


def test_the_charter_hash_is_the_documented_one_and_covers_every_section() -> None:
    charter = founded("test", genesis_of([1]))
    other = replace(charter, quotas=replace(charter.quotas, sandbox_epoch=1))
    fields = msgpack.unpackb(encode(charter))

    assert charter_hash(charter) == _sha(b"folkmoot/1/charter", msgpack.packb(fields))
    assert charter_hash(other) != charter_hash(charter)


def test_cut_0_and_the_first_beacon_are_the_documented_hashes() -> None:
    realm, genesis_hash = b"r" * 32, b"c" * 32

    assert cut0_digest(realm, genesis_hash) == _sha(b"folkmoot/1/cut0", realm, genesis_hash)
    assert beacon0(realm) == _sha(b"folkmoot/1/beacon", realm)
