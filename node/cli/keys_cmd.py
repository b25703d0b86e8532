"""`folkmoot agent export` and `import`: an agent's key as an OpenSSH file, and back.

Both work on the keystore in the data directory and need its passphrase. A running node holds the
keys that it unlocked when it started; it uses an imported one after its next start.
"""

import argparse
import os
from pathlib import Path
from typing import Final

from federation.core import AgentId
from federation.records import Incept, Role
from node.base.errors import KeystoreError, NodeCode, NodeError, RequestError
from node.base.paths import DataDir, write_private
from node.base.settings import load
from node.cli.agent_cmd import agent_argument
from node.cli.client import data_of, data_option
from node.cli.command import Command
from node.cli.errors import Code, CommandError, Exit, UsageError
from node.cli.init_cmd import passphrase_options
from node.cli.names import kept_agent
from node.cli.output import Output, clean
from node.keys import Keystore, obtain
from node.keys.passphrase import from_file
from node.setup import read_genesis
from node.setup.directory import not_written


def unlock(arguments: argparse.Namespace, data: DataDir) -> Keystore:
    """Open the keystore of a data directory with the passphrase that `passphrase_of` gives."""
    data.check()
    return Keystore.unlock(data.keys, passphrase_of(arguments, data))


def passphrase_of(arguments: argparse.Namespace, data: DataDir) -> bytes:
    """Give the passphrase of a keystore; the command line says from where, or the settings."""
    descriptor: int | None = arguments.passphrase_fd
    file: Path | None = arguments.passphrase_file
    if file is None and descriptor is None:
        file = load(data.settings, os.environ).passphrase_file
    return obtain(descriptor=descriptor, file=file, environ=os.environ)


def _key_passphrase_option(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--key-passphrase-file", metavar="FILE", type=Path, help=f"file with the passphrase {what}"
    )


def _key_passphrase(arguments: argparse.Namespace) -> bytes | None:
    file: Path | None = arguments.key_passphrase_file
    return None if file is None else from_file(file)


def _export_options(parser: argparse.ArgumentParser) -> None:
    data_option(parser)
    agent_argument(parser)
    parser.add_argument(
        "--out", metavar="FILE", type=Path, required=True, help="file to write; it must not exist"
    )
    _key_passphrase_option(parser, "that encrypts it")
    parser.add_argument(
        "--open",
        action="store_true",
        help="leave it unencrypted: whoever reads the file can act as the agent",
    )
    passphrase_options(parser)


def _export(arguments: argparse.Namespace, output: Output) -> Exit:
    out: Path = arguments.out
    if (arguments.key_passphrase_file is None) == (not arguments.open):
        raise UsageError(
            "agent export not understood",
            why="the file is either encrypted or open",
            fix="give either --key-passphrase-file or --open",
        )
    if os.path.lexists(out):
        raise NodeError(
            "key not exported",
            why=f"{out} exists already",
            fix="name a file that does not exist yet",
            code=NodeCode.ALREADY_INITIALISED,
        )
    data = data_of(arguments)
    agent = kept_agent(data, arguments.agent)
    secret = _key_passphrase(arguments)
    key = unlock(arguments, data).export_openssh(agent.id, secret)
    try:
        write_private(out, key)
    except OSError as error:
        raise not_written(out, error) from error
    if output.quiet:
        output.put_json(
            {
                "agent": agent.id.hex(),
                "file": str(out),
                "key_index": agent.key_index,
                "encrypted": secret is not None,
            }
        )
    else:
        output.say(f"Key {agent.key_index} of {clean(agent.name)} is in {out}.")
    return Exit.OK


def _import_options(parser: argparse.ArgumentParser) -> None:
    data_option(parser)
    parser.add_argument("agent", metavar="AGENT", help="name or id of a founding agent")
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="an OpenSSH private key of kind Ed25519"
    )
    _key_passphrase_option(parser, "of that key, if it is encrypted")
    passphrase_options(parser)


def _import(arguments: argparse.Namespace, output: Output) -> Exit:
    file: Path = arguments.file
    data = data_of(arguments)
    data.check()
    agent, body = _founder(data, arguments.agent)
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise CommandError(
            "key not read",
            why=f"{file}: {error.strerror or error}",
            fix="name a readable file",
            code=Code.NOT_READABLE,
            leaves=Exit.FAILED,
        ) from error
    keystore = unlock(arguments, data)
    if keystore.has(agent):
        # The file holds one key; what is kept already holds the next and the recovery key too.
        raise KeystoreError(
            "key not imported",
            why=f"the keys of {body.name} are kept here already",
            fix="nothing needs to be done: the node signs with the keys that are kept",
            code=NodeCode.KEY_WOULD_BE_LOST,
        )
    keystore.import_openssh(
        [raw],
        _key_passphrase(arguments),
        identity=agent,
        role=Role.AGENT,
        name=body.name,
        keys=[body.key],
    )
    if output.quiet:
        output.put_json({"agent": agent.hex(), "name": body.name})
    else:
        output.say(f"The key of {clean(body.name)} is kept here; a running node uses it after its")
        output.say("next start.")
    return Exit.OK


def _founder(data: DataDir, said: str) -> tuple[AgentId, Incept]:
    """Find a founding agent by name or id: the genesis says which key it was founded with."""
    founders = [
        (record.id, record.body)
        for record in read_genesis(data.genesis).records
        if isinstance(record.body, Incept) and record.body.role is Role.AGENT
    ]
    found = [one for one in founders if said in {one[1].name, one[0].hex()}]
    if len(found) != 1:
        raise RequestError(
            f"agent {said!r} not {'chosen' if found else 'found'}",
            why=f"{len(found)} founding agents are called so",
            fix="name a founding agent by its id",
            code=NodeCode.AMBIGUOUS if found else NodeCode.NOT_FOUND,
        )
    return found[0]


AGENT_EXPORT: Final = Command(
    words=("agent", "export"),
    summary="Write an agent's key as an OpenSSH file",
    why="To move an agent to a custody of its own, or as a backup that other tools can check. It "
    "is the current key; those that the next rotation and a recovery need stay here.",
    data={
        "agent": "id of the agent",
        "file": "what was written",
        "key_index": "which of its keys it is, from 0",
        "encrypted": "whether a passphrase is needed to use it",
    },
    examples=(
        "folkmoot agent export AGENT --out agent.key --open",
        "folkmoot agent export AGENT --out agent.key --key-passphrase-file FILE",
    ),
    exits={
        Exit.FAILED: "it could not be written",
        Exit.REFUSED: "wrong passphrase, or the file exists, or the key is not kept here",
    },
    options=_export_options,
    run=_export,
)
AGENT_IMPORT: Final = Command(
    words=("agent", "import"),
    summary="Keep the key of a founding agent here",
    why="The key is compared with the one that the genesis names, because a damaged OpenSSH file "
    "can load as another key. While two nodes sign for one agent its chain forks, so stop using "
    "the key elsewhere first.",
    data={"agent": "id of the agent", "name": "its name"},
    examples=("folkmoot agent import AGENT agent.key",),
    exits={
        Exit.FAILED: "no such agent, or the file cannot be read or is damaged",
        Exit.REFUSED: "wrong passphrase of the keystore, or the agent's keys are kept already",
    },
    options=_import_options,
    run=_import,
)
