"""What a keystore gives, keeps and refuses."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from federation.core import ParameterError, RecordId
from federation.crypto import is_signed_by, public_key
from federation.records import Role, RotateBy
from node.base.entropy import random_bytes
from node.base.errors import KeystoreError, NodeCode
from node.keys import DEFAULT, LEAST, Keystore
from node.keys.directory import HEAD
from tests.builders import REALM, ballot, named
from tests.node.keys.stores import (
    CHEAP,
    NEW,
    OLD,
    create,
    file_of,
    identity,
    refuses,
    rehashed,
    rotated,
    unlock,
)

ROUND: RecordId = named("round")
ROOT = Path(__file__).parents[3]


def test_what_is_kept_signs_after_unlocking_as_before(tmp_path: Path) -> None:
    one, two = identity(1), identity(2, rotations=2, role=Role.INSTANCE)
    created = create(tmp_path / "keys", two, one)
    for store in (created, unlock(tmp_path / "keys")):
        kept = {row.id: row for row in store.identities()}
        row = kept[two.id]

        assert [row.id for row in store.identities()] == sorted([one.id, two.id])
        assert (row.role, row.name, row.key_index) == (Role.INSTANCE, "name 2", 2)
        assert row.public == public_key(two.seeds[2]) == store.signer(two.id).public
        assert row.next == public_key(named("next", 2))
        assert row.recovery == public_key(named("recovery", 2))
        assert [old.public for old in store.former(two.id)] == list(map(public_key, two.seeds[:2]))
        assert store.former(one.id) == ()
        assert store.has(one.id)
        assert is_signed_by(row.public, b"payload", store.signer(two.id).sign(b"payload"))


def test_an_empty_keystore_tells_its_passphrase_from_another(tmp_path: Path) -> None:
    create(tmp_path / "keys")

    assert unlock(tmp_path / "keys").identities() == ()
    with pytest.raises(KeystoreError) as refused:
        unlock(tmp_path / "keys", NEW)

    refuses(NodeCode.WRONG_PASSPHRASE, refused.value)


def test_a_new_keystore_costs_at_least_64_mib_a_guess(tmp_path: Path) -> None:
    assert LEAST.memory == 64 * 1024
    assert DEFAULT.memory >= LEAST.memory
    assert DEFAULT.passes >= LEAST.passes

    Keystore.create(tmp_path / "keys", OLD, entropy=random_bytes)
    assert Keystore.unlock(tmp_path / "keys", OLD).identities() == ()


def test_a_cheap_keystore_is_refused_outside_of_tests(tmp_path: Path) -> None:
    create(tmp_path / "keys")
    with pytest.raises(KeystoreError) as refused:
        Keystore.unlock(tmp_path / "keys", OLD)

    refuses(NodeCode.KEY_COST, refused.value)


def test_all_files_share_one_salt_and_no_nonce(tmp_path: Path) -> None:
    asked: list[bytes] = []

    def entropy(count: int) -> bytes:
        asked.append(random_bytes(count))
        return asked[-1]

    store = Keystore.create(tmp_path, OLD, entropy=entropy, cost=CHEAP)
    store.add(identity(1))
    store.add(identity(2))
    files = [path.read_bytes() for path in tmp_path.iterdir()]

    assert [len(given) for given in asked] == [16, 24, 24, 24]
    assert all(asked[0] in raw for raw in files)
    assert [sum(nonce in raw for raw in files) for nonce in asked[1:]] == [1, 1, 1]


def test_one_file_with_its_passphrase_is_a_backup(tmp_path: Path) -> None:
    create(tmp_path / "keys", identity(1), identity(2))
    (tmp_path / "copy").mkdir(mode=0o700)
    file_of(tmp_path / "keys", identity(2).id).rename(file_of(tmp_path / "copy", identity(2).id))
    restored = unlock(tmp_path / "copy")
    restored.add(identity(3))

    assert {row.name for row in unlock(tmp_path / "copy").identities()} == {"name 2", "name 3"}
    # A change of the passphrase makes the head anew.
    restored.change_passphrase(NEW)
    assert (tmp_path / "copy" / HEAD).exists()


def test_a_second_keystore_is_not_made_over_the_first(tmp_path: Path) -> None:
    create(tmp_path / "keys", identity(1))
    with pytest.raises(KeystoreError) as refused:
        create(tmp_path / "keys", passphrase=NEW)

    refuses(NodeCode.KEYSTORE_EXISTS, refused.value)
    assert unlock(tmp_path / "keys").has(identity(1).id)


def test_a_missing_and_an_empty_directory_are_no_keystores(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir(mode=0o700)
    for place in ("absent", "empty"):
        with pytest.raises(KeystoreError) as refused:
            unlock(tmp_path / place)

        refuses(NodeCode.KEYSTORE_MISSING, refused.value)


def test_a_key_that_is_not_kept_is_named(tmp_path: Path) -> None:
    store = create(tmp_path / "keys", replace(identity(1), next=None, recovery=None))
    other = identity(2).id

    assert not store.has(other)
    assert store.keyring(other) is None
    assert store.identities()[0].next is None
    assert store.identities()[0].recovery is None
    for act in (
        lambda: store.signer(other),
        lambda: store.former(other),
        lambda: store.rotate(other),
        lambda: store.rotate(identity(1).id),
        lambda: store.rotate(identity(1).id, RotateBy.RECOVERY),
        lambda: store.export_openssh(other, None),
        lambda: store.export_openssh(identity(1).id, None, key_index=1),
    ):
        with pytest.raises(KeystoreError) as refused:
            act()

        refuses(NodeCode.KEY_NOT_KEPT, refused.value)


def test_a_keyring_opens_what_was_sealed_before_a_rotation(tmp_path: Path) -> None:
    store = create(tmp_path / "keys", identity(1))
    vote, nonce = ballot(), named("nonce")
    sealed = store.signer(identity(1).id).seal(REALM, ROUND, vote, nonce=nonce, salt=nonce[:24])
    store.rotate(identity(1).id)
    ring = unlock(tmp_path / "keys").keyring(identity(1).id)

    assert ring is not None
    assert ring.agent == identity(1).id
    assert len(ring.keys) == 2
    assert ring.keys[0].open(REALM, ROUND, sealed) == (vote, nonce)


def test_a_rotation_reveals_the_next_key_and_keeps_the_recovery_key(tmp_path: Path) -> None:
    store, one = create(tmp_path / "keys", identity(1)), identity(1)
    row = store.rotate(one.id)

    assert row.key_index == 1
    assert row.public == public_key(named("next", 1)) == store.signer(one.id).public
    assert row.recovery == public_key(named("recovery", 1))
    assert row.next not in {row.public, row.recovery, None}
    assert unlock(tmp_path / "keys").identities() == (row,)


def test_a_rotation_by_the_recovery_key_keeps_two_fresh_ones(tmp_path: Path) -> None:
    store, one = create(tmp_path / "keys", identity(1)), identity(1)
    row = store.rotate(one.id, RotateBy.RECOVERY)

    assert row.public == public_key(named("recovery", 1))
    assert len({row.public, row.next, row.recovery, public_key(named("next", 1)), None}) == 5
    assert unlock(tmp_path / "keys").identities() == (row,)


def test_only_an_instance_gives_its_seed_and_the_current_one(tmp_path: Path) -> None:
    instance, agent = identity(1, rotations=1, role=Role.INSTANCE), identity(2)
    store = create(tmp_path / "keys", instance, agent)

    assert store.transport_seed(instance.id) == instance.seeds[1]
    for other in (agent.id, identity(3).id):
        with pytest.raises(KeystoreError) as refused:
            store.transport_seed(other)

        refuses(NodeCode.KEY_NOT_KEPT, refused.value)


def test_until_the_log_knows_a_rotation_the_former_key_signs(tmp_path: Path) -> None:
    store, one = create(tmp_path / "keys", identity(1)), identity(1)
    store.rotate(one.id)
    ring, behind = store.keyring(one.id), store.keyring(one.id, key_index=0)

    assert ring is not None
    assert behind is not None
    assert behind.current.public == public_key(one.seeds[0])
    assert ring.current.public == public_key(named("next", 1))


def test_an_identity_is_replaced_by_itself_with_more_seeds_only(tmp_path: Path) -> None:
    one = identity(1)
    store = create(tmp_path / "keys", one)
    store.add(one)
    store.add(rotated(one))
    for other in (
        one,
        replace(one, seeds=(named("other"), named("later seed", 0))),
        replace(rotated(one), role=Role.OPERATOR),
    ):
        with pytest.raises(KeystoreError) as refused:
            store.add(other)

        refuses(NodeCode.KEY_WOULD_BE_LOST, refused.value)
    assert unlock(tmp_path / "keys").signer(one.id).public == public_key(named("later seed", 0))


def test_no_next_or_recovery_key_is_dropped_by_adding(tmp_path: Path) -> None:
    one = identity(1)
    store = create(tmp_path / "keys", one)
    rows = store.identities()
    for lacking in (
        replace(one, next=None),
        replace(one, recovery=None),
        replace(one, next=named("another")),
        replace(one, recovery=named("another")),
        replace(rotated(one), next=None),
    ):
        with pytest.raises(KeystoreError) as refused:
            store.add(lacking)

        refuses(NodeCode.KEY_WOULD_BE_LOST, refused.value)
    assert unlock(tmp_path / "keys").identities() == rows


def test_a_key_that_became_current_is_not_lost_and_one_that_was_missing_is_kept(
    tmp_path: Path,
) -> None:
    one, two = identity(1), replace(identity(2), next=None, recovery=None)
    store = create(tmp_path / "keys", one, two)
    store.add(replace(one, seeds=(*one.seeds, named("next", 1)), next=named("later", 1)))
    store.add(
        replace(
            one,
            seeds=(*one.seeds, named("next", 1), named("recovery", 1)),
            next=named("later", 1),
            recovery=named("later recovery", 1),
        )
    )
    store.add(identity(2))
    found = {row.id: row for row in unlock(tmp_path / "keys").identities()}

    assert found[one.id].public == public_key(named("recovery", 1))
    assert found[one.id].recovery == public_key(named("later recovery", 1))
    assert found[two.id].next == public_key(named("next", 2))


def test_an_import_over_an_agent_that_is_kept_drops_none_of_its_keys(tmp_path: Path) -> None:
    one = identity(1)
    store = create(tmp_path / "keys", one)
    rows = store.identities()
    with pytest.raises(KeystoreError) as refused:
        store.import_openssh(
            [store.export_openssh(one.id, None)],
            None,
            identity=one.id,
            role=one.role,
            name=one.name,
            keys=[public_key(one.seeds[0])],
        )

    refuses(NodeCode.KEY_WOULD_BE_LOST, refused.value)
    assert unlock(tmp_path / "keys").identities() == rows


def test_what_one_identity_needs_reads_the_head_and_its_own_file_only(tmp_path: Path) -> None:
    path, one, two = tmp_path / "keys", identity(1, role=Role.INSTANCE), identity(2)
    store = create(path, one, two, *(identity(number) for number in range(10, 20)))
    for number in range(10, 20):
        file_of(path, identity(number).id).write_bytes(b"no key file")
    store.add(identity(3))
    row = store.rotate(two.id)

    assert store.transport_seed(one.id) == one.seeds[0]
    assert store.export_openssh(two.id, None)
    for number in range(10, 20):
        file_of(path, identity(number).id).unlink()
    assert {found.name for found in unlock(path).identities()} == {"name 1", "name 2", "name 3"}
    assert row in unlock(path).identities()


@pytest.mark.parametrize("broken", ["head", "own"])
def test_a_damaged_head_or_own_file_is_not_written_over(tmp_path: Path, broken: str) -> None:
    path, one = tmp_path / "keys", identity(1)
    store = create(path, one)
    place = path / HEAD if broken == "head" else file_of(path, one.id)
    whole = place.read_bytes()
    # Sound in form, and sealed by nobody who has the key.
    changed = rehashed(whole[:-33] + bytes([whole[-33] ^ 1]) + whole[-32:])
    place.write_bytes(changed)
    for act in (lambda: store.add(rotated(one)), lambda: store.rotate(one.id)):
        with pytest.raises(KeystoreError) as refused:
            act()

        refuses(NodeCode.KEY_FILE_DAMAGED, refused.value)
    assert place.read_bytes() == changed


def test_threads_that_change_a_keystore_lose_none_of_each_other_s_keys(tmp_path: Path) -> None:
    store = create(tmp_path / "keys")
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(store.add, map(identity, range(20))))

    names = {f"name {number}" for number in range(20)}
    assert {row.name for row in store.identities()} == names
    assert {row.name for row in unlock(tmp_path / "keys").identities()} == names


def test_a_key_that_another_process_has_kept_meanwhile_is_not_lost(tmp_path: Path) -> None:
    one = identity(1)
    mine, theirs = create(tmp_path / "keys", one), unlock(tmp_path / "keys")
    theirs.rotate(one.id)
    with pytest.raises(KeystoreError) as refused:
        mine.add(rotated(one))

    refuses(NodeCode.KEY_WOULD_BE_LOST, refused.value)
    assert mine.rotate(one.id).key_index == 2


@pytest.mark.parametrize("name", ["", "x" * 129, "e\u0301"])
def test_a_name_that_could_not_be_read_back_is_not_written(tmp_path: Path, name: str) -> None:
    store = create(tmp_path / "keys")
    with pytest.raises(KeystoreError) as refused:
        store.add(replace(identity(1), name=name))

    refuses(NodeCode.KEY_FILE_DAMAGED, refused.value)
    assert unlock(tmp_path / "keys").identities() == ()


@pytest.mark.parametrize(
    "change",
    [
        {"seeds": ()},
        {"seeds": (bytes(32),) * 258},
        {"seeds": (bytes(31),)},
        {"next": bytes(33)},
        {"recovery": b""},
        {"id": bytes(16)},
    ],
)
def test_what_is_no_seed_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        replace(identity(1), **change)  # type: ignore[arg-type]


def test_the_most_rotations_fit_into_a_file(tmp_path: Path) -> None:
    create(tmp_path / "keys", replace(identity(1, rotations=256), name="x" * 128))

    assert unlock(tmp_path / "keys").identities()[0].key_index == 256


def test_a_changed_passphrase_opens_and_the_former_does_not(tmp_path: Path) -> None:
    store = create(tmp_path / "keys", identity(1), identity(2))
    store.change_passphrase(NEW)
    store.add(identity(3))

    assert len(unlock(tmp_path / "keys", NEW).identities()) == 3
    with pytest.raises(KeystoreError) as refused:
        unlock(tmp_path / "keys", OLD)
    refuses(NodeCode.WRONG_PASSPHRASE, refused.value)


def test_a_change_of_the_passphrase_can_raise_the_cost(tmp_path: Path) -> None:
    store = create(tmp_path / "keys", identity(1))
    store.change_passphrase(NEW, cost=DEFAULT)

    assert Keystore.unlock(tmp_path / "keys", NEW).has(identity(1).id)


def test_who_unlocked_before_a_change_of_the_passphrase_writes_nothing_more(
    tmp_path: Path,
) -> None:
    mine, theirs = create(tmp_path / "keys", identity(1)), unlock(tmp_path / "keys")
    theirs.change_passphrase(NEW)
    for act in (
        lambda: mine.add(identity(2)),
        lambda: mine.rotate(identity(1).id),
        lambda: mine.change_passphrase(OLD),
    ):
        with pytest.raises(KeystoreError) as refused:
            act()

        refuses(NodeCode.KEYSTORE_CHANGED, refused.value)
    # What it has in memory still signs.
    assert mine.signer(identity(1).id).public == theirs.signer(identity(1).id).public
    assert unlock(tmp_path / "keys", NEW).identities() == theirs.identities()


PROCESS = """
import sys
from pathlib import Path
from tests.node.keys.stores import identity, unlock
store = unlock(Path(sys.argv[1]))
for number in range(int(sys.argv[2]), int(sys.argv[3])):
    store.add(identity(number))
