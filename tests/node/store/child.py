"""A process that stores records until it is done, fails or is killed; for tests that end it.

    child.py flood PATH SEED COUNT      many clients; COUNT records each
    child.py full PATH SEED BYTES       the same, but no file may grow beyond BYTES

It writes the 32 bytes of each record's id to its standard output once the store has acknowledged
it. When the store fails it says so on standard error, and that it takes nothing more.
"""

import os
import resource
import sys
from pathlib import Path

import trio

from federation.protocol import effects as fx
from federation.records import Role
from node.base.errors import StoreError
from node.store import Store, open_store
from tests.builders import REALM, Chain, argue, named, person

CLIENTS = 100


async def client(store: Store, seed: int, number: int, count: int) -> None:
    """Write one author's records, one by one."""
    chain = Chain(person(Role.AGENT, seed * CLIENTS + number))
    for place in range(count):
        record = chain.records[0] if place == 0 else chain.say(*argue(named("round"), "words" * 99))
        await store.write([fx.StoreRecord(record=record)])
        # Shorter than what a pipe takes whole, so ids never mix.
        os.write(1, record.id)


async def flood(path: Path, seed: int, count: int) -> None:
    """Let all clients write."""
    async with open_store(path, realm=REALM) as store, trio.open_nursery() as nursery:
        for number in range(CLIENTS):
            nursery.start_soon(client, store, seed, number, count)


async def full(path: Path, seed: int) -> None:
    """Write until the disk is full; then everything is refused, and closing still works."""
    async with open_store(path, realm=REALM) as store:
        try:
            async with trio.open_nursery(strict_exception_groups=True) as nursery:
                for number in range(CLIENTS):
                    nursery.start_soon(client, store, seed, number, 10**6)
        except* StoreError as group:
            sys.stderr.write(f"{group.exceptions[0]}\n")
        try:
            await store.write([fx.StoreStart(slot=b"after", at=1)])
        except StoreError as error:
            sys.stderr.write(f"after: {error}\n")


def main() -> None:
    """Do what the command line says."""
    mode, path, seed, number = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    if mode == "flood":
        trio.run(flood, path, seed, number)
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (number, number))
        trio.run(full, path, seed)


if __name__ == "__main__":
    main()
