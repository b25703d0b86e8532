import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.core import Code, ParameterError, PeerError
from federation.crypto import Domain, digest
from federation.replication import BlobStore
from tests.builders import named

MIB = 1024 * 1024


@given(content=st.binary(max_size=100))
def test_a_blob_is_found_by_the_hash_of_its_content(content: bytes) -> None:
    store = BlobStore()
    name = store.put(content)

    assert name == digest(Domain.BLOB, content)
    assert store.get(name) == content
    assert name in store
    assert store.put(content) == name
    assert len(store) == 1


def test_a_blob_that_is_not_held_is_none() -> None:
    assert BlobStore().get(named("elsewhere")) is None
    assert named("elsewhere") not in BlobStore()


def test_a_blob_above_one_mebibyte_is_refused() -> None:
    store = BlobStore()
    store.put(bytes(MIB))

    with pytest.raises(PeerError) as caught:
        store.put(bytes(MIB + 1))
    assert caught.value.code is Code.TOO_LARGE
    assert len(store) == 1


def test_a_full_store_drops_its_oldest_blobs() -> None:
    store = BlobStore(most_bytes=MIB)
    first, second = store.put(b"first"), store.put(b"second")
    third = store.put(bytes(MIB - len(b"second")))

    assert first not in store
    assert second in store
    assert third in store


def test_a_store_that_holds_no_largest_blob_is_refused() -> None:
    with pytest.raises(ParameterError):
        BlobStore(most_bytes=MIB - 1)


def test_what_is_kept_for_ever_gives_way_to_nothing_and_takes_no_room() -> None:
    store = BlobStore(most_bytes=MIB)
    cut = store.put(b"positions of a cut")
    store.keep(cut)
    store.keep(named("elsewhere"))
    whole = store.put(bytes(MIB))
    again = store.put(b"positions of a cut")

    assert store.get(cut) == b"positions of a cut"
    assert cut == again
    assert cut in store
    assert whole in store
    assert len(store) == 2
    store.put(b"more")
    assert cut in store
    assert whole not in store
