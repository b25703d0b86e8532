"""Where the passphrase of the keystore may come from.

From a file descriptor, a file, a systemd credential or a prompt, in this order. Never from the
command line, which every user of the machine can list, and never from the value of an environment
variable, which every child inherits.

A passphrase is one line. One line break at its end is the editor's and is taken off; any other
character belongs to it, and it is compared as text in NFC, so two keyboards agree.
"""

import getpass
import os
import shlex
import stat
import sys
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from node.base.errors import KeystoreError, NodeCode

CREDENTIAL: Final = "folkmoot-passphrase"
"""Name of the systemd credential: `LoadCredential=folkmoot-passphrase:…`."""
MOST_BYTES: Final = 1024
_GROUP_AND_OTHERS: Final = 0o077
_OTHERS: Final = 0o007

Ask: TypeAlias = Callable[[str], str]
"""Shows a prompt and gives what was typed, unseen."""


def obtain(
    *,
    descriptor: int | None = None,
    file: Path | None = None,
    environ: Mapping[str, str],
    creating: bool = False,
    ask: Ask | None = None,
) -> bytes:
    """Give the passphrase from the first place that there is.

    `ask` is the terminal by default, if there is one; with `creating` it asks twice. Raises
    KeystoreError NO_PASSPHRASE, BAD_PASSPHRASE, KEYS_EXPOSED, KEYSTORE_FAILED.
    """
    if descriptor is not None:
        return from_descriptor(descriptor)
    if file is not None:
        return from_file(file)
    credential = from_credential(environ)
    if credential is not None:
        return credential
    if ask is None and sys.stdin.isatty():
        ask = getpass.getpass
    if ask is None:
        raise KeystoreError(
            "no passphrase",
            why="there is no terminal to ask at, and no file or descriptor was named",
            fix="name a file with --passphrase-file or a descriptor with --passphrase-fd, or pass "
            f"the systemd credential {CREDENTIAL}",
            code=NodeCode.NO_PASSPHRASE,
        )
    return from_prompt(ask, twice=creating)


def from_prompt(ask: Ask, *, twice: bool) -> bytes:
    """Ask for it; a new one is asked twice, for a slip of the finger would lock it for good."""
    which = "New passphrase" if twice else "Passphrase"
    typed = _cleaned(_bytes(ask(f"{which} of the keystore: ")))
    if twice and _cleaned(_bytes(ask("The same passphrase again: "))) != typed:
        raise _bad("the two that were typed differ", fix="try again")
    return typed


def from_file(path: Path) -> bytes:
    """Read it from a file that only its owner has rights on; KEYS_EXPOSED otherwise."""
    return _read(path, forbidden=_GROUP_AND_OTHERS)


def from_descriptor(descriptor: int) -> bytes:
    """Read it from an open descriptor, to its end; the descriptor stays open."""
    raw = b""
    try:
        while len(raw) <= MOST_BYTES + 2:
            piece = os.read(descriptor, MOST_BYTES)
            if not piece:
                break
            raw += piece
    except OSError as error:
        raise _failed(f"descriptor {descriptor}", error) from error
    return _cleaned(raw)


def from_credential(environ: Mapping[str, str]) -> bytes | None:
    """Read it from $CREDENTIALS_DIRECTORY/folkmoot-passphrase; None if there is no such file."""
    directory = environ.get("CREDENTIALS_DIRECTORY")
    if not directory or not (Path(directory) / CREDENTIAL).exists():
        return None
    # systemd lets the service's user in by an access list, whose mask shows as rights of the group.
    return _read(Path(directory) / CREDENTIAL, forbidden=_OTHERS)


def _read(path: Path, *, forbidden: int) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _failed(str(path), error) from error
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise _bad(f"{path} is no plain file", fix="name a file, or pass a descriptor")
        if mode & forbidden:
            raise KeystoreError(
                f"passphrase file {path} not used",
                why=f"others than its owner have rights on it (mode {stat.S_IMODE(mode):o})",
                fix=f"run `chmod 600 {shlex.quote(str(path))}`; if others could read it, "
                "change the passphrase with `folkmoot keys passphrase`",
                code=NodeCode.KEYS_EXPOSED,
            )
        return from_descriptor(descriptor)
    finally:
        os.close(descriptor)


def _cleaned(raw: bytes) -> bytes:
    """Apply the rules for one line; nothing of it may stand in an error."""
    if raw.endswith(b"\n"):
        raw = raw[:-1].removesuffix(b"\r")
    if not raw:
        raise _bad("it is empty")
    if len(raw) > MOST_BYTES:
        raise _bad(f"it has more than {MOST_BYTES} bytes")
    if any(byte in raw for byte in b"\n\r\0"):
        raise _bad("it has more than one line, or a NUL")
    text = _text(raw)
    if text is None:
        raise _bad("it is no text in UTF-8")
    return unicodedata.normalize("NFC", text).encode()


def _bytes(typed: str) -> bytes:
    """Give back what a terminal sent, also where it was no UTF-8."""
    return typed.encode(errors="surrogateescape")


def _text(raw: bytes) -> str | None:
    """Decode, or None: the decoder's error would quote the bytes."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _bad(why: str, *, fix: str = f"give one line of 1 to {MOST_BYTES} bytes") -> KeystoreError:
    return KeystoreError("passphrase not taken", why=why, fix=fix, code=NodeCode.BAD_PASSPHRASE)


def _failed(place: str, error: OSError) -> KeystoreError:
    return KeystoreError(
        f"passphrase not read from {place}",
        why=f"the system says: {error.strerror}",
        fix="check the name and your rights",
        code=NodeCode.KEYSTORE_FAILED,
    )
