"""`folkmoot federation head`, `link`, `links`, `unlink`: other realms, by files and pinned keys."""

import argparse
import base64
import binascii
import re
from pathlib import Path
from typing import Final

from node.base.errors import NodeCode, NodeError
from node.cli.artifact_cmd import REFUSED, say_done
from node.cli.client import connect, node_options
from node.cli.command import Command, between
from node.cli.errors import Code, CommandError, Exit
from node.cli.output import Json, Output
from node.cli.tables import cell, put_fields, put_table, row_of, rows_of, share

_ID: Final = re.compile(r"[0-9a-f]{64}")
_LARGEST: Final = 66 * 1024
"""Bytes of a head's file, a little more than a node takes."""
_LINKS: Final = {
    "cut": "cut whose world this is worked out from",
    "links": "list of realms: `realm`, `key`, `weight`, `head_cut`, `known`, `age`, `left`, "
    "`trust`, `agents` and more",
}


def hex_id(text: str) -> str:
    """Read 64 hex digits."""
    if not _ID.fullmatch(text.lower()):
        raise argparse.ArgumentTypeError(f"{text!r} is not 64 hex digits")
    return text.lower()


def _head_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument("file", metavar="FILE", type=Path, help="where to write it")


def _head(arguments: argparse.Namespace, output: Output) -> Exit:
    file: Path = arguments.file
    with connect(arguments) as client:
        told = row_of(client.post("v1", "federation", "head"))
    try:
        content = base64.b64decode(str(told.get("file")), validate=True)
        file.write_bytes(content)
    except (OSError, binascii.Error) as error:
        raise NodeError(
            "head not written",
            why=f"{file}: {getattr(error, 'strerror', None) or error}",
            fix="name a file that can be written",
            code=NodeCode.NOT_WRITTEN,
        ) from error
    if output.quiet:
        output.put_json({name: value for name, value in told.items() if name != "file"})
        return Exit.OK
    output.say(
        f"{cell(told.get('agents'))} agents as of cut {cell(told.get('cut'))}, in {file}. "
        "Hand the file on as you like, and these two by a way that the other operator trusts:"
    )
    put_fields(output, {"realm": told.get("realm"), "key": told.get("key")})
    return Exit.OK


def _link_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument("realm", metavar="REALM", type=hex_id, help="its id, 64 hex digits")
    parser.add_argument(
        "--head",
        metavar="FILE",
        type=Path,
        required=True,
        help="its trust head, as `folkmoot federation head` wrote it there",
    )
    parser.add_argument(
        "--key",
        metavar="KEY",
        type=hex_id,
        required=True,
        help="the key that must have signed it, 64 hex digits, as its operator told you",
    )
    parser.add_argument(
        "--weight",
        metavar="W",
        type=between(1, 255),
        required=True,
        help="what the realm weighs for each of your seeds, 1 to 255, like a vouch",
    )


def _link(arguments: argparse.Namespace, output: Output) -> Exit:
    content = _read(arguments.head)
    with connect(arguments) as client:
        told = client.post(
            "v1",
            "federation",
            "links",
            body={
                "realm": arguments.realm,
                "key": arguments.key,
                "weight": arguments.weight,
                "head": base64.b64encode(content).decode(),
            },
        )
    return _put_links(told, output)


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            content = opened.read(_LARGEST + 1)
    except OSError as error:
        raise CommandError(
            "head not read",
            why=f"{file}: {error.strerror or error}",
            fix="name the file that the other realm's operator gave you",
            code=Code.NOT_READABLE,
            leaves=Exit.FAILED,
        ) from error
    if len(content) > _LARGEST:
        raise CommandError(
            "head not read",
            why=f"{file} has more than {_LARGEST} bytes, which no trust head has",
            fix="name the file that the other realm's operator gave you",
            code=Code.NOT_READABLE,
            leaves=Exit.FAILED,
        )
    return content


