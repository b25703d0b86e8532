"""What this instance has signed and must not forget (design: amnesia).

A member that lost its signing journal counts as a liar, because it could sign the opposite of what
it signed before. So after a restart it signs nothing before a quorum of peers has told what they
have seen of it; and whenever somebody shows it a signature of its own that it does not remember,
it stays silent in every slot that can have been open when it lost it. A claim without a signature
proves nothing: else one liar could silence an honest member.
"""

from typing import Final

from federation.certificates import Certificate, Heard, peek_slot, quorum, signing_payload
from federation.core import PeerError
from federation.protocol.effects import Happening, StoreSilence, Tell
from federation.protocol.inputs import Met
from federation.protocol.turn import Turn
from federation.protocol.world import Me, World

AHEAD_MOST: Final = 8
"""Cuts beyond our own that one peer's claim can keep us silent for, where f = 0."""


def meet(turn: Turn, event: Met) -> bool:
    """Hear from a peer how far it is and what it has seen of us; tell if that settles us."""
    world = turn.world
    me = world.me
    if me is None:
        return False
    if event.voice in world.state.instances:
        me.met[event.voice] = event.cut
    shown = _shown(world, me, event)
    if shown >= me.counter:
        _forgot(turn, me, shown)
    elif me.amnesia and not me.settled:
        # Whoever told first made no quorum: what the others tell can only lengthen the silence.
        _fall_silent(turn, me)
    if me.settled or not _is_quorum(world, me):
        return False
    me.settled = True
    return True


def notice(turn: Turn, heard: Heard) -> None:
    """Remember the latest message of each voice; one of our own that we never sent is amnesia."""
    world = turn.world
    me = world.me
    known = world.heard.get(heard.voice)
    if known is None or known.header.counter < heard.header.counter:
        world.heard[heard.voice] = heard
    if me is not None and heard.voice == me.instance and heard.header.counter >= me.counter:
        _forgot(turn, me, heard.header.counter)


def count(world: World, certificate: Certificate) -> None:
    """Count on from the signatures of ours that a certificate holds, whatever the journal says."""
    me = world.me
    if me is not None:
        ours = [seal.counter for seal in certificate.seals if seal.voice == me.instance]
        me.counter = max(me.counter, *(counter + 1 for counter in ours), 0)


def _forgot(turn: Turn, me: Me, counter: int) -> None:
    """Count on from a signature of ours that we do not remember, and fall silent."""
    me.counter = counter + 1
    _fall_silent(turn, me)


def _fall_silent(turn: Turn, me: Me) -> None:
    """Stay silent wherever we may have signed before: at least up to the cut that we know.

    At most f of those who told how far they are can lie, so of their cuts the (f+1)-th highest
    is one that is there.
    """
    world = turn.world
    members = world.state.cut_members
    f = _quorum(world)[1]
    voices = {member.voice for member in members} - {me.instance}
    told = sorted((cut for voice, cut in me.met.items() if voice in voices), reverse=True)
    here = world.state.cut
    ahead = told[f] if len(told) > f else here
    if f == 0:
        # Nobody vouches for a claim here, so an exaggeration is cut short.
        ahead = min(ahead, here + AHEAD_MOST)
    until = max(here, me.silent_until, ahead)
    if until > me.silent_until or not me.amnesia:
        me.amnesia, me.silent_until = True, until
        turn.effects += [
            StoreSilence(until=until),
            Tell(event=Happening.AMNESIA, subject=me.instance),
        ]


def _is_quorum(world: World, me: Me) -> bool:
    voices = {member.voice for member in world.state.cut_members} - {me.instance}
    return len(voices & set(me.met)) >= _quorum(world)[0] - 1


def _quorum(world: World) -> tuple[int, int]:
    three = world.charter.timing.three == "available"
    found = quorum(len(world.state.cut_members), three_available=three)
    return found.q, found.f


def _shown(world: World, me: Me, event: Met) -> int:
    """Give the counter of our own message that a peer showed, or -1 if it shows nothing of ours.

    Signed by a key that our chain ends with or that an open slot still pins: with another, which
    may be the very one that was stolen, nothing can be said any more that could contradict us.
    """
    if event.seen is None:
        return -1
    raw, signature = event.seen
    try:
        realm, _, _, voice, counter = peek_slot(raw)
    except PeerError:
        return -1
    heads = world.log.heads_of(me.instance)
    keys = {entry.keys.key for _, head in heads if (entry := world.log.entry(head)) is not None} | {
        member.key
        for live in world.slots.values()
        if (member := live.pinned.member(me.instance)) is not None
    }
    ours = realm == world.realm and voice == me.instance
    signed = any(world.verify(key, signing_payload(raw), signature) for key in sorted(keys))
    return counter if ours and signed else -1
