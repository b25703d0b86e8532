"""Keystores that are cheap to unlock, and identities to keep in them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from federation.core import IdentityId
from federation.crypto import plain_hash
from federation.records import Role
from node.base.entropy import random_bytes
from node.base.errors import KeystoreError, NodeCode
from node.keys import Cost, Identity, Keystore
from tests.builders import named

CHEAP = Cost(memory=8, passes=1)
OLD = b"an old passphrase"
NEW = b"a new passphrase"


def identity(number: int = 0, *, rotations: int = 0, role: Role = Role.AGENT) -> Identity:
    """Give an identity with all its keys, the same each time."""
    return Identity(
        id=named("identity", number),
        role=role,
        name=f"name {number}",
        seeds=tuple(named("seed", number, index) for index in range(rotations + 1)),
        next=named("next", number),
        recovery=named("recovery", number),
    )


def create(path: Path, *kept: Identity, passphrase: bytes = OLD) -> Keystore:
    """Make a keystore with some identities."""
    store = Keystore.create(path, passphrase, entropy=random_bytes, cost=CHEAP)
    for one in kept:
        store.add(one)
    return store


def unlock(path: Path, passphrase: bytes = OLD) -> Keystore:
    """Unlock a cheap keystore."""
    return Keystore.unlock(path, passphrase, least=CHEAP)


def file_of(path: Path, name: IdentityId) -> Path:
    """Give the file of an identity."""
    return path / f"{name.hex()}.key"


def refuses(code: NodeCode, error: KeystoreError) -> None:
    """Check the code, and that the error has what a person needs."""
    assert error.code is code
    assert error.what
    assert error.why
    assert error.fix


def secrets_of(*kept: Identity) -> Iterator[bytes]:
    """Give every seed of some identities."""
    for one in kept:
        yield from one.seeds
        yield from (seed for seed in (one.next, one.recovery) if seed is not None)


def rehashed(raw: bytes) -> bytes:
    """Give the bytes of a key file its hash again, as somebody would who changes it on purpose."""
    return raw[:-32] + plain_hash(raw[:-32])


def rotated(one: Identity, number: int = 0) -> Identity:
    """Give an identity with one more seed."""
    return replace(one, seeds=(*one.seeds, named("later seed", number)))
