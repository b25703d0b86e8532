"""One dear request at a time for each remote address; others of the same address wait their turn.

Else an address could have many proofs verified at once before the first of them has it banned.
Loopback is spared: a proxy there speaks for many, and cannot be banned either.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trio

from node.api.limits import Limits, bucket_of, is_loopback


@dataclass(slots=True, kw_only=True)
class _Line:
    lock: trio.Lock = field(default_factory=trio.Lock)
    users: int = 0
    """Who has the turn or waits for it; of one address no more than it has connections."""


class Turns:
    """Whose turn it is, by bucket of the address."""

    def __init__(self, limits: Limits) -> None:
        """Nobody waits."""
        self._limits = limits
        self._lines: dict[str, _Line] = {}

    @asynccontextmanager
    async def of(self, address: str) -> AsyncIterator[None]:
        """Have the turn of an address while the context is open."""
        if self._limits.spares_loopback and is_loopback(address):
            yield
            return
        name = bucket_of(address)
        line = self._lines.setdefault(name, _Line())
        line.users += 1
        try:
            async with line.lock:
                yield
        finally:
            line.users -= 1
            if not line.users:
                del self._lines[name]

    def __len__(self) -> int:
        """Count the addresses of which somebody has the turn."""
        return len(self._lines)
