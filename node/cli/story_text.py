"""The story of an artifact as people read it: who, when, why, by which record and certificate."""

import textwrap
from typing import Final

from node.cli.output import Json, Output
from node.cli.tables import Told, rows_of

_WIDTH: Final = 92
_INDENT: Final = "    "
_SHORT: Final = 16
_CERTIFIED: Final = "certified"


def tell(output: Output, events: Json) -> None:
    """Print the events of a story, oldest first: what happened, then its reason and its proofs."""
    for row in rows_of(events):
        output.say(_head(row))
        for line in textwrap.wrap(str(row.get("why") or ""), _WIDTH - len(_INDENT)):
            output.say(_INDENT + line)
        note = row.get("note")
        if note:
            output.say(_INDENT + textwrap.shorten(f"“{note}”", _WIDTH, placeholder=" …”"))
        for move in rows_of(row.get("moves")):
            origin = move.get("origin") or "nothing"
            output.say(
                f"{_INDENT}→ {origin} to {move.get('to')} by {move.get('action')}"
                f" ({move.get('guard')})"
            )
        proofs = [
            f"{word} {str(row[key])[:_SHORT]}"
            for word, key in (("record", "cid"), ("certificate", "certificate"))
            if row.get(key)
        ]
        if proofs:
            output.say(_INDENT + ", ".join(proofs))


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
