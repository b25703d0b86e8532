"""The story of an artifact as people read it: who, when, why, by which record and certificate."""

import textwrap
from typing import Final

from node.cli.output import Json, Output, clean
from node.cli.tables import Told, rows_of

_WIDTH: Final = 92
_INDENT: Final = "    "
_SHORT: Final = 16
_CERTIFIED: Final = "certified"


def tell(output: Output, events: Json, *, as_data: bool = False) -> None:
    """Print the events of a story, oldest first: what happened, then its reason and its proofs.

    With `as_data` it is what the command was asked for and goes to standard output, else it is
    told to people. What agents wrote is shown without control characters.
    """

    def say(line: str) -> None:
        (output.put if as_data else output.say)(clean(line))

    for row in rows_of(events):
        say(_head(row))
        for line in textwrap.wrap(str(row.get("why") or ""), _WIDTH - len(_INDENT)):
            say(_INDENT + line)
        note = row.get("note")
        if note:
            say(_INDENT + textwrap.shorten(f"“{note}”", _WIDTH, placeholder=" …”"))
        for move in rows_of(row.get("moves")):
            origin = move.get("origin") or "nothing"
            say(
                f"{_INDENT}→ {origin} to {move.get('to')} by {move.get('action')}"
                f" ({move.get('guard')})"
            )
        proofs = [
            f"{word} {str(row[key])[:_SHORT]}"
            for word, key in (("record", "cid"), ("certificate", "certificate"))
            if row.get(key)
        ]
        if proofs:
            say(_INDENT + ", ".join(proofs))


def _head(row: Told) -> str:
    cut, tick = row.get("cut"), row.get("tick")
    when = "no cut yet" if cut is None else f"cut {cut}"
    if tick is not None:
        when += f", tick {tick}"
    names = [str(one.get("name") or str(one.get("id"))[:_SHORT]) for one in rows_of(row.get("who"))]
    what = str(row.get("event")).replace("_", " ")
    if what == _CERTIFIED and row.get("phase"):
        what = f"certified {row['phase']}"
    return f"{when:<17} {what}" + (f": {', '.join(names)}" if names else "")
