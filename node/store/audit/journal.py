"""The signing journal: every entry verifies, no counter says two things, no slot ends in two ways.

The journal is what keeps this instance honest across a crash, so an entry that does not verify is
worse than a lost record: nobody else has a copy of it.
"""

from dataclasses import dataclass, field
from typing import Final

from federation.certificates import (
    Certificate,
    CertificateEntry,
    JournalEntry,
    LockEntry,
    Pinned,
    RoundSlot,
    SignedEntry,
    Slot,
    hear,
    peek_slot,
    slot_key,
    value_digest,
    verify_certificate,
    verify_lock,
)
from federation.core import Code, Digest, PeerError, short
from federation.crypto import Verify
from federation.protocol import World
from federation.protocol.shelf import certificate_in
from federation.records import CertificateFinal, Kind
from node.base.errors import StoreError
from node.store.audit.findings import Damage, Report
from node.store.loading import as_int, read_entry
from node.store.statements import Row
from node.store.writes import journal_row

QUERY: Final = "SELECT number, raw, hash, slot, kind, counter FROM journal WHERE number > ?1"


@dataclass(slots=True, kw_only=True)
class Journal:
    """The entries that read as they were written, and what they say."""

    report: Report
    held: list[tuple[int, JournalEntry]] = field(default_factory=list)
    _said: dict[int, bytes] = field(default_factory=dict)
    """What was signed under each counter."""
    _ended: dict[bytes, Digest] = field(default_factory=dict)
    """The digest of each slot's verified certificate."""

    @property
    def entries(self) -> list[JournalEntry]:
        """The entries, in order."""
        return [entry for _, entry in self.held]

    def take(self, row: Row) -> None:
        """Look at one row of `QUERY`."""
        number = as_int(row[0])
        try:
            entry = read_entry(row)
            filed = journal_row(entry)
        except (StoreError, PeerError) as error:
            self.report.add(
                Damage.JOURNAL_UNREADABLE, f"journal entry {number} cannot be read", error.why
            )
            return
        if filed != (*row[2:], row[1]):
            self.report.add(
                Damage.JOURNAL_UNREADABLE,
                f"journal entry {number} is not what was written",
                "it does not say what its hash, slot, kind or counter beside it say",
            )
        self.held.append((number, entry))

    def examine(self, world: World) -> None:
        """Verify every entry in the world that the records lead to, and compare what they say."""
        for record in world.log.by_kind(Kind.CERTIFICATE):
            assert isinstance(record.body, CertificateFinal), "of this kind"  # noqa: S101 # ours
            self._take_filed(world, record.body)
        strays = []
        for number, entry in self.held:
            pinned = world.pinned(entry.slot)
            if pinned is None:
                strays.append(number)
                continue
            try:
                _verify(entry, pinned, world.verify)
            except PeerError as error:
                self.report.add(
                    Damage.JOURNAL_UNVERIFIED,
                    f"journal entry {number}, of {named(entry.slot)}, does not verify",
                    error.why,
                )
                continue
            match entry:
                case SignedEntry():
                    self._take_signed(number, entry)
                case CertificateEntry():
                    self._take_certificate(entry.certificate)
                case _:
                    pass
        if strays:
            self.report.add(
                Damage.JOURNAL_UNVERIFIED,
                f"{len(strays)} journal entries have no place, the first is {strays[0]}",
                "the records do not lead to the slots that they are of",
            )

    def _take_signed(self, number: int, entry: SignedEntry) -> None:
        counter = peek_slot(entry.raw)[4]
        if self._said.setdefault(counter, entry.raw) != entry.raw:
            self.report.add(
                Damage.COUNTER_REUSED,
                f"journal entry {number}, of {named(entry.slot)}, reuses counter {counter}",
                "another message was signed under it before",
            )

    def _take_filed(self, world: World, body: CertificateFinal) -> None:
        """Take a certificate from the log; one that proves nothing may stand there freely."""
        try:
            certificate = certificate_in(body)
            pinned = world.pinned(certificate.slot)
            if pinned is None:
                return
            verify_certificate(certificate, pinned, verify=world.verify)
        except PeerError:
            return
        self._take_certificate(certificate)

    def _take_certificate(self, certificate: Certificate) -> None:
        key = slot_key(certificate.slot)
        first = self._ended.setdefault(key, certificate.digest)
        if first != certificate.digest:
            self.report.add(
                Damage.CERTIFICATE_CONFLICT,
                f"two certificates of {named(certificate.slot)}",
                f"{short(first)} and {short(certificate.digest)} both verify, so more operators "
                "are at fault than this realm can bear",
            )


def _verify(entry: JournalEntry, pinned: Pinned, verify: Verify) -> None:
    """Raise PeerError unless everything in an entry is signed by whom it should be."""
    match entry:
        case SignedEntry():
            hear(entry.raw, entry.signature, pinned, verify=verify)
        case LockEntry():
            verify_lock(entry.lock, pinned, verify=verify)
            if value_digest(entry.slot, entry.value) != entry.lock.digest:
                raise PeerError(
                    "lock refused",
                    why="its lock is of another value",
                    fix="treat it as lost",
                    code=Code.NOT_PROVEN,
                )
        case _:
            verify_certificate(entry.certificate, pinned, verify=verify)


def named(slot: Slot) -> str:
    """Name a slot for people."""
    if isinstance(slot, RoundSlot):
        return f"{slot.phase.value} of round {short(slot.round_id)}"
    return f"cut {slot.number}"
