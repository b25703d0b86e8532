"""The audit of a whole store, stage by stage (`folkmoot doctor`).

It only reads, so it may run beside the node: whatever is written after it began is left out.
Nothing that is damaged keeps the other stages from looking, as far as the file can be read at all.
One damage can show in several of them: a record that is missing takes along what follows from it.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import aiosqlite
import trio

from federation.certificates import blob_hash
from federation.charter import Charter, realm_of
from federation.core import short
from federation.records import Record
from node.store.audit import file, journal, records
from node.store.audit.findings import Audit, Damage, Report
from node.store.audit.journal import Journal
from node.store.audit.records import Records
from node.store.audit.replay import Replay, replay
from node.store.audit.snapshots import QUERY as SNAPSHOTS
from node.store.audit.snapshots import Snapshots
from node.store.bridge import Bridge, open_bridge
from node.store.loading import BLOBS, as_bytes, as_int
from node.store.readers import Found, connect_read_only, fetch
from node.store.statements import Cell, Row

# Asked for at once, so that they belong together: whatever a snapshot stands on came before it.
_BOUNDS: Final = """
SELECT
    (SELECT coalesce(max(arrival), 0) FROM records),
    (SELECT coalesce(max(number), 0) FROM blobs),
    (SELECT coalesce(max(number), 0) FROM journal),
    (SELECT coalesce(max(cut), 0) FROM snapshots)
"""


async def audit(path: Path, charter: Charter, genesis: Iterable[Record]) -> Audit:
    """Examine the store of a realm, whose charter and genesis records are sound themselves.

    The node may run meanwhile. It reads every record into memory and folds the whole log, so it
    takes about as long as a start without a snapshot, and longer by every signature. Raises
    ParameterError if `genesis` is not that of the charter.
    """
    report = Report()
    founding = tuple(genesis)
    async with open_bridge() as bridge:
        try:
            connection = await bridge.run(partial(connect_read_only, path))
        except sqlite3.Error as error:
            report.add(Damage.NO_STORE, f"{path.name} cannot be opened", str(error))
            return _result(report)
        try:
            whole = partial(file.examine, connection, path, realm_of(charter), report)
            if not await bridge.run(whole):
                return _result(report)
            return await _Examination(bridge, connection, report).run(charter, founding)
        except sqlite3.Error as error:
            report.add(Damage.SQLITE_DAMAGED, f"{path.name} cannot be read on", str(error))
            return _result(report)
        finally:
            with trio.CancelScope(shield=True):
                await bridge.run(connection.close)


class _Examination:
    """The stages after the file itself."""

    def __init__(self, bridge: Bridge, connection: aiosqlite.Connection, report: Report) -> None:
        self._bridge = bridge
        self._connection = connection
        self._report = report

    async def run(self, charter: Charter, genesis: tuple[Record, ...]) -> Audit:
        """Read everything, verify the records, fold them, and compare what was stored."""
        report = self._report
        ((last_record, last_blob, last_entry, last_cut),) = await self._fetch(_BOUNDS, ())
        held = Records(realm=realm_of(charter), report=report)
        await self._read(records.QUERY, held.take, last_record)
        for (name,) in await self._fetch(records.ORPHANS, ()):
            report.add(
                Damage.RECORD_MISSING,
                f"record {short(as_bytes(name))} is missing",
                "its text is here without it",
            )
        blobs: list[bytes] = []
        await self._read(BLOBS, partial(_take_blob, report, blobs), last_blob)
        written = Journal(report=report)
        await self._read(journal.QUERY, written.take, last_entry)
        await held.verify(held.examine_chains(genesis))

        def fold() -> Replay:
            return replay(
                charter, genesis, held.held, blobs, written.entries, verify=held.verify_once
            )

        # Left to itself if the caller gives up: it holds nothing that must be closed.
        folded = await trio.to_thread.run_sync(
            fold,
            abandon_on_cancel=True,  # type: ignore[call-arg] # mypy loses it
        )
        written.examine(folded.world)
        kept = Snapshots(report=report, replay=folded)
        await self._read(SNAPSHOTS, kept.take, last_cut)
        kept.end()
        return _result(
            report,
            records=len(held.held),
            signatures=held.verified,
            blobs=len(blobs),
            journal=len(written.held),
            snapshots=kept.count,
            cut=folded.world.state.cut,
            world_digest=folded.world.digest,
        )

    async def _fetch(self, query: str, values: Sequence[Cell]) -> Found:
        return await self._bridge.run(partial(fetch, self._connection, query, values))

    async def _read(self, query: str, take: file.Take, upto: Cell) -> None:
        await file.read(self._fetch, query, take, as_int(upto), self._report)


def _take_blob(report: Report, blobs: list[bytes], row: Row) -> None:
    number, name, content = row
    blobs.append(as_bytes(content))
    if blob_hash(blobs[-1]) != name:
        report.add(
            Damage.BLOB_MISMATCH,
            f"blob {number!r} is not what was written",
            f"its bytes do not hash to {short(as_bytes(name))}",
        )


def _result(
    report: Report,
    *,
    records: int = 0,
    signatures: int = 0,
    blobs: int = 0,
    journal: int = 0,
    snapshots: int = 0,
    cut: int = 0,
    world_digest: bytes = b"",
) -> Audit:
    return Audit(
        findings=tuple(report.findings),
        more=report.more,
        records=records,
        signatures=signatures,
        blobs=blobs,
        journal=journal,
        snapshots=snapshots,
        cut=cut,
        world_digest=world_digest,
    )
