"""A store that holds what the instance of a town was asked to keep."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from federation.protocol import World
from node.store import Store, open_store
from tests.federation.protocol.town import Town


@asynccontextmanager
async def stored(town: Town, path: Path) -> AsyncIterator[tuple[Store, World]]:
    """Open a store with all that instance 0 has stored so far."""
    world = town.world()
    async with open_store(path / "store.db", realm=world.realm) as store:
        await keep(town, store)
        yield store, world


async def keep(town: Town, store: Store) -> None:
    """Store what instance 0 has asked for so far; what was stored before stays as it is."""
    await store.write(town.stored[town.founding.instances[0]])
