"""Watches liveness: with a quorum connected, a slot whose window has ended certifies in time.

The bound is (f+2) leader timers from the fence that honest members have reached, counted from
when all of them have ended their window, the links are good and everybody is back. A liar can
waste the fences it leads, f of them in a row; the next honest leader finishes.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from federation.certificates import SlotState
from federation.core import Millis
from federation.simulation.network.monitors.monitor import Monitor

if TYPE_CHECKING:
    from federation.simulation.network.node import SimNode

_DOUBLINGS = 10


class Progress(Monitor):
    """Every slot past its window certifies within (f+2) leader timers."""

    def __init__(
        self,
        *,
        f: int,
        q: int,
        leader_timer: Millis,
        slack: Millis,
        good_from: Millis,
    ) -> None:
        """Judge from virtual time `good_from` on, when links are good.

        `slack` covers what is no leader's fault: latency, repetition, reconciliation.
        """
        super().__init__()
        self._f, self._q = f, q
        self._timer = leader_timer
        self._slack = slack
        self._good_from = good_from
        self._honest: list[SimNode] = []
        self._due: dict[bytes, tuple[Millis, frozenset[tuple[bytes, int]]]] = {}
        """Per slot when it must be final, and the lives of the nodes it was counted for."""

    def begun(self, nodes: Sequence["SimNode"]) -> None:
        """Find out who is honest."""
        self._honest = [node for node in nodes if node.conduct.is_honest]

    def stepped(self, node: "SimNode") -> None:
        """Look at every live slot of an honest node."""
        now = node.host.timeline.now
        if node.world is None or not node.conduct.is_honest or now < self._good_from:
            return
        for key, live in node.world.slots.items():
            if not live.state.is_final and live.state.window_ended is not None:
                self._look(key, now)

    def _look(self, key: bytes, now: Millis) -> None:
        states: list[SlotState] = []
        lives = set()
        for node in self._honest:
            world = node.world
            live = world.slots.get(key) if world is not None else None
            if world is None or live is None or world.is_silent(live.slot):
                return
            if live.state.window_ended is None and not live.state.is_final:
                return
            states.append(live.state)
            lives.add((node.instance, node.life))
        if len(states) < self._q:
            return
        known = self._due.get(key)
        if known is None or known[1] != lives:
            first = max(state.fence for state in states)
            timers = sum(
                self._timer << min(fence, _DOUBLINGS) for fence in range(first, first + self._f + 2)
            )
            self._due[key] = (now + timers + self._slack, frozenset(lives))
        elif now > known[0]:
            self.broke("no progress", f"slot {key[:12].hex()} is not final on some honest node")
