"""The route of a round's debate: what was argued, as a graph, with a digest for late readers.

Anybody may ask, and anybody may have written what is read for it. So texts are read beside the
event loop, for one caller at a time, at a price by their size; and what was read for a digest is
kept while the debate does not change.
"""

from collections import OrderedDict
from typing import Annotated, Final, TypeAlias

import msgspec
import trio
from msgspec import Meta

from federation.core import RecordId, RoundId
from federation.deliberation import MOST as LONGEST_DIGEST
from federation.deliberation import DebateDigest, worth_reading
from node.api.calls import Call, Route
from node.api.ids import read_id
from node.api.limits import DEAREST_LOOK
from node.queries.debate import MOST, USUAL, DebatePage, Look, Words, look, page, words
from node.queries.names import Thing

ARGUMENTS_A_REQUEST: Final = 100
"""To place so many arguments takes as long as a request."""
BYTES_A_REQUEST: Final = 64 * 1024
"""To read texts of so many bytes takes as long as a request, unless they are made to take longer."""
KEPT: Final = 64
"""Digests that are kept."""

_Key: TypeAlias = tuple[RoundId, int, frozenset[RecordId], tuple[tuple[RecordId, int], ...]]
"""All that a digest depends on: round, length, texts held, and who was heard by how many."""


class AskDebate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which part of a debate to show."""

    after: Annotated[str, Meta(min_length=59, max_length=64)] | None = None
    """Go on behind this argument: `next` of the page before."""
    most: Annotated[int, Meta(ge=1, le=MOST)] = USUAL
    """Arguments of a page."""
    digest: Annotated[int, Meta(ge=1, le=LONGEST_DIGEST)] | None = None
    """Sentences of a digest of the whole debate; without it there is none."""


class Reading:
    """What reads texts for all callers, and keeps the digests that it made last."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._working: Final = trio.Lock()
        self._kept: Final[OrderedDict[_Key, DebateDigest]] = OrderedDict()

    async def words(self, seen: Look) -> Words:
        """Read the texts of a look; who comes second waits for the first."""
        key = _key(seen)
        async with self._working:
            known = self._kept.get(key) if key else None
            read = await trio.to_thread.run_sync(words, seen, known)
            if key and read.digest is not None:
                self._kept[key] = read.digest
                self._kept.move_to_end(key)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return read


def price(seen: Look) -> int:
    """Price a look at a debate, in requests beyond the one."""
    placed = len(seen.debate.arguments) // ARGUMENTS_A_REQUEST
    return min(placed + seen.size // BYTES_A_REQUEST, DEAREST_LOOK)


def _key(seen: Look) -> _Key | None:
    """Name the digest of a look; None if it asks for none."""
    if seen.sentences is None:
        return None
    arguments = seen.debate.arguments
    read = frozenset(name for name in worth_reading(seen.debate) if name in seen.raws)
    heard = tuple((name, one.heard) for name, one in arguments.items())
    return seen.found.pin.round, seen.sentences, read, heard


_reading: Final[trio.lowlevel.RunVar[Reading]] = trio.lowlevel.RunVar("reading debates")


async def show_debate(call: Call) -> DebatePage:
    """Show the debate of a round."""
    asked = call.ask(AskDebate)
    seen = look(
        call.node.world,
        call.named(Thing.ROUND),
        after=read_id("after", asked.after) if asked.after else None,
        most=asked.most,
        digest=asked.digest,
    )
    call.spend(price(seen))
    read = await _reader().words(seen)
    return page(call.node.world, seen, read)


def _reader() -> Reading:
    """Give what reads in this run of trio."""
    try:
        return _reading.get()
    except LookupError:
        made = Reading()
        _reading.set(made)
        return made


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/rounds/{id}/debate",
        summary="What was argued in a round: who answered what, what stands, and a digest",
        handler=show_debate,
        gives=DebatePage,
        query=AskDebate,
        says="`digest` asks for so many sentences of the arguments, chosen by counting; each stands in "
        "its argument letter by letter, nobody wrote the digest, and nothing of it enters a decision. "
        "What is sealed is not told before the list that opens it is final here.",
    ),
)
"""Rows of the table of routes."""
