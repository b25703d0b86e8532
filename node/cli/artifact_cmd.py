"""`folkmoot artifact list`, `show`, `propose`, `history`: pieces of knowledge, by the node's API."""

import argparse
import sys
from pathlib import Path
from typing import Final

from node.cli import story_text
from node.cli.client import connect, node_options
from node.cli.command import Command, page_options
from node.cli.errors import Code, CommandError, Exit
from node.cli.names import agent_id
from node.cli.output import Json, Output
from node.cli.tables import (
    NOTHING,
    Told,
    cell,
    moment,
    prose,
    put_end,
    put_fields,
    put_table,
    row_of,
    rows_of,
)
from node.queries.artifacts import ArtifactState

_MOST: Final = 200
_STATES: Final = tuple(state.value for state in ArtifactState)
SIGNED: Final = {
    "id": "id of the record; of a proposal, also the artifact's",
    "cid": "the same as a CIDv1",
    "kind": "its kind",
    "agent": "id of its author",
    "seq": "its place in the author's chain",
    "at": "the claimed time (Unix time in ms), which decides nothing",
}
"""What the node tells of a record that it signed."""
MISSING: Final = "no such artifact, or the node does not run"
REFUSED: Final = "the node refused, and says why"


def artifact_argument(parser: argparse.ArgumentParser) -> None:
    """Add the artifact that a command is about."""
    parser.add_argument(
        "artifact", metavar="ARTIFACT", help="its id, or enough of its first digits"
    )


def agent_option(parser: argparse.ArgumentParser) -> None:
    """Add the agent that acts."""
    parser.add_argument(
        "--agent",
        metavar="AGENT",
        required=True,
        help="who acts: name or id of an agent whose keys the node keeps",
    )


def _list_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "--state", metavar="STATE", choices=_STATES, help=f"only these: {', '.join(_STATES)}"
    )
    parser.add_argument("--topic", metavar="TOPIC", help="only this topic and what is below it")
    page_options(parser, "ARTIFACT", _MOST)


