"""Certificates: a quorum of operators makes one list final (design: federation, certificates).

Each slot is one small Byzantine agreement and one sans-IO state machine. The package knows nothing
of artifacts or reviews, and of a charter only the arithmetic of quorums: what depends on more it
asks of a `Desk`.

`slots`        the names of the agreements: a phase of a round, or a cut
`membership`   n, f, q, voices and leader order, pinned when the slot opens
`messages`     witness, propose, cosign, seal, promise: bytes, signatures, `hear`
`values`       what is agreed on, and its digest
`blobs`        the two blobs of a cut: chains held, positions reached
`proofs`       locks and certificates: q signatures in compact form
`parts`        bytes that messages name by hash
`packets`      what members send each other
`desk`         what a member looks up, and its pace
`fresh_lists`  which records q witnesses amount to
`fresh_cuts`   how far q witnesses carry every author's chain
`events`       what can happen to a slot, and what it can ask for
`state`        what a member knows of one slot
`turn`         one step in progress: look-ups, wants, actions
`member`       rules 1, 3, 4: witness, cosign, seal
`fences`       rule 5: timers and promises
`finality`     rule 6: certificates
`leader`       gather and propose
`answers`      what a member hands over on request, again, and after the end
`machine`      `step`: one event in, actions out
`journal`      what is durable, and the state it restores
`faults`       rule 7: two messages that no honest member signs both
"""

from federation.certificates.blobs import (
    Chains,
    Position,
    Positions,
    blob_hash,
    chains_blob,
    chains_from_blob,
    positions_blob,
    positions_from_blob,
)
from federation.certificates.desk import (
    CutHolding,
    Desk,
    Fresh,
    Holding,
    ListHolding,
    Missing,
    NoValue,
    Outcome,
    Pace,
    Witnessed,
)
from federation.certificates.events import (
    Action,
    Event,
    FaultFound,
    FetchRecords,
    Final,
    KeepCertificate,
    KeepLock,
    Received,
    ReceivedCertificate,
    ReceivedParts,
    Reconcile,
    Reconciled,
    RecordsArrived,
    Send,
    Sign,
    Wake,
    WakeAt,
    Want,
    Wanted,
    WindowEnded,
    event_of,
)
from federation.certificates.faults import contradiction
from federation.certificates.fresh_cuts import Entry, fresh_cut
from federation.certificates.fresh_lists import Looked, capped, fresh_list, witnessed
from federation.certificates.journal import (
    CertificateEntry,
    JournalEntry,
    LockEntry,
    SignedEntry,
    entry_bytes,
    entry_from_bytes,
    restore,
)
from federation.certificates.machine import step
from federation.certificates.membership import (
    MOST_MEMBERS,
    Member,
    Pinned,
    Quorum,
    leader_order,
    pin,
    quorum,
)
from federation.certificates.messages import (
    MOST_LISTED,
    Body,
    Cosign,
    CutWitness,
    Header,
    Heard,
    ListWitness,
    Promise,
    Propose,
    Seal,
    Step,
    hear,
    message_for,
    message_hash,
    peek_slot,
    signing_payload,
)
from federation.certificates.packets import (
    CertificatePacket,
    MessagePacket,
    Packet,
    PartsPacket,
    Routed,
    WantPacket,
    packet_bytes,
    packet_from_bytes,
)
from federation.certificates.parts import Part, PartKind, part_address
from federation.certificates.proofs import (
    Certificate,
    Endorsement,
    Lock,
    certificate_bytes,
    certificate_from_bytes,
    certificate_from_plain,
    certificate_plain,
    verify_certificate,
    verify_lock,
)
from federation.certificates.slots import (
    VOIDABLE,
    CutSlot,
    Phase,
    RoundSlot,
    Slot,
    slot_from_plain,
    slot_key,
    slot_plain,
)
from federation.certificates.state import SlotState
from federation.certificates.values import (
    VOID,
    CutValue,
    ListValue,
    Opened,
    Value,
    VoidValue,
    value_bytes,
    value_digest,
    value_from_bytes,
    value_from_plain,
    value_plain,
)

__all__ = [
    "MOST_LISTED",
    "MOST_MEMBERS",
    "VOID",
    "VOIDABLE",
    "Action",
    "Body",
    "Certificate",
    "CertificateEntry",
    "CertificatePacket",
    "Chains",
    "Cosign",
    "CutHolding",
    "CutSlot",
    "CutValue",
    "CutWitness",
    "Desk",
    "Endorsement",
    "Entry",
    "Event",
    "FaultFound",
    "FetchRecords",
    "Final",
    "Fresh",
    "Header",
    "Heard",
    "Holding",
    "JournalEntry",
    "KeepCertificate",
    "KeepLock",
    "ListHolding",
    "ListValue",
    "ListWitness",
    "Lock",
    "LockEntry",
    "Looked",
    "Member",
    "MessagePacket",
    "Missing",
    "NoValue",
    "Opened",
    "Outcome",
    "Pace",
    "Packet",
    "Part",
    "PartKind",
    "PartsPacket",
    "Phase",
    "Pinned",
    "Position",
    "Positions",
    "Promise",
    "Propose",
    "Quorum",
    "Received",
    "ReceivedCertificate",
    "ReceivedParts",
    "Reconcile",
    "Reconciled",
    "RecordsArrived",
    "RoundSlot",
    "Routed",
    "Seal",
    "Send",
    "Sign",
    "SignedEntry",
    "Slot",
    "SlotState",
    "Step",
    "Value",
    "VoidValue",
    "Wake",
    "WakeAt",
    "Want",
    "WantPacket",
    "Wanted",
    "WindowEnded",
    "Witnessed",
    "blob_hash",
    "capped",
    "certificate_bytes",
    "certificate_from_bytes",
    "certificate_from_plain",
    "certificate_plain",
    "chains_blob",
    "chains_from_blob",
    "contradiction",
    "entry_bytes",
    "entry_from_bytes",
    "event_of",
    "fresh_cut",
    "fresh_list",
    "hear",
    "leader_order",
    "message_for",
    "message_hash",
    "packet_bytes",
    "packet_from_bytes",
    "part_address",
    "peek_slot",
    "pin",
    "positions_blob",
    "positions_from_blob",
    "quorum",
    "restore",
    "signing_payload",
    "slot_from_plain",
    "slot_key",
    "slot_plain",
    "step",
    "value_bytes",
    "value_digest",
    "value_from_bytes",
    "value_from_plain",
    "value_plain",
    "verify_certificate",
    "verify_lock",
    "witnessed",
]
