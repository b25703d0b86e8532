"""The route of the capture table, measured against the community as it is.

Anybody may ask: all that it rests on is public. The table is worked out beside the event loop, once
for all who ask, and never two at a time. In a large community that takes seconds of a processor, so
the next one is not begun before nine times as long has passed: strangers cannot keep a node busy
with it, and the page says of which cut it is.
"""

from typing import Final

import trio

from federation.protocol import World
from node.api.calls import Call, Route
from node.api.limits import price_of_look
from node.queries.capture import Basis, CapturePage, capture_page, community_of

_REST: Final = 9
"""For so many times as long as a table took, it is good enough for everybody."""


class Pricing:
    """The newest table of a node, once somebody has asked for it."""

    def __init__(self) -> None:
        """There is none yet."""
        self._working: Final = trio.Lock()
        self._of: World | None = None
        self._page: CapturePage | None = None
        self._good_until = 0.0
        """In seconds of the event loop's clock."""

    async def page(self, world: World) -> CapturePage:
        """Give the table; who comes second waits for the first."""
        async with self._working:
            # Worlds are compared by identity: to compare all that they hold would take longest.
            if self._page is None or self._of is not world or self._is_old(world, self._page):
                began = trio.current_time()
                self._of, self._page = world, await _table(world)
                ended = trio.current_time()
                self._good_until = ended + _REST * (ended - began)
            return self._page

    def _is_old(self, world: World, page: CapturePage) -> bool:
        return page.cut != world.state.cut and trio.current_time() >= self._good_until


async def _table(world: World) -> CapturePage:
    # What is measured must stand still; the rest of the work rests on nothing that changes.
    charter, community, cut = world.charter, community_of(world), world.state.cut
    return await trio.to_thread.run_sync(
        lambda: capture_page(charter, community, Basis.MEASURED, cut=cut)
    )


_newest: Final[trio.lowlevel.RunVar[Pricing]] = trio.lowlevel.RunVar("capture table")


async def show_cost(call: Call) -> CapturePage:
    """Show what capturing a decision takes."""
    call.spend(price_of_look(len(call.node.world.state.agents), 0))
    return await _pricing().page(call.node.world)


def _pricing() -> Pricing:
    """Give the table of this run of trio."""
    try:
        return _newest.get()
    except LookupError:
        made = Pricing()
        _newest.set(made)
        return made


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/charter/cost",
        summary="What it takes to capture a decision of this community, at the least",
        handler=show_cost,
        gives=CapturePage,
        says="For a tenth, a third and half of a decision in which all reviewers vote: identities, "
        "operators, instances, fooled vouches, time and hashes, and which rule gives each. Only "
        "`fooled` is proven.",
    ),
)
