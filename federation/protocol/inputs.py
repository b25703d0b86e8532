"""Everything that can happen to a node's protocol, as data."""

from dataclasses import dataclass
from typing import TypeAlias

from federation.core import Digest, InstanceId, Millis, Signature
from federation.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """Parsed records came from a peer, or were signed here (`peer` None)."""

    records: tuple[Record, ...]
    peer: InstanceId | None
    welcome: bool = False
    """This instance is about to admit their authors: they have a place, however many strangers are
    held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """A packet of the certificate protocol came from a peer."""

    packet: bytes
    peer: InstanceId


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobArrived:
    """Bytes that were asked for by their hash."""

    content: bytes
    peer: InstanceId


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """All records that `voice` held when asked are here, as far as this slot is concerned."""

    slot: bytes
    voice: InstanceId
    began: Millis
    """When the comparison began, on this instance's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """A peer said hello: how far it is, and the latest message of ours that it has seen.

    To be given only after the records that the peer holds of this instance have been taken in:
    an instance that settles before it holds the end of its own chain would fork it.
    """

    voice: InstanceId
    cut: int
    """Number of the cut it has reached."""
    seen: tuple[bytes, Signature] | None
    """That message and our signature under it: a claim without them proves nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reckoned:
    """The answer to `Reckon`."""

    cut: Digest
    trust: bytes
    """Trust of each node in order, as little-endian int64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """The answer to `Prove`."""

    cut: Digest
    verdicts: tuple[bool, ...]
    """Whether each proof does its work, in the order of the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wake:
    """Time has passed."""


Input: TypeAlias = Arrived | Packet | BlobArrived | Reconciled | Met | Reckoned | Proven | Wake
