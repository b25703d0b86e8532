"""A member that was restored from an old backup in the middle of a round.

It has forgotten what it signed, so it counts as lying (design: amnesia). An honest operator's
program asks its peers before it signs, and stays silent; a careless one goes on at once.
"""

from typing import TYPE_CHECKING

from federation.core import Millis
from federation.simulation.network.adversaries.liar import Liar

if TYPE_CHECKING:
    from federation.simulation.network.node import SimNode


class RolledBack(Liar):
    """Comes back with the store as it was some time ago."""

    def __init__(self, *, taken: Millis, lost: Millis, careless: bool) -> None:
        """Take the backup and lose the store at these virtual times; `careless` asks nobody."""
        super().__init__()
        self._taken = taken
        self._lost = lost
        self._careless = careless

    def begin(self, node: "SimNode") -> None:
        """Plan backup and loss."""
        timeline = node.host.timeline
        timeline.at(self._taken, lambda: self._back_up(node))

    def _back_up(self, node: "SimNode") -> None:
        disk = node.disk.backup()

        def lose() -> None:
            # It restarts at once: a restored machine needs no time in a simulation.
            node.world = None
            node.restart(disk)
            self._forget_to_ask(node)

        node.host.timeline.at(self._lost, lose)

    def _forget_to_ask(self, node: "SimNode") -> None:
        if self._careless and node.world is not None and node.world.me is not None:
            node.world.me.settled = True
