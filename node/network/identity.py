"""Peers by their key: how an Ed25519 public key, a peer id and a multiaddr name the same instance.

The rest of the node knows a peer by the 32 bytes of its public key, because that is what its
operator signed into the charter. libp2p writes the same key as a peer id. Other kinds of keys are
legal in libp2p and refused here: no instance can have one.
"""

from typing import Final, TypeAlias

from libp2p.peer.id import ID
from multiaddr import Multiaddr  # type: ignore[import-untyped] # it ships no types
from multiaddr.exceptions import MultiaddrError  # type: ignore[import-untyped] # as above

from node.base.errors import NetworkError, NodeCode

PeerKey: TypeAlias = bytes
"""An instance's Ed25519 public key, 32 bytes."""

_KEY_BYTES: Final = 32
# An identity multihash (00) of 36 bytes (24): protobuf key type Ed25519 (08 01), 32 bytes (12 20).
_ED25519: Final = bytes.fromhex("002408011220")
_HOSTS: Final = frozenset({"ip4", "ip6", "dns", "dns4", "dns6"})


def id_of(key: PeerKey) -> ID:
    """Give libp2p's id of a key."""
    assert len(key) == _KEY_BYTES, "a peer's key has 32 bytes"  # noqa: S101 # our own invariant
    return ID(_ED25519 + key)


def peer_id_of(key: PeerKey) -> str:
    """Give the peer id of a key as people and multiaddrs write it: `12D3KooW…`."""
    return id_of(key).to_base58()


def key_of(raw: bytes) -> PeerKey | None:
    """Read the key out of a peer id's bytes; None if it is no Ed25519 key."""
    if len(raw) != len(_ED25519) + _KEY_BYTES or not raw.startswith(_ED25519):
        return None
    return raw[len(_ED25519) :]


def read_address(address: str) -> tuple[Multiaddr, PeerKey]:
    """Read `/ip4/…/tcp/…/p2p/…` (also ip6 and dns); raises NetworkError BAD_ADDRESS.

    The peer id is compulsory: without it anybody who answers there would do.
    """
    try:
        parsed = Multiaddr(address)
        names = [protocol.name for protocol in parsed.protocols()]
        if len(names) != 3 or names[0] not in _HOSTS or names[1:] != ["tcp", "p2p"]:  # noqa: PLR2004 # host, port, identity
            raise _bad(address, "it is not of the form /ip4/…/tcp/…/p2p/…")
        key = key_of(ID.from_base58(parsed.value_for_protocol("p2p") or "").to_bytes())
    except (MultiaddrError, ValueError) as error:
        raise _bad(address, "it is no multiaddr") from error
    if key is None:
        raise _bad(address, "its peer id holds no Ed25519 key")
    return parsed, key


def read_listen_address(address: str) -> tuple[str, int]:
    """Read `/ip4/…/tcp/…` or `/ip6/…/tcp/…` into IP and port; raises NetworkError BAD_ADDRESS."""
    try:
        parsed = Multiaddr(address)
        names = [protocol.name for protocol in parsed.protocols()]
        if names not in (["ip4", "tcp"], ["ip6", "tcp"]):
            raise _bad(address, "it is not of the form /ip4/…/tcp/… or /ip6/…/tcp/…")
        return parsed.value_for_protocol(names[0]) or "", int(parsed.value_for_protocol("tcp") or 0)
    except (MultiaddrError, ValueError) as error:
        raise _bad(address, "it is no multiaddr") from error


def _bad(address: str, why: str) -> NetworkError:
    # A peer may have sent the text; it is quoted in part only.
    shown = address[:128]
    return NetworkError(
        f"address {shown!r} refused",
        why=why,
        fix="write it as the other node's `address.json` shows it",
        code=NodeCode.BAD_ADDRESS,
    )
