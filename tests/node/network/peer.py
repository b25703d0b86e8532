"""A peer in a process of its own, for tests that kill, stop or deceive it.

    peer.py NUMBER [ADDRESS…]     listen, call the addresses, join the topic

It prints its address, and then a line for each payload it hears. A line on its standard input is
published. With PEER_CLOCK set, its wall clock is off by so many seconds from the start.
"""

import os
import sys
import time

import trio

from tests.node.network.hosts import TOPIC, host

OFF_S = int(os.environ.get("PEER_CLOCK", "0"))


def deceive() -> None:
    """Set the clocks that people can set; the monotonic one cannot be."""
    real, real_ns = time.time, time.time_ns
    time.time = lambda: real() + OFF_S
    time.time_ns = lambda: real_ns() + OFF_S * 10**9


async def main(number: int, addresses: list[str]) -> None:
    async with host(number) as me:
        topic = await me.join(TOPIC)
        for address in addresses:
            await me.connect(address)
        print(me.addresses[0], flush=True)  # noqa: T201 # what it is for

        async def hear() -> None:
            async for _, data in topic:
                print(data.decode(), flush=True)  # noqa: T201 # as above

        async with trio.open_nursery() as nursery:
            nursery.start_soon(hear)
            buffer = b""
            async for chunk in trio.lowlevel.FdStream(os.dup(0)):
                *lines, buffer = (buffer + chunk).split(b"\n")
                for line in lines:
                    await topic.publish(line)
            nursery.cancel_scope.cancel()


if __name__ == "__main__":
    deceive()
    trio.run(main, int(sys.argv[1]), sys.argv[2:])
