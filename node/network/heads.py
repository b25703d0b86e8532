"""The heads of all authors as pages, and one hash of them: made once for each state of the log.

Two instances that hold the same say so with one hash, every few seconds, whatever their size.
"""

from federation.core import Digest
from federation.crypto import plain_hash
from federation.replication import Log, heads_pages


class HeadsCache:
    """Pages of heads of one log."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._size = -1
        self._pages: tuple[bytes, ...] = ()
        self._digest: Digest = b""

    def pages(self, log: Log) -> tuple[bytes, ...]:
        """Give the pages; a log only grows, so its size tells whether they still hold."""
        if len(log) != self._size:
            self._pages = tuple(heads_pages(log.author_heads()))
            self._digest = plain_hash(b"".join(plain_hash(page) for page in self._pages))
            self._size = len(log)
        return self._pages

    def digest(self, log: Log) -> Digest:
        """Give the hash of all pages."""
        self.pages(log)
        return self._digest
