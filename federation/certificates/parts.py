"""Parts: what messages name by hash and members hand each other on request.

A message stays small because it names values, locks and blobs by hash. A `Part` is the bytes
behind such a hash. Each kind has its own address, so one kind can never pass for another.
"""

from enum import IntEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from federation.codec import LIMITS
from federation.core import Digest
from federation.crypto import Domain, digest, plain_hash


class PartKind(IntEnum):
    """What the bytes of a part are."""

    VALUE = 0
    """Slot and value under their tag; the address is the value's digest."""
    LOCK = 1
    BLOB = 2
    """The chains of a cut witness, or the positions of a cut."""


class Part(msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True):
    """Bytes that are named by a hash: canonical [kind, content]."""

    kind: PartKind
    content: Annotated[bytes, Meta(max_length=LIMITS.blob)]


def part_address(part: Part) -> Digest:
    """Give the hash under which messages name a part."""
    match part.kind:
        case PartKind.VALUE:
            return plain_hash(part.content)
        case PartKind.LOCK:
            return digest(Domain.LOCK, part.content)
        case _:
            return digest(Domain.BLOB, part.content)
