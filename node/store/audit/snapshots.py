"""Stored snapshots against a fresh fold: the same cut, the same world digest, the same rows."""

from dataclasses import dataclass, field
from typing import Final

from federation.core import PeerError, short
from federation.protocol import snapshot
from federation.protocol.rows import world_digest
from node.store.audit.findings import Damage, Report
from node.store.audit.replay import Replay
from node.store.loading import as_bytes, as_int
from node.store.statements import Cell, Row

QUERY: Final = (
    "SELECT cut, digest, world_digest, content FROM snapshots LEFT JOIN snapshot_contents USING (cut)"
    " WHERE cut > ?1"
)


@dataclass(slots=True, kw_only=True)
class Snapshots:
    """Compares snapshots one by one."""

    report: Report
    replay: Replay
    count: int = 0
    _beyond: list[int] = field(default_factory=list)
    """Cuts to which the fold did not come."""

    def take(self, row: Row) -> None:
        """Look at one row of `QUERY`."""
        cut, digest, world, content = as_int(row[0]), row[1], as_bytes(row[2]), row[3]
        self.count += 1
        found = self.replay.digests.get(cut)
        if found is None:
            self._beyond.append(cut)
        elif self.replay.cuts[cut] != digest:
            self._differs(cut, f"the records certify cut {short(self.replay.cuts[cut])}")
        elif found != world:
            self._differs(cut, f"it says {short(world)}, a fresh fold gives {short(found)}")
        else:
            self._examine(cut, world, content)

    def end(self) -> None:
        """Tell of snapshots to whose cuts the records do not lead."""
        if self._beyond:
            self.report.add(
                Damage.CUTS_LOST,
                f"the world was at cut {self._beyond[-1]}",
                f"the records that are here lead to cut {self.replay.world.state.cut} only",
            )

    def _examine(self, cut: int, world: bytes, content: Cell) -> None:
        """Look into the content, where it is kept."""
        if not content:
            return
        charter, log = self.replay.world.state.acts.genesis, self.replay.world.log
        try:
            state = snapshot.read(as_bytes(content), charter=charter, log=log).certified.state
        except PeerError as error:
            self._differs(cut, error.why)
            return
        if (state.cut, world_digest(state)) != (cut, world):
            self._differs(cut, f"its content is the world at cut {state.cut}")

    def _differs(self, cut: int, why: str) -> None:
        self.report.add(
            Damage.SNAPSHOT_DIFFERS, f"the snapshot of cut {cut} is not the world there", why
        )
