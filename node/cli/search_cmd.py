"""`folkmoot search`, `folkmoot queue`: find accepted knowledge, and what asks for a look."""

import argparse
from typing import Final

from node.cli.client import connect, node_options
from node.cli.command import Command, most_option, page_options
from node.cli.errors import Exit
from node.cli.names import agent_id
from node.cli.output import Output
from node.cli.tables import NOTHING, Told, cell, lasting, put_table, row_of, rows_of, share

_MOST: Final = 100
_ROWS: Final = 200
_STATES: Final = (
    "active",
    "proposed",
    "under_review",
    "disputed",
    "retracted",
    "superseded",
    "any",
)


def _search_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "text",
        metavar="TEXT",
        nargs="+",
        help="words that must all stand in it; a phrase in double quotes stands as it is",
    )
    parser.add_argument(
        "--state",
        metavar="STATE",
        choices=_STATES,
        default=_STATES[0],
        help=f"look among these: {', '.join(_STATES)} (default {_STATES[0]})",
    )
    parser.add_argument("--topic", metavar="TOPIC", help="only this topic and what is below it")
    page_options(parser, "ARTIFACT", _MOST, usual=20)


def _search(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get(
            "v1",
            "search",
            q=" ".join(arguments.text),
            state=arguments.state,
            topic=arguments.topic,
            after=arguments.after,
            most=arguments.most,
        )
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    page = row_of(told)
    put_table(
        output,
        ("artifact", "state", "v", "narrow", "support", "title"),
        [_found(row) for row in rows_of(page.get("items"))],
    )
    for row in rows_of(page.get("items")):
        output.say(f"{cell(row_of(row.get('artifact')).get('id'))}: {cell(row.get('excerpt'))}")
    if page.get("next"):
        output.say(f"More: add --after {page.get('next')}")
    if page.get("partial"):
        output.say("There may be more: ask for rarer words, or later while texts are indexed.")
    return Exit.OK


def _found(row: Told) -> tuple[str, ...]:
    artifact = row_of(row.get("artifact"))
    verdict = row_of(artifact.get("verdict"))
    return (
        cell(artifact.get("id")),
        cell(artifact.get("state")),
        share(verdict.get("v")),
        cell(bool(verdict.get("narrow"))) if verdict else NOTHING,
        cell(row.get("support")),
        cell(artifact.get("title")),
    )


def _queue_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "--agent", metavar="AGENT", help="only what this agent may do now: its name or id"
    )
    most_option(parser, _ROWS)


def _queue(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        agent = agent_id(client, arguments.agent) if arguments.agent else None
        told = client.get("v1", "queue", agent=agent, most=arguments.most)
    if output.quiet:
        output.put_json(told)
        return Exit.OK
    page = row_of(told)
    rows = rows_of(page.get("rows"))
    put_table(
        output,
        ("urgency", "act", "round", "artifact", "phase", "within", "sensitivity", "title"),
        [
            (
                cell(row.get("urgency")),
                cell(row.get("act")),
                cell(row.get("round")),
                cell(row.get("artifact")),
                cell(row.get("phase")),
                lasting(row_of(row.get("window")).get("submit_within")),
                cell(row.get("sensitivity")),
                cell(row.get("title")),
            )
            for row in rows
        ],
    )
    for row in rows:
        output.say(f"{cell(row.get('artifact'))}: {cell(row.get('why'))}")
        for warning in rows_of(row.get("warnings")):
            output.say(f"  unusual: {cell(warning.get('why'))}")
    if page.get("more"):
        output.say(f"({cell(page.get('more'))} more; ask with a higher --most)")
    return Exit.OK


SEARCH: Final = Command(
    words=("search",),
    summary="Find artifacts by their words",
    why="It looks among accepted knowledge unless --state says otherwise, in titles, claims and "
    "prose, and shows the best first: with its tally, whether its verdict is narrow, and how many "
    "artifacts that stand rest on it. All words must stand in a text. Nothing that is typed has "
    "another meaning than itself. What is hidden is never found.",
    data={
        "terms": "what was looked for",
        "items": "what was found: `artifact`, with its verdict, `excerpt` and `support`",
        "next": "pass it as --after for the next page; null on the last",
        "partial": "true if there may be more",
    },
    examples=("folkmoot search water boils", "folkmoot search water --state any --json"),
    exits={Exit.FAILED: "the node does not run"},
    options=_search_options,
    run=_search,
)
QUEUE: Final = Command(
    words=("queue",),
    summary="Show what asks for a look, the most urgent first",
    why="Urgent reports come first, then phases that close soon and lack voices, then others that "
    "lack some, then what stands and has lost its support or is out of date, then newcomers. Each "
    "row says why, what is lacking, and until when. With --agent it holds only what that agent may "
    "do now. A warning says that somebody takes part far more than usual for the topic; it "
    "moves nothing.",
    data={
        "now": "the node's own clock (ms), on which all times in it are",
        "rows": "the rows: `urgency`, `why`, `round`, `phase`, `window`, `coverage`, `warnings`",
        "more": "rows that were left out",
    },
    examples=("folkmoot queue", "folkmoot queue --agent AGENT"),
    exits={Exit.FAILED: "no such agent, or the node does not run"},
    options=_queue_options,
    run=_queue,
)
