"""What a monitor sees of a simulated network, and how it says that something broke.

Monitors look at everything: letters, stores, worlds. None of them asks the core whether it did
right: where a monitor needs a quorum or a certificate, it counts signatures by itself.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from federation.core import Millis
from federation.protocol import effects as fx
from federation.simulation.network.letters import Sent

if TYPE_CHECKING:
    from federation.simulation.network.node import SimNode


class Violation(Exception):  # noqa: N818 # it is a finding, not an error of the program
    """The protocol broke a promise: says which, when, and under which seed."""

    def __init__(self, rule: str, detail: str, *, seed: str, at: Millis) -> None:
        """Name the rule that was broken, and the virtual time in ms."""
        super().__init__(f"{rule}: {detail} (seed {seed}, at {at} ms)")
        self.rule = rule
        self.detail = detail
        self.seed = seed
        self.at = at


class Monitor:
    """Sees everything and judges some of it; each method does nothing unless overridden."""

    def __init__(self) -> None:
        """Start with no findings."""
        self.findings: list[tuple[str, str]] = []

    def broke(self, rule: str, detail: str) -> None:
        """Report a broken promise; the network raises it as a `Violation`."""
        self.findings.append((rule, detail))

    def begun(self, nodes: Sequence["SimNode"]) -> None:
        """See all instances before the first of them lives."""

    def sent(self, node: "SimNode", sent: Sent) -> None:
        """See a letter as it is put on its link."""

    def stored(self, node: "SimNode", effect: fx.Effect) -> None:
        """See what an instance has just made durable."""

    def stepped(self, node: "SimNode") -> None:
        """See an instance after a step."""

    def finish(self) -> None:
        """See the end of the run."""
