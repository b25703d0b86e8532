"""Hashes that a charter fixes: realm, charter, cut 0, first beacon (design: genesis).

Each is a pure function of the charter or of the realm; a node that knows the genesis charter
needs nothing else to check the first record of a realm.
"""

from collections.abc import Iterable
from typing import Final

from federation.charter.schema import Charter
from federation.codec import encode
from federation.core import Digest, PublicKey, Realm
from federation.crypto import Domain, digest

_REALM_FORMAT: Final = 1


def charter_hash(charter: Charter) -> Digest:
    """Hash the canonical bytes of a charter."""
    return digest(Domain.CHARTER, encode(charter))


def realm_id(name: str, salt: bytes, instance_keys: Iterable[PublicKey]) -> Realm:
    """Name a realm by its name, 32 random bytes and its founding instances' inception keys.

    The order of the keys does not matter. The id is known before the charter, because the ids
    of the genesis records, which the charter lists, depend on it.
    """
    return digest(Domain.REALM, encode([_REALM_FORMAT, name, salt, sorted(instance_keys)]))


def realm_of(charter: Charter) -> Realm:
    """Name the realm of a charter."""
    keys = (member.key for member in charter.genesis.instances)
    return realm_id(charter.name, charter.salt, keys)


def cut0_digest(realm: Realm, genesis_hash: Digest) -> Digest:
    """Digest of cut 0, which is the genesis charter itself; `genesis_hash` is its hash."""
    return digest(Domain.CUT0, realm, genesis_hash)


def beacon0(realm: Realm) -> Digest:
    """Give the first beacon; it is public from the start, so no lot may depend on it alone."""
    return digest(Domain.BEACON, realm)
