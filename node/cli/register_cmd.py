"""`folkmoot operator register` and `agent register`: join a realm with keys of one's own."""

import argparse
import os
import re
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from federation.records import Role
from node.cli.client import URL_VARIABLE, Client, Target
from node.cli.command import Command, between, word
from node.cli.errors import Exit, UsageError
from node.cli.init_cmd import passphrase_options
from node.cli.output import Output, clean
from node.cli.register_delivery import Wish
from node.cli.register_search import MOST_PROCESSES, Effort, span
from node.cli.register_steps import WELL_KNOWN, Outcome, Registration
from node.keys import obtain

_MOST_HOURS: Final = 24
_HOURS: Final = 24 * 365
_REALM: Final = 32
_LONGEST_DOMAIN: Final = 253
_LABEL: Final = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN: Final = re.compile(rf"({_LABEL}\.)+[a-z]([a-z0-9-]{{0,61}}[a-z0-9])?")
"""As records hold it."""


def _address(text: str) -> str:
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = None
    if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an address such as http://127.0.0.1:8420"
        )
    return text.rstrip("/")


def _domain(text: str) -> str:
    name = text.lower()
    if len(name) > _LONGEST_DOMAIN or not _DOMAIN.fullmatch(name):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not the name of a domain such as example.org: no https:// and no path, and "
            "an IDN in its xn-- form"
        )
    return name


def _realm(text: str) -> bytes:
    try:
        realm = bytes.fromhex(text)
    except ValueError:
        realm = b""
    if len(realm) != _REALM:
        raise argparse.ArgumentTypeError(f"{text!r} is not the id of a realm: 64 hex digits")
    return realm


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", type=word, help="what it is called")
    parser.add_argument(
        "--keys",
        metavar="DIR",
        type=Path,
        required=True,
        help="directory of the keys; it is made if it is not there",
    )
    parser.add_argument(
        "--url",
        metavar="URL",
        type=_address,
        help="address of the instance that is to admit it (default $FOLKMOOT_URL)",
    )
    parser.add_argument(
        "--realm",
        metavar="ID",
        type=_realm,
        help="register only if the instance is of this realm (default: the realm that DIR holds "
        "identities of, if any)",
    )
    passphrase_options(parser)
    parser.add_argument(
        "--invite",
        metavar="CODE",
        type=word,
        help="code of an invite, if the instance asks for one",
    )
    parser.add_argument(
        "--cores",
        metavar="N",
        type=between(1, MOST_PROCESSES),
        help="processes that search for the proof (default: one for each processor)",
    )
    parser.add_argument(
        "--most-hours",
        metavar="N",
        type=between(1, _HOURS),
        default=_MOST_HOURS,
        help="give up a search that takes longer than this on average, on this machine "
        f"(default {_MOST_HOURS})",
    )
    parser.add_argument(
        "--no-wait", action="store_true", help="do not wait for the cut that admits it"
    )


def _operator_options(parser: argparse.ArgumentParser) -> None:
    _options(parser)
    parser.add_argument(
        "--domain",
        metavar="DOMAIN",
        type=_domain,
        help=f"domain that names the operator's id in {WELL_KNOWN}",
    )
    parser.set_defaults(operator=None)


def _agent_options(parser: argparse.ArgumentParser) -> None:
    _options(parser)
    parser.add_argument(
        "--operator",
        metavar="NAME",
        type=word,
        help="who answers for it: an operator whose keys are in DIR (default: the only one)",
    )
    parser.set_defaults(domain=None)


def _run(role: Role, arguments: argparse.Namespace, output: Output) -> Exit:
    url: str | None = arguments.url or os.environ.get(URL_VARIABLE) or None
    if url is None:
        raise UsageError(
            f"{role.value} register not understood",
            why="no instance was named",
            fix="name its address with --url, or in FOLKMOOT_URL",
        )
    try:
        url = _address(url)
    except argparse.ArgumentTypeError as error:
        raise UsageError(
            "address of the instance not understood",
            why=str(error),
            fix="correct FOLKMOOT_URL",
        ) from error
    wish = Wish(
        role=role,
        name=arguments.name,
        url=url,
        root=arguments.keys,
        realm=arguments.realm,
        operator=arguments.operator,
        invite=arguments.invite,
        domain=arguments.domain,
        effort=Effort(processes=arguments.cores, most_hours=arguments.most_hours),
        waits=not arguments.no_wait,
    )

    def passphrase(is_new: bool) -> bytes:
        return obtain(
            descriptor=arguments.passphrase_fd,
            file=arguments.passphrase_file,
            environ=os.environ,
            creating=is_new,
        )

    # A stranger's instance is told no token, not even that of the environment.
    with Client(Target(url=url, token=None)) as client:
        outcome = Registration(wish, output, client).run(passphrase)
    _tell(output, wish, outcome)
    return Exit.OK


