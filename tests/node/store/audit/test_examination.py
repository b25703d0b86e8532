"""A sound store has no finding, and each damage has its own."""

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import trio

from federation.certificates import (
    CertificateEntry,
    CutSlot,
    LockEntry,
    Phase,
    RoundSlot,
    SignedEntry,
    peek_slot,
)
from federation.charter import Charter
from federation.codec import encode
from federation.core import ParameterError
from federation.protocol import effects as fx
from federation.protocol.finality import slot_in
from federation.records import (
    AgentAdmit,
    CertificateFinal,
    Custody,
    Kind,
    Record,
    sign_record,
    wire,
)
from node.store import open_store
from node.store.audit import FIXES, Audit, Damage, audit
from node.store.audit.findings import FINDINGS_MOST
from node.store.audit.journal import named as named_slot
from node.store.schema import VERSION
from tests.builders import named
from tests.federation.protocol.town import Town
from tests.node.store.audit import damage as do
from tests.node.store.ledger import query


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("audit") / "store.db"
    do.make(path)
    return path


@pytest.fixture
def path(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(original, tmp_path / "store.db"))


def examine(path: Path, charter: Charter | None = None) -> Audit:
    founding = do.town().founding

    async def run() -> Audit:
        with trio.fail_after(30):
            return await audit(path, charter or founding.charter, founding.records)

    return trio.run(run)


def codes(found: Audit) -> set[Damage]:
    return {one.code for one in found.findings}


def test_a_sound_store_has_no_finding_and_every_cut_was_folded_afresh(path: Path) -> None:
    before = hashlib.sha256(path.read_bytes()).digest()
    found = examine(path)
    world = do.town().world()
    name = do.town().founding.instances[0]

    assert found.findings == ()
    assert (found.cut, found.world_digest) == (world.state.cut, world.digest)
    assert found.snapshots == len(do.town().photos[name]) == world.state.cut
    assert found.records == query(path, "SELECT count(*) FROM records")[0][0]
    assert found.signatures == found.records + len(do.town().founding.records)
    assert found.journal == len(do.entries(path)) > 10
    assert found.blobs > 0
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert [one.name for one in path.parent.iterdir()] == ["store.db"]


def test_the_newest_certificate_may_stand_in_the_journal_alone(path: Path) -> None:
    newest = do.town().world().state.cut
    filed = {
        slot_in(record.body)
        for record in do.town().world().log.by_kind(Kind.CERTIFICATE)
        if isinstance(record.body, CertificateFinal)
    }

    assert newest not in {slot.number for slot in filed if isinstance(slot, CutSlot)}
    assert examine(path).cut == newest
    query(path, "DELETE FROM journal WHERE kind = 'certificate'")
    assert codes(examine(path)) == {Damage.CUTS_LOST}


def entry_of(path: Path, kind: type) -> tuple[int, object]:
    return next((number, entry) for number, entry in do.entries(path) if isinstance(entry, kind))


def delete_middle(path: Path) -> None:
    query(path, "DELETE FROM records WHERE id = (SELECT prev FROM records WHERE seq = 3 LIMIT 1)")


def delete_with_text(path: Path) -> None:
    query(path, "DELETE FROM records WHERE id = (SELECT record FROM texts ORDER BY number DESC)")


def break_signature(path: Path) -> None:
    number, entry = entry_of(path, SignedEntry)
    assert isinstance(entry, SignedEntry)
    do.rewrite(path, number, replace(entry, signature=bytes(64)))


def break_lock(path: Path) -> None:
    number, entry = entry_of(path, LockEntry)
    assert isinstance(entry, LockEntry)
    lock = msgspec.structs.replace(entry.lock, cosigns=entry.lock.cosigns[:1])
    do.rewrite(path, number, replace(entry, lock=lock))


def lock_another_value(path: Path) -> None:
    number, entry = next(
        (number, entry)
        for number, entry in do.entries(path)
        if isinstance(entry, LockEntry) and isinstance(entry.slot, CutSlot)
    )
    assert isinstance(entry, LockEntry)
    do.rewrite(path, number, replace(entry, value=do.replace_tick(entry.value)))


def unseal(path: Path) -> None:
    number, entry = entry_of(path, CertificateEntry)
    assert isinstance(entry, CertificateEntry)
    certificate = replace(entry.certificate, seals=entry.certificate.seals[:1])
    do.rewrite(path, number, replace(entry, certificate=certificate))


