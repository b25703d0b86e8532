"""Whoever floods, as a process of its own: `python -m benchmarks.joining.flood_crowd < PLAN`.

It sends registrations at a steady rate, each on a connection of its own, from the addresses of its
plan in turn, and counts what comes back. A connection that is cut while it sends counts as cut off.
"""

import json
import sys
from collections import Counter
from typing import Final

import msgspec
import trio

_AT_ONCE: Final = 200
_PATIENCE_S: Final = 10.0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What to send, from where, how fast."""

    port: int
    addresses: tuple[str, ...]
    """Loopback addresses to come from, in turn."""
    bodies: tuple[str, ...]
    """Bodies of JSON to send, in turn."""
    per_second: int
    seconds: float


async def flood(plan: Plan) -> Counter[str]:
    """Send as the plan says; gives how often each answer came, by status and code."""
    counts: Counter[str] = Counter()
    limiter = trio.CapacityLimiter(_AT_ONCE)
    began = trio.current_time()

    async def one(number: int) -> None:
        async with limiter:
            address = plan.addresses[number % len(plan.addresses)]
            body = plan.bodies[number % len(plan.bodies)].encode()
            counts[await _answer(plan.port, address, body)] += 1

    async with trio.open_nursery() as nursery:
        for number in range(int(plan.per_second * plan.seconds)):
            await trio.sleep_until(began + number / plan.per_second)
            if trio.current_time() > began + plan.seconds:
                # This machine does not keep up with the rate.
                break
            nursery.start_soon(one, number)
    return counts


async def _answer(port: int, address: str, body: bytes) -> str:
    head = (
        b"POST /v1/registration HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
    )
    came = b""
    with trio.move_on_after(_PATIENCE_S):
        try:
            async with await trio.open_tcp_stream("127.0.0.1", port, local_address=address) as line:
                await line.send_all(head + body)
                while part := await line.receive_some():
                    came += part
        except (OSError, trio.BrokenResourceError):
            pass
        return _told(came)
    return "timed out"


def _told(came: bytes) -> str:
    first, _, rest = came.partition(b"\r\n\r\n")
    if not rest:
        return "cut off"
    try:
        return f"{first.split()[1].decode()} {json.loads(rest)['code']}"
    except (KeyError, ValueError):
        return first.split()[1].decode()


def main() -> int:
    """Read the plan, flood, and print the counts."""
    plan = msgspec.json.decode(sys.stdin.buffer.read(), type=Plan)
    print(json.dumps(trio.run(flood, plan)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
