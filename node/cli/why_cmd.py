"""`folkmoot why ID`: what an artifact waits for, and until when; what becomes of any other record."""

import argparse
import re
from typing import Final

from node.base.errors import NodeCode
from node.cli.artifact_cmd import MISSING, one_artifact
from node.cli.client import Client, connect
from node.cli.command import Command
from node.cli.errors import AnswerError, Exit
from node.cli.output import Json, Output
from node.cli.tables import Told, cell, put_end, put_fields, row_of

_FULL: Final = re.compile(r"[0-9a-fA-F]{64}|[bB][a-zA-Z2-7]{58}")
"""An id or a CID: of records other than artifacts nothing else is looked up."""


def _run(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        told = _ask(client, arguments.artifact)
    page = row_of(told)
    if output.quiet:
        output.put_json(told)
    elif "fate" in page:
        _tell_record(output, page)
    else:
        names = ("artifact", "round", "state", "phase", "settled")
        put_fields(output, {name: page.get(name) for name in names})
        put_end(output, page)
    return Exit.OK


def _ask(client: Client, said: str) -> Json:
    """Ask about an artifact, and if there is none of this id, about the record that has it."""
    try:
        return client.get("v1", "artifacts", said, "why")
    except AnswerError as error:
        if error.code != NodeCode.NOT_FOUND:
            raise
        if not _FULL.fullmatch(said):
            raise _short(error) from error
    return client.get("v1", "records", said, "why")


def _short(error: AnswerError) -> AnswerError:
    """Say of an id's beginning that it could only have meant an artifact."""
    return AnswerError(
        error.what,
        why=f"{error.why}, and other records are found by their full id only",
        fix="give all 64 digits, or `folkmoot artifact list` for what there is",
        code=error.code,
        status=error.status,
    )


def _tell_record(output: Output, page: Told) -> None:
    names = ("id", "kind", "author", "contained", "fate", "code")
    put_fields(output, {name: page.get(name) for name in names})
    admission = row_of(page.get("admission"))
    if admission:
        put_fields(output, {name: admission.get(name) for name in ("role", "newcomer", "operator")})
        put_fields(output, {f"proof: {k}": v for k, v in row_of(admission.get("proof")).items()})
    output.put(cell(page.get("sentence")))
    if page.get("fix"):
        output.put(f"fix: {cell(page.get('fix'))}")


WHY: Final = Command(
    words=("why",),
    summary="Tell what an artifact waits for, or why a record does not count",
    why="Every wait has an end. This names the phase that the artifact is in, whose turn it is, "
    "what is still missing, and when the phase closes by itself; of what is decided, it names the "
    "reasons. Of any other record, named by its full id, it tells whether it counts, and if not, "
    "why: of an admission also what its proof claims.",
    data={
        "artifact": "its id",
        "round": "id of its round, or null",
        "state": "where it stands",
        "phase": "open phase of the round, or null",
        "settled": "whether a cut contains all that led there",
        "waits": "`code`, `sentence`, `until`, `remaining` ms, `missing` members, and more",
        "verdict": "how the round ended, with its `narrow` reasons, or null",
        "…": "more, as the route /v1/artifacts/{id}/why tells it; of another record what "
        "/v1/records/{id}/why tells: `fate`, `code`, `sentence`, `fix`, and more",
    },
    examples=("folkmoot why ARTIFACT", "folkmoot why ARTIFACT --json"),
    exits={Exit.FAILED: MISSING},
    options=one_artifact,
    run=_run,
)