def of_a_slot_nobody_knows(path: Path) -> None:
    number, entry = entry_of(path, SignedEntry)
    assert isinstance(entry, SignedEntry)
    do.rewrite(path, number, replace(entry, slot=CutSlot(number=7_000, previous=named("x"))))


def use_a_counter_twice(path: Path) -> None:
    _, entry = entry_of(path, SignedEntry)
    assert isinstance(entry, SignedEntry)
    # Not even a node that is wrong can write this.
    query(path, "DROP INDEX journal_counter")
    do.add(path, do.signed(entry, fence=77, counter=peek_slot(entry.raw)[4]))


def certify_twice(path: Path) -> None:
    entry = next(
        entry
        for _, entry in do.entries(path)
        if isinstance(entry, CertificateEntry) and isinstance(entry.slot, CutSlot)
    )
    do.add(path, do.rival(entry))


def certify_twice_in_the_journal(path: Path) -> None:
    certify_twice(path)
    query(path, "DELETE FROM records WHERE kind = 'certificate.final'")


def add_a_record_without_place(path: Path) -> None:
    # An agent may not admit agents, however well it signs.
    place = do.town()
    world = place.world()
    ((seq, head),) = world.log.heads_of(place.agent(0))
    record = sign_record(
        AgentAdmit(
            agent=place.agent(1),
            operator=place.founding.operators[0],
            delegate=named("none"),
            custody=Custody.SELF,
        ),
        realm=world.realm,
        signer=place.keyring(0).current,
        author=place.agent(0),
        key_index=0,
        seq=seq + 1,
        prev=head,
        at=0,
    )
    insert(path, record)


def insert(path: Path, record: Record) -> None:
    query(
        path,
        "INSERT INTO records (id, author, seq, kind, prev, raw) VALUES (?, ?, ?, ?, ?, ?)",
        record.id,
        record.author,
        record.seq,
        record.kind,
        record.prev,
        wire(record),
    )


def lose_cuts(path: Path) -> None:
    query(path, "DELETE FROM records WHERE arrival > (SELECT max(arrival) / 2 FROM records)")
    query(path, "DELETE FROM texts WHERE record NOT IN (SELECT id FROM records)")
    query(path, "DELETE FROM journal WHERE kind = 'certificate'")


def overwrite_a_page(path: Path) -> None:
    leaves = query(
        path,
        "SELECT pageno FROM dbstat WHERE name = 'records' AND pagetype = 'leaf' ORDER BY pageno",
    )
    ((page,), *_) = leaves
    assert isinstance(page, int)
    overwrite(path, page - 1)


def overwrite_the_root_of_a_table(path: Path) -> None:
    ((page,),) = query(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'snapshots'")
    assert isinstance(page, int)
    overwrite(path, page - 1)


def overwrite(path: Path, page: int) -> None:
    with path.open("r+b") as file:
        file.seek(4096 * page)
        file.write(b"\xa5" * 4096)


def truncate(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def misplace_in_an_index(path: Path) -> None:
    """Flip a bit of an id where the index holds it, and not where the row does."""
    ((name,),) = query(path, "SELECT id FROM records WHERE arrival = 9")
    assert isinstance(name, bytes)
    content = path.read_bytes()
    # Before an id the index has its length and the type of the row number, a row has its fields.
    at = next(
        at
        for at in range(len(content))
        if content[at : at + 32] == name and content[at - 1] in (1, 9)
    )
    path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])


def swap_snapshots(path: Path) -> None:
    query(
        path,
        "UPDATE snapshot_contents SET content ="
        " (SELECT content FROM snapshot_contents WHERE cut = 1) WHERE cut = 2",
    )


Do = Callable[[Path], object]

