"""Tables and fields for people, from the JSON that a node answers with.

Headings go to standard error and rows to standard output, so that `grep` and `cut` meet nothing
but rows. What agents wrote is shown without control characters.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from federation.charter import spell
from federation.core import MILLION
from node.cli.output import Json, Output, clean

NOTHING: Final = "-"
_GAP: Final = "  "
_ID: Final = 64
_SHORT: Final = 12

Told = Mapping[str, Json]
"""A JSON object as a node told it."""


def row_of(value: Json) -> Told:
    """Take a JSON value as an object; anything else is an empty one."""
    return value if isinstance(value, dict) else {}


def rows_of(value: Json) -> list[Told]:
    """Take a JSON value as a list of objects; what is none is left out."""
    if not isinstance(value, list | tuple):
        return []
    return [one for one in value if isinstance(one, dict)]


def cell(value: Json) -> str:
    """Show one value in few words: ids by their first 12 digits, nothing as a dash."""
    match value:
        case None | "" | []:
            return NOTHING
        case True:
            return "yes"
        case False:
            return "no"
        case str():
            return clean(value[:_SHORT] if _is_id(value) else value)
        case list() | tuple():
            return ", ".join(cell(one) for one in value)
        case {"id": _, "name": str() as name}:
            # An identity that is mentioned.
            return clean(name)
        case dict():
            # An empty one too is nothing; as a pattern `{}` would match every dictionary.
            return ", ".join(f"{clean(key)} {cell(one)}" for key, one in value.items()) or NOTHING
        case _:
            return str(value)


def moment(value: Json) -> str:
    """Show Unix time in ms as a time of day in UTC."""
    if not isinstance(value, int):
        return NOTHING
    return f"{datetime.fromtimestamp(value / 1_000, UTC):%Y-%m-%d %H:%M:%S}Z"


def lasting(value: Json) -> str:
    """Show a duration in ms."""
    return spell(value) if isinstance(value, int) else NOTHING


def share(value: Json) -> str:
    """Show millionths as a number with three places."""
    return f"{value / MILLION:.3f}" if isinstance(value, int) else NOTHING


def prose(text: str) -> str:
    """Clean a text of several lines, and keep its lines."""
    return "\n".join(clean(line) for line in text.splitlines())


def put_table(output: Output, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns, under a heading that is not data; the last column is not padded."""
    widths = [max(len(line[place]) for line in [head, *rows]) for place in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        padded = (one.ljust(width) for one, width in zip(cells, widths, strict=True))
        return _GAP.join(padded).rstrip()

    if not rows:
        output.say("(none)")
        return
    output.say(line([one.upper() for one in head]))
    for row in rows:
        output.put(line(row))


def put_more(output: Output, count: Json, what: str) -> None:
    """Say how many rows were left out, if any."""
    if isinstance(count, int) and count:
        output.say(f"({count} more {what})")


def put_fields(output: Output, fields: Mapping[str, Json]) -> None:
    """Print `name  value` lines; ids in full."""
    width = max((len(name) for name in fields), default=0)
    for name, value in fields.items():
        shown = value if isinstance(value, str) and _is_id(value) else cell(value)
        output.put(f"{name.replace('_', ' ').ljust(width)}{_GAP}{shown}")


def put_end(output: Output, page: Told) -> None:
    """Print the verdict of an artifact or round, and what it waits for.

    A verdict is never shown without the safeguards that it lacked.
    """
    verdict = row_of(page.get("verdict"))
    if verdict:
        output.put(f"verdict: {cell(verdict.get('why'))}")
    for narrow in rows_of(verdict.get("narrow")):
        output.put(f"  narrow: {cell(narrow.get('why'))}")
    waits = row_of(page.get("waits"))
    # What is settled waits for nothing; its reason is the verdict's, which stands above.
    if waits and waits.get("sentence") != verdict.get("why"):
        output.put(f"waits: {cell(waits.get('sentence'))}")


def _is_id(text: str) -> bool:
    return len(text) == _ID and all(one in "0123456789abcdef" for one in text)
