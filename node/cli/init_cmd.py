"""`folkmoot init`: a realm of one's own, with one instance and some agents."""

import argparse
import os
import sys
from pathlib import Path
from typing import Final

from federation.charter import PRESETS, Badge, Severity, check
from node.base.clock import SteadyClock
from node.base.entropy import random_bytes
from node.base.errors import NodeCode, NodeError
from node.base.paths import DataDir
from node.base.settings import HTTP_HOST, HTTP_PORT, LISTEN, Settings, read_address
from node.cli.client import data_of, data_option
from node.cli.command import Command, between, word
from node.cli.errors import Exit, UsageError
from node.cli.output import Output, clean
from node.keys import obtain
from node.keys.passphrase import from_credential
from node.setup import Founded, found_solo, read_genesis, write_instance
from node.setup.directory import check_free
from node.setup.passphrase import file_beside, made

AGENTS: Final = ("ada", "brahe", "curie", "dirac", "euler")
_MOST_AGENTS: Final = 200
_PORT: Final = 65_535


def names(text: str) -> tuple[str, ...]:
    """Read names separated by commas."""
    said = tuple(word(part.strip()) for part in text.split(","))
    if len(set(said)) != len(said) or len(said) > _MOST_AGENTS:
        raise argparse.ArgumentTypeError(
            f"names must differ, and {_MOST_AGENTS} are the most: {text!r}"
        )
    return said


