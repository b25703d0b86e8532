"""Compares worlds: nodes at one cut have one digest, whatever they saw in which order.

At every cut and at the end each honest world must also keep the invariants of `protocol`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from federation.core import Digest
from federation.protocol.invariants import broken, disagreements
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
        self._honest: list[SimNode] = []
        self._reached: dict[tuple[bytes, int], int] = {}

    def begun(self, nodes: Sequence["SimNode"]) -> None:
        """Find out who is honest."""
        self._honest = [node for node in nodes if node.conduct.is_honest]

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
        for wrong in broken(world):
            self.broke("an invariant is broken", f"{wrong} on {node.name}")

    def finish(self) -> None:
        """Check every honest world, and all of them against each other."""
        worlds = [node.world for node in self._honest if node.world is not None]
        for wrong in [*(one for world in worlds for one in broken(world)), *disagreements(worlds)]:
            self.broke("an invariant is broken", wrong)
