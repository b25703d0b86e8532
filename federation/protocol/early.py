"""Packets for slots that are not open here yet: kept for a while, within bounds.

A peer that is a little ahead speaks of a slot before the cut that opens it has arrived. What is
dropped will be repeated, so the bounds cost time and never agreement. Each peer fills its own
share only.
"""

from collections import deque
from typing import Final

from federation.core import InstanceId
from federation.protocol.inputs import Packet

MOST_PACKETS: Final = 64
"""Packets kept of one peer."""
MOST_BYTES: Final = 1024 * 1024
"""Bytes kept of one peer."""


class Early:
    """Bounded room for early packets, by peer and slot."""

    def __init__(self) -> None:
        """Start empty."""
        self._of: dict[InstanceId, deque[tuple[bytes, Packet]]] = {}
        self._bytes: dict[InstanceId, int] = {}

    def put(self, slot: bytes, packet: Packet) -> None:
        """Keep a packet; the oldest of the same peer give way."""
        kept = self._of.setdefault(packet.peer, deque())
        kept.append((slot, packet))
        size = self._bytes.get(packet.peer, 0) + len(packet.packet)
        while kept and (size > MOST_BYTES or len(kept) > MOST_PACKETS):
            size -= len(kept.popleft()[1].packet)
        self._bytes[packet.peer] = size

    def take(self, slot: bytes) -> list[Packet]:
        """Hand over what waited for a slot, each peer's in order of arrival."""
        found = []
        for peer, kept in self._of.items():
            left: deque[tuple[bytes, Packet]] = deque()
            for name, packet in kept:
                if name == slot:
                    found.append(packet)
                    self._bytes[peer] -= len(packet.packet)
                else:
                    left.append((name, packet))
            self._of[peer] = left
        return found

    def __len__(self) -> int:
        """Count the packets kept."""
        return sum(map(len, self._of.values()))
