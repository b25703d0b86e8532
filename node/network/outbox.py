"""What waits to be pushed to one peer: bounded, each record once.

Certificates before records. When it is full the oldest records give way, because reconciliation
brings them anyway; packets give way last, and the certificate machines repeat what matters.
"""

from collections import OrderedDict, deque
from typing import Final

import trio

from federation.core import RecordId
from node.network.messages import MOST_RECORDS, ROOM, PacketPart, Pushed, Records

MOST_PACKETS: Final = 2_048
MOST_PACKET_BYTES: Final = 16 * 1024 * 1024
MOST_QUEUED: Final = 4_096
"""Records that may wait."""
MOST_QUEUED_BYTES: Final = 16 * 1024 * 1024
REMEMBERED: Final = 8_192
"""Ids that the peer is known to hold: it sent them, or they were sent to it."""


class Outbox:
    """Packets and records on their way to one peer."""

    def __init__(self) -> None:
        """Start empty."""
        self._packets: deque[bytes] = deque()
        self._packet_bytes = 0
        self._records: OrderedDict[RecordId, bytes] = OrderedDict()
        self._record_bytes = 0
        self._held: OrderedDict[RecordId, None] = OrderedDict()
        self._filled = trio.Event()
        self.dropped = 0
        """What gave way, ever."""

    def peer_holds(self, name: RecordId) -> None:
        """Remember that the peer holds a record: it need not be sent."""
        self._held[name] = None
        self._held.move_to_end(name)
        self._record_bytes -= len(self._records.pop(name, b""))
        if len(self._held) > REMEMBERED:
            self._held.popitem(last=False)

    def put_record(self, name: RecordId, wire: bytes) -> None:
        """Queue a record, unless the peer holds it."""
        if name in self._held or name in self._records:
            return
        self._records[name] = wire
        self._record_bytes += len(wire)
        while len(self._records) > MOST_QUEUED or self._record_bytes > MOST_QUEUED_BYTES:
            self._record_bytes -= len(self._records.popitem(last=False)[1])
            self.dropped += 1
        self._filled.set()

    def put_packet(self, packet: bytes) -> None:
        """Queue a packet of the certificate protocol."""
        self._packets.append(packet)
        self._packet_bytes += len(packet)
        while len(self._packets) > MOST_PACKETS or self._packet_bytes > MOST_PACKET_BYTES:
            self._packet_bytes -= len(self._packets.popleft())
            self.dropped += 1
        self._filled.set()

    async def next(self) -> list[Pushed]:
        """Give the messages to send next, waiting until there are some."""
        while not self._packets and not self._records:
            self._filled = trio.Event()
            await self._filled.wait()
        if self._packets:
            packet = self._packets.popleft()
            self._packet_bytes -= len(packet)
            return parts_of(packet)
        return [self._some_records()]

    def _some_records(self) -> Records:
        chosen: list[bytes] = []
        size = 0
        while self._records and len(chosen) < MOST_RECORDS:
            name, wire = next(iter(self._records.items()))
            if chosen and size + len(wire) > ROOM:
                break
            self.peer_holds(name)
            chosen.append(wire)
            size += len(wire) + 5
        return Records(records=tuple(chosen))

    def __len__(self) -> int:
        """Count what waits."""
        return len(self._packets) + len(self._records)


def parts_of(packet: bytes) -> list[Pushed]:
    """Cut a packet into parts that fit one frame each."""
    starts = range(0, len(packet), ROOM)
    return [
        PacketPart(more=start + ROOM < len(packet), content=packet[start : start + ROOM])
        for start in starts
    ]
