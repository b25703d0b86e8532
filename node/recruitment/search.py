"""Search over the texts of artifacts: ranked by SQLite, judged by the world.

The index only says where words stand. Whether an artifact may be shown, and where it stands, is
asked of the world when the answer is made: what was hidden a moment ago is not in it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from itertools import dropwhile, islice
from typing import Final

import msgspec
import trio

from federation.artifacts import Artifact, State, covers
from federation.core import ArtifactId
from federation.protocol import World
from federation.records import ArtifactText
from node.base.errors import NodeCode, RequestError
from node.queries.artifacts import ArtifactBrief, brief
from node.queries.live_rounds import artifact_now
from node.queries.names import Thing, unknown
from node.queries.texts import article
from node.store import Store
from node.store.words import expression_of, terms_of

MOST: Final = 100
"""Artifacts of one page."""
CANDIDATES: Final = 2_000
"""Texts, the best first, of which those are taken that may be shown and stand as was asked."""
PATIENCE_S: Final = 3.0
"""How long a search may take, with those before it: others want to read the store, too."""
EXCERPT: Final = 240
"""Characters of an excerpt."""


class Within(StrEnum):
    """Which artifacts to look among."""

    ACTIVE = "active"
    """Those that stand: accepted knowledge."""
    PROPOSED = "proposed"
    """Those whose objection window is open, or whose round is about to begin."""
    UNDER_REVIEW = "under_review"
    """Those that a vote decides."""
    DISPUTED = "disputed"
    """Those that stood, while a fresh panel decides."""
    RETRACTED = "retracted"
    """Those that do not stand."""
    SUPERSEDED = "superseded"
    """Those in whose place a revision stands."""
    ANY = "any"
    """All of them."""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One artifact that was found."""

    artifact: ArtifactBrief
    """The artifact, with its verdict and how narrow that is."""
    excerpt: str
    """Some of its words around those that were asked for."""
    support: int
    """Artifacts that rest on it and stand."""


class SearchPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page of what was found, the best first."""

    terms: tuple[str, ...]
    """What was looked for: all of it must stand in a text."""
    items: tuple[Hit, ...]
    """What was found."""
    next: str | None
    """Cursor of the next page; nil when this is the last."""
    partial: bool
    """There may be more: more texts match than were ranked, or the index is still being built."""


class Search:
    """The search of one node: one question at a time, so that others can read the store."""

    def __init__(self, store: Store, world: Callable[[], World]) -> None:
        """Search the texts of a store, and show what a world says of them."""
        self._store = store
        self._world = world
        self._turn = trio.Lock()

    async def find(
        self,
        question: str,
        *,
        within: Within = Within.ACTIVE,
        topic: str | None = None,
        after: ArtifactId | None = None,
        most: int = 20,
        whole: bool = True,
    ) -> SearchPage:
        """Find artifacts whose text holds all terms of a question.

        Any text is a question; one without a letter finds nothing. `topic` is a branch, `after` the
        last artifact of the page before, `most` 1 to 100; `whole` tells whether the index is. Raises
        RequestError BAD_REQUEST, NOT_FOUND for a cursor that is no longer there, and BUSY if the
        search takes too long.
        """
        if not 1 <= most <= MOST:
            raise RequestError(
                "search refused",
                why=f"a page holds 1 to {MOST} artifacts, not {most}",
                fix="ask for fewer, and follow the cursor",
                code=NodeCode.BAD_REQUEST,
            )
        expression = expression_of(question)
        names = await self._ask(expression) if expression is not None else []
        world = self._world()
        found = (world.state.artifacts.get(name) for name in names)
        shown: Iterator[Artifact] = (
            one for one in found if one is not None and _is_wanted(world, one, within, topic)
        )
        if after is not None:
            shown = dropwhile(lambda one: one.id != after, shown)
            if next(shown, None) is None:
                raise unknown(after, {Thing.ARTIFACT})
        page = list(islice(shown, most + 1))
        terms = terms_of(question)
        return SearchPage(
            terms=terms,
            items=tuple(_hit(world, one, terms) for one in page[:most]),
            next=page[most - 1].id.hex() if len(page) > most else None,
            partial=not whole or len(names) >= CANDIDATES,
        )

    async def _ask(self, expression: str) -> list[ArtifactId]:
        names: list[ArtifactId] = []
        with trio.move_on_after(PATIENCE_S) as patience:
            async with self._turn:
                names = await self._store.search(expression, CANDIDATES)
        if patience.cancelled_caught:
            raise RequestError(
                "search given up",
                why=f"it took longer than {PATIENCE_S:g} s, with the searches before it",
                fix="ask for rarer words, or again in a moment",
                code=NodeCode.BUSY,
            )
        return names


def _is_wanted(world: World, certified: Artifact, within: Within, topic: str | None) -> bool:
    if topic is not None and not any(covers(topic, path) for path in certified.topics):
        return False
    artifact = artifact_now(world, certified)
    if within is not Within.ANY and artifact.state is not State(within.value):
        return False
    return article(world, artifact)[1] is not None


def _hit(world: World, certified: Artifact, terms: Sequence[str]) -> Hit:
    _, text = article(world, artifact_now(world, certified))
    assert text is not None, "it was held a moment ago"  # noqa: S101 # nothing waits in between
    state = world.state
    citing = (state.artifacts.get(name) for name in state.cited.get(certified.id, ()))
    return Hit(
        artifact=brief(world, certified),
        excerpt=excerpt(text, terms),
        support=sum(one is not None and one.state is State.ACTIVE for one in citing),
    )


def excerpt(text: ArtifactText, terms: Sequence[str]) -> str:
    """Cut a piece out of a text where the first of some terms stands; its beginning if none does."""
    whole = " ".join(" ".join((text.prose, *text.claims)).split())
    pattern = "|".join(re.escape(term) for term in terms)
    seen = re.search(pattern, whole, re.IGNORECASE) if pattern else None
    start = max(seen.start() - EXCERPT // 3, 0) if seen else 0
    if start:
        # Not in the middle of a word, if one begins soon.
        start = max(whole.rfind(" ", 0, start + 1) + 1, start - EXCERPT // 3)
    end = start + EXCERPT
    if end < len(whole):
        end = max(whole.rfind(" ", start, end), start + EXCERPT // 2)
    piece = whole[start:end]
    return f"{'… ' if start else ''}{piece}{' …' if end < len(whole) else ''}"
