"""What this instance must not forget: settling after a restart, silence after amnesia."""

import pytest

from federation.certificates import (
    Cosign,
    ListWitness,
    MessagePacket,
    Phase,
    RoundSlot,
    SignedEntry,
    message_for,
    packet_bytes,
    peek_slot,
    signing_payload,
    slot_key,
)
from federation.core import Millis, Signature
from federation.crypto import KeySigner
from federation.protocol import Me, World, inputs, restore, step
from federation.protocol import effects as fx
from federation.protocol.memory import AHEAD_MOST, count
from federation.records import Rotate, RotateBy, sign_record
from tests.builders import key_digest, named
from tests.federation.protocol.acts import next_cut, next_tick
from tests.federation.protocol.town import Town, keys, verify
from tests.federation.protocol.trial import durable_of

Seen = tuple[bytes, Signature] | None


def waking(town: Town, index: int = 0) -> Me:
    """Let an instance be as after a restart: it may sign nothing before it is settled."""
    me = town.world(index).me
    assert me is not None
    me.settled = False
    return me


def meet(
    town: Town, peer: int | bytes, *, cut: int = 0, seen: Seen = None, index: int = 0
) -> list[fx.Effect]:
    voice = peer if isinstance(peer, bytes) else town.founding.instances[peer]
    return step(town.world(index), inputs.Met(voice=voice, cut=cut, seen=seen), town.now)


def shown(town: Town, of: int = 0) -> tuple[bytes, Signature]:
    """Give the latest message of an instance that instance 1 (or 2) has heard."""
    witness = town.world(1 if of != 1 else 2)
    heard = witness.heard[town.founding.instances[of]]
    return heard.raw, heard.signature


def busy() -> Town:
    """Give a town of four in which everybody has signed, in the middle of a round."""
    town = Town.of(4, 8)
    town.in_phase(town.open_round(town.propose(0)), Phase.COMMIT)
    return town


def test_an_instance_settles_once_a_quorum_has_told_and_not_before() -> None:
    town = busy()
    me = waking(town)
    meet(town, 1)
    meet(town, 1)
    meet(town, named("stranger"))
    meet(town, 0)
    assert not me.settled
    meet(town, 2)

    assert me.settled
    assert not me.amnesia
    assert me.silent_until == -1


def test_while_it_is_not_settled_an_instance_signs_nothing() -> None:
    town = busy()
    me = waking(town)
    counter = me.counter
    town.rest(6_000)
    assert me.counter == counter
    # Three of four go on without it, and it follows.
    assert town.world(0).digest == town.world(1).digest
    meet(town, 1)
    meet(town, 2)
    town.rest(6_000)

    assert me.counter > counter


def test_settling_ends_the_windows_that_ran_out_meanwhile() -> None:
    town = busy()
    waking(town)
    town.rest(5_000)
    world = town.world()
    late = step(world, inputs.Met(voice=town.founding.instances[1], cut=0, seen=None), 10**6)
    assert late == []
    effects = step(world, inputs.Met(voice=town.founding.instances[2], cut=0, seen=None), 10**6)

    assert any(isinstance(one, fx.Reconcile) for one in effects)
    assert all(live.ended for live in world.slots.values())


def test_a_message_of_mine_that_i_do_not_remember_silences_me() -> None:
    town = busy()
    me = waking(town)
    forgotten = me.counter
    me.counter = 0
    meet(town, 1, cut=7, seen=shown(town))
    effects = meet(town, 2, cut=9)

    assert me.settled
    assert me.amnesia
    assert me.counter == forgotten
    # One of four may lie: the second highest of 9, 7 and my own cut.
    assert me.silent_until == 7
    assert fx.StoreSilence(until=7) in effects


def test_my_own_cut_counts_among_the_highest() -> None:
    town = busy()
    me = waking(town)
    me.counter = 0
    meet(town, 1, cut=10**9, seen=shown(town))
    meet(town, 2, cut=0)

    assert me.silent_until == town.world().state.cut == 1


def test_without_liars_in_the_quorum_the_highest_cut_counts() -> None:
    town = Town.of(3, 6)
    town.in_phase(town.open_round(town.propose(0)), Phase.COMMIT)
    me = waking(town)
    me.counter = 0
    meet(town, 1, cut=5, seen=shown(town))
    meet(town, 2, cut=9)

    assert me.silent_until == 9


