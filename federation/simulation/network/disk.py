"""What survives a crash of a simulated instance, and its copies: a backup is one."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from federation.protocol.rebuild import Durable

Recall: TypeAlias = Callable[[list[bytes]], bytes | None]
"""Picks the snapshot to start from, of all that were taken, oldest first."""


@dataclass(slots=True, kw_only=True)
class Disk(Durable):
    """What survives a crash."""

    snapshots: list[bytes] = field(default_factory=list)
    """One for each step that folded a cut, if the instance keeps any."""

    def backup(self) -> "Disk":
        """Copy all of it; what is stored later is not in the copy."""
        return replace(
            self,
            records=list(self.records),
            blobs=list(self.blobs),
            journal=list(self.journal),
            starts=dict(self.starts),
            snapshots=list(self.snapshots),
        )
