"""What two nodes tell each other of what they hold: the heads of every author, in pages.

A page is complete for its range of authors: an author in the range that it does not name is
unknown to the sender. So a page can be answered alone, with `Log.missing_from`, and a long list
never has to be in memory twice nor in one frame.
"""

from collections.abc import Iterator
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from federation.codec import LIMITS, decode, encode
from federation.core import Code, IdentityId, PeerError, RecordId
from federation.records.statement import Count
from federation.replication.chains import Heads

ROWS: Final = 1_000
"""Authors on one page."""
MOST_HEADS: Final = 32
"""Heads named of one author that forked: the highest. Below the others a peer sends twice."""
_HEADS_ON_PAGE: Final = 4_000
"""Keeps a page within one frame whatever the authors did."""
_FIRST: Final = bytes(32)
_LAST: Final = b"\xff" * 32

_Head = tuple[Count, RecordId]


class _Row(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    author: IdentityId
    heads: Annotated[tuple[_Head, ...], Meta(min_length=1, max_length=MOST_HEADS)]


class _Page(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    low: IdentityId
    high: IdentityId
    rows: Annotated[tuple[_Row, ...], Meta(max_length=ROWS)]


class HeadsPage(msgspec.Struct, frozen=True, kw_only=True):
    """The heads of all authors from `low` to `high`, both included."""

    low: IdentityId
    high: IdentityId
    heads: Heads


def heads_pages(heads: Heads) -> Iterator[bytes]:
    """Give the pages that together tell all of `heads`, canonical, each within one frame.

    There is always at least one: a node that holds nothing says so.
    """
    low = _FIRST
    rows: list[_Row] = []
    on_page = 0
    for author in sorted(heads):
        row = _Row(author, heads[author][-MOST_HEADS:])
        if len(rows) == ROWS or on_page + len(row.heads) > _HEADS_ON_PAGE:
            high = rows[-1].author
            yield encode(_Page(low, high, tuple(rows)))
            low, rows, on_page = _after(high), [], 0
        rows.append(row)
        on_page += len(row.heads)
    yield encode(_Page(low, _LAST, tuple(rows)))


def read_heads_page(raw: bytes) -> HeadsPage:
    """Read a stranger's page; raises PeerError NOT_CANONICAL or TOO_LARGE.

    Rows must be ascending, within the range, and each row's heads ascending and distinct.
    """
    page = decode(raw, _Page, what="heads", most=LIMITS.frame)
    authors = [row.author for row in page.rows]
    ordered = authors == sorted(set(authors)) and all(
        list(row.heads) == sorted(set(row.heads)) for row in page.rows
    )
    if not ordered or (authors and not page.low <= authors[0] <= authors[-1] <= page.high):
        raise PeerError(
            "heads refused",
            why="its rows are not ascending within its range",
            fix="list each author once, in order",
            code=Code.NOT_CANONICAL,
        )
    return HeadsPage(
        low=page.low, high=page.high, heads={row.author: row.heads for row in page.rows}
    )


def _after(author: IdentityId) -> IdentityId:
    return (int.from_bytes(author, "big") + 1).to_bytes(32, "big")
