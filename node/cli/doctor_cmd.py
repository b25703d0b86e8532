"""`folkmoot doctor`: examine what an instance keeps.

It reads and changes nothing, on a running node or a stopped one. Each part of the data directory
is read by the function that a starting node uses; `node.store.audit` examines the store.
"""

import argparse
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import trio

from federation.records import Role
from node.access.tokens import list_tokens
from node.base.errors import NodeCode, NodeError
from node.base.paths import DataDir
from node.base.settings import load
from node.cli.client import data_of, data_option
from node.cli.command import Command
from node.cli.errors import Exit
from node.cli.names import kept
from node.cli.output import Json, Output, clean
from node.cli.tables import Told, cell, rows_of
from node.setup.genesis import read_genesis

_OTHERS: Final = 0o077
_COUNTS: Final = ("records", "signatures", "blobs", "journal", "snapshots", "cut")


def _run(arguments: argparse.Namespace, output: Output) -> Exit:
    data = data_of(arguments)
    data.check()
    found: dict[str, Json] = {name: _findings(data, part) for name, part in _PARTS.items()}
    store, found["store"] = _store(data, founded=not found["genesis"])
    sound = not any(found.values())
    if output.quiet:
        output.put_json({"sound": sound, "findings": dict(found), "store": dict(store)})
    else:
        _explain(output, found, store)
        output.say("Sound." if sound else "Not sound.")
    return Exit.OK if sound else Exit.FAILED


def _findings(data: DataDir, part: Callable[[DataDir], Iterator[NodeError]]) -> list[Json]:
    """Examine one part; an error that it raises is a finding like those that it gives."""
    found: list[NodeError] = []
    try:
        found.extend(part(data))
    except NodeError as error:
        found.append(error)
    return [
        {"code": error.code.value, "what": error.what, "why": error.why, "fix": error.fix}
        for error in found
    ]


def _settings(data: DataDir) -> Iterator[NodeError]:
    load(data.settings, os.environ)
    yield from ()


def _genesis(data: DataDir) -> Iterator[NodeError]:
    read_genesis(data.genesis)
    yield from ()


def _keys(data: DataDir) -> Iterator[NodeError]:
    """Key files are whole; whether the passphrase opens them is told when a node starts."""
    here = [one for one in kept(data) if one.role is Role.INSTANCE]
    if len(here) != 1:
        yield NodeError(
            f"the keys of {len(here)} instances are here",
            why="a node is one instance, whose keys it keeps",
            fix="put back the key files that belong to this directory",
            code=NodeCode.NOT_INITIALISED,
        )


def _tokens(data: DataDir) -> Iterator[NodeError]:
    list_tokens(data)
    yield from ()


def _rights(data: DataDir) -> Iterator[NodeError]:
    """Look at the rights on files of secrets; the keystore looks after its own."""
    for path in (data.tokens, data.operator_token):
        if path.exists() and path.stat().st_mode & _OTHERS:
            yield NodeError(
                f"{path.name} is open to others",
                why=f"others than its owner have rights on {path}",
                fix=f"run `chmod go= {path}`; if others could read it, make its tokens anew",
                code=NodeCode.KEYS_EXPOSED,
            )


_PARTS: Final[Mapping[str, Callable[[DataDir], Iterator[NodeError]]]] = {
    "settings": _settings,
    "genesis": _genesis,
    "keys": _keys,
    "tokens": _tokens,
    "rights": _rights,
}
"""What is examined besides the store, in this order."""


def _store(data: DataDir, *, founded: bool) -> tuple[Told, list[Json]]:
    """Audit the store; without a sound genesis, and before the first start, there is nothing to."""
    if not founded or not data.database.exists():
        return {}, []
    # The store loads the certificate machine and the database with it.
    from node.store.audit import audit  # noqa: PLC0415

    genesis = read_genesis(data.genesis)
    told = trio.run(audit, data.database, genesis.charter, genesis.records)
    counts: dict[str, Json] = {name: getattr(told, name) for name in _COUNTS}
    return counts | {"world": told.world_digest.hex(), "more": told.more}, [
        {"code": one.code.value, "what": one.what, "why": one.why, "fix": one.fix}
        for one in told.findings
    ]


def _explain(output: Output, found: Told, store: Told) -> None:
    for name, value in found.items():
        findings = rows_of(value)
        output.put(f"{name:<10}{f'{len(findings)} findings' if findings else 'sound'}")
        for finding in findings:
            output.put(f"  {cell(finding.get('what'))} [{clean(str(finding.get('code')))}]")
            output.put(f"    why: {cell(finding.get('why'))}")
            output.put(f"    fix: {cell(finding.get('fix'))}")
    if store:
        output.say(
            f"{cell(store.get('records'))} records, {cell(store.get('signatures'))} signatures, "
            f"{cell(store.get('snapshots'))} snapshots, up to cut {cell(store.get('cut'))}."
        )


DOCTOR: Final = Command(
    words=("doctor",),
    summary="Examine what an instance keeps",
    why="It reads everything and changes nothing, also while the node runs: settings, genesis, "
    "key files, tokens, their rights, and the whole store. Every record must have its hash, its "
    "place in its author's chain and a valid signature, and every stored snapshot must be what "
    "a fresh computation from the log gives. It needs no passphrase, so it cannot tell whether "
    "you still have it.",
    data={
        "sound": "whether nothing was found",
        "findings": "for each part (settings, genesis, keys, tokens, rights, store) a list of "
        "`code`, `what`, `why`, `fix`",
        "store": "what the audit of the store looked at: `records`, `signatures`, `blobs`, "
        "`journal`, `snapshots`, `cut`, `world` digest, and how many `more` findings there are",
    },
    examples=("folkmoot doctor", "folkmoot doctor --data moot --json"),
    exits={
        Exit.OK: "sound",
        Exit.FAILED: "not sound: findings tell what and what to do; or no instance there",
    },
    options=data_option,
    run=_run,
)
