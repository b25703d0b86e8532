"""Takes snapshots of the world: the digests of every cut, and all of it once the log has grown.

A snapshot grows with history and costs the loop about 1.4 µs a record, so it is not taken at every
cut; a start from an older one folds a short tail. It is taken inside the step that folded the cut,
and written with what that step wants stored, so none is ever newer than the signing journal beside
it.
"""

from typing import Final

from federation.protocol import World, snapshot
from node.store import SaveSnapshot

LEAST: Final = 64
"""Records by which the log has grown at least, between two snapshots."""
PART: Final = 32
"""It has also grown by one in so many."""


class Snapshots:
    """Remembers how large the log was when the last snapshot was taken."""

    def __init__(self, size: int) -> None:
        """`size` is the number of records in the snapshot that the world came from, or 0."""
        self._size = size

    def take(self, world: World) -> SaveSnapshot:
        """Take what a world that has just folded a cut deserves."""
        state, size = world.state, len(world.log)
        content: bytes | None = None
        if size - self._size >= max(LEAST, self._size // PART):
            content, self._size = snapshot.take(world), size
        return SaveSnapshot(
            cut=state.cut,
            tick=state.tick,
            digest=state.digest,
            world_digest=world.digest,
            content=content,
        )
