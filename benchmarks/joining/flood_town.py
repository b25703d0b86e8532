"""The instance that is flooded, as a process of its own: `python -m benchmarks.joining.flood_town`.

Its limits are the usual ones, only that loopback is a stranger like any other; with
`--spare-loopback` it is spared as usual, and nobody is banned. The process says its URL on a line,
and ends when its standard input does.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import trio

from node.api import Limits, serve
from node.base.paths import DataDir
from node.base.settings import load
from node.keys import Cost, Keystore
from node.runtime import open_node

PASSPHRASE: Final = b"a measurement"
CHEAP: Final = Cost(memory=64, passes=1)


async def run(data: DataDir, limits: Limits) -> None:
    """Run the instance until standard input ends."""
    keystore = Keystore.unlock(data.keys, PASSPHRASE, least=CHEAP)
    stop = trio.Event()
    async with (
        open_node(data, load(data.settings, {}), keystore) as node,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(_until_input_ends, stop)
        await serve(
            node,
            host="127.0.0.1",
            port=0,
            ready=lambda url: print(url, flush=True),
            stop=stop,
            limits=limits,
        )
        nursery.cancel_scope.cancel()


async def _until_input_ends(stop: trio.Event) -> None:
    await trio.to_thread.run_sync(sys.stdin.buffer.read, abandon_on_cancel=True)
    stop.set()


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--spare-loopback", action="store_true")
    arguments = parser.parse_args()
    limits = replace(Limits(), spares_loopback=arguments.spare_loopback)
    trio.run(run, DataDir(arguments.root), limits)
    return 0


if __name__ == "__main__":
    sys.exit(main())
