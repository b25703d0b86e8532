"""`folkmoot review debate`: what was argued in a round, and a digest of it, by the API."""

import argparse
from collections.abc import Iterator
from typing import Final

from federation.deliberation import MOST
from node.cli.client import Client, connect, node_options
from node.cli.command import Command, between
from node.cli.errors import Exit
from node.cli.output import Json, Output
from node.cli.tables import Told, cell, prose, put_fields, put_table, row_of, rows_of

_PAGE: Final = 200
_INDENT: Final = "  "
_DEEPEST: Final = 8
"""Depth from which on replies are not moved in any further."""


def _options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument("round", metavar="ROUND", help="its id, or enough of its first digits")
    parser.add_argument(
        "--digest",
        metavar="N",
        type=between(1, MOST),
        help=f"show N sentences of it instead of all of it, 1 to {MOST}",
    )


def _run(arguments: argparse.Namespace, output: Output) -> Exit:
    digest: int | None = arguments.digest
    with connect(arguments) as client:
        whole = digest is None or output.quiet
        pages = list(_pages(client, arguments.round, digest, most=_PAGE if whole else 1))
    first = pages[0]
    told = {**first, "arguments": [dict(row) for page in pages for row in _arguments(page)]}
    told["next"] = None
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    _put_head(output, first)
    if digest is not None:
        _put_digest(output, row_of(first.get("digest")))
    else:
        for row in _arguments(told):
            _put_argument(output, row)
    return Exit.OK


def _pages(client: Client, said: str, digest: int | None, *, most: int) -> Iterator[Told]:
    """Go through the pages of a debate, or give the first if few arguments are wanted."""
    page = row_of(client.get("v1", "rounds", said, "debate", digest=digest, most=most))
    yield page
    while most == _PAGE and page.get("next"):
        after = str(page.get("next"))
        page = row_of(client.get("v1", "rounds", said, "debate", after=after, most=most))
        yield page


def _arguments(page: Told) -> list[Told]:
    return rows_of(page.get("arguments"))


def _put_head(output: Output, page: Told) -> None:
    names = ("round", "mode", "phase", "total", "threads", "unanswered", "sealed")
    put_fields(output, {name: page.get(name) for name in names})
    closed = [cell(dict(one)) for one in rows_of(page.get("closed"))]
    if closed:
        output.put(f"never opened by: {', '.join(closed)}")
    output.say()
    put_table(
        output,
        ("stance", "level", "arguments", "standing", "answered", "operators"),
        [
            tuple(
                cell(row.get(name))
                for name in ("stance", "level", "arguments", "standing", "answered", "operators")
            )
            for row in rows_of(page.get("sides"))
        ],
    )
    output.say()


def _put_argument(output: Output, row: Told) -> None:
    depth = row.get("depth")
    margin = _INDENT * min(depth if isinstance(depth, int) else 0, _DEEPEST)
    marks = [
        cell(row.get("stance")),
        cell(row.get("level")),
        "sealed first" if row.get("turn") == 0 else f"turn {cell(row.get('turn'))}",
        *(["not certified yet"] if not row.get("certified") else []),
        *(["stands"] if row.get("stands") else []),
        *(["unanswered"] if not row.get("answered_by") else []),
    ]
    claim = row.get("claim")
    about = f" on claim {cell(claim)}" if claim is not None else ""
    output.put(
        f"{margin}{cell(row.get('author'))} {cell(row.get('id'))}{about}: {', '.join(marks)}"
    )
    note = row.get("note")
    for line in prose(note).splitlines() if isinstance(note, str) else ("(no words held here)",):
        output.put(f"{margin}{_INDENT}{line}")


def _put_digest(output: Output, digest: Told) -> None:
    if not digest:
        output.say("There is no digest: the artifact is hidden.")
        return
    output.put("Digest: sentences of arguments, chosen by counting; not the whole debate.")
    for row in rows_of(digest.get("quotes")):
        words = row.get("words")
        more = " […]" if row.get("part") else ""
        output.put(
            f"{_INDENT}{cell(row.get('author'))} {cell(row.get('argument'))} "
            f"({cell(row.get('stance'))}): {_line(words)}{more}"
        )
    left: Json = digest.get("unquoted")
    output.put(
        f"Quoted {cell(digest.get('quoted'))} arguments; {cell(left)} more are not quoted, "
        f"and of {cell(digest.get('missing'))} the text is not held here."
    )


def _line(words: Json) -> str:
    return " ".join(prose(words).split()) if isinstance(words, str) else cell(None)


REVIEW_DEBATE: Final = Command(
    words=("review", "debate"),
    summary="Show what was argued in a round",
    why="Arguments stand thread by thread, each behind what it answers, with its turn, whether "
    "another operator answered it, and whether a standing reply takes the other side. --digest "
    "shows some sentences instead, for whoever comes late: they are chosen by counting, each is "
    "quoted letter by letter, and nothing of a digest enters a decision.",
    data={
        "arguments": "one object each, in reading order",
        "sides": "arguments by stance and level",
        "speakers": "arguments by agent, the busiest first",
        "digest": "`quotes` with `argument`, `author` and `words`, and how much is left out; or null",
        "…": "more, as the route /v1/rounds/{id}/debate tells it",
    },
    examples=("folkmoot review debate ROUND", "folkmoot review debate ROUND --digest 5 --json"),
    exits={Exit.FAILED: "no such round, or the node does not run"},
    options=_options,
    run=_run,
)