def _tell(output: Output, wish: Wish, outcome: Outcome) -> None:
    newcomer, minted, receipt = outcome.newcomer, outcome.minted, outcome.receipt
    if output.quiet:
        output.put_json(
            {
                "id": newcomer.id.hex(),
                "role": wish.role.value,
                "name": wish.name,
                "realm": outcome.door.realm.hex(),
                "instance": outcome.door.instance.hex(),
                "operator": None if outcome.operator is None else outcome.operator.id.hex(),
                "admission": None if receipt is None else receipt.admission,
                "admitted": outcome.is_admitted,
                "keys": str(wish.root),
                "tries": 0 if minted is None else minted.tried,
                "ms": 0 if minted is None else minted.spent_ms,
            }
        )
        return
    if minted is not None:
        output.say(f"The proof took {minted.tried:,} tries and {span(minted.spent_ms / 1_000)}.")
    if receipt is None:
        output.say(f"{clean(wish.name)} was admitted before.")
    elif outcome.is_admitted:
        output.say(f"{clean(wish.name)} is admitted.")
    else:
        output.say(f"{clean(wish.name)} is registered; the next cut admits it.")
    output.put(newcomer.id.hex())


_WHY: Final = (
    "It makes the keys, searches for the proof of work that the realm asks for, sends both to the "
    "instance, and waits for the cut that admits. The keys stay in DIR, encrypted; the instance "
    "never sees them. Each step is kept before the next one: after Ctrl-C, a crash or a lost answer "
    "the same command goes on where it stopped. A proof counts in its own epoch and the next; if "
    "the search takes longer, it begins anew and says so. "
)
_DATA: Final = {
    "id": "its id",
    "role": "operator or agent",
    "name": "what it is called",
    "realm": "the realm",
    "instance": "the instance that admits it",
    "operator": "who answers for an agent, or null",
    "admission": "record by which the instance admits it; null if it was admitted before",
    "admitted": "whether a cut has admitted it",
    "keys": "directory of its keys",
    "tries": "Argon2id hashes of this search, before interruptions too; 0 if none was needed",
    "ms": "how long that took",
}
_EXITS: Final = {
    Exit.FAILED: "no answer, no cut yet, or a file not read or written; repeat it to go on",
    Exit.REFUSED: "refused, or too much asked, or DIR is in use, or a wrong passphrase",
}
OPERATOR_REGISTER: Final = Command(
    words=("operator", "register"),
    summary="Join a realm as an operator",
    why=_WHY + "An operator answers for agents; register it first, and then agents with the same "
    "DIR. With --domain the instance looks there for the operator's id before it signs.",
    data=_DATA,
    examples=(
        "folkmoot operator register NAME --keys DIR --url URL",
        "folkmoot operator register NAME --keys DIR --url URL --domain DOMAIN --json",
    ),
    exits=_EXITS,
    options=_operator_options,
    run=partial(_run, Role.OPERATOR),
)
AGENT_REGISTER: Final = Command(
    words=("agent", "register"),
    summary="Join a realm as an agent that keeps its own keys",
    why=_WHY + "An operator whose keys are in DIR answers for it. It starts as a newcomer without "
    "weight; with an invite, the agent that invited it vouches for it.",
    data=_DATA,
    examples=(
        "folkmoot agent register NAME --keys DIR --url URL",
        "folkmoot agent register NAME --keys DIR --url URL --operator NAME --invite CODE",
    ),
    exits=_EXITS,
    options=_agent_options,
    run=partial(_run, Role.AGENT),
)
