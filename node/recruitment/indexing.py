"""Brings the search index to where the texts are, after an upgrade or if it lacks something.

What is written while the node runs is indexed in the transaction that stores it. So a start has to
look only at texts that came since the last one, and at all of them once the tables are new or
texts are prepared in another way.
"""

from typing import Final

import trio

from node.store import EmptyIndex, Indexed, IndexText, Store
from node.store.words import FORMAT, words_in
from node.telemetry import log

AT_ONCE: Final = 200
"""Texts of one transaction: others wait for it."""
PAUSE_S: Final = 0.01
"""Between two transactions: who writes for the protocol goes first."""


class Indexing:
    """The work of one start."""

    def __init__(self, store: Store) -> None:
        """Index the texts of a store."""
        self._store = store
        self.is_whole = False
        """Whether every held text can be found."""

    async def run(self) -> None:
        """Index what lacks, then return."""
        store = self._store
        known = await store.indexed()
        if known.format != FORMAT:
            known = Indexed(format=FORMAT, upto=0)
            await store.write([EmptyIndex(), known])
        after, last, count = known.upto, await store.last_text(), 0
        while page := await store.not_indexed(after, last, AT_ONCE):
            after = page[-1][0]
            found = [(name, words_in(raw)) for _, name, raw in page]
            await store.write(
                [IndexText(record=name, words=words) for name, words in found if words is not None]
            )
            count += len(page)
            await trio.sleep(PAUSE_S)
        await store.write([Indexed(format=FORMAT, upto=last)])
        self.is_whole = True
        if count:
            log.info("search.indexed", texts=count)
