"""A world at a cut as bytes: what a node starts from instead of folding its whole log again.

Two parts lie in it side by side. The *certified* part is the world at the cut: the same bytes on
every node at that cut, so that nodes compare `digest`. The *live* part is this node's own, and
small: the certificates that no cut contains yet, and the counter of its signatures. All else that
is live follows from log, signing journal and stored starts, as after any restart (design: the
node, world).

A snapshot is as trustworthy as the store that it lies in. Reading is strict, and whoever is
refused folds the log from genesis.
"""

from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import Meta

from federation.certificates import (
    Certificate,
    certificate_from_plain,
    certificate_plain,
    slot_key,
)
from federation.charter import Charter
from federation.codec import encode
from federation.core import Digest
from federation.crypto import plain_hash
from federation.protocol.certified import Rows, rows_of
from federation.protocol.revival import Certified, refused, world_of
from federation.protocol.world import World
from federation.replication import Log

T = TypeVar("T")

VERSION: Final = 5
"""Format of the bytes; a snapshot of another one is refused."""
_TAG: Final = b"folkmoot/1/snapshot"


class _File(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    version: int
    certified: bytes
    live: bytes
    check: Digest
    """Hash of all before it: tells a damaged disk from a snapshot that does not fit."""


class _Live(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    counter: Annotated[int, Meta(ge=0)]
    certificates: tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A snapshot that was read."""

    certified: Certified
    certificates: dict[bytes, Certificate]
    """Certificates that were final when it was taken and that no cut contained."""
    counter: int
    """Counter of the instance's next message when it was taken."""


def take(world: World) -> bytes:
    """Write a world at its cut; to be called between steps.

    Whatever the steps before have asked to be stored must be stored before the snapshot is.
    """
    shelf = world.certificates
    certified = encode(rows_of(world.state, world.rounds, shelf.contained))
    live = encode(
        _Live(
            world.me.counter if world.me else 0,
            tuple(certificate_plain(shelf.open[key]) for key in sorted(shelf.open)),
        )
    )
    return encode(_File(VERSION, certified, live, _check(VERSION, certified, live)))


def digest(content: bytes) -> Digest:
    """Hash the certified part of a snapshot: equal on all nodes at one cut.

    Raises PeerError NOT_CANONICAL if it is none of this format, or damaged.
    """
    return plain_hash(_TAG + _file(content).certified)


def read(content: bytes, *, charter: Charter, log: Log) -> Snapshot:
    """Read a snapshot over a log that holds all records of its cut, and their lists.

    Raises PeerError NOT_CANONICAL if it is damaged, of another format or realm, or does not fit
    the log; nothing was changed then.
    """
    file = _file(content)
    live = _decoded(file.live, _Live)
    certificates = [certificate_from_plain(plain) for plain in live.certificates]
    return Snapshot(
        certified=world_of(_decoded(file.certified, Rows), charter=charter, log=log),
        certificates={slot_key(one.slot): one for one in certificates},
        counter=live.counter,
    )


def _file(content: bytes) -> _File:
    file = _decoded(content, _File)
    if file.version != VERSION:
        raise refused(f"its format is {file.version}, this program reads {VERSION}")
    if file.check != _check(file.version, file.certified, file.live):
        raise refused("its bytes are damaged")
    return file


def _check(version: int, certified: bytes, live: bytes) -> Digest:
    return plain_hash(encode([version, certified, live]))


def _decoded(raw: bytes, kind: type[T]) -> T:
    """Decode what `take` wrote and nothing else: an unknown field would be lost silently."""
    try:
        value = msgspec.msgpack.decode(raw, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise refused(f"its bytes are none of a snapshot: {error}") from error
    if encode(value) != raw:
        raise refused("it encodes to other bytes than these")
    return value