"""


def test_two_processes_lose_none_of_each_other_s_keys(tmp_path: Path) -> None:
    create(tmp_path / "keys")
    processes = [
        subprocess.Popen(  # noqa: S603 # our own words
            [sys.executable, "-c", PROCESS, str(tmp_path / "keys"), str(first), str(first + 10)],
            cwd=ROOT,
        )
        for first in (0, 10)
    ]
    ends = [process.wait(timeout=60) for process in processes]

    assert ends == [0, 0]
    names = {row.name for row in unlock(tmp_path / "keys").identities()}
    assert names == {f"name {number}" for number in range(20)}


def test_import_of_what_was_exported_gives_the_same_keys(tmp_path: Path) -> None:
    one = identity(1, rotations=1)
    store, copy = create(tmp_path / "keys", one), create(tmp_path / "copy")
    files = [store.export_openssh(one.id, b"of the file", key_index=index) for index in (0, 1)]
    keys = [public_key(seed) for seed in one.seeds]
    copy.import_openssh(
        files, b"of the file", identity=one.id, role=one.role, name=one.name, keys=keys
    )

    assert copy.signer(one.id).public == store.signer(one.id).public
    assert len(copy.former(one.id)) == 1
    assert store.export_openssh(one.id, None) != store.export_openssh(one.id, None, key_index=0)


def test_an_import_of_other_keys_than_the_key_log_names_keeps_nothing(tmp_path: Path) -> None:
    one, store = identity(1), create(tmp_path / "keys", identity(2))
    raw = store.export_openssh(identity(2).id, None)
    for keys in ([public_key(one.seeds[0])], []):
        with pytest.raises(KeystoreError) as refused:
            store.import_openssh(
                [raw], None, identity=one.id, role=one.role, name=one.name, keys=keys
            )

        refuses(NodeCode.BAD_OPENSSH_KEY, refused.value)
    assert not store.has(one.id)
