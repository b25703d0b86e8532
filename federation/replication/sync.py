"""What two nodes tell each other of what they hold: the heads of every author, in pages.

A page is complete for its range of authors: an author in the range that it does not name is
unknown to the sender. So a page can be answered alone, with `Log.missing_from`, and a long list
never has to be in memory twice nor in one frame.

Where pages begin and end follows from the heads alone: the range of all authors is halved, and
each half again, until a page has room for what is in it. So two nodes that hold the same have the
same pages, and a record changes the page of its author and no other.
"""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from federation.codec import LIMITS, decode, encode
from federation.core import Code, IdentityId, PeerError, RecordId
from federation.records.statement import Count
from federation.replication.chains import Heads

ROWS: Final = 1_000
"""Authors on one page, at most."""
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
    return map(write_heads_page, paged(heads))


def paged(heads: Heads, low: IdentityId = _FIRST, high: IdentityId = _LAST) -> Iterator[HeadsPage]:
    """Lay `heads`, which are all from `low` to `high`, out on pages, ascending.

    `low` and `high` are the range of all authors or the range of a page: a page that has become
    too full is laid out on several by itself.
    """
    authors = sorted(heads)
    ranges = [(int.from_bytes(low, "big"), int.from_bytes(high, "big"), 0, len(authors))]
    while ranges:
        first, last, start, end = ranges.pop()
        rows = {}
        if end - start <= ROWS:
            rows = {author: heads[author][-MOST_HEADS:] for author in authors[start:end]}
        if end - start > ROWS or sum(map(len, rows.values())) > _HEADS_ON_PAGE:
            # A range of one author holds one row, which fits; so this ends.
            middle = (first + last) // 2
            split = bisect_right(authors, _id(middle), start, end)
            ranges += [(middle + 1, last, split, end), (first, middle, start, split)]
        else:
            yield HeadsPage(low=_id(first), high=_id(last), heads=rows)


def write_heads_page(page: HeadsPage) -> bytes:
    """Give the canonical bytes of a page that `paged` gave."""
    rows = tuple(_Row(author, heads) for author, heads in page.heads.items())
    return encode(_Page(page.low, page.high, rows))


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


def _id(number: int) -> IdentityId:
    return number.to_bytes(32, "big")
