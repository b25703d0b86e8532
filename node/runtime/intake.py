"""What peers send, on its way to the core: checked on worker threads, then queued by urgency."""

from collections.abc import Callable, Sequence
from typing import Final

from federation.core import InstanceId, RecordId
from federation.protocol import effects as fx
from federation.protocol import inputs as ins
from federation.records import Kind, Record
from node.runtime.inbox import Inbox, Urgency
from node.runtime.ingest import Ingest

_VOTES: Final = frozenset({Kind.COMMIT, Kind.REVEAL, Kind.CERTIFICATE})


class PeerIntake:
    """Implements what links and handlers hand over to."""

    def __init__(
        self,
        ingest: Ingest,
        inbox: Inbox,
        *,
        refused: Callable[[fx.Refused], None],
        heard_from: Callable[[InstanceId, list[RecordId]], None],
    ) -> None:
        """`refused` scores a peer down; `heard_from` notes what a peer holds."""
        self._ingest = ingest
        self._inbox = inbox
        self._refused = refused
        self._heard_from = heard_from

    async def records(self, raws: Sequence[bytes], peer: InstanceId, *, wait: bool) -> None:
        """Check and queue records, waiting for room; with `wait`, until the core has seen them."""
        read = await self._ingest.read(raws)
        for error in read.refused:
            self._refused(fx.Refused(peer=peer, code=error.code, why=error.why))
        if not read.records:
            return
        self._heard_from(peer, [record.id for record in read.records])
        event = ins.Arrived(records=read.records, peer=peer)
        taken = await self._inbox.put(event, _urgency(read.records), size=sum(map(len, raws)))
        if wait:
            await taken.wait()

    async def packet(self, packet: ins.Packet) -> None:
        """Queue a packet of the certificate protocol, waiting for room."""
        await self._inbox.put(packet, Urgency.CERTIFICATE, size=len(packet.packet))

    async def tell(self, event: ins.Input) -> None:
        """Give the core an input, and return once it has seen it."""
        # Behind the records that came before it: a comparison is over when they are in.
        taken = await self._inbox.put(event, Urgency.REST)
        await taken.wait()


def _urgency(records: Sequence[Record]) -> Urgency:
    return Urgency.VOTE if any(record.kind in _VOTES for record in records) else Urgency.REST
