"""`folkmoot trust diff INSTANCE`: where a peer's certified world differs from ours, and why."""

import argparse
from typing import Final

from node.cli.client import connect, node_options
from node.cli.command import Command
from node.cli.errors import Exit
from node.cli.output import Output, clean
from node.cli.peer_cmd import find_peer, peers_of
from node.cli.tables import NOTHING, Told, cell, put_fields, put_more, put_table, row_of, rows_of

_ONLY: Final = {"ours": "only here", "theirs": "only there"}


def _options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "instance", metavar="INSTANCE", help="its name, its id, or the first digits of its id"
    )


def _run(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        peer = find_peer(peers_of(client.get("v1", "peers")), arguments.instance)
        told = client.get("v1", "peers", str(peer.get("instance")), "diff")
    page = row_of(told)
    same = page.get("same") is True and not rows_of(page.get("causes"))
    if output.quiet:
        output.put_json(told)
    else:
        _tell(output, page)
    return Exit.OK if same else Exit.FAILED


def _tell(output: Output, page: Told) -> None:
    output.put(clean(str(page.get("says"))))
    ours, theirs = row_of(page.get("ours")), row_of(page.get("theirs"))
    output.say()
    put_table(
        output,
        ("", "ours", "theirs"),
        [
            (name.replace("_", " "), cell(value), cell(theirs.get(name)))
            for name, value in ours.items()
        ],
    )
    if page.get("buckets"):
        output.say()
        put_fields(
            output,
            {
                f"differing buckets of {clean(name)}": count
                for name, count in row_of(page.get("buckets")).items()
            },
        )
    lines = [line for row in rows_of(page.get("rows")) for line in _lines(row)]
    if lines:
        output.say()
        put_table(output, ("table", "id", "name", "field", "ours", "theirs", "means"), lines)
    put_more(output, page.get("more_rows"), "rows")
    put_more(output, page.get("more_buckets"), "buckets not looked into")
    for cause in rows_of(page.get("causes")):
        output.say()
        output.put(f"{cell(cause.get('code'))}: {clean(str(cause.get('says')))}")
        output.put(f"  fix: {clean(str(cause.get('fix')))}")


def _lines(row: Told) -> list[tuple[str, ...]]:
    """Give a line for each field of a row that differs, or one if only one side has it."""
    head = (cell(row.get("table")), cell(row.get("id")), cell(row.get("name")))
    only = _ONLY.get(str(row.get("held")))
    if only is not None:
        return [(*head, only, NOTHING, NOTHING, NOTHING)]
    return [
        (*head, *(cell(field.get(name)) for name in ("field", "ours", "theirs", "means")))
        for field in rows_of(row.get("fields"))
    ]


TRUST_DIFF: Final = Command(
    words=("trust", "diff"),
    summary="Explain any difference between a peer's world and ours",
    why="Two instances at one cut hold the same trust, weights, artifacts and keys, by construction. "
    "If they do not, there is a bug, a damaged disk, another version, or somebody lies. This "
    "asks the peer over the live connection, goes down to the rows that differ, verifies what it is "
    "sent against the digest that the peer claims, and tells what can explain it. At different cuts "
    "it compares what both hold of the older one.",
    data={
        "peer": "the other instance",
        "same": "true if nothing is to be explained",
        "says": "the outcome in a sentence",
        "ours": "what our world amounts to: cut, digests, version",
        "theirs": "the same of the peer, as it says",
        "common": "the newest cut that both have reached, and whether it agrees; or null",
        "buckets": "by table, how many of its 4,096 buckets differ",
        "rows": "rows that differ, at most 256: table, id, name, and each field with both values",
        "more_rows": "differing rows that are not shown",
        "more_buckets": "differing buckets that were not looked into",
        "causes": "what can explain it: `code`, `says`, `fix`",
    },
    examples=("folkmoot trust diff INSTANCE", "folkmoot trust diff INSTANCE --json"),
    exits={
        Exit.OK: "nothing to explain: they agree about the newest cut that both have reached",
        Exit.FAILED: "they differ, which is told; or they could not be compared",
        Exit.REFUSED: "the token is not the operator's",
    },
    options=_options,
    run=_run,
)
