"""What a demo came to: the same, whether it was held in one process or over a real network."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from federation.core import AgentId, Digest, Millis
from node.demo.metrics import Judged
from node.demo.scenario import Scenario

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the verdicts so far and the number of proposals."""


class UnfinishedError(Exception):
    """Verdicts are missing, although every instance ran and nobody lied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a moot came to, read from the certified state of the instances."""

    scenario: Scenario
    agents_in_order: tuple[AgentId, ...]
    """In the order of the models."""
    judged: tuple[Judged, ...]
    """In the order of the questions."""
    agents: int
    records: int
    """Records that each instance holds."""
    digests: tuple[Digest, ...]
    """World digest of each instance."""
    verdicts_equal: bool
    """Every instance holds the same artifacts with the same verdicts."""
    cuts: int
    ticks: int
    network_ms: Millis
    """How long it took by the clock of the network: virtual, or a real one."""

    @property
    def agrees(self) -> bool:
        """Tell whether the instances agree on everything."""
        return self.verdicts_equal and len(set(self.digests)) == 1
