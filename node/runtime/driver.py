"""The only caller of `step`: one input in, effects to the performers, in order.

`take` is synchronous, so whoever holds the trio thread may look at the world, decide, and give the
core an input without anything happening in between. The world is then ahead of the disk for a few
milliseconds; **nothing that leaves the node may be**. So every effect after a store effect is
performed only when that store is durable, and whoever shows the world to somebody outside (an
answer to a peer, an HTTP answer) awaits `flushed` before it sends what it has read.

When a step fails, half of it may stand in the world. Then nothing is taken any more, `flushed`
never returns again, and the performers stop the node once all that came before is carried out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import trio

from federation.core import Millis
from federation.protocol import World, step
from federation.protocol import effects as fx
from federation.protocol.inputs import Input, Wake
from node.runtime.inbox import Inbox
from node.runtime.supervision import named
from node.runtime.timers import Timers
from node.store import SaveSnapshot, Write
from node.telemetry import log

Mark: TypeAlias = int
"""How many outcomes the core had produced at some moment."""

AHEAD: Final = 64
"""Outcomes that may wait for the disk before the driver stops taking from the inbox."""
Noticed: TypeAlias = (
    fx.Relay
    | fx.SendPacket
    | fx.Reconcile
    | fx.FetchRecords
    | fx.FetchBlob
    | fx.WakeAt
    | fx.Reckon
    | fx.Prove
    | fx.Refused
    | fx.Tell
)
"""Effects that somebody else can notice, or that store nothing."""
_STORES: Final = (
    fx.StoreRecord,
    fx.StoreBlob,
    fx.StoreJournal,
    fx.StoreStart,
    fx.StoreSilence,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one step asks for."""

    writes: tuple[Write, ...]
    """To be durable first."""
    others: tuple[Noticed, ...]
    """To be performed afterwards, in order."""


TakeSnapshot: TypeAlias = Callable[[World], SaveSnapshot]
"""Takes a snapshot of a world that has just folded a cut."""


class Driver:
    """A world and the queue of what it asks for."""

    def __init__(
        self,
        world: World,
        *,
        now: Callable[[], Millis],
        inbox: Inbox,
        timers: Timers,
        snapshot: TakeSnapshot,
    ) -> None:
        """Drive a world that `begin` or `restore` gave."""
        self.world = world
        self.now = now
        self.inbox = inbox
        self.timers = timers
        self.listeners: list[Callable[[list[fx.Effect]], None]] = []
        """Called with the effects of every step, at once; they may give the core an input."""
        self.failure: BaseException | None = None
        """Why there will be no more outcomes."""
        self._snapshot = snapshot
        self._send, self.outcomes = trio.open_memory_channel[Outcome](1_000_000)
        self._mark: Mark = 0
        self._durable: Mark = 0
        self._moved = trio.Condition()

    def take(self, event: Input) -> list[fx.Effect]:
        """Give the core one input; its effects are queued, and given back to look at."""
        self._check()
        try:
            return self.carry_out(step(self.world, event, self.now()))
        except BaseException as error:
            # Half a step leaves a world that nobody can vouch for, or effects that are lost. So
            # the node stops, whoever gave the input: the end of the outcomes tells the performers.
            self.failure = error
            self._send.close()
            raise

    def _check(self) -> None:
        if self.failure is not None:
            raise self.failure

    def carry_out(self, effects: list[fx.Effect]) -> list[fx.Effect]:
        """Queue effects of the core, those of a start or restart included."""
        writes: list[Write] = []
        others: list[Noticed] = []
        for effect in effects:
            if isinstance(effect, _STORES):
                writes.append(effect)
            else:
                others.append(effect)
        if any(isinstance(one, fx.Tell) and one.event is fx.Happening.CUT for one in others):
            writes.append(self._photo())
        if effects:
            self._mark += 1
            self._send.send_nowait(Outcome(writes=tuple(writes), others=tuple(others)))
        for listener in self.listeners:
            listener(effects)
        return effects

    def _photo(self) -> SaveSnapshot:
        """Take a snapshot; without content if that fails: a start then folds a longer tail."""
        try:
            return self._snapshot(self.world)
        except Exception as error:  # noqa: BLE001 # what the step has stored must not be lost for it
            state = self.world.state
            log.warning("snapshot.failed", cut=state.cut, error=named(error))
            return SaveSnapshot(
                cut=state.cut,
                tick=state.tick,
                digest=state.digest,
                world_digest=self.world.digest,
                content=None,
            )

    @property
    def mark(self) -> Mark:
        """Name this moment, for `flushed`."""
        return self._mark

    async def flushed(self, mark: Mark | None = None) -> None:
        """Wait until everything up to a mark, or to this moment, is durable.

        Raises what a step has raised, if one has: nobody may show the world any more.
        """
        self._check()
        await self.drained(mark)
        self._check()

    async def drained(self, mark: Mark | None = None) -> None:
        """Wait until everything up to a mark is durable, also after a step has failed."""
        upto = self._mark if mark is None else mark
        async with self._moved:
            while self._durable < upto:
                await self._moved.wait()

    async def has_room(self) -> None:
        """Wait while the world is as far ahead of the disk as they may bring it who can wait."""
        async with self._moved:
            while self._mark - self._durable >= AHEAD:
                await self._moved.wait()

    async def is_durable(self, count: int) -> None:
        """Hear from the performers that so many more outcomes are durable."""
        async with self._moved:
            self._durable += count
            self._moved.notify_all()

    async def run(self) -> None:
        """Take inputs from the inbox for ever, no further ahead of the disk than allowed."""
        while True:
            event, taken = await self.inbox.get()
            await self.has_room()
            self.take(event)
            taken.set()
            await trio.lowlevel.checkpoint()

    async def run_timers(self) -> None:
        """Wake the core whenever it asked to be woken."""
        while True:
            await self.timers.wait()
            self.take(Wake())
            await trio.lowlevel.checkpoint()
