"""Rights on the files, and crashes at every step of every change."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from node.base.errors import KeystoreError, NodeCode
from node.keys import Keystore
from node.keys.directory import HEAD
from node.keys.key_file import MOST_BYTES
from tests.node.keys.stores import NEW, OLD, create, file_of, identity, refuses, unlock


class Crash(BaseException):
    """The process ends here."""


@dataclass
class Disk:
    """The calls that change a disk, in order; the process can end before any of them."""

    patch: pytest.MonkeyPatch
    calls: list[str] = field(default_factory=list)
    crash_before: int | None = None
    full: bool = False

    def __post_init__(self) -> None:
        for owner, name in (
            (os, "write"),
            (os, "fsync"),
            (Path, "replace"),
            (Path, "unlink"),
        ):
            self._watch(owner, name)

    def _watch(self, owner: object, name: str) -> None:
        real: Callable[..., object] = getattr(owner, name)

        def call(*args: object, **rest: object) -> object:
            if len(self.calls) == self.crash_before:
                if self.full:
                    raise OSError(28, "No space left on device")
                raise Crash
            self.calls.append(name)
            return real(*args, **rest)

        self.patch.setattr(owner, name, call)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def opens(path: Path, passphrase: bytes) -> Keystore | None:
    try:
        return unlock(path, passphrase)
    except KeystoreError as error:
        refuses(NodeCode.WRONG_PASSPHRASE, error)
        return None


def test_a_keystore_is_for_its_owner_only_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        create(tmp_path / "above" / "keys", identity(1)).change_passphrase(NEW)
    finally:
        os.umask(before)
    path = tmp_path / "above" / "keys"

    assert path.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in path.iterdir()} == {0o600}
    assert {file.name for file in path.iterdir()} == {HEAD, f"{identity(1).id.hex()}.key"}


@pytest.mark.parametrize("mode", [0o701, 0o710, 0o720, 0o740, 0o755, 0o777])
def test_a_directory_that_others_have_rights_on_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "my keys"
    store = create(path, identity(1))
    path.chmod(mode)
    for act in (
        lambda: unlock(path),
        lambda: store.add(identity(2)),
        lambda: create(path),
        lambda: store.change_passphrase(NEW),
    ):
        with pytest.raises(KeystoreError) as refused:
            act()

        refuses(NodeCode.KEYS_EXPOSED, refused.value)
        assert f"chmod 700 '{path}'" in refused.value.fix


@pytest.mark.parametrize("mode", [0o601, 0o610, 0o620, 0o640, 0o644, 0o666])
@pytest.mark.parametrize("head", [True, False])
def test_a_file_that_others_have_rights_on_is_refused(
    tmp_path: Path, mode: int, *, head: bool
) -> None:
    create(tmp_path, identity(1))
    file = tmp_path / HEAD if head else file_of(tmp_path, identity(1).id)
    file.chmod(mode)
    with pytest.raises(KeystoreError) as refused:
        unlock(tmp_path)

    refuses(NodeCode.KEYS_EXPOSED, refused.value)
    assert f"chmod 600 {file}" in refused.value.fix
    assert f"{mode:o}" in refused.value.why


def test_a_key_file_that_is_a_link_a_pipe_or_huge_is_not_read(tmp_path: Path) -> None:
    create(tmp_path / "keys", identity(1))
    file = file_of(tmp_path / "keys", identity(1).id)
    moved = file.rename(tmp_path / "elsewhere")
    file.symlink_to(moved)
    with pytest.raises(KeystoreError) as refused:
        unlock(tmp_path / "keys")
    refuses(NodeCode.KEYSTORE_FAILED, refused.value)

    file.unlink()
    os.mkfifo(file, 0o600)
    with pytest.raises(KeystoreError) as refused:
        unlock(tmp_path / "keys")
    refuses(NodeCode.KEY_FILE_DAMAGED, refused.value)

    file.unlink()
    file.touch(mode=0o600)
    file.write_bytes(bytes(MOST_BYTES + 1))
    with pytest.raises(KeystoreError) as refused:
        unlock(tmp_path / "keys")
    refuses(NodeCode.KEY_FILE_DAMAGED, refused.value)


def test_a_path_that_is_no_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "keys").touch()
    with pytest.raises(KeystoreError) as refused:
        unlock(tmp_path / "keys")

    refuses(NodeCode.KEYSTORE_FAILED, refused.value)


def test_strange_files_beside_the_keys_stay_as_they_are(tmp_path: Path) -> None:
    create(tmp_path, identity(1))
    for name in ("notes.txt", "notes.new", "passphrase.next", "README.key.bak"):
        (tmp_path / name).write_bytes(b"mine")
    unlock(tmp_path).change_passphrase(NEW)

    assert {file.name for file in tmp_path.iterdir() if file.read_bytes() == b"mine"} == {
        "notes.txt",
        "notes.new",
        "passphrase.next",
        "README.key.bak",
    }


def test_a_file_is_flushed_before_it_is_renamed_and_its_name_after(
    tmp_path: Path, disk: Disk
) -> None:
    store = create(tmp_path)
    disk.calls.clear()
    store.add(identity(1))

    assert disk.calls == ["write", "fsync", "replace", "fsync"]


def test_a_crash_while_an_identity_is_kept_leaves_the_old_file_or_the_new(
    tmp_path: Path, disk: Disk
) -> None:
    store = create(tmp_path, identity(1))
    indices = []
    for step in range(4):
        disk.calls.clear()
        disk.crash_before = step
        before = unlock(tmp_path).identities()[0].key_index
        with pytest.raises(Crash):
            store.rotate(identity(1).id)
        disk.crash_before = None
        indices.append(unlock(tmp_path).identities()[0].key_index - before)
        # What a crash left behind is cleared away, and the next attempt succeeds.
        assert not list(tmp_path.glob("*.new"))
        assert store.rotate(identity(1).id).key_index == before + indices[-1] + 1

    assert indices == [0, 0, 0, 1]


def steps_of_a_change(path: Path, disk: Disk) -> int:
    store = create(path, identity(1), identity(2), identity(3))
    disk.calls.clear()
    store.change_passphrase(NEW)
    return len(disk.calls)


@pytest.mark.parametrize("full", [False, True])
def test_a_change_of_the_passphrase_interrupted_anywhere_leaves_one_that_opens_everything(
    tmp_path: Path, disk: Disk, *, full: bool
) -> None:
    steps = steps_of_a_change(tmp_path / "whole", disk)
    opened_by = []
    for step in range(steps):
        path = tmp_path / str(step)
        store = create(path, identity(1), identity(2), identity(3))
        disk.calls.clear()
        disk.full, disk.crash_before = full, step
        with pytest.raises(KeystoreError if full else Crash):
            store.change_passphrase(NEW)
        disk.crash_before = None
        by_old, by_new = opens(path, OLD), opens(path, NEW)
        found = by_old or by_new

        assert (by_old is None) != (by_new is None)
        assert found is not None
        assert found.identities() == store.identities()
        opened_by.append(b"old" if by_old else b"new")

        # It can be repeated with the one that opens, also by changing to that one again.
        found.change_passphrase(NEW)
        assert opens(path, OLD) is None
        assert unlock(path, NEW).identities() == store.identities()
        assert len(list(path.iterdir())) == 4

    assert opened_by == sorted(opened_by, reverse=True)
    assert {b"old", b"new"} == set(opened_by)


def test_a_change_of_the_passphrase_flushes_what_the_next_step_stands_on(
    tmp_path: Path, disk: Disk
) -> None:
    steps_of_a_change(tmp_path / "keys", disk)
    one_file, the_mark = ["write", "fsync", "replace", "fsync"], ["fsync", "replace", "fsync"]

    assert disk.calls == [
        *(one_file * 4),
        *the_mark,
        *(["replace"] * 4),
        "fsync",
        "unlink",
        "fsync",
    ]


def test_a_change_interrupted_twice_is_still_whole(tmp_path: Path, disk: Disk) -> None:
    steps = steps_of_a_change(tmp_path / "whole", disk)
    decided = steps - 6
    for first in range(decided, steps):
        for second in range(steps - first):
            path = tmp_path / f"{first} {second}"
            store = create(path, identity(1), identity(2), identity(3))
            disk.calls.clear()
            disk.crash_before = first
            with pytest.raises(Crash):
                store.change_passphrase(NEW)
            disk.calls.clear()
            disk.crash_before = second
            with suppress(Crash):
                unlock(path, NEW)
            disk.crash_before = None

            assert len(unlock(path, NEW).identities()) == 3
            assert opens(path, OLD) is None


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, disk: Disk) -> None:
    store = create(tmp_path)
    disk.calls.clear()
    disk.full, disk.crash_before = True, 1
    with pytest.raises(KeystoreError) as refused:
        store.add(identity(1))

    refuses(NodeCode.KEYSTORE_FAILED, refused.value)
    assert "No space left" in refused.value.why
    assert not store.has(identity(1).id)
    disk.crash_before = None
    store.add(identity(1))
    assert unlock(tmp_path).has(identity(1).id)
