"""`folkmoot trust graph`: the most trusted agents as a list, or a picture of who trusts whom."""

import argparse
import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from node.base.errors import NodeCode
from node.cli.client import connect, node_options
from node.cli.command import Command
from node.cli.errors import CommandError, Exit, UsageError
from node.cli.output import Json, Output
from node.cli.tables import Told, cell, put_more, put_table, row_of, rows_of, share
from node.cli.trust_picture import Arrow, Person, draw

_READABLE: Final = 0o644


def svg_file(text: str) -> Path:
    """Read where the picture goes."""
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError("it is no name of a file")
    return Path(text)


def _graph_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "--svg",
        metavar="FILE",
        type=svg_file,
        help="draw the graph into this file; a file that is there is replaced whole",
    )


def _graph(arguments: argparse.Namespace, output: Output) -> Exit:
    svg: Path | None = arguments.svg
    if svg is not None:
        _check_place(svg)
    with connect(arguments) as client:
        told = client.get("v1", "trust")
    page = row_of(told)
    if svg is not None:
        _write(svg, picture(page))
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    if svg is not None:
        output.say(f"Drawn: {len(rows_of(page.get('agents')))} agents, into {svg}.")
        _say_left_out(output, page)
        return Exit.OK
    put_table(
        output,
        ("agent", "name", "operator", "tier", "trust", "weight", "founder"),
        [
            (
                cell(row.get("id")),
                cell(row.get("name")),
                cell(row.get("operator")),
                cell(row.get("tier")),
                share(row.get("trust")),
                share(row.get("weight")),
                cell(row.get("founder")),
            )
            for row in rows_of(page.get("agents"))
        ],
    )
    _say_left_out(output, page)
    return Exit.OK


def _say_left_out(output: Output, page: Told) -> None:
    put_more(output, page.get("agents_left_out"), "agents, with less trust")
    put_more(output, page.get("edges_left_out"), "judgements, lighter ones")


def picture(page: Told) -> str:
    """Draw what a node told of its graph; what it told in another form is left out."""
    people = [_person(row) for row in rows_of(page.get("agents"))]
    arrows = [
        Arrow(
            by=str(row.get("by")),
            of=str(row.get("of")),
            weight=_number(row.get("weight")),
            vouch=not _number(row.get("approvals")),
        )
        for row in rows_of(page.get("edges"))
        if _number(row.get("weight")) > 0
    ]
    says = f"{_many(len(people), 'agent')}, {_many(len(arrows), 'judgement')} between them"
    left_out = _number(page.get("agents_left_out")) + _number(page.get("edges_left_out"))
    if left_out:
        says += (
            f"; left out: {_number(page.get('agents_left_out'))} agents with less trust, "
            f"{_number(page.get('edges_left_out'))} lighter judgements"
        )
    title = f"Who trusts whom in {page.get('realm')}, tick {_number(page.get('tick'))}"
    return draw(people, arrows, title=title, says=says)


def _person(row: Told) -> Person:
    operator = row_of(row.get("operator"))
    return Person(
        id=str(row.get("id")),
        name=str(row.get("name") or str(row.get("id"))[:8]),
        operator=str(operator.get("id")),
        operator_name=str(operator.get("name") or str(operator.get("id"))[:8]),
        tier=_number(row.get("tier")),
        weight=_number(row.get("weight")),
        trust=_number(row.get("trust")),
        founder=row.get("founder") is True,
    )


def _number(value: Json) -> int:
    return value if isinstance(value, int) else 0


def _many(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _check_place(path: Path) -> None:
    """Refuse a place where no file can be written, before anything is asked or drawn.

    What is there and is no ordinary file is never replaced: a device would be gone for everybody.
    """
    try:
        place = path.resolve()
        if place.is_dir():
            raise _bad_place(f"{path} is a directory")
        if place.exists() and not place.is_file():
            raise _bad_place(f"{path} is no ordinary file")
        if not place.parent.is_dir():
            raise _bad_place(f"{path.parent} is no directory")
    except (OSError, RuntimeError) as error:
        raise _not_written(path, error) from error


def _bad_place(why: str) -> UsageError:
    return UsageError("picture not drawn", why=why, fix="name another file with --svg")


def _write(path: Path, content: str) -> None:
    """Write a file whole or not at all; a link to a file stays a link."""
    fresh: Path | None = None
    try:
        place = path.resolve()
        with NamedTemporaryFile(
            "w", encoding="utf-8", dir=place.parent, prefix=".folkmoot-", delete=False
        ) as file:
            fresh = Path(file.name)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.chmod(_READABLE)
        fresh.replace(place)
    except BaseException as error:
        if fresh is not None:
            fresh.unlink(missing_ok=True)
        if isinstance(error, OSError | RuntimeError):
            raise _not_written(path, error) from error
        raise


def _not_written(path: Path, error: OSError | RuntimeError) -> CommandError:
    reason = error.strerror if isinstance(error, OSError) else "its links lead in a circle"
    return CommandError(
        "picture not written",
        why=f"{str(path)[:200]}: {reason}",
        fix="check your rights and the room on the disk, or name another file",
        code=NodeCode.NOT_WRITTEN,
        leaves=Exit.FAILED,
    )


TRUST_GRAPH: Final = Command(
    words=("trust", "graph"),
    summary="List the most trusted agents, or draw who trusts whom",
    why="The picture shows up to 500 agents, the most trusted: the area of a circle is trust, its "
    "colour the operator, a ring a founder; an arrow leads from who judged to who was judged. "
    "The same graph gives the same picture.",
    data={
        "realm": "name of the realm",
        "tick": "the tick that trust is of",
        "agents": "one object each, the most trusted first",
        "edges": "one object each: `by`, `of`, `approvals`, `vouch`, `weight`",
        "agents_left_out": "how many are not shown",
        "edges_left_out": "how many judgements between those shown are not",
        "…": "more, as the route /v1/trust tells it",
    },
    examples=("folkmoot trust graph --svg trust.svg", "folkmoot trust graph --json"),
    exits={Exit.FAILED: "the node does not run, or the file could not be written"},
    options=_graph_options,
    run=_graph,
)
