"""Letters: what simulated instances send each other.

Records travel as the parsed, immutable objects that the sender holds; everything of the
certificate protocol travels as bytes. Requests and answers are separate letters, so each of them
can be lost on its own.
"""

from dataclasses import dataclass
from typing import TypeAlias

from federation.core import Digest, InstanceId, Millis, RecordId, Signature
from federation.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Gossip:
    """Records that the sender has just stored, or was asked for."""

    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """A packet of the certificate protocol."""

    packet: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class AskMissing:
    """Here are my heads: send what I lack. Begins or continues one reconciliation."""

    pages: tuple[bytes, ...]
    slot: bytes | None
    """The slot to report to; None for a reconciliation in the background."""
    began: Millis
    """When it began, on the asker's own clock."""
    batch: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveMissing:
    """What you lack, and my own heads: send what I lack."""

    asked: AskMissing
    records: tuple[Record, ...]
    pages: tuple[bytes, ...]
    more: bool
    """The batch was full: ask again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRecords:
    """Send these records, with what comes before them."""

    records: tuple[RecordId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskBlob:
    """Send a blob."""

    blob: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveBlob:
    """A blob that was asked for."""

    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class AskHello:
    """Ask a peer how far it is and what it has heard of me last; sent after a restart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """How far the sender is, and the receiver's latest message that it has seen."""

    cut: int
    seen: tuple[bytes, Signature] | None


Letter: TypeAlias = (
    Gossip | Packet | AskMissing | GiveMissing | AskRecords | AskBlob | GiveBlob | AskHello | Hello
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A letter under way."""

    sender: InstanceId
    receiver: InstanceId
    letter: Letter
