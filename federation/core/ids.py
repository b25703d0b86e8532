"""Names of things: 32-byte ids, keys, digests, and how people see them.

The aliases carry their length, so a typed decode refuses a name of another length. They are
aliases and not distinct types because one identity can stand in several places (a record's
author is an agent, an operator or an instance), and its role is checked once, by the log.
"""

from typing import Annotated, TypeAlias

from msgspec import Meta

Bytes32: TypeAlias = Annotated[bytes, Meta(min_length=32, max_length=32)]

Digest: TypeAlias = Bytes32
"""SHA-256 under a domain; which domain is told by the field's name."""
IdentityId: TypeAlias = Bytes32
"""Id of an identity: the id of its `identity.incept` record."""
AgentId: TypeAlias = IdentityId
OperatorId: TypeAlias = IdentityId
InstanceId: TypeAlias = IdentityId
RecordId: TypeAlias = Digest
ArtifactId: TypeAlias = RecordId
"""Id of an artifact: the id of its `artifact.propose` record."""
RoundId: TypeAlias = Digest
Realm: TypeAlias = Digest
PublicKey: TypeAlias = Bytes32
"""Ed25519 public key."""
Seed: TypeAlias = Bytes32
"""Ed25519 signing seed: secret."""
Signature: TypeAlias = Annotated[bytes, Meta(min_length=64, max_length=64)]

NOBODY: bytes = bytes(32)
"""Author of an inception: the identity does not exist before its own first record."""


def short(name: bytes) -> str:
    """Print the first 6 bytes of a name in hex: for messages, never for comparison."""
    return name[:6].hex()
