"""`step`: one input in, effects out; the only door through which a world changes.

The orchestrator enforces and never votes (paper 2.2). It reads no clock, opens no socket and draws
no random number: time is an argument, what came from outside is an input, and what should happen
outside is an effect. The same function runs in the node, in the simulator and in the tests.
"""

from typing import assert_never

from federation import certificates
from federation.certificates import Part, PartKind, blob_hash
from federation.certificates.values import value_blobs
from federation.core import Millis
from federation.protocol import agreement, intake, memory, progress
from federation.protocol.effects import Effect
from federation.protocol.inputs import (
    Arrived,
    BlobArrived,
    Input,
    Met,
    Packet,
    Proven,
    Reckoned,
    Reconciled,
    Wake,
)
from federation.protocol.turn import Turn
from federation.protocol.world import World


def step(world: World, event: Input, now: Millis) -> list[Effect]:
    """Take one input at time `now` (ms, on this node's own monotonic clock).

    Changes the world and returns the effects in the order in which they must be carried out.
    Never raises for what a peer sent: that becomes a `Refused` effect.
    """
    turn = Turn(world=world, now=now)
    match event:
        case Arrived():
            intake.take(turn, event)
        case Packet():
            agreement.receive(turn, event)
        case BlobArrived():
            _take_blob(turn, event)
        case Reconciled():
            _reconciled(turn, event)
        case Met():
            if memory.meet(turn, event):
                _wake(turn)
        case Reckoned():
            progress.take_trust(turn, event)
        case Proven():
            progress.take_work(turn, event)
        case Wake():
            _wake(turn)
        case _:
            assert_never(event)
    progress.settle(turn)
    return turn.effects


def start(world: World, now: Millis) -> list[Effect]:
    """Begin to live: open the slot of the next cut; after a restart, catch up with the log."""
    turn = Turn(world=world, now=now)
    progress.begin_cuts(turn)
    progress.settle(turn)
    return turn.effects


def _wake(turn: Turn) -> None:
    progress.try_cut(turn)
    for live in list(turn.world.slots.values()):
        agreement.check_window(turn, live)
        due = live.state.wake
        if due is not None and due <= turn.now and not live.state.is_final:
            agreement.feed(turn, live.slot, certificates.Wake())


def _take_blob(turn: Turn, event: BlobArrived) -> None:
    # Of what a cut contains every blob is held.
    wanted = {
        name
        for certificate in turn.world.certificates.open.values()
        for name in value_blobs(certificate.value)
    }
    name = blob_hash(event.content)
    if name in wanted:
        turn.keep_blob(event.content)
        progress.try_cut(turn)
    part = Part(kind=PartKind.BLOB, content=event.content)
    for live in list(turn.world.slots.values()):
        pending = live.state.pending
        if pending is not None and name in value_blobs(pending.value):
            parts = certificates.ReceivedParts(parts=(part,), sender=event.peer)
            agreement.feed(turn, live.slot, parts)


def _reconciled(turn: Turn, event: Reconciled) -> None:
    live = turn.world.slots.get(event.slot)
    if live is not None:
        agreement.feed(
            turn, live.slot, certificates.Reconciled(voice=event.voice, began=event.began)
        )