DAMAGES: list[tuple[Damage, Do]] = [
    (Damage.RECORD_UNREADABLE, lambda path: do.flip(path, "records.raw", "seq = 2", -100)),
    (Damage.RECORD_UNREADABLE, lambda path: do.put(path, "records.raw", 5, b"")),
    (Damage.RECORD_WRONG_ID, lambda path: do.flip(path, "records.raw", "seq = 2", 45)),
    (Damage.RECORD_WRONG_ID, lambda path: do.put(path, "records.id", 7, bytes(32))),
    (Damage.RECORD_MISFILED, lambda path: query(path, "UPDATE records SET seq = seq + 1")),
    (Damage.RECORD_MISSING, delete_middle),
    (Damage.RECORD_MISSING, delete_with_text),
    (Damage.RECORD_REFUSED, add_a_record_without_place),
    (Damage.BAD_SIGNATURE, lambda path: do.flip(path, "records.raw", "seq = 2", -1)),
    (Damage.TEXT_MISMATCH, lambda path: do.flip(path, "texts.content", "1", -1)),
    (Damage.TEXT_MISMATCH, lambda path: do.put(path, "texts.content", 1, bytes(60_000))),
    (Damage.BLOB_MISMATCH, lambda path: do.flip(path, "blobs.content", "1", -1)),
    (Damage.JOURNAL_UNREADABLE, lambda path: do.flip(path, "journal.raw", "kind = 'signed'", -1)),
    (Damage.JOURNAL_UNREADABLE, lambda path: do.put(path, "journal.raw", 1, b"\xc1")),
    (Damage.JOURNAL_UNVERIFIED, break_signature),
    (Damage.JOURNAL_UNVERIFIED, break_lock),
    (Damage.JOURNAL_UNVERIFIED, lock_another_value),
    (Damage.JOURNAL_UNVERIFIED, unseal),
    (Damage.JOURNAL_UNVERIFIED, of_a_slot_nobody_knows),
    (Damage.COUNTER_REUSED, use_a_counter_twice),
    (Damage.CERTIFICATE_CONFLICT, certify_twice),
    (Damage.CERTIFICATE_CONFLICT, certify_twice_in_the_journal),
    (Damage.CUTS_LOST, lose_cuts),
    (Damage.SNAPSHOT_DIFFERS, lambda path: do.flip(path, "snapshots.world_digest", "cut = 2", 0)),
    (Damage.SNAPSHOT_DIFFERS, lambda path: do.flip(path, "snapshots.digest", "cut = 2", 0)),
    (Damage.SNAPSHOT_DIFFERS, lambda path: do.flip(path, "snapshot_contents.content", "1", -1)),
    (Damage.SNAPSHOT_DIFFERS, swap_snapshots),
    (Damage.SQLITE_DAMAGED, overwrite_a_page),
    (Damage.SQLITE_DAMAGED, overwrite_the_root_of_a_table),
    (Damage.SQLITE_DAMAGED, truncate),
    (Damage.SQLITE_DAMAGED, misplace_in_an_index),
    (Damage.SCHEMA_UNKNOWN, lambda path: path.write_bytes(b"no database at all" * 500)),
    (Damage.SCHEMA_UNKNOWN, lambda path: query(path, f"PRAGMA user_version = {VERSION + 1}")),
    (Damage.SCHEMA_UNKNOWN, lambda path: query(path, f"PRAGMA user_version = {VERSION - 1}")),
    (Damage.SCHEMA_UNKNOWN, lambda path: query(path, "PRAGMA application_id = 7")),
    (Damage.SCHEMA_UNKNOWN, lambda path: query(path, "DROP TRIGGER events_kept")),
    (Damage.SCHEMA_UNKNOWN, lambda path: query(path, "ALTER TABLE texts ADD COLUMN extra TEXT")),
    (Damage.WRONG_REALM, lambda path: query(path, "UPDATE meta SET realm = ?", named("other"))),
    (Damage.NO_STORE, lambda path: path.unlink()),
]


@pytest.mark.parametrize(
    ("code", "act"), DAMAGES, ids=[f"{at}-{code}" for at, (code, _) in enumerate(DAMAGES)]
)
def test_each_damage_is_found(path: Path, code: Damage, act: Do) -> None:
    act(path)
    found = examine(path)

    assert code in codes(found)
    for finding in found.findings:
        assert finding.what
        assert finding.why
        assert finding.fix == FIXES[finding.code]


def test_every_kind_of_damage_is_tried_above() -> None:
    assert {code for code, _ in DAMAGES} == set(Damage)
    assert FIXES.keys() == set(Damage)


@pytest.mark.parametrize(
    "act",
    [break_signature, break_lock, lock_another_value, unseal, of_a_slot_nobody_knows],
    ids=lambda act: act.__name__,
)
def test_a_journal_entry_that_lies_is_found_though_its_row_is_in_order(path: Path, act: Do) -> None:
    act(path)

    assert codes(examine(path)) == {Damage.JOURNAL_UNVERIFIED}


def test_what_is_taken_down_or_not_kept_for_ever_is_no_damage(path: Path) -> None:
    query(path, "DELETE FROM texts")
    query(path, "DELETE FROM snapshot_contents WHERE cut < 3")
    query(path, "UPDATE snapshot_contents SET content = x'' WHERE cut = 3")

    assert examine(path).findings == ()