def listening(text: str) -> str:
    """Read a multiaddr to listen on."""
    try:
        return read_address(text, with_peer=False)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def passphrase_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where a passphrase comes from."""
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--passphrase-file",
        metavar="FILE",
        type=Path,
        help="read the passphrase of the keys from the first line of this file",
    )
    source.add_argument(
        "--passphrase-fd",
        metavar="N",
        type=between(0, 1_023),
        help="read it from this open file descriptor",
    )


def _options(parser: argparse.ArgumentParser) -> None:
    data_option(parser)
    parser.add_argument(
        "--name",
        metavar="NAME",
        type=word,
        default="folkmoot",
        help="what realm and instance are called (default folkmoot)",
    )
    parser.add_argument(
        "--preset",
        metavar="NAME",
        choices=tuple(PRESETS),
        default="solo",
        help=f"rules to start from: {', '.join(PRESETS)} (default solo)",
    )
    parser.add_argument(
        "--agents",
        metavar="NAMES",
        type=names,
        default=AGENTS,
        help=f"founding agents, separated by commas (default {','.join(AGENTS)})",
    )
    for badge, what in (
        ("arbiter", "rule where a vote is not clear or is contested, if the lot draws them"),
        ("moderator", "look at urgent reports"),
    ):
        parser.add_argument(
            f"--{badge}s",
            metavar="NAMES",
            type=names,
            default=(),
            help=f"those of them who may {what}, separated by commas (default nobody)",
        )
    passphrase_options(parser)
    parser.add_argument(
        "--make-passphrase",
        action="store_true",
        help="make a passphrase and keep it in a file beside the data directory; without a "
        "terminal this is what happens anyway",
    )
    parser.add_argument(
        "--http-port",
        metavar="PORT",
        type=between(0, _PORT),
        default=HTTP_PORT.default,
        help=f"of API and status page; 0 takes any free one (default {HTTP_PORT.default})",
    )
    parser.add_argument(
        "--listen",
        metavar="ADDRESS",
        type=listening,
        action="append",
        help=f"where other instances reach this one; may be repeated (default {LISTEN.default[0]})",
    )


def _badges(arguments: argparse.Namespace) -> dict[str, tuple[Badge, ...]]:
    """Give the offices of each founding agent that has any; raises UsageError for others."""
    badges: dict[str, tuple[Badge, ...]] = {}
    offices: tuple[tuple[Badge, tuple[str, ...]], ...] = (
        ("arbiter", arguments.arbiters),
        ("moderator", arguments.moderators),
    )
    for badge, holders in offices:
        for name in holders:
            if name not in arguments.agents:
                raise UsageError(
                    "command line not understood",
                    why=f"{name!r} is to be {badge}, and is no founding agent",
                    fix="name it with --agents, too",
                )
            badges[name] = (*badges.get(name, ()), badge)
    return badges


def _run(arguments: argparse.Namespace, output: Output) -> Exit:
    data = data_of(arguments)
    _refuse_again(data)
    badges = _badges(arguments)
    file, passphrase = _passphrase(arguments, data)
    name: str = arguments.name
    preset: str = arguments.preset
    founded = found_solo(name=name, preset=preset, agents=arguments.agents, badges=badges)
    settings = Settings(
        name=name,
        http_port=arguments.http_port,
        listen=tuple(arguments.listen or LISTEN.default),
        passphrase_file=file,
    )
    write_instance(
        data.root,
        founded,
        passphrase=passphrase,
        settings=settings,
        now=SteadyClock(None).wall(),
    )
    _tell(output, data, founded, settings)
    return Exit.OK


def _refuse_again(data: DataDir) -> None:
    """Refuse kindly where there is an instance already, before anything is asked."""
    if data.genesis.exists():
        genesis = read_genesis(data.genesis)
        raise NodeError(
            f"{data.root} was left as it is",
            why=f"it holds an instance of realm {clean(genesis.charter.name)!r} already",
            fix=f"start it with `folkmoot run --data {data.root}`, or name another place with "
            "--data",
            code=NodeCode.ALREADY_INITIALISED,
        )
    check_free(data.root.resolve())


def _passphrase(arguments: argparse.Namespace, data: DataDir) -> tuple[Path | None, bytes]:
    """Give the passphrase, and the file that a running node will read it from, if any."""
    file: Path | None = arguments.passphrase_file
    descriptor: int | None = arguments.passphrase_fd
    if file is None and descriptor is None and _makes_one(arguments):
        file = file_beside(data.root.resolve())
        made(file, random_bytes)
        # Relative, so that both can be moved together.
        return Path("..") / file.name, obtain(file=file, environ=os.environ)
    passphrase = obtain(file=file, descriptor=descriptor, environ=os.environ, creating=True)
    return None if file is None else file.resolve(), passphrase


def _makes_one(arguments: argparse.Namespace) -> bool:
    """Tell whether a passphrase is to be made up: as asked, or because nobody can be asked."""
    if arguments.make_passphrase:
        return True
    return not sys.stdin.isatty() and from_credential(os.environ) is None


def _tell(output: Output, data: DataDir, founded: Founded, settings: Settings) -> None:
    charter = founded.founding.charter
    warnings = sum(finding.severity is Severity.WARNING for finding in check(charter))
    file = settings.passphrase_file
    held = None if file is None else str((data.root.resolve() / file).resolve())
    if output.quiet:
        output.put_json(
            {
                "data": str(data.root),
                "realm": founded.founding.realm.hex(),
                "name": charter.name,
                "preset": charter.preset,
                "instance": founded.instances[0].id.hex(),
                "operator": founded.operators[0].id.hex(),
                "agents": [{"id": one.id.hex(), "name": one.name} for one in founded.agents],
                "passphrase_file": held,
                "warnings": warnings,
            }
        )
        return
    output.say(f"Realm {charter.name!r}, preset {charter.preset}, in {data.root}:")
    output.say(f"  one operator, one instance, {len(founded.agents)} founding agents:")
    output.say(f"  {', '.join(one.name for one in founded.agents)}.")
    if held is not None:
        output.say()
        output.say(f"The passphrase of the keys lies in {held}.")
        output.say("A copy of the data directory without that file opens no key; lose the file,")
        output.say("and nobody can sign for this instance and its agents again.")
    output.say()
    output.say(f"The rules imply {warnings} warnings, which this explains:")
    output.say(
        f"  folkmoot charter check --preset {charter.preset} --founders {len(founded.agents)}"
    )
    output.say(f"Start it: folkmoot run --data {data.root}")
    if settings.http_port:
        output.say(f"Then see http://{HTTP_HOST.default}:{settings.http_port}/")


INIT: Final = Command(
    words=("init",),
    summary="Make an instance of a new realm",
    why="It makes fresh keys for one operator, one instance and some founding agents, signs the "
    "genesis, and writes one data directory, whole or not at all. What is there already is never "
    "touched. The keys are encrypted under a passphrase. Given by prompt, descriptor or systemd "
    "credential it stands in no file, and then nobody can start the node without you; in a "
    "file, the node starts by itself, and whoever can read both the file and the keys can sign "
    "for everybody here. Without a terminal and without a source it is made up and put into a "
    "file beside the data directory, which guards backups of the directory and nothing more.",
    data={
        "data": "the data directory",
        "realm": "id of the realm",
        "name": "what realm and instance are called",
        "preset": "the rules it started from",
        "instance": "id of the instance",
        "operator": "id of its operator",
        "agents": "list of `id`, `name` of the founding agents",
        "passphrase_file": "where a running node reads the passphrase, or null",
        "warnings": "how many warnings `charter check` has for these founders",
    },
    examples=(
        "folkmoot init",
        "folkmoot init --data moot --name moot --agents kepler,noether,turing --json",
    ),
    exits={
        Exit.FAILED: "it could not be written; nothing is left half done",
        Exit.REFUSED: "there is something in that place already; it was left as it is",
    },
    options=_options,
    run=_run,
)
