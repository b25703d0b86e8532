"""The files of a keystore: who may read them, and how they change without ever being half new.

One file is replaced as everything durable is: written beside, flushed, renamed. A new passphrase
replaces all files at once, in four steps: write every new file as `….next`; write the mark, which
decides; rename; remove the mark. Whoever finds the mark renames what is left, whoever finds none
throws `….next` away. So one passphrase opens everything at every moment, the old one before the
mark and the new one after it, and finishing needs no passphrase.

The lock is the directory's own, by `flock`: a command and a running node may meet here.
"""

import fcntl
import os
import re
import shlex
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from node.base.errors import KeystoreError, NodeCode
from node.base.paths import make_private, sync_directory, write_private
from node.keys.key_file import MOST_BYTES, damaged

HEAD: Final = "keystore.head"
"""The file that makes a directory a keystore; all others are `<identity id in hex>.key`."""
_MARK: Final = "passphrase.changed"
_NEXT: Final = ".next"
_OTHERS: Final = 0o077
_LEFTOVER: Final = re.compile(r"(.+\.key|keystore\.head)(\.next)?(\.new)?|passphrase\.changed\.new")


@dataclass(frozen=True, slots=True)
class KeyDirectory:
    """The directory of one keystore."""

    path: Path

    def make(self) -> None:
        """Make the directory for its owner only, durably; it may be there already."""
        with _translated("keystore not made"):
            make_private(self.path)
            sync_directory(self.path.parent)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Work here alone, with nothing half done by somebody who crashed.

        Waits for another process. Raises KeystoreError KEYSTORE_MISSING, or KEYS_EXPOSED if others
        than the owner have rights on the directory.
        """
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise missing(self.path) from error
        except OSError as error:
            raise _failed(f"{self.path} not opened", error) from error
        try:
            _check_private(self.path, os.fstat(descriptor).st_mode, "700")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            with _translated("keystore not put in order"):
                self._settle()
            yield
        finally:
            os.close(descriptor)

    def read(self) -> dict[str, bytes]:
        """Give the bytes of all key files by name, the head first.

        Raises KeystoreError KEYS_EXPOSED if others than the owner have rights on one,
        KEY_FILE_DAMAGED if one is no plain file of a sensible size.
        """
        return {name: self._read(name) for name in self._key_files()}

    def read_one(self, name: str) -> dict[str, bytes]:
        """Give the bytes of the head, or of the first key file where there is none, and of `name`.

        The first tells whose keystore this is; `name` may be missing. Raises as `read` does.
        """
        names = self._key_files()
        return {one: self._read(one) for one in names if one in {*names[:1], name}}

    def write(self, name: str, content: bytes) -> None:
        """Replace one file, durably; KeystoreError KEYSTORE_FAILED leaves the old one."""
        with _translated(f"{name} not written"):
            write_private(self.path / name, content)

    def write_all(self, contents: Mapping[str, bytes]) -> None:
        """Replace files all at once, durably.

        After KeystoreError KEYSTORE_FAILED, or a crash, either all are old or all are new; which,
        the next `hold` decides.
        """
        with _translated("new key files not written"):
            for name, content in contents.items():
                write_private(self.path / (name + _NEXT), content)
            write_private(self.path / _MARK, b"")
            self._settle()

    def _settle(self) -> None:
        """Finish a replacement that was decided, undo one that was not."""
        names = self._names()
        if _MARK in names:
            for name in names:
                if name.endswith(_NEXT) and _LEFTOVER.fullmatch(name):
                    (self.path / name).replace(self.path / name.removesuffix(_NEXT))
            # Without this the mark could be gone after a power cut, and a rename not yet done.
            sync_directory(self.path)
            (self.path / _MARK).unlink()
            sync_directory(self.path)
        for name in self._names():
            if name.endswith((_NEXT, ".new")) and _LEFTOVER.fullmatch(name):
                (self.path / name).unlink()

    def _key_files(self) -> list[str]:
        with _translated(f"{self.path} not read"):
            names = self._names()
        head = [HEAD] if HEAD in names else []
        return head + [name for name in names if name.endswith(".key")]

    def _names(self) -> list[str]:
        return sorted(path.name for path in self.path.iterdir())

    def _read(self, name: str) -> bytes:
        path = self.path / name
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags)
        except OSError as error:
            raise _failed(f"{path} not read", error) from error
        with os.fdopen(descriptor, "rb") as file:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode):
                raise damaged(name, "it is not a plain file")
            _check_private(path, mode, "600")
            raw = file.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise damaged(name, f"it has more than {MOST_BYTES} bytes")
        return raw


def missing(path: Path) -> KeystoreError:
    """Refuse a directory that is no keystore."""
    return KeystoreError(
        f"no keystore in {path}",
        why="no key files are there",
        fix="run `folkmoot init`, or put back the backup of the keys",
        code=NodeCode.KEYSTORE_MISSING,
    )


def _check_private(path: Path, mode: int, want: str) -> None:
    if mode & _OTHERS:
        raise KeystoreError(
            f"{path} not used",
            why=f"others than its owner have rights on it (mode {stat.S_IMODE(mode):o})",
            fix=f"run `chmod {want} {shlex.quote(str(path))}`; a copy that others took "
            "opens with the passphrase of that time only",
            code=NodeCode.KEYS_EXPOSED,
        )


@contextmanager
def _translated(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _failed(what, error) from error


def _failed(what: str, error: OSError) -> KeystoreError:
    return KeystoreError(
        what,
        why=f"the system says: {error.strerror}",
        fix="make room, or correct the rights on the directory, and try again",
        code=NodeCode.KEYSTORE_FAILED,
    )
