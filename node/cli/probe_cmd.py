"""`folkmoot peer probe`: call an address as a stranger, and show what it answers."""

import argparse
import re
from typing import TYPE_CHECKING, Final

import trio

from federation.core import Digest, Realm
from node.base.entropy import random_bytes
from node.base.errors import NodeCode
from node.base.paths import DataDir
from node.cli.client import data_of, data_option
from node.cli.command import Command, between
from node.cli.errors import Exit, UsageError
from node.cli.output import Output, clean
from node.cli.peer_cmd import address
from node.setup.genesis import read_genesis

if TYPE_CHECKING:
    from node.network.hello import Probe

_SEED: Final = 32
_HIGHEST: Final = 1_000_000
NOBODY: Final = bytes(32)


def digest(text: str) -> bytes:
    """Read 32 bytes in hex."""
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not 64 hex digits")
    return bytes.fromhex(text)


def _options(parser: argparse.ArgumentParser) -> None:
    data_option(parser)
    parser.add_argument(
        "address",
        metavar="ADDRESS",
        type=address,
        help="its multiaddr, such as /ip4/192.0.2.7/tcp/4420/p2p/12D3KooW…",
    )
    parser.add_argument(
        "--realm",
        metavar="HEX",
        type=digest,
        help="realm to ask for (default that of the data directory)",
    )
    parser.add_argument(
        "--charter",
        metavar="HEX",
        type=digest,
        help="hash of the charter at genesis (default that of the data directory, if it is of "
        "the same realm)",
    )
    parser.add_argument(
        "--protocol",
        metavar="N",
        type=between(0, _HIGHEST),
        help="level of the protocol to claim (default the one that this version speaks)",
    )


def _run(arguments: argparse.Namespace, output: Output) -> Exit:
    # The network takes a second to load, and only commands that open it need it.
    from node.network.messages import PROTOCOL, Refusal  # noqa: PLC0415

    realm, charter = _asked(arguments, data_of(arguments))
    said: int | None = arguments.protocol
    protocol = PROTOCOL if said is None else said
    probed = trio.run(_probe, arguments.address, realm, charter, protocol)
    answer = probed.answer
    refused = answer if isinstance(answer, Refusal) else None
    # A stranger is sent away last of all: realm, charter and protocol have passed.
    fits = refused is None or refused.code == NodeCode.NOT_A_PEER
    if output.quiet:
        output.put_json(
            {
                "key": probed.peer.hex(),
                "fits": fits,
                "code": refused.code if refused else None,
                "why": refused.why if refused else None,
                "fix": refused.fix if refused else None,
            }
        )
    elif refused is None:
        output.say("It answers, and takes this key for a member's.")
    elif fits:
        output.say("It answers, and it is of this realm, charter and protocol.")
        output.say(f"It sends strangers away, as it should: {clean(refused.why)}.")
    else:
        output.say(f"It refuses: {clean(refused.why)} [{clean(refused.code)}]")
        output.say(f"  fix: {clean(refused.fix)}")
    return Exit.OK if fits else Exit.FAILED


async def _probe(where: str, realm: Realm, charter: Digest, protocol: int) -> "Probe":
    from node.network.hello import probe  # noqa: PLC0415 # as above
    from node.network.host import open_host  # noqa: PLC0415

    # A key of its own: with the instance's key it would push a running node aside.
    async with open_host(random_bytes(_SEED), listen=("/ip4/127.0.0.1/tcp/0",)) as host:
        return await probe(
            host,
            where,
            realm=realm,
            charter_hash=charter,
            instance=NOBODY,
            low=protocol,
            high=protocol,
        )


def _asked(arguments: argparse.Namespace, data: DataDir) -> tuple[Realm, Digest]:
    realm: Realm | None = arguments.realm
    charter: Digest | None = arguments.charter
    if data.genesis.exists():
        genesis = read_genesis(data.genesis)
        realm = realm or genesis.realm
        if charter is None and realm == genesis.realm:
            charter = genesis.charter_hash
    if realm is None:
        raise UsageError(
            "peer probe not understood",
            why=f"there is no instance in {data.root} whose realm it could ask for",
            fix="name the realm with --realm, or a data directory with --data",
        )
    return realm, charter or NOBODY


PEER_PROBE: Final = Command(
    words=("peer", "probe"),
    summary="Call an address as a stranger, and show what it answers",
    why="Before two instances talk, they compare protocol, realm, and the charter at genesis. "
    "This says which of them an address refuses, and why. It calls with a key of its own, so a "
    "running node is not disturbed, and what fits is still sent away as a stranger.",
    data={
        "key": "public key that the address has proven",
        "fits": "whether protocol, realm and charter are the same there",
        "code": "of the refusal, or null",
        "why": "of the refusal, or null",
        "fix": "what it says to do, or null",
    },
    examples=("folkmoot peer probe ADDRESS", "folkmoot peer probe ADDRESS --realm REALM --json"),
    exits={
        Exit.OK: "protocol, realm and charter fit",
        Exit.FAILED: "they do not, or nobody answers there",
    },
    options=_options,
    run=_run,
)
