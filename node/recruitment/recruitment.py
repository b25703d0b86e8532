"""The parts of recruitment that a running node holds, as one."""

from collections.abc import Callable, Iterable

from federation.core import ArtifactId, Millis
from federation.protocol import World
from node.recruitment.hiding import Hiding
from node.recruitment.indexing import Indexing
from node.recruitment.matching import Matching
from node.recruitment.nearness import Nearness
from node.recruitment.search import Search, SearchPage, Within
from node.store import Hidden, Store


class Recruitment:
    """Search, matching of offers, near duplicates, and what is hidden on this node."""

    def __init__(
        self,
        store: Store,
        world: Callable[[], World],
        wall: Callable[[], Millis],
        hidden: Iterable[Hidden],
    ) -> None:
        """Stand beside a world; `hidden` is what the store keeps, `wall` is Unix time in ms."""
        self.matching = Matching()
        self.nearness = Nearness(store, world)
        self.hiding = Hiding(store, world, wall, hidden)
        self._search = Search(store, world)
        self._indexing = Indexing(store)

    async def run(self) -> None:
        """Bring the search index to where the texts are, then return."""
        await self._indexing.run()

    async def find(
        self,
        question: str,
        *,
        within: Within = Within.ACTIVE,
        topic: str | None = None,
        after: ArtifactId | None = None,
        most: int = 20,
    ) -> SearchPage:
        """Find artifacts by their words; see `Search.find`."""
        return await self._search.find(
            question,
            within=within,
            topic=topic,
            after=after,
            most=most,
            whole=self._indexing.is_whole,
        )

    def close(self) -> None:
        """Give back what stands outside this program's memory."""
        self.matching.close()
