"""The route of the capture table, measured against the community as it is.

Anybody may ask: all that it rests on is public. The table is worked out once a cut, beside the event
loop, however many ask at once.
"""

from typing import Final

import trio

from federation.protocol import World
from node.api.calls import Call, Route
from node.queries.capture import Basis, CapturePage, capture_page, community_of
from node.queries.per_cut import PerCut


class _Pricing:
    """The table of one cut, once somebody has asked for it."""

    def __init__(self, world: World) -> None:
        """Measure the community, while it stands still."""
        self._charter: Final = world.charter
        self._community: Final = community_of(world)
        self._cut: Final = world.state.cut
        self._working: Final = trio.Lock()
        self._page: CapturePage | None = None

    async def page(self) -> CapturePage:
        """Give the table; who comes second waits for the first."""
        async with self._working:
            if self._page is None:
                self._page = await trio.to_thread.run_sync(self._work)
            return self._page

    def _work(self) -> CapturePage:
        return capture_page(self._charter, self._community, Basis.MEASURED, cut=self._cut)


_pricings: Final = PerCut(_Pricing)


async def show_cost(call: Call) -> CapturePage:
    """Show what capturing a decision takes."""
    return await _pricings(call.node.world).page()


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
