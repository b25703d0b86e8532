"""What waits for the core: bounded, and the urgent first.

Certificates come before commits and reveals, those before everything else; within a class, first
come first served. No class waits for ever: after a run of more urgent inputs it has its turn, so a
member that floods one class does not silence the others. A full class makes its senders wait, so
pressure reaches the peer through its stream and never becomes memory. What a sender waits for is
only room: the core works later.
"""

from collections import deque
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

import trio

from federation.protocol.inputs import Input

ROOM: Final = 256
"""Inputs that may wait in one class. An input is a batch of records, or a packet."""
ROOM_BYTES: Final = 16 * 1024 * 1024
"""Bytes that they may have, before the last: a packet has two megabytes at most."""

RUN: Final = 32
"""More urgent inputs that the core may be told while a class waits, before the class has a turn."""


class Urgency(IntEnum):
    """In which order the core is told; the lowest first, most of the time."""

    CERTIFICATE = 0
    VOTE = 1
    REST = 2


@dataclass(slots=True)
class _Class:
    inputs: deque[tuple[Input, trio.Event, int]] = field(default_factory=deque)
    size: int = 0
    passed: int = 0
    """More urgent inputs that were taken while it waited."""
    room: trio.Condition = field(default_factory=trio.Condition)


class Inbox:
    """Inputs of the network on their way to the core."""

    def __init__(self, *, room: int = ROOM) -> None:
        """Start empty; `room` inputs may wait in each class."""
        self._room = room
        self._classes = {urgency: _Class() for urgency in Urgency}
        self._filled = trio.Event()

    async def put(self, event: Input, urgency: Urgency, *, size: int = 0) -> trio.Event:
        """Queue an input, waiting for room; gives an event that is set once the core took it.

        `size` is how many bytes it came as.
        """
        one = self._classes[urgency]
        async with one.room:
            while len(one.inputs) >= self._room or one.size >= ROOM_BYTES:
                await one.room.wait()
            taken = trio.Event()
            one.inputs.append((event, taken, size))
            one.size += size
        self._filled.set()
        return taken

    async def get(self) -> tuple[Input, trio.Event]:
        """Give the most urgent input, waiting until there is one; set its event when it is done."""
        while not (waiting := [one for one in self._classes.values() if one.inputs]):
            self._filled = trio.Event()
            await self._filled.wait()
        place = next((place for place, one in enumerate(waiting) if one.passed >= RUN), 0)
        chosen = waiting[place]
        async with chosen.room:
            event, taken, size = chosen.inputs.popleft()
            chosen.size -= size
            chosen.passed = 0
            # All of them: one large input makes room for several, and whoever is woken alone may
            # have been cancelled.
            chosen.room.notify_all()
        for one in waiting[place + 1 :]:
            one.passed += 1
        return event, taken

    def __len__(self) -> int:
        """Count the inputs that wait."""
        return sum(len(one.inputs) for one in self._classes.values())
