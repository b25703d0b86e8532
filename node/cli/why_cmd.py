"""`folkmoot why ARTIFACT`: what an artifact waits for, and until when."""

import argparse
from typing import Final

from node.cli.artifact_cmd import MISSING, one_artifact
from node.cli.client import connect
from node.cli.command import Command
from node.cli.errors import Exit
from node.cli.output import Output
from node.cli.tables import put_end, put_fields, row_of


def _run(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = client.get("v1", "artifacts", arguments.artifact, "why")
    if output.quiet:
        output.put_json(told)
    else:
        page = row_of(told)
        names = ("artifact", "round", "state", "phase", "settled")
        put_fields(output, {name: page.get(name) for name in names})
        put_end(output, page)
    return Exit.OK


WHY: Final = Command(
    words=("why",),
    summary="Tell what an artifact waits for",
    why="Every wait has an end. This names the phase that the artifact is in, whose turn it is, "
    "what is still missing, and when the phase closes by itself; of what is decided, it names the "
    "reasons.",
    data={
        "artifact": "its id",
        "round": "id of its round, or null",
        "state": "where it stands",
        "phase": "open phase of the round, or null",
        "settled": "whether a cut contains all that led there",
        "waits": "`code`, `sentence`, `until`, `remaining` ms, `missing` members, and more",
        "verdict": "how the round ended, with its `narrow` reasons, or null",
        "…": "more, as the route /v1/artifacts/{id}/why tells it",
    },
    examples=("folkmoot why ARTIFACT", "folkmoot why ARTIFACT --json"),
    exits={Exit.FAILED: MISSING},
    options=one_artifact,
    run=_run,
)
