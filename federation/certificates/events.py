"""Events and actions: everything that can happen to a slot, and everything it can ask for.

The machine is sans-IO: `step` takes one event and returns actions in the order in which they
must be carried out. What an action says must be durable is durable before any later action of
the list is started (design: federation, what a member stores).
"""

from dataclasses import dataclass
from typing import TypeAlias

from federation.certificates.membership import Pinned
from federation.certificates.messages import Body, Heard, hear
from federation.certificates.packets import (
    MessagePacket,
    Packet,
    PartsPacket,
    WantPacket,
)
from federation.certificates.parts import Part
from federation.certificates.proofs import Certificate, Lock
from federation.certificates.values import Value
from federation.core import Digest, InstanceId, Millis, RecordId
from federation.crypto import Verify, is_signed_by


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowEnded:
    """My own window of the phase has run out, or may close early; repeats are harmless."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """I have reconciled this slot's records with a voice."""

    voice: InstanceId
    began: Millis
    """When the reconciliation began: one begun before my window ended does not count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A verified message of this slot; my own signature comes back this way too."""

    heard: Heard
    parts: tuple[Part, ...] = ()
    sender: InstanceId
    """Who handed it over: its author, a relay, or me."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedParts:
    """Parts that came on request."""

    parts: tuple[Part, ...]
    sender: InstanceId


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedCertificate:
    """A certificate, not yet verified, from a peer or from the log."""

    certificate: Certificate
    parts: tuple[Part, ...] = ()
    sender: InstanceId | None = None
    """None: it came from my own log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Somebody asks for messages or parts by hash."""

    hashes: tuple[Digest, ...]
    sender: InstanceId


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsArrived:
    """Records that this slot fetched may be held now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wake:
    """The time asked for by `WakeAt` has come; early and repeated calls are harmless."""


Event: TypeAlias = (
    WindowEnded
    | Reconciled
    | Received
    | ReceivedParts
    | ReceivedCertificate
    | Wanted
    | RecordsArrived
    | Wake
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """Say this to everybody: the one way in which a member signs.

    Give the body my next counter, sign it, make it durable with its parts, send it to all members
    with its parts. When the whole list of actions is carried out, feed all that was signed back as
    `Received` from myself, in the order of signing, before any other event.
    """

    body: Body
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepLock:
    """Make my lock durable, with its value and the blobs of the value."""

    lock: Lock
    value: Value
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepCertificate:
    """Make the certificate durable, with the blobs of its value."""

    certificate: Certificate
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """Send a packet to one peer, or to all other members."""

    to: InstanceId | None
    """None: all other voices."""
    packet: Packet


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    """Ask a peer for messages or parts (send it a `WantPacket`)."""

    hashes: tuple[Digest, ...]
    voice: InstanceId


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRecords:
    """Fetch records from the members that named them; then feed `RecordsArrived`."""

    ids: tuple[RecordId, ...]
    voices: tuple[InstanceId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconcile:
    """Reconcile this slot's records with these members; then feed `Reconciled` for each."""

    voices: tuple[InstanceId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WakeAt:
    """Feed `Wake` at this time; replaces the time asked for before."""

    at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """The slot is decided; once per slot."""

    certificate: Certificate
    parts: tuple[Part, ...] = ()
    """The blobs of its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultFound:
    """Two messages of one member that no honest member signs both; once per member."""

    a: Heard
    b: Heard
    why: str


Action: TypeAlias = (
    Sign
    | KeepLock
    | KeepCertificate
    | Send
    | Want
    | FetchRecords
    | Reconcile
    | WakeAt
    | Final
    | FaultFound
)


def event_of(
    packet: Packet, sender: InstanceId, pinned: Pinned, *, verify: Verify = is_signed_by
) -> Event:
    """Turn a packet of the pinned slot into the event to feed; raises PeerError as `hear` does."""
    match packet:
        case MessagePacket():
            heard = hear(packet.raw, packet.signature, pinned, verify=verify)
            return Received(heard=heard, parts=packet.parts, sender=sender)
        case PartsPacket():
            return ReceivedParts(parts=packet.parts, sender=sender)
        case WantPacket():
            return Wanted(hashes=packet.hashes, sender=sender)
        case _:
            return ReceivedCertificate(
                certificate=packet.certificate, parts=packet.parts, sender=sender
            )