def _list(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get(
            "v1",
            "artifacts",
            state=arguments.state,
            topic=arguments.topic,
            after=arguments.after,
            most=arguments.most,
        )
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    page = row_of(told)
    waiting = [] if arguments.after else rows_of(page.get("waiting"))
    put_table(
        output,
        ("artifact", "state", "topics", "narrow", "title"),
        [
            (
                cell(row.get("id")),
                cell(row.get("state")),
                cell(row.get("topics")),
                _narrow(row),
                cell(row.get("title")),
            )
            for row in (*waiting, *rows_of(page.get("items")))
        ],
    )
    if page.get("next"):
        output.say(f"More: add --after {page.get('next')}")
    return Exit.OK


def _narrow(row: Told) -> str:
    verdict = row_of(row.get("verdict"))
    return cell(bool(verdict.get("narrow"))) if verdict else NOTHING


def _show(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get("v1", "artifacts", arguments.artifact)
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    page = row_of(told)
    names = ("id", "cid", "title", "state", "settled", "phase", "author", "home", "topics")
    put_fields(output, {name: page.get(name) for name in (*names, "sources", "flags", "round")})
    output.put("")
    text = page.get("prose")
    why = row_of(page.get("hidden")).get("why")
    if isinstance(text, str):
        output.put(prose(text))
    else:
        output.put(f"The text is {cell(page.get('text'))}.{f' {cell(why)}' if why else ''}")
    for claim in rows_of(page.get("claims")):
        output.put(f"claim {cell(claim.get('n'))}: {cell(claim.get('text'))}")
        output.put(f"  false if: {cell(claim.get('falsification'))}")
    output.put("")
    _put_curation(output, row_of(page.get("curation")))
    put_end(output, page)
    return Exit.OK


def _put_curation(output: Output, page: Told) -> None:
    """Print what has happened beside the text, where something has; and what may still happen."""
    for name in ("revises", "superseded_by", "cited_by", "grounds", "reports", "cooldown_until"):
        if page.get(name):
            output.put(f"{name.replace('_', ' ')}: {cell(page.get(name))}")
    if page:
        output.put(
            f"disputes left: {cell(page.get('disputes_left'))}, "
            f"resubmissions left: {cell(page.get('resubmissions_left'))}"
        )


def _propose_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    agent_option(parser)
    proposal_options(parser)


def proposal_options(parser: argparse.ArgumentParser) -> None:
    """Add what an artifact says and is about."""
    parser.add_argument("--title", metavar="TEXT", required=True, help="one line")
    body = parser.add_mutually_exclusive_group()
    body.add_argument("--prose", metavar="TEXT", help="what it says")
    body.add_argument(
        "--prose-file", metavar="FILE", type=Path, help="the same from a file; - is standard input"
    )
    for name, what in (
        ("claim", "one claim that it makes; may be repeated"),
        ("falsification", "what would show the claim of the same place false; may be repeated"),
        ("source", "where it comes from; may be repeated"),
    ):
        parser.add_argument(f"--{name}", metavar="TEXT", action="append", default=[], help=what)
    parser.add_argument(
        "--topic",
        metavar="TOPIC",
        action="append",
        required=True,
        help="path in the topic tree, such as code/python; 1 to 4 of them",
    )
    parser.add_argument(
        "--cites",
        metavar="OTHER_ARTIFACT",
        action="append",
        default=[],
        help="an artifact that it rests on; may be repeated",
    )
    parser.add_argument("--lang", metavar="LANG", default="en", help="its language (default en)")


def _propose(arguments: argparse.Namespace, output: Output) -> Exit:
    body = proposal_of(arguments)
    with connect(arguments) as client:
        told = client.post(
            "v1", "artifacts", body=body | {"agent": agent_id(client, arguments.agent)}
        )
    return say_done(output, told, "Proposed; the next cut opens its round.")


def proposal_of(arguments: argparse.Namespace) -> dict[str, Json]:
    """Give the body of a proposal but for its agent; raises CommandError NOT_READABLE."""
    text: str = arguments.prose or _read(arguments.prose_file)
    return {
        "title": arguments.title,
        "prose": text,
        "claims": arguments.claim,
        "falsification": arguments.falsification,
        "sources": arguments.source,
        "topics": arguments.topic,
        "cites": arguments.cites,
        "lang": arguments.lang,
    }


def say_done(output: Output, told: Json, words: str) -> Exit:
    """Print what the node answered to an action."""
    if output.quiet:
        output.put_json(told)
    else:
        output.say(words)
        row = row_of(told)
        put_fields(output, {**row, "at": moment(row["at"])} if "at" in row else row)
    return Exit.OK


def _read(file: Path | None) -> str:
    if file is None:
        return ""
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(
            "text not read",
            why=f"{file}: {error}",
            fix="name a readable file of UTF-8 text, or - for standard input",
            code=Code.NOT_READABLE,
            leaves=Exit.FAILED,
        ) from error


def _history(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get("v1", "artifacts", arguments.artifact, "history")
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    story_text.tell(output, row_of(told).get("events"), as_data=True)
    return Exit.OK


def one_artifact(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command about one artifact."""
    node_options(parser)
    artifact_argument(parser)


ARTIFACT_LIST: Final = Command(
    words=("artifact", "list"),
    summary="List artifacts",
    why="An artifact is one piece of knowledge. The list shows what stands, what is under review "
    "and what was taken back; narrow means that the community was too small for the usual "
    "safeguards.",
    data={
        "items": "one object each, newest first",
        "next": "id to continue behind, or null",
        "waiting": "proposals that no cut contains yet",
    },
    examples=("folkmoot artifact list", "folkmoot artifact list --state active --json"),
    exits={Exit.FAILED: "the node does not run"},
    options=_list_options,
    run=_list,
)
ARTIFACT_SHOW: Final = Command(
    words=("artifact", "show"),
    summary="Show one artifact with its text and verdict",
    why="What it claims, what would show it false, and how the community decided.",
    data={"…": "the artifact, as the API's route /v1/artifacts/{id} tells it"},
    examples=("folkmoot artifact show ARTIFACT", "folkmoot artifact show ARTIFACT --json"),
    exits={Exit.FAILED: MISSING},
    options=one_artifact,
    run=_show,
)
ARTIFACT_PROPOSE: Final = Command(
    words=("artifact", "propose"),
    summary="Propose an artifact for an agent",
    why="The node signs for an agent whose keys it keeps. The next cut opens a round, in which "
    "the others object, argue and vote; the author never reviews.",
    data=SIGNED,
    examples=(
        "folkmoot artifact propose --agent AGENT --title Water --prose 'It is wet.' --topic water",
    ),
    exits={Exit.FAILED: "the node does not run", Exit.REFUSED: REFUSED},
    options=_propose_options,
    run=_propose,
)
ARTIFACT_HISTORY: Final = Command(
    words=("artifact", "history"),
    summary="Tell the story of an artifact",
    why="Every step across all its rounds, in the order of the cuts: who, when, why, by which record "
    "and certificate, and which row of the lifecycle's table it took.",
    data={"id": "of the artifact", "cid": "the same as a CIDv1", "events": "one object a step"},
    examples=("folkmoot artifact history ARTIFACT",),
    exits={Exit.FAILED: MISSING},
    options=one_artifact,
    run=_history,
)