def test_a_message_of_mine_that_i_remember_silences_nobody() -> None:
    town = busy()
    me = waking(town)
    meet(town, 1, cut=7, seen=shown(town))
    meet(town, 2, cut=9)

    assert me.settled
    assert (me.amnesia, me.silent_until) == (False, -1)


def test_a_claim_without_a_proof_silences_nobody() -> None:
    town = busy()
    raw, signature = shown(town)
    other = Town.of(4, 8, seed="another")
    other.in_phase(other.open_round(other.propose(0)), Phase.COMMIT)
    lies: list[Seen] = [
        None,
        (raw, bytes(64)),
        (raw[:-1], signature),
        (b"", signature),
        (shown(town, of=2)[0], signature),
        shown(town, of=2),
        shown(other),
    ]
    for lie in lies:
        me = waking(town)
        me.met.clear()
        me.counter = 0
        meet(town, 1, cut=7, seen=lie)
        meet(town, 2, cut=9)

        assert me.settled
        assert (me.amnesia, me.silent_until, me.counter) == (False, -1, 0)


def test_a_settled_instance_falls_silent_too_when_it_is_shown_what_it_forgot() -> None:
    town = busy()
    me = town.world().me
    assert me is not None
    forgotten = me.counter
    me.counter = 0
    effects = meet(town, 1, cut=7, seen=shown(town))

    assert (me.counter, me.silent_until) == (forgotten, 1)
    assert effects[:2] == [
        fx.StoreSilence(until=1),
        fx.Tell(event=fx.Happening.AMNESIA, subject=me.instance),
    ]
    assert meet(town, 1, cut=7, seen=shown(town)) == []


def test_an_observer_has_nothing_to_forget() -> None:
    town = busy()
    seen = shown(town)
    town.world().me = None

    assert meet(town, 1, seen=seen) == []


def test_a_message_of_mine_that_a_slot_hears_from_others_silences_me() -> None:
    town = busy()
    world = town.world()
    me = world.me
    assert me is not None
    body = ListWitness(ids=(named("x"),), late=False)
    slot = next(one for one in world.slots.values() if isinstance(one.slot, RoundSlot))
    raw = message_for(slot.pinned, me.instance, me.counter + 5, body)
    packet = MessagePacket(raw=raw, signature=me.signer.sign(signing_payload(raw)))
    counter = me.counter
    sender = town.founding.instances[1]
    step(world, inputs.Packet(packet=packet_bytes(slot.pinned, packet), peer=sender), town.now)

    assert me.counter == counter + 6
    assert me.amnesia
    assert world.is_silent(slot.slot)


def test_signatures_of_mine_in_a_certificate_raise_my_counter() -> None:
    town = busy()
    world = town.world()
    me = world.me
    assert me is not None
    certificate = next(
        one
        for one in world.certificates.values()
        if any(seal.voice == me.instance for seal in one.seals)
    )
    (ours,) = [seal.counter for seal in certificate.seals if seal.voice == me.instance]
    me.counter = 0
    count(world, certificate)
    assert me.counter == ours + 1
    world.me = None
    count(world, certificate)


@pytest.mark.parametrize(("ticks", "proves"), [(0, True), (2, False)])
def test_a_key_from_before_a_rotation_proves_something_while_an_open_slot_pins_it(
    ticks: int, *, proves: bool
) -> None:
    # Else whoever stole it could silence its owner for ever, however often that rotates.
    town = Town.of(4, 8)
    next_cut(town)
    world, three = town.world(), keys("town", "instance", 0)
    me, old, new = world.me, KeySigner(three.current), KeySigner(three.next)
    assert me is not None
    ((seq, head),) = world.log.heads_of(me.instance)
    body = Rotate(
        key=new.public,
        next=key_digest(named("next")),
        recovery=key_digest(named("recovery")),
        by=RotateBy.NEXT,
        reason="stolen",
    )
    rotation = sign_record(
        body,
        realm=world.realm,
        signer=new,
        author=me.instance,
        key_index=1,
        seq=seq + 1,
        prev=head,
        at=0,
    )
    me.rotate(new)
    town.arrive(world, rotation)
    if ticks:
        next_tick(town, ticks)
    pinned = next(iter(world.slots.values())).pinned
    raw = message_for(pinned, me.instance, me.counter + 9, Cosign(fence=0, digest=named("x")))
    meet(town, 1, seen=(raw, old.sign(signing_payload(raw))))

    assert me.amnesia is proves


