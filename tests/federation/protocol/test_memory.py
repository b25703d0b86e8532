"""What this instance must not forget: settling after a restart, silence after amnesia."""

from federation.certificates import (
    ListWitness,
    MessagePacket,
    Phase,
    RoundSlot,
    message_for,
    packet_bytes,
    signing_payload,
)
from federation.core import Signature
from federation.protocol import Me, inputs, step
from federation.protocol import effects as fx
from federation.protocol.memory import AHEAD_MOST, count
from tests.builders import named
from tests.federation.protocol.town import Town

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
        fx.Tell(event="amnesia", subject=me.instance),
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


def test_how_far_a_claim_can_silence_me_is_bounded() -> None:
    town = Town.of(3, 6)
    town.in_phase(town.open_round(town.propose(0)), Phase.COMMIT)
    me = waking(town)
    me.counter = 0
    meet(town, 1, cut=10**9, seen=shown(town))
    meet(town, 2, cut=0)

    assert me.silent_until == town.world().state.cut + AHEAD_MOST
