"""Compares worlds: nodes at one cut have one digest, whatever they saw in which order."""

from typing import TYPE_CHECKING

from federation.core import Digest
from federation.simulation.network.monitors.monitor import Monitor

if TYPE_CHECKING:
    from federation.simulation.network.node import SimNode


class Worlds(Monitor):
    """Equal digests at equal cuts; a cut never goes back while a node lives."""

    def __init__(self) -> None:
        """Start with no cut seen."""
        super().__init__()
        self.digests: dict[int, tuple[Digest, Digest]] = {}
        """Per cut the digests of its value and of the world."""
        self._reached: dict[tuple[bytes, int], int] = {}

    def stepped(self, node: "SimNode") -> None:
        """Compare an honest node that has reached another cut."""
        world = node.world
        here = (node.instance, node.life)
        if world is None or not node.conduct.is_honest:
            return
        reached = self._reached.get(here, -1)
        if reached == world.state.cut:
            return
        self._reached[here] = world.state.cut
        if world.state.cut < reached:
            self.broke("a cut was undone", f"{node.name} went from {reached} back")
        seen = (world.state.digest, world.digest)
        known = self.digests.setdefault(world.state.cut, seen)
        if known[0] != seen[0]:
            self.broke("two cuts of one number", f"cut {world.state.cut} on {node.name}")
        elif known != seen:
            self.broke("worlds differ at one cut", f"cut {world.state.cut} on {node.name}")