def test_strangers_who_say_hello_are_not_remembered() -> None:
    town = busy()
    me = town.world().me
    assert me is not None
    for number in range(3):
        meet(town, named("stranger", number), cut=9)
    meet(town, 1, cut=1)

    assert me.met == {town.founding.instances[1]: 1}


def test_how_far_a_claim_can_silence_me_is_bounded() -> None:
    town = Town.of(3, 6)
    town.in_phase(town.open_round(town.propose(0)), Phase.COMMIT)
    me = waking(town)
    me.counter = 0
    meet(town, 1, cut=10**9, seen=shown(town))
    meet(town, 2, cut=0)

    assert me.silent_until == town.world().state.cut + AHEAD_MOST


def test_a_thief_who_signs_up_to_the_last_counter_silences_me_and_breaks_nothing() -> None:
    town = busy()
    world, me = town.world(), town.world().me
    assert me is not None
    live = next(one for one in world.slots.values() if isinstance(one.slot, RoundSlot))
    raw = message_for(live.pinned, me.instance, 2**53 - 1, ListWitness(ids=(), late=True))
    packet = MessagePacket(raw=raw, signature=me.signer.sign(signing_payload(raw)))
    sender = town.founding.instances[1]
    step(world, inputs.Packet(packet=packet_bytes(live.pinned, packet), peer=sender), town.now)
    cut = world.state.cut
    town.rest(60_000)

    # No message of mine could carry a counter beyond it, so I follow without signing.
    assert me.counter == 2**53
    assert world.state.cut > cut + 2
    assert world.digest == town.world(1).digest


# A backup -----------------------------------------------------------------------------------------


def from_backup(town: Town, stored: list[fx.Effect], *, index: int = 1) -> World:
    """Bring an instance back from what it had stored at an earlier time."""
    world, _ = restore(
        town.founding.charter,
        town.founding.records,
        durable_of(stored),
        instance=town.founding.instances[index],
        signer=KeySigner(keys(town.seed, "instance", index).current),
        now=town.now,
        verify=verify,
    )
    return world


def backed_up(*, later: Millis = 20_000) -> tuple[Town, World]:
    """Let instance 1 go on for a while after a backup, and bring back the backup beside it."""
    town = busy()
    stored = list(town.stored[town.founding.instances[1]])
    town.rest(later)
    return town, from_backup(town, stored)


def test_a_proof_that_comes_after_settling_still_silences_an_instance() -> None:
    town, world = backed_up()
    me, peers = world.me, [town.founding.instances[index] for index in (0, 2, 3)]
    heard = town.world(3).heard[town.founding.instances[1]]
    assert me is not None
    for peer in peers[:2]:
        step(world, inputs.Met(voice=peer, cut=0, seen=None), town.now)
    assert (me.settled, me.amnesia) == (True, False)
    seen = (heard.raw, heard.signature)
    step(world, inputs.Met(voice=peers[2], cut=5, seen=seen), town.now)

    assert me.amnesia
    assert me.counter == heard.header.counter + 1
    assert all(world.is_silent(live.slot) for live in world.slots.values())


def test_a_forgotten_message_that_is_heard_before_settling_is_remembered() -> None:
    # The backup was made in the open commit phase; what was signed there since comes back.
    town, world = backed_up(later=4_500)
    me = world.me
    assert me is not None
    counter = me.counter
    forgotten = [
        effect.entry
        for effect in town.stored[me.instance]
        if isinstance(effect, fx.StoreJournal)
        and isinstance(effect.entry, SignedEntry)
        and peek_slot(effect.entry.raw)[4] >= counter
    ]
    live = [world.slots[slot_key(entry.slot)] for entry in forgotten]
    assert forgotten
    for entry, one in zip(forgotten, live, strict=True):
        packet = MessagePacket(raw=entry.raw, signature=entry.signature)
        raw = packet_bytes(one.pinned, packet)
        step(world, inputs.Packet(packet=raw, peer=town.founding.instances[0]), town.now)
    effects = []
    for index in (0, 2, 3):
        peer = town.founding.instances[index]
        effects += step(world, inputs.Met(voice=peer, cut=0, seen=None), town.now)
    effects += step(world, inputs.Wake(), town.now + 60_000)

    assert me.amnesia
    assert me.counter > peek_slot(forgotten[-1].raw)[4]
    assert not [one for one in effects if isinstance(one, fx.StoreJournal)]
