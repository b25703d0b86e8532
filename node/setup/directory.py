"""A directory that appears whole, or not at all.

It is built in a scratch directory beside its place, made durable, and renamed: the only moment at
which it appears. What a killed process left of its attempt is cleared away by the next one; the
lock on the scratch directory tells the dead from the living.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from node.base.errors import NodeCode, NodeError
from node.base.paths import sync_directory

_PRIVATE: Final = 0o700


@contextmanager
def whole(place: Path) -> Iterator[Path]:
    """Give an empty directory to fill; it becomes `place` when the block ends without an error.

    `place` may be an empty directory. Raises NodeError ALREADY_INITIALISED if it is not, and
    NOT_WRITTEN if the file system does not let it be made.
    """
    place = Path(os.path.realpath(place))
    check_free(place)
    scratch = place.with_name(f".{place.name}.init")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _take(scratch)
    except OSError as error:
        raise not_written(place, error) from error
    try:
        fresh = scratch / place.name
        fresh.mkdir(mode=_PRIVATE)
        yield fresh
        _sync_tree(fresh)
        # Replaces an empty directory too, and nothing else.
        fresh.rename(place)
        sync_directory(place.parent)
    except OSError as error:
        raise not_written(place, error) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        os.close(descriptor)


def check_free(place: Path) -> None:
    """Raise NodeError ALREADY_INITIALISED if there is anything in this place."""
    if place.is_dir() and os.access(place, os.R_OK) and not any(place.iterdir()):
        if place.is_mount():
            raise NodeError(
                f"{place} was not written",
                why="it is a mount point, which cannot appear all at once",
                fix=f"name a directory inside it: --data {place / 'folkmoot'}",
                code=NodeCode.NOT_WRITTEN,
            )
        return
    if os.path.lexists(place):
        raise NodeError(
            f"{place} was left as it is",
            why="there is something in this place already",
            fix="name another place with --data",
            code=NodeCode.ALREADY_INITIALISED,
        )


def not_written(place: Path, error: OSError) -> NodeError:
    """Say that the file system refused."""
    return NodeError(
        f"{place} was not written",
        why=f"{error.filename or place}: {error.strerror or error}",
        fix="check your rights and the room on the disk; nothing is left half done",
        code=NodeCode.NOT_WRITTEN,
    )


def _take(scratch: Path) -> int:
    """Make the scratch directory, or take over and empty one that nobody holds any more."""
    scratch.mkdir(mode=_PRIVATE, exist_ok=True)
    descriptor = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held, there = os.fstat(descriptor), scratch.stat()
    except OSError as error:
        # BlockingIOError: it is held. FileNotFoundError: its holder has just finished with it.
        os.close(descriptor)
        raise _under_way(scratch) from error
    if (held.st_dev, held.st_ino) != (there.st_dev, there.st_ino):
        os.close(descriptor)
        raise _under_way(scratch)
    for left in scratch.iterdir():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        else:
            left.unlink()
    return descriptor


def _under_way(scratch: Path) -> NodeError:
    return NodeError(
        "nothing was written",
        why=f"another process is at work in {scratch}",
        fix="wait for it, or name another place with --data",
        code=NodeCode.LOCKED,
    )


def _sync_tree(root: Path) -> None:
    for directory, _, files in os.walk(root):
        for name in files:
            descriptor = os.open(Path(directory) / name, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        sync_directory(Path(directory))