def test_a_filed_certificate_that_proves_nothing_is_no_conflict(path: Path) -> None:
    place = do.town()
    world = place.world()
    cut, *_ = (
        record.body
        for record in world.log.by_kind(Kind.CERTIFICATE)
        if isinstance(record.body, CertificateFinal)
    )
    ((seq, head),) = world.log.heads_of(place.founding.instances[0])
    junk = (
        msgspec.structs.replace(cut, fence=cut.fence + 1),
        msgspec.structs.replace(cut, slot=encode(["cut", 5_000, named("nowhere")])),
        msgspec.structs.replace(cut, slot=encode(["no", "slot"])),
    )
    for number, body in enumerate(junk, start=1):
        record = sign_record(
            body,
            realm=world.realm,
            signer=do.signer(0),
            author=place.founding.instances[0],
            key_index=0,
            seq=seq + number,
            prev=head,
            at=0,
        )
        head = record.id
        insert(path, record)
    found = examine(path)

    assert found.findings == ()
    assert found.records == query(path, "SELECT count(*) FROM records")[0][0]


def test_slots_are_named_for_people() -> None:
    assert named_slot(CutSlot(number=7, previous=bytes(32))) == "cut 7"
    assert (
        named_slot(RoundSlot(round_id=b"\xab" * 32, phase=Phase.COMMIT))
        == "commit of round abababababab"
    )


def test_a_directory_in_the_place_of_the_store_is_told(tmp_path: Path) -> None:
    assert codes(examine(tmp_path)) == {Damage.NO_STORE}


def test_findings_are_counted_when_they_are_too_many_to_list(path: Path) -> None:
    query(
        path,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        " INSERT INTO blobs (hash, content) SELECT randomblob(32), x'00' FROM n",
        FINDINGS_MOST + 5,
    )
    found = examine(path)

    assert len(found.findings) == FINDINGS_MOST
    assert found.more == 5


def test_a_charter_of_another_realm_and_records_that_do_not_fit_it_are_told(path: Path) -> None:
    other = Town.of(1, 3, seed="elsewhere").founding

    assert codes(examine(path, other.charter)) == {Damage.WRONG_REALM}
    query(path, "UPDATE meta SET realm = ?", other.realm)
    with pytest.raises(ParameterError):
        examine(path, other.charter)


def test_what_a_crash_leaves_behind_is_read_as_it_is(path: Path, tmp_path: Path) -> None:
    crashed = tmp_path / "crashed" / "store.db"
    crashed.parent.mkdir()
    founding = do.town().founding

    async def run() -> Audit:
        with trio.fail_after(30):
            async with open_store(path, realm=founding.realm) as store:
                await store.write([fx.StoreBlob(content=b"in the write-ahead log only")])
                for name in ("store.db", "store.db-wal"):
                    shutil.copy(path.with_name(name), crashed.with_name(name))
                # Beside a node that runs, too.
                beside = await audit(path, founding.charter, founding.records)
                await store.write([fx.StoreBlob(content=b"later")])
                assert beside.findings == ()
            return await audit(crashed, founding.charter, founding.records)

    found = trio.run(run)

    assert found.findings == ()
    assert found.blobs == query(path, "SELECT count(*) FROM blobs")[0][0] - 1  # type: ignore[operator]


def test_a_node_that_stops_after_any_step_leaves_a_sound_store(tmp_path: Path) -> None:
    founding = do.town().founding
    path = tmp_path / "store.db"
    steps = [step for step in do.town().written[founding.instances[0]] if step]
    cuts = set()

    async def run() -> None:
        async with open_store(path, realm=founding.realm) as store:
            for number, step in enumerate(steps):
                await store.write(step)
                if number % (len(steps) // 25) == 0:
                    found = await audit(path, founding.charter, founding.records)
                    assert found.findings == ()
                    cuts.add(found.cut)

    trio.run(run)

    assert len(cuts) > 3


def test_an_audit_may_be_given_up_at_any_time(path: Path) -> None:
    founding = do.town().founding

    async def run() -> None:
        with trio.fail_after(30):
            for tenths in range(1, 9):
                with trio.move_on_after(tenths / 50):
                    await audit(path, founding.charter, founding.records)
            found = await audit(path, founding.charter, founding.records)
            assert found.findings == ()

    trio.run(run)