def _links(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get("v1", "federation", "links")
    return _put_links(told, output)


def _put_links(told: Json, output: Output) -> Exit:
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    rows = rows_of(row_of(told).get("links"))
    put_table(
        output,
        ("realm", "weight", "trust", "head of cut", "names", "known here", "age", "left"),
        [
            (
                cell(row.get("realm")),
                cell(row.get("weight")),
                share(row.get("trust")),
                cell(row.get("head_cut")),
                cell(row.get("head_agents")),
                cell(row.get("known")),
                cell(row.get("age")),
                cell(row.get("left")),
            )
            for row in rows
        ],
    )
    for row in rows:
        for agent in rows_of(row.get("agents")):
            output.put(
                f"    {cell(agent.get('agent'))}: weight {cell(agent.get('weight'))}, reputation "
                f"{share(agent.get('reputation'))} -> {share(agent.get('local_reputation'))}"
            )
    if any(row.get("known") == 0 for row in rows):
        output.say(
            "A realm of which nobody is known here lends nothing: it takes agents who are in both "
            "realms under the same key."
        )
    output.say("Trust is in average seats; age and what is left count cuts of this realm.")
    return Exit.OK


def _unlink_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "realm", metavar="REALM", help="its id, or enough of its first digits (at least six)"
    )


def _unlink(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.delete("v1", "federation", "links", arguments.realm)
    return say_done(output, told, "It counts for nothing here any more.")


FEDERATION_HEAD: Final = Command(
    words=("federation", "head"),
    summary="Write what this realm shows others of its trust, signed",
    why="The file names the most trusted agents of this realm by their keys. Another realm's "
    "operator can link it, with this realm's id and this instance's key, which the command prints. "
    "It tells of this realm's own trust only, never of realms that are linked here.",
    data={
        "realm": "id of this realm",
        "instance": "id of this instance",
        "key": "the key that signed",
        "record": "id of the record in this instance's chain",
        "cut": "cut that it tells of",
        "agents": "how many agents it names",
    },
    examples=("folkmoot federation head FILE",),
    exits={
        Exit.FAILED: "the file was not written, or the node does not run",
        Exit.REFUSED: REFUSED,
    },
    options=_head_options,
    run=_head,
)
FEDERATION_LINK: Final = Command(
    words=("federation", "link"),
    summary="Link another realm, or hand in its next trust head",
    why="The realm becomes one node of this node's own graph of trust, and lends trust to those of "
    "its agents who are agents here too, under the same key. What it lends is capped like any edge, "
    "fades with this realm's cuts, and is gone after 90. No certified verdict changes by it.",
    data=_LINKS,
    examples=("folkmoot federation link REALM --head FILE --key KEY --weight 100",),
    exits={
        Exit.FAILED: "the file was not read, or the node does not run",
        Exit.REFUSED: "our own realm, another realm, another key, an older head, or no head at all",
    },
    options=_link_options,
    run=_link,
)
FEDERATION_LINKS: Final = Command(
    words=("federation", "links"),
    summary="Show linked realms and what they do here",
    why="`known here` is how many of those that a realm names are agents of this realm. Reputation "
    "is shown as it is and as it would be with that realm's word, which is worth four outcomes at "
    "most.",
    data=_LINKS,
    examples=("folkmoot federation links", "folkmoot federation links --json"),
    exits={Exit.FAILED: "the node does not run", Exit.REFUSED: REFUSED},
    options=node_options,
    run=_links,
)
FEDERATION_UNLINK: Final = Command(
    words=("federation", "unlink"),
    summary="Link a realm no more",
    why="What the realm lent is gone at once. To link it again later takes a head again.",
    data={"done": "always true; anything else is an error"},
    examples=("folkmoot federation unlink REALM",),
    exits={Exit.FAILED: "no such link, or the node does not run", Exit.REFUSED: REFUSED},
    options=_unlink_options,
    run=_unlink,
)
