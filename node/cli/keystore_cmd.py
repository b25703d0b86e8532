"""`folkmoot keys list` and `keys passphrase`: whose keys are kept, and under what passphrase.

A node keeps the key of its files in memory and writes with it. So the passphrase changes only
while no node works in the data directory: one that went on could write no key file afterwards.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from federation.records import did_key
from node.base.errors import KeystoreError, LockedError, NodeCode
from node.base.paths import DataDir, hold
from node.base.settings import load
from node.cli.client import data_of, data_option
from node.cli.command import Command
from node.cli.errors import Exit, UsageError
from node.cli.init_cmd import passphrase_options
from node.cli.keys_cmd import passphrase_of
from node.cli.names import kept
from node.cli.output import Output, clean
from node.cli.tables import cell, put_table
from node.keys import Keystore, obtain
from node.keys.passphrase import from_file


def _list(arguments: argparse.Namespace, output: Output) -> Exit:
    found = sorted(kept(data_of(arguments)), key=lambda one: (one.role, one.name, one.id))
    if output.quiet:
        output.put_json(
            {
                "identities": [
                    {
                        "id": one.id.hex(),
                        "role": one.role.value,
                        "name": one.name,
                        "key_index": one.key_index,
                        "did": did_key(one.public),
                    }
                    for one in found
                ]
            }
        )
        return Exit.OK
    put_table(
        output,
        ("identity", "role", "name", "key", "did"),
        [
            (
                cell(one.id.hex()),
                one.role.value,
                cell(one.name),
                cell(one.key_index),
                did_key(one.public),
            )
            for one in found
        ],
    )
    return Exit.OK


def _options(parser: argparse.ArgumentParser) -> None:
    data_option(parser)
    passphrase_options(parser)
    parser.add_argument(
        "--new-passphrase-file",
        metavar="FILE",
        type=Path,
        help="read the new passphrase from the first line of this file (default: ask for it)",
    )


def _passphrase(arguments: argparse.Namespace, output: Output) -> Exit:
    data = data_of(arguments)
    data.check()
    _refuse_one_file(arguments, data)
    with _alone(data):
        old = passphrase_of(arguments, data)
        keystore = Keystore.unlock(data.keys, old)
        new = _new(arguments)
        if new == old:
            raise _not_changed(
                "the new one is the one that opens the keys now",
                fix="choose another one",
                code=NodeCode.BAD_PASSPHRASE,
            )
        keystore.change_passphrase(new)
    named = load(data.settings, os.environ).passphrase_file
    file = None if named is None else named.resolve()
    current = None if file is None else _holds(file, new)
    many = len(keystore.identities())
    if output.quiet:
        output.put_json(
            {
                "identities": many,
                "passphrase_file": None if file is None else str(file),
                "file_is_current": current,
            }
        )
        return Exit.OK
    output.say(f"The keys of {many} identities are encrypted under the new passphrase.")
    output.say("Copies of the key files from before still open with the old one.")
    if file is not None and current:
        output.say(f"The node reads it from {clean(str(file))}.")
    elif file is not None:
        output.say(f"Now put it into {clean(str(file))}: there the node reads it when it starts.")
    return Exit.OK


@contextmanager
def _alone(data: DataDir) -> Iterator[None]:
    """Hold the data directory; LOCKED says what a node that runs would lose."""
    with ExitStack() as stack:
        try:
            stack.enter_context(hold(data))
        except LockedError as error:
            if not isinstance(error.__cause__, BlockingIOError):
                raise
            raise LockedError(
                "passphrase not changed",
                why=f"{error.why}, and a node that runs could write no key file afterwards",
                fix="stop it, change the passphrase, and start it with the new one",
                code=error.code,
            ) from error
        yield


def _refuse_one_file(arguments: argparse.Namespace, data: DataDir) -> None:
    """Refuse a command line by which both passphrases would come from one file."""
    if arguments.passphrase_fd is not None or arguments.new_passphrase_file is None:
        return
    new: Path = arguments.new_passphrase_file
    old: Path | None = arguments.passphrase_file
    if old is None:
        old = load(data.settings, os.environ).passphrase_file
    if old is not None and old.resolve() == new.resolve():
        raise UsageError(
            "keys passphrase not understood",
            why=f"the old passphrase and the new one would both be read from {new}",
            fix="keep the old one in a file of its own and name that with --passphrase-file",
        )


def _new(arguments: argparse.Namespace) -> bytes:
    """Give the new passphrase: from its file, or from whoever sits at the terminal."""
    file: Path | None = arguments.new_passphrase_file
    if file is None and not sys.stdin.isatty():
        raise _not_changed(
            "there is no terminal to ask for the new one, and no file was named",
            fix="name a file with --new-passphrase-file",
            code=NodeCode.NO_PASSPHRASE,
        )
    # A systemd credential is the passphrase of now, so the environment is left out.
    return obtain(file=file, environ={}, creating=True)


def _holds(file: Path, passphrase: bytes) -> bool:
    """Tell whether a node would read this passphrase there."""
    with suppress(KeystoreError):
        return from_file(file) == passphrase
    return False


def _not_changed(why: str, *, fix: str, code: NodeCode) -> KeystoreError:
    return KeystoreError("passphrase not changed", why=why, fix=fix, code=code)


KEYS_LIST: Final = Command(
    words=("keys", "list"),
    summary="List the identities whose keys are kept here",
    why="It shows whom this instance can sign for, and with which public key. It needs no "
    "passphrase and no running node, and shows nothing secret.",
    data={
        "identities": "list of `id`, `role`, `name`, `key_index` (how many rotations before its "
        "current key) and `did`, its current public key as a did:key"
    },
    examples=("folkmoot keys list", "folkmoot keys list --data moot --json"),
    exits={Exit.FAILED: "no instance there, or a key file is damaged"},
    options=data_option,
    run=_list,
)
KEYS_PASSPHRASE: Final = Command(
    words=("keys", "passphrase"),
    summary="Change the passphrase of the keys",
    why="It encrypts all key files anew, all at once: if it is interrupted, one of the two "
    "passphrases opens them all, and it can be repeated with that one. The keys stay the same, so "
    "copies of the files from before still open with the old passphrase. While a node runs on the "
    "directory it refuses: the node would go on signing, and fail with KEYSTORE_CHANGED when it "
    "next writes a key. The old passphrase comes from where a node takes it: an option, the file "
    "that folkmoot.toml names, a systemd credential, or a prompt. Where a node reads it from a "
    "file or a credential, put the new one there before the next start.",
    data={
        "identities": "how many have their keys here",
        "passphrase_file": "where the settings let a node read the passphrase, or null",
        "file_is_current": "whether that file holds the new passphrase; null if there is none",
    },
    examples=(
        "folkmoot keys passphrase",
        "folkmoot keys passphrase --passphrase-file OLD --new-passphrase-file NEW --json",
    ),
    exits={
        Exit.FAILED: "no instance there, no new passphrase to be had, or a file not written",
        Exit.REFUSED: "wrong passphrase, or a node runs on the directory; nothing was changed",
    },
    options=_options,
    run=_passphrase,
)
