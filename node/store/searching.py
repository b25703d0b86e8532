"""Reads of the search index, and of what is hidden on this node alone.

An index row is found by the number of its text, and a text that is gone shows nowhere, whatever
the index may still hold of it.
"""

from typing import Final

from federation.core import RecordId
from federation.records import Kind
from node.store.indexed import Hidden, Indexed
from node.store.loading import PAGE, Fetch, as_bytes, as_int

RANKED: Final = 20_000
"""Newest texts that hold all terms and are ranked: a word that stands everywhere costs no more."""

# Title, claims, prose: a word in the title says more of what a text is about.
_SEARCH: Final = """
SELECT texts.record FROM (
    SELECT rowid AS number, bm25(words, 8.0, 4.0, 1.0) AS score
    FROM words WHERE words MATCH ?1 ORDER BY rowid DESC LIMIT ?2
) AS found JOIN texts USING (number)
ORDER BY found.score, number DESC LIMIT ?3
"""
_LACKING: Final = """
SELECT number, record, content FROM texts JOIN records ON id = record
WHERE number > ?1 AND number <= ?2 AND kind IN (?3, ?4)
    AND NOT EXISTS (SELECT 1 FROM words_docsize AS held WHERE held.id = number)
ORDER BY number LIMIT ?5
"""


async def search(fetch: Fetch, expression: str, most: int) -> list[RecordId]:
    """Find proposals whose text matches, the best first; `expression` is of `words`."""
    rows = await fetch(_SEARCH, (expression, RANKED, most))
    return [as_bytes(row[0]) for row in rows]


async def indexed(fetch: Fetch) -> Indexed:
    """Tell how far the index is known to be whole."""
    rows = await fetch("SELECT format, upto FROM indexed", ())
    if not rows:
        return Indexed(format=0, upto=0)
    ((form, upto),) = rows
    return Indexed(format=as_int(form), upto=as_int(upto))


async def last_text(fetch: Fetch) -> int:
    """Give the number of the newest text, 0 if there is none."""
    ((number,),) = await fetch("SELECT coalesce(max(number), 0) FROM texts", ())
    return as_int(number)


async def lacking(
    fetch: Fetch, after: int, upto: int, most: int = PAGE
) -> list[tuple[int, RecordId, bytes]]:
    """List proposals between two numbers whose text is not indexed: number, id and text."""
    kinds = (Kind.PROPOSE.value, Kind.REVISE.value)
    rows = await fetch(_LACKING, (after, upto, *kinds, most))
    return [(as_int(number), as_bytes(name), as_bytes(text)) for number, name, text in rows]


async def hidden(fetch: Fetch) -> list[Hidden]:
    """List what is hidden on this node alone, by id."""
    rows = await fetch("SELECT artifact, reason, at FROM hidden ORDER BY artifact", ())
    return [
        Hidden(artifact=as_bytes(name), reason=str(reason), at=as_int(at))
        for name, reason, at in rows
    ]
