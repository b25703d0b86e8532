"""Every record: its bytes, its id, its place in its author's chain, its signature, its text."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import trio

from federation.core import PeerError, PublicKey, Realm, RecordId, Signature, short
from federation.crypto import is_signed_by
from federation.records import Record, parse_record, wire
from federation.replication import Log
from node.store.audit.findings import Damage, Report
from node.store.loading import as_bytes
from node.store.statements import Row

QUERY: Final = (
    "SELECT arrival, id, author, seq, kind, prev, raw, content"
    " FROM records LEFT JOIN texts ON record = id WHERE arrival > ?1"
)
ORPHANS: Final = "SELECT record FROM texts WHERE record NOT IN (SELECT id FROM records)"
_THREADS: Final = 2
_BATCH: Final = 256
_ID: Final = 32

Seal: TypeAlias = tuple[PublicKey, bytes, Signature]
"""A signature that is to be verified: key, what was signed, signature."""


@dataclass(slots=True, kw_only=True)
class Records:
    """The records that read as they were written."""

    realm: Realm
    report: Report
    held: list[Record] = field(default_factory=list)
    sound: set[Seal] = field(default_factory=set)
    """Signatures that verify."""
    verified: int = 0

    def take(self, row: Row) -> None:
        """Look at one row of `QUERY`."""
        _, name, author, seq, kind, prev, raw, text = row
        what = f"record {short(as_bytes(name))}"
        try:
            record = parse_record(self.realm, as_bytes(raw))
        except PeerError as error:
            self.report.add(Damage.RECORD_UNREADABLE, f"{what} cannot be read", error.why)
            return
        if record.id != name:
            self.report.add(
                Damage.RECORD_WRONG_ID,
                f"{what} is not the record of this id",
                f"its bytes hash to {short(record.id)}",
            )
            return
        if (record.author, record.seq, record.kind, record.prev) != (author, seq, kind, prev):
            self.report.add(
                Damage.RECORD_MISFILED,
                f"{what} is filed wrongly",
                "author, seq, kind or prev beside it are not those that it was signed with",
            )
        self.held.append(self._with_text(record, text, what) if text is not None else record)

    def _with_text(self, record: Record, text: object, what: str) -> Record:
        whole = record.with_text(text if isinstance(text, bytes) else None)
        try:
            read = parse_record(self.realm, wire(whole))
        except PeerError:
            read = record
        if read.text_raw is None:
            self.report.add(
                Damage.TEXT_MISMATCH,
                f"the text of {what} is not its own",
                "its hash or length is not the one that the record was signed with",
            )
        return read

    def examine_chains(self, genesis: Iterable[Record]) -> list[Seal]:
        """Look at every record's place in its chain; give the signatures to verify."""
        known = list(genesis)
        ids = {record.id for record in (*known, *self.held)}
        missing: dict[RecordId, Record] = {}
        for record in self.held:
            if record.prev is not None and record.prev not in ids:
                missing.setdefault(record.prev, record)
        for name, record in missing.items():
            self.report.add(
                Damage.RECORD_MISSING,
                f"record {short(name)} is missing",
                f"record {short(record.id)}, which is here, follows it in the chain of "
                f"{short(record.author)}",
            )
        return self._join([*known, *self.held])

    def _join(self, records: list[Record]) -> list[Seal]:
        """Put all records into a log, which finds out by which key each must be signed."""
        seals: list[Seal] = []

        def collect(key: PublicKey, payload: bytes, signature: Signature) -> bool:
            seals.append((key, payload, signature))
            return True

        log = Log(self.realm, verify=collect)
        for record in sorted(records, key=lambda one: (one.seq, one.id)):
            try:
                log.add(record)
            except PeerError as error:
                self.report.add(
                    Damage.RECORD_REFUSED, f"record {short(record.id)} has no place", error.why
                )
        return seals

    async def verify(self, seals: list[Seal]) -> None:
        """Verify signatures, on two threads at a time."""
        limiter = trio.CapacityLimiter(_THREADS)

        async def batch(some: list[Seal]) -> None:
            self._note(some, await trio.to_thread.run_sync(_verdicts, some, limiter=limiter))

        async with trio.open_nursery() as nursery:
            for at in range(0, len(seals), _BATCH):
                nursery.start_soon(batch, seals[at : at + _BATCH])
        bad = {payload[-_ID:] for key, payload, signature in seals} - {
            payload[-_ID:] for key, payload, signature in self.sound
        }
        self.held = [record for record in self.held if record.id not in bad]

    def _note(self, seals: list[Seal], verdicts: list[bool]) -> None:
        self.verified += len(seals)
        for seal, is_good in zip(seals, verdicts, strict=True):
            if is_good:
                self.sound.add(seal)
            else:
                # A payload ends with the id of the record that it signs.
                self.report.add(
                    Damage.BAD_SIGNATURE,
                    f"record {short(seal[1][-_ID:])} is not signed by its author",
                    "its signature does not verify under the key of its place in the chain",
                )

    def verify_once(self, key: PublicKey, payload: bytes, signature: Signature) -> bool:
        """Verify a signature, unless that was done before."""
        return (key, payload, signature) in self.sound or is_signed_by(key, payload, signature)


def _verdicts(seals: list[Seal]) -> list[bool]:
    return [is_signed_by(*seal) for seal in seals]
