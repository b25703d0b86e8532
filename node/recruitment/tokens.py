"""Words as SQLite's index sees them, so that a keyword matches what a search for it finds.

A table in memory is filled, read back through its vocabulary, and emptied again. It holds nothing
between two questions.
"""

import sqlite3
import threading
from collections.abc import Sequence
from typing import Final

from node.store.words import spread

TOGETHER: Final = 20_000
"""Texts that are taken apart at once: more would only need more memory."""


class Tokens:
    """Takes texts apart; may be used from several threads, one at a time."""

    def __init__(self) -> None:
        """Open a table in memory; `close` gives it back."""
        self._lock: Final = threading.Lock()
        self._database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        # As the table `words` of a store; no content is kept.
        self._database.execute(
            "CREATE VIRTUAL TABLE taken USING fts5("
            "text, content = '', tokenize = \"unicode61 remove_diacritics 2\")"
        )
        self._database.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(taken, instance)")

    def of(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Give the words of each text, in order; what holds none gives no word."""
        with self._lock:
            return [
                words
                for start in range(0, len(texts), TOGETHER)
                for words in self._some(texts[start : start + TOGETHER])
            ]

    def _some(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        database = self._database
        found: list[list[tuple[int, str]]] = [[] for _ in texts]
        database.execute("BEGIN")
        try:
            database.executemany(
                "INSERT INTO taken (rowid, text) VALUES (?, ?)", enumerate(map(spread, texts))
            )
            for place, offset, term in database.execute("SELECT doc, offset, term FROM terms"):
                found[place].append((offset, term))
        finally:
            database.execute("ROLLBACK")
        return [tuple(term for _, term in sorted(words)) for words in found]

    def close(self) -> None:
        """Give the table back."""
        with self._lock:
            self._database.close()
