"""What lies where in an instance's data directory, and who may work on it.

One directory, one process: `hold` takes a lock that the kernel releases with the process, however
it ends. The file tells who holds it, so the refusal can.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from node.base.errors import LockedError, NodeCode, NodeError

_PRIVATE_FILE: Final = 0o600
_PRIVATE_DIRECTORY: Final = 0o700
_TRIES: Final = 5
_PAUSE_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class DataDir:
    """The files of one instance."""

    root: Path

    @property
    def keys(self) -> Path:
        """The keystore: one encrypted file an identity, for the owner only."""
        return self.root / "keys"

    @property
    def database(self) -> Path:
        """Records, blobs, signing journal, snapshots."""
        return self.root / "store.db"

    @property
    def settings(self) -> Path:
        """What an operator may change."""
        return self.root / "folkmoot.toml"

    @property
    def genesis(self) -> Path:
        """The charter and the records that it lists; the same file on every instance."""
        return self.root / "genesis.msgpack"

    @property
    def tokens(self) -> Path:
        """Hashes of the bearer tokens of agents."""
        return self.root / "tokens.json"

    @property
    def operator_token(self) -> Path:
        """The local operator's token, in clear, for the owner only."""
        return self.root / "operator.token"

    @property
    def peers(self) -> Path:
        """Addresses of peers that were added while the node ran."""
        return self.root / "peers.json"

    @property
    def federation(self) -> Path:
        """What the operator has decided about other instances and other realms."""
        return self.root / "federation.json"

    @property
    def lock(self) -> Path:
        """Held while a process works here."""
        return self.root / "lock"

    @property
    def address(self) -> Path:
        """Where the running node listens; it stands here only while it runs."""
        return self.root / "address.json"

    def check(self) -> None:
        """Raise NodeError NOT_INITIALISED unless an instance was made here."""
        for needed in (self.genesis, self.settings, self.keys):
            if not needed.exists():
                raise NodeError(
                    f"no instance in {self.root}",
                    why=f"{needed.name} is not there",
                    fix="run `folkmoot init`, or name the right directory with --data",
                    code=NodeCode.NOT_INITIALISED,
                )


@contextmanager
def hold(data: DataDir) -> Iterator[None]:
    """Hold the data directory; raises LockedError with the holder's process id."""
    try:
        descriptor = os.open(data.lock, os.O_RDWR | os.O_CREAT, _PRIVATE_FILE)
    except OSError as error:
        raise LockedError(
            f"{data.root} cannot be held",
            why=f"{data.lock.name}: {error.strerror}",
            fix="let the node write in its data directory",
            code=NodeCode.LOCKED,
        ) from error
    try:
        try:
            _lock(descriptor)
        except OSError as error:
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            raise LockedError(
                f"{data.root} is in use",
                why=f"process {holder} works on it",
                fix="stop that process, or name another directory with --data",
                code=NodeCode.LOCKED,
            ) from error
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode("ascii"))
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    """Take the lock; a command that only looks whether it is held may hold it for a moment."""
    for _ in range(_TRIES):
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(_PAUSE_S)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_private(path: Path, content: bytes) -> None:
    """Write a file for the owner only, whole or not at all, and durable when this returns."""
    fresh = path.with_name(path.name + ".new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE_FILE)
    try:
        os.fchmod(descriptor, _PRIVATE_FILE)
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    fresh.replace(path)
    sync_directory(path.parent)


def make_private(directory: Path) -> None:
    """Make a directory for the owner only; it may be there already."""
    directory.mkdir(mode=_PRIVATE_DIRECTORY, parents=True, exist_ok=True)


def sync_directory(directory: Path) -> None:
    """Make what was created or renamed in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
