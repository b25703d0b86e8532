"""Keys, peer ids and addresses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from libp2p.crypto.ed25519 import create_new_key_pair
from libp2p.crypto.rsa import create_new_key_pair as create_rsa_key_pair
from libp2p.crypto.secp256k1 import create_new_key_pair as create_secp_key_pair
from libp2p.peer.id import ID

from node.base.errors import NetworkError, NodeCode
from node.network.identity import id_of, key_of, peer_id_of, read_address, read_listen_address

KEY = create_new_key_pair(seed=bytes(32)).public_key.to_bytes()


@given(st.binary(min_size=32, max_size=32))
def test_a_key_is_read_back_from_its_id(key: bytes) -> None:
    assert key_of(id_of(key).to_bytes()) == key


@given(st.binary(min_size=32, max_size=32))
def test_ids_are_those_of_libp2p(seed: bytes) -> None:
    pair = create_new_key_pair(seed=seed)
    assert id_of(pair.public_key.to_bytes()) == ID.from_pubkey(pair.public_key)


def test_other_kinds_of_keys_are_none() -> None:
    for pair in (create_secp_key_pair(), create_rsa_key_pair()):
        assert key_of(ID.from_pubkey(pair.public_key).to_bytes()) is None
    assert key_of(b"") is None
    assert key_of(bytes(38)) is None


@pytest.mark.parametrize(
    "host", ["ip4/192.0.2.7", "ip6/::1", "dns/example.org", "dns4/example.org"]
)
def test_an_address_names_a_place_and_a_key(host: str) -> None:
    where, key = read_address(f"/{host}/tcp/4420/p2p/{peer_id_of(KEY)}")
    assert key == KEY
    assert str(where).startswith(f"/{host}/tcp/4420")


@pytest.mark.parametrize(
    "address",
    [
        "",
        "nonsense",
        "/ip4/192.0.2.7/tcp/4420",
        "/ip4/192.0.2.7/tcp/99999/p2p/" + peer_id_of(KEY),
        "/ip4/192.0.2.7/udp/4420/quic-v1/p2p/" + peer_id_of(KEY),
        "/ip4/192.0.2.7/tcp/4420/ws/p2p/" + peer_id_of(KEY),
        "/ip4/192.0.2.7/tcp/4420/p2p/QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N",
        "/ip4/192.0.2.7/tcp/4420/p2p/12D3",
        "/p2p/" + peer_id_of(KEY),
        "/ip4/192.0.2.7/tcp/4420/p2p/" + peer_id_of(KEY) + "/p2p-circuit/p2p/" + peer_id_of(KEY),
    ],
)
def test_what_is_no_address_of_a_peer_is_refused(address: str) -> None:
    with pytest.raises(NetworkError) as caught:
        read_address(address)
    assert caught.value.code is NodeCode.BAD_ADDRESS


def test_a_listening_address_has_no_key() -> None:
    assert read_listen_address("/ip4/0.0.0.0/tcp/4420") == ("0.0.0.0", 4420)  # noqa: S104 # only read
    assert read_listen_address("/ip6/::/tcp/0") == ("::", 0)
    for address in (
        "",
        "/ip4/192.0.2.7",
        "/dns/example.org/tcp/1",
        f"/ip4/1.2.3.4/tcp/1/p2p/{peer_id_of(KEY)}",
    ):
        with pytest.raises(NetworkError) as caught:
            read_listen_address(address)
        assert caught.value.code is NodeCode.BAD_ADDRESS


def test_a_long_address_is_quoted_in_part() -> None:
    with pytest.raises(NetworkError) as caught:
        read_address("/" + "x" * 10_000)
    assert len(str(caught.value)) < 500
