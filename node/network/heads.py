"""The heads of all authors as pages, and one hash of them: made once for each state of the log.

Two instances that hold the same say so with one hash, every few seconds, whatever their size. A
record makes the page of its author stale and no other, and a page is made again when somebody
asks for it: for the page itself, or for the hash of all.
"""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

from federation.core import Digest, IdentityId
from federation.crypto import plain_hash
from federation.replication import HeadsPage, Log, paged, write_heads_page

_FIRST: Final = bytes(32)
_LAST: Final = b"\xff" * 32


@dataclass(slots=True, kw_only=True)
class _Page:
    low: IdentityId
    high: IdentityId
    authors: set[IdentityId]
    raw: bytes = b""
    """Empty while the page is stale."""
    digest: Digest = b""


class HeadsCache:
    """Pages of heads of one log, which only grows."""

    def __init__(self) -> None:
        """Start with nothing: one stale page for everybody."""
        self._size = 0
        """Of the log, when it was last looked at."""
        self._pages = [_Page(low=_FIRST, high=_LAST, authors=set())]
        self._highs = [_LAST]
        """The last author of each page, ascending."""

    def page_at(self, log: Log, author: IdentityId) -> tuple[bytes, IdentityId]:
        """Give the page that tells of an author, and the last author that it tells of."""
        self._catch_up(log)
        self._renew(log, self._place_of(author))
        # It may have become several.
        page = self._pages[self._place_of(author)]
        return page.raw, page.high

    def digest(self, log: Log) -> Digest:
        """Give the hash of all pages."""
        self._catch_up(log)
        # From the end: where a page becomes several, those before it keep their places.
        for place in reversed(range(len(self._pages))):
            self._renew(log, place)
        return plain_hash(b"".join(page.digest for page in self._pages))

    def _place_of(self, author: IdentityId) -> int:
        return bisect_left(self._highs, author)

    def _catch_up(self, log: Log) -> None:
        """Note whose page is stale."""
        if len(log) == self._size:
            return
        for author in log.authors_since(self._size):
            page = self._pages[self._place_of(author)]
            page.authors.add(author)
            page.raw = b""
        self._size = len(log)

    def _renew(self, log: Log, place: int) -> None:
        """Make a page again if it is stale; several in its place if it has become too full."""
        page = self._pages[place]
        if page.raw:
            return
        heads = {author: log.heads_of(author) for author in page.authors}
        made = [_made(one) for one in paged(heads, page.low, page.high)]
        self._pages[place : place + 1] = made
        self._highs[place : place + 1] = [one.high for one in made]


def _made(page: HeadsPage) -> _Page:
    raw = write_heads_page(page)
    return _Page(
        low=page.low, high=page.high, authors=set(page.heads), raw=raw, digest=plain_hash(raw)
    )
