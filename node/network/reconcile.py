"""Catch up with one peer: get everything that it holds and this instance lacks.

`Reconciler` is the door; `ByHeads` is the way of this version: one hash says whether there is any
difference, then pages of author heads are shown and the records above them come back, dependencies
first, in frames that bound memory on both sides. Range-based set reconciliation fits behind the
same door.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

from federation.core import IdentityId, PeerError
from federation.core.errors import Code
from federation.protocol import World
from node.network.heads import HeadsCache
from node.network.messages import Answer, Compare, Lack, Question, Records, Same

MOST_FRUITLESS: Final = 256
"""Answers of one pull that may bring nothing new: an honest peer holds few such records."""
_LAST: Final = b"\xff" * 32
_FIRST: Final = bytes(32)

Ask = Callable[[Question], Awaitable[Answer]]
"""Asks the peer a question that has one frame of answer."""
Take = Callable[[Sequence[bytes]], Awaitable[None]]
"""Takes records in; returns once the core has seen them."""


class Reconciler(Protocol):
    """A way to find out what a peer holds that is missing here."""

    async def pull(self, ask: Ask, take: Take) -> int:
        """Get all that the peer held when asked; give how many records came."""
        ...


class ByHeads:
    """Compares the heads of author chains."""

    def __init__(
        self, world: Callable[[], World], heads: HeadsCache, flushed: Callable[[], Awaitable[None]]
    ) -> None:
        """Compare with the log of a world; `flushed` returns once all it holds now is durable."""
        self._world = world
        self._heads = heads
        self._flushed = flushed

    async def pull(self, ask: Ask, take: Take) -> int:
        """Get all that the peer held when asked; give how many records came.

        Raises PeerError if the peer answers something else than it was asked.
        """
        compare = Compare(digest=self._heads.digest(self._world().log))
        # Heads tell the ids of records: they are shown once those are durable, like all else.
        await self._flushed()
        same = await ask(compare)
        if not isinstance(same, Same):
            raise _answered_otherwise()
        if same.same:
            return 0
        came, fruitless, start, seen = 0, 0, _FIRST, 0
        while True:
            page, high = self._heads.page_at(self._world().log, start)
            await self._flushed()
            answer = await ask(Lack(page=page, start=start, seen=seen))
            if not isinstance(answer, Records):
                raise _answered_otherwise()
            before = len(self._world().log)
            if answer.records:
                came += len(answer.records)
                await take(answer.records)
            resume = answer.resume
            if resume is None:
                if high == _LAST:
                    return came
                start, seen = _after(high), 0
            elif not start <= resume <= high or not answer.records:
                raise _answered_otherwise()
            elif len(self._world().log) > before:
                start, seen = resume, 0
            else:
                # Either all of it is known, because after a fork the split must be reached first,
                # or none of it is stored here, for lack of room.
                further = answer.reached > (seen if resume == start else 0)
                if not further or answer.reached > self._height_of(resume):
                    fruitless += 1
                if fruitless > MOST_FRUITLESS:
                    raise _answered_otherwise()
                if further:
                    start, seen = resume, answer.reached
                elif resume == _LAST:
                    return came
                else:
                    # The others must not wait for an author that gets no further.
                    start, seen = _after(resume), 0

    def _height_of(self, author: IdentityId) -> int:
        """Give the first seq of an author above which nothing is held here."""
        heads = self._world().log.heads_of(author)
        return heads[-1][0] + 1 if heads else 0


def _after(author: IdentityId) -> IdentityId:
    return (int.from_bytes(author, "big") + 1).to_bytes(32, "big")


def _answered_otherwise() -> PeerError:
    return PeerError(
        "answer refused",
        why="it does not belong to the question",
        fix="answer each question in turn",
        code=Code.NOT_CANONICAL,
    )
