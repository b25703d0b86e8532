"""Everything the core can ask of the outside, as data (design: overview).

A shell carries effects out **in order**: an effect that stores must be durable before the next
one is performed, because what follows may be a signature over what was stored.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import msgspec

from federation.certificates import CertificateEntry, LockEntry, Phase, SignedEntry
from federation.core import Digest, InstanceId, Millis, RecordId
from federation.records import Record
from federation.trust.eigentrust import Problem


class StoreRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Keep this record for ever; acknowledge its sender only afterwards."""

    record: Record


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreBlob:
    """Keep these bytes, addressed by their hash."""

    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreJournal:
    """Keep an entry of the signing journal: what this instance signed, locked or saw certified."""

    entry: SignedEntry | LockEntry | CertificateEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStart:
    """Keep when a slot's window, or a round, began on this instance's own clock."""

    slot: bytes
    """Canonical bytes of the slot, or the round's id."""
    at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSilence:
    """Keep that this instance lost signed state: silent in rounds opened by cuts up to this."""

    until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    """Send records on to the other instances, at once."""

    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SendPacket:
    """Send a packet of the certificate protocol to one instance, or to all members (None)."""

    to: InstanceId | None
    packet: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconcile:
    """Get all records that these instances hold; report each with `Reconciled` afterwards."""

    slot: bytes
    voices: tuple[InstanceId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRecords:
    """Get records that a certificate or a message names, from any of these instances."""

    records: tuple[RecordId, ...]
    voices: tuple[InstanceId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchBlob:
    """Get a blob by its hash, from any of these instances."""

    blob: Digest
    voices: tuple[InstanceId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WakeAt:
    """Call `step` with `Wake` at this time of the instance's own clock, or soon after."""

    at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A peer sent something that the protocol refuses; score it down. Nothing was stored."""

    peer: InstanceId | None
    code: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reckon:
    """Compute trust beside the core and answer with `Reckoned`: the next cut waits for it."""

    cut: Digest
    """Digest of the tick's cut, which is final here and not yet folded."""
    problem: Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Prove:
    """Verify the work of admission proofs beside the core and answer with `Proven`.

    The next cut waits for it. Their gate has held; what is asked for is `admission.does_work`.
    """

    cut: Digest
    """Digest of the cut, which is final here and not yet folded."""
    proofs: tuple[bytes, ...]
    """Canonical bytes, for each instance that admits at most 8, or as many as were true in this cut
    before; the same cut may ask again."""


class Happening(StrEnum):
    """What people or agents may want to know of."""

    CUT = "cut"
    """A cut was folded; the subject is its digest."""
    ROUND = "round"
    """A cut opened a round; the subject is its id."""
    PHASE = "phase"
    """A phase of the round began here."""
    VERDICT = "verdict"
    """The round ended here."""
    FORK = "fork"
    """The subject's chain is forked, and the proof was filed."""
    FAULT = "fault"
    """The subject, a voice, signed what no honest member signs both."""
    AMNESIA = "amnesia"
    """This instance signed what it does not remember; it stays silent for a while."""
    DIVERGED = "diverged"
    """The others certify another world than the subject, the digest of the one here."""
    JOURNAL_DAMAGED = "journal_damaged"
    """An entry of the signing journal does not verify: its slot is followed without signing."""
    SNAPSHOT_REFUSED = "snapshot_refused"
    """The stored snapshot, whose hash is the subject, cannot be used: the log was folded instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tell:
    """Something happened that people or agents may want to know."""

    event: Happening
    subject: bytes
    phase: Phase | None = None
    """Which phase began, if one did."""


Effect: TypeAlias = (
    StoreRecord
    | StoreBlob
    | StoreJournal
    | StoreStart
    | StoreSilence
    | Relay
    | SendPacket
    | Reconcile
    | FetchRecords
    | FetchBlob
    | WakeAt
    | Reckon
    | Prove
    | Refused
    | Tell
)
