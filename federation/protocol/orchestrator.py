"""`step`: one input in, effects out; the only door through which a world changes.

The orchestrator enforces and never votes (paper 2.2). It reads no clock, opens no socket and draws
no random number: time is an argument, what came from outside is an input, and what should happen
outside is an effect. The same function runs in the node, in the simulator and in the tests.
"""

from typing import assert_never

from federation import certificates
from federation.certificates import Part, PartKind, blob_hash, peek_slot, signing_payload
from federation.certificates.values import value_blobs
from federation.core import Millis, PeerError
from federation.protocol import agreement, intake, progress
from federation.protocol.effects import Effect, StoreSilence
from federation.protocol.inputs import (
    Arrived,
    BlobArrived,
    Input,
    Met,
    Packet,
    Reconciled,
    Wake,
)
from federation.protocol.turn import Turn
from federation.protocol.world import Me, World


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
            _meet(turn, event)
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
    for live in list(turn.world.slots.values()):
        agreement.check_window(turn, live)
        due = live.state.wake
        if due is not None and due <= turn.now and not live.state.is_final:
            agreement.feed(turn, live.slot, certificates.Wake())


def _take_blob(turn: Turn, event: BlobArrived) -> None:
    wanted = {
        name
        for certificate in turn.world.certificates.values()
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


def _meet(turn: Turn, event: Met) -> None:
    """Hear from a peer how far it is and what it has seen of us; settle once a quorum told.

    A signature of ours that we do not remember proves that we lost signed state. Then we sign
    nothing in any slot that can have been open when we lost it (design: amnesia).
    """
    world = turn.world
    me = world.me
    if me is None or me.settled:
        return
    me.met[event.voice] = event.cut
    shown = _shown(world, me, event)
    if shown >= me.counter:
        me.counter = shown + 1
        me.amnesia = True
    members = world.state.cut_members
    voices = {member.voice for member in members} - {me.instance}
    quorum = certificates.quorum(
        len(members), three_available=world.charter.timing.three == "available"
    )
    heard = [cut for voice, cut in me.met.items() if voice in voices]
    if len(heard) < quorum.q - 1:
        return
    if me.amnesia:
        # At most f of those who told can lie, so the (f+1)-th highest is a cut that is there.
        ahead = sorted([*heard, world.state.cut], reverse=True)
        me.silent_until = ahead[min(quorum.f, len(ahead) - 1)]
        turn.effects.append(StoreSilence(until=me.silent_until))
    me.settled = True
    _wake(turn)


def _shown(world: World, me: Me, event: Met) -> int:
    """Give the counter of our own message that a peer showed, or -1 if it shows nothing of ours."""
    if event.seen is None:
        return -1
    raw, signature = event.seen
    try:
        realm, _, _, voice, counter = peek_slot(raw)
    except PeerError:
        return -1
    heads = world.log.heads_of(me.instance)
    keys = {
        key
        for _, head in heads
        if (entry := world.log.entry(head)) is not None
        for key in entry.keys.keys
    }
    ours = realm == world.realm and voice == me.instance
    signed = any(world.verify(key, signing_payload(raw), signature) for key in sorted(keys))
    return counter if ours and signed else -1
