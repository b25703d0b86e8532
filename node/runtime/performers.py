"""Carries out what the core asks for: stores first, then everything that others can notice.

Outcomes that have piled up share one transaction. Their other effects follow in order once it is
committed. If it fails the node stops: the world is then ahead of the disk, and after a restart the
disk decides. What fails on its way to the network is logged and left out: the disk is right, the
core repeats what it still needs, and reconciliation brings the rest.
"""

from collections.abc import Callable, Iterator
from typing import Final, Protocol, TypeAlias, assert_never

import trio

from federation.core import Digest, InstanceId, RecordId
from federation.protocol import effects as fx
from federation.records import Record
from node.runtime.driver import Driver, Noticed, Outcome
from node.runtime.supervision import named
from node.store import SaveEvent, Store, Write
from node.telemetry import log

TOGETHER: Final = 2_048
"""Writes that one transaction may hold, give or take those of one outcome."""
_Outward: TypeAlias = (
    fx.Relay | fx.SendPacket | fx.Reconcile | fx.FetchRecords | fx.FetchBlob | fx.Refused
)


class Outside(Protocol):
    """What the performers ask of the network; nothing here waits.

    Nothing here should fail either. If it does, that effect is lost, with a line in the log, and
    the node goes on: what is durable does not depend on it.
    """

    def relay(self, records: tuple[Record, ...]) -> None:
        """Send records on to the other instances."""
        ...

    def send_packet(self, to: InstanceId | None, packet: bytes) -> None:
        """Send a packet to one instance, or to all members."""
        ...

    def reconcile(self, slot: bytes, voices: tuple[InstanceId, ...]) -> None:
        """Compare with these instances, and tell the core when it is done."""
        ...

    def fetch_records(self, records: tuple[RecordId, ...], voices: tuple[InstanceId, ...]) -> None:
        """Get records from any of these instances."""
        ...

    def fetch_blob(self, blob: Digest, voices: tuple[InstanceId, ...]) -> None:
        """Get a blob from any of these instances."""
        ...

    def refused(self, effect: fx.Refused) -> None:
        """Score a peer down."""
        ...


class Performers:
    """Takes outcomes from the driver and carries them out."""

    def __init__(
        self,
        driver: Driver,
        store: Store,
        outside: Outside,
        *,
        told: Callable[[fx.Tell], SaveEvent],
        announce: Callable[[SaveEvent], None],
        reckon: Callable[[fx.Reckon], None],
        prove: Callable[[fx.Prove], None],
    ) -> None:
        """`told` numbers an event; `announce` shows it to listeners once it is stored.

        `reckon` has trust computed, `prove` has proofs of work verified; neither waits or fails.
        """
        self._driver = driver
        self._store = store
        self._outside = outside
        self._told = told
        self._announce = announce
        self._reckon = reckon
        self._prove = prove

    async def run(self) -> None:
        """Carry out outcomes for ever; raises StoreError if the disk refuses.

        Also raises what a step has raised, once all that came before it is carried out.
        """
        async for first in self._driver.outcomes:
            await self._together([first, *self._waiting(TOGETHER - len(first.writes))])
        if self._driver.failure is not None:
            raise self._driver.failure

    def _waiting(self, room: int) -> Iterator[Outcome]:
        """Give outcomes that wait, until their writes fill the room."""
        while room > 0:
            try:
                outcome = self._driver.outcomes.receive_nowait()
            except (trio.WouldBlock, trio.EndOfChannel):
                return
            yield outcome
            room -= 1 + len(outcome.writes)

    async def _together(self, batch: list[Outcome]) -> None:
        events = [
            self._told(effect)
            for outcome in batch
            for effect in outcome.others
            if isinstance(effect, fx.Tell)
        ]
        writes: list[Write] = [write for outcome in batch for write in outcome.writes]
        if writes or events:
            await self._store.write([*writes, *events])
        await self._driver.is_durable(len(batch))
        for outcome in batch:
            for effect in outcome.others:
                self._perform(effect)
        for event in events:
            self._announce(event)

    def _perform(self, effect: Noticed) -> None:
        match effect:
            case fx.WakeAt(at=at):
                self._driver.timers.wake_at(at)
            case fx.Reckon():
                self._reckon(effect)
            case fx.Prove():
                self._prove(effect)
            case fx.Tell():
                pass
            case _:
                try:
                    self._send_out(effect)
                except Exception as error:  # noqa: BLE001 # our bug must not end the node
                    name = type(effect).__name__
                    log.warning("effect.failed", effect=name, error=named(error))

    def _send_out(self, effect: _Outward) -> None:
        outside = self._outside
        match effect:
            case fx.Relay(records=records):
                outside.relay(records)
            case fx.SendPacket(to=to, packet=packet):
                outside.send_packet(to, packet)
            case fx.Reconcile(slot=slot, voices=voices):
                outside.reconcile(slot, voices)
            case fx.FetchRecords(records=records, voices=voices):
                outside.fetch_records(records, voices)
            case fx.FetchBlob(blob=blob, voices=voices):
                outside.fetch_blob(blob, voices)
            case fx.Refused():
                outside.refused(effect)
            case _:
                assert_never(effect)
