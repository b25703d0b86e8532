"""What the instances of a demo left on their disks, folded anew.

An outcome that is read here has survived the processes that made it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from federation.core import Digest, RecordId
from federation.protocol import World, rebuild
from node.base.paths import DataDir
from node.setup.genesis import read_genesis
from node.store import SnapshotHead, open_store


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What one instance left."""

    world: World
    """Folded from its records alone."""
    digests: dict[int, Digest]
    """World digest of each cut, as the instance had computed it."""
    records: frozenset[RecordId]


async def read_stores(places: Sequence[DataDir]) -> tuple[Left, ...]:
    """Read the databases of instances that have stopped."""
    return tuple([await _read(place) for place in places])


async def _read(place: DataDir) -> Left:
    genesis = read_genesis(place.genesis)
    async with open_store(place.database, realm=genesis.realm) as store:
        durable = (await store.load()).durable
        heads: list[SnapshotHead] = []
        while page := await store.snapshots(heads[-1].cut if heads else -1, 1_000):
            heads += page
    world = rebuild(genesis.charter, genesis.records, durable.records, durable.blobs)
    return Left(
        world=world,
        digests={head.cut: head.world_digest for head in heads},
        records=frozenset(record.id for record in durable.records),
    )


def common_digests(left: Iterable[Left]) -> tuple[Digest, ...]:
    """Give each instance's world digest at the highest cut that all of them have reached."""
    all_left = tuple(left)
    shared = set.intersection(*(set(one.digests) for one in all_left))
    if not shared:
        return tuple(one.world.digest for one in all_left)
    return tuple(one.digests[max(shared)] for one in all_left)
