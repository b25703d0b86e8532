"""`step`: the one door. It settles after a restart, and nothing that comes in can break it."""

import random
from dataclasses import dataclass, field
from dataclasses import replace as changed
from functools import cache

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.certificates import MessagePacket, Phase, blob_hash, packet_from_bytes
from federation.core import InstanceId, Millis, PeerError, Signature
from federation.crypto import KeySigner
from federation.protocol import Me, World, begin, inputs, start, step
from federation.protocol import effects as fx
from federation.protocol.invariants import broken, disagreements
from federation.records import parse_record, wire
from tests.builders import named
from tests.federation.protocol.acts import next_tick
from tests.federation.protocol.town import Town, keys, verify

SOME = settings.default.max_examples // 2
"""Examples of tests that run whole worlds: 30, and many more in the slow profile."""
Seen = tuple[bytes, Signature] | None


# After a restart --------------------------------------------------------------------------------


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


def test_whoever_is_settled_or_observes_hears_no_hello() -> None:
    town = busy()
    before = town.world().me
    assert before is not None
    known = before.counter
    before.counter = 0
    assert meet(town, 1, cut=7, seen=shown(town)) == []
    assert (before.counter, before.met) == (0, {})
    before.counter = known
    town.world().me = None
    assert meet(town, 1) == []


# Blobs and reconciliations ------------------------------------------------------------------------


def test_a_blob_is_kept_only_if_a_certificate_names_it() -> None:
    town = Town.of(1, 5)
    world = town.world()
    next_tick(town)
    (named_one,) = [
        one.content for one in town.stored[next(iter(town.worlds))] if isinstance(one, fx.StoreBlob)
    ]
    fresh = begin(town.founding.charter, town.founding.records, verify=verify)
    start(fresh, 0)
    peer = town.founding.instances[0]

    assert step(world, inputs.BlobArrived(content=b"junk", peer=peer), town.now) == []
    assert blob_hash(b"junk") not in world.blobs
    assert step(fresh, inputs.BlobArrived(content=named_one, peer=peer), 0) == []
    assert blob_hash(named_one) not in fresh.blobs


def test_a_reconciliation_of_a_slot_that_is_not_open_is_nothing() -> None:
    world = Town.of(3, 6).world()

    assert step(world, inputs.Reconciled(slot=b"x", voice=named("x"), began=0), 0) == []


def test_waking_too_early_or_twice_changes_nothing() -> None:
    town = busy()
    town.rest(50)
    step(town.world(), inputs.Wake(), town.now)

    assert step(town.world(), inputs.Wake(), town.now) == []
    assert step(town.world(), inputs.Wake(), town.now - 40) == []


# Whatever comes in --------------------------------------------------------------------------------


@dataclass(slots=True)
class Taped(Town):
    """A town that notes what each instance is told."""

    tape: list[tuple[InstanceId, Millis, inputs.Input]] = field(default_factory=list)

    def _run(self, world: World, event: inputs.Input) -> None:
        assert world.me is not None
        self.tape.append((world.me.instance, self.now, event))
        Town._run(self, world, event)


@cache
def tape() -> tuple[Taped, list[tuple[Millis, inputs.Input]]]:
    """Tape what instance 3 of four was told during a vote and two ticks."""
    town = Taped.of(4, 8)
    town.take_down(1)
    town.vote(town.propose(0), {2: 1, 3: 1, 6: -1, 7: 1})
    town.bring_up(1)
    next_tick(town)
    town.propose(3, title="Another")
    next_tick(town)
    me = town.founding.instances[3]
    return town, [(now, event) for who, now, event in town.tape if who == me]


def bend(raw: bytes, chance: random.Random) -> bytes:
    """Change some bytes: a flip, a cut, an insertion or a repetition."""
    at = chance.randrange(len(raw) + 1)
    match chance.randrange(4):
        case 0 if raw:
            at = chance.randrange(len(raw))
            return raw[:at] + bytes([raw[at] ^ (1 << chance.randrange(8))]) + raw[at + 1 :]
        case 1:
            return raw[:at]
        case 2:
            return raw[:at] + chance.randbytes(chance.randrange(1, 9)) + raw[at:]
        case _:
            return raw[at:] + raw[:at]


def bent(world: World, event: inputs.Input, chance: random.Random) -> inputs.Input | None:
    """Change an input somewhere; None where what comes out is refused before `step`."""
    match event:
        case inputs.Packet():
            return changed(event, packet=_bent_packet(event.packet, chance))
        case inputs.Arrived(records=records) if records:
            raw = wire(chance.choice(records))
            try:
                return changed(event, records=(parse_record(world.realm, bend(raw, chance)),))
            except PeerError:
                return changed(event, records=(changed(records[0], signature=bytes(64)),))
        case inputs.BlobArrived():
            return changed(event, content=bend(event.content, chance))
        case inputs.Reconciled():
            return changed(event, slot=bend(event.slot, chance), began=chance.randrange(10**6))
        case _:
            return inputs.Met(voice=named("x"), cut=10**6, seen=(b"\x90", bytes(64)))


def _bent_packet(raw: bytes, chance: random.Random) -> bytes:
    """Bend a packet as a whole, or only the message inside it."""
    routed = packet_from_bytes(raw).packet
    if isinstance(routed, MessagePacket) and chance.random() < 0.5:
        plain = msgspec.msgpack.decode(raw)
        plain[3][1] = bend(routed.raw, chance)
        return msgspec.msgpack.encode(plain)
    return bend(raw, chance)


def member() -> World:
    """Give a new world of instance 3, which has not heard anything yet."""
    town, _ = tape()
    world = begin(
        town.founding.charter,
        town.founding.records,
        instance=town.founding.instances[3],
        signer=KeySigner(keys(town.seed, "instance", 3).current),
        verify=verify,
    )
    start(world, 0)
    return world


@settings(max_examples=SOME)
@given(st.integers(0, 2**32), st.integers(0, 60))
def test_no_bent_input_among_the_true_ones_breaks_a_world(seed: int, share: int) -> None:
    chance = random.Random(seed)
    town, events = tape()
    world = member()
    for now, event in events:
        if chance.randrange(100) < share:
            twisted = bent(world, event, chance)
            if twisted is not None:
                step(world, twisted, now)
        step(world, event, now)

    assert broken(world) == []
    assert disagreements([world, town.world(3)]) == []
    assert world.digest == town.world(3).digest


@settings(max_examples=SOME)
@given(st.integers(0, 2**32))
def test_true_inputs_in_any_order_break_no_world(seed: int) -> None:
    chance = random.Random(seed)
    town, events = tape()
    world = member()
    for now, event in chance.sample(events, len(events)):
        step(world, event, now)

    assert broken(world) == []
    assert disagreements([world, *town.live()]) == []


def odd_inputs() -> st.SearchStrategy[inputs.Input]:
    """Draw inputs that no honest peer would send."""
    some = st.binary(max_size=40)
    name = st.binary(min_size=32, max_size=32)
    known = st.sampled_from(list(member().slots))
    return st.one_of(
        st.builds(inputs.Packet, packet=some, peer=name),
        st.builds(inputs.BlobArrived, content=some, peer=name),
        st.builds(inputs.Reconciled, slot=some | known, voice=name, began=st.integers(-5, 2**70)),
        st.builds(
            inputs.Met,
            voice=name,
            cut=st.integers(-5, 2**70),
            seen=st.none() | st.tuples(some, st.binary(min_size=64, max_size=64)),
        ),
        st.builds(inputs.Wake),
        st.builds(inputs.Arrived, records=st.just(()), peer=st.none() | name),
    )


@settings(max_examples=2 * SOME)
@given(st.lists(odd_inputs(), max_size=12), st.lists(st.integers(0, 2**70), min_size=12))
def test_junk_moves_nothing(events: list[inputs.Input], times: list[int]) -> None:
    world = member()
    before = world.digest, world.state.cut, len(world.log), world.state.beacon
    for event, now in zip(events, times, strict=False):
        step(world, event, now)

    assert (world.digest, world.state.cut, len(world.log), world.state.beacon) == before
    assert broken(world) == []


def test_the_same_inputs_give_the_same_effects() -> None:
    _, events = tape()
    first, second = member(), member()

    for now, event in events:
        assert step(first, event, now) == step(second, event, now)
    assert first.digest == second.digest


def test_the_town_of_the_tape_has_decided_something() -> None:
    town, events = tape()

    assert len(events) > 100
    assert {type(event) for _, event in events} >= {
        inputs.Packet,
        inputs.Arrived,
        inputs.Reconciled,
        inputs.Wake,
    }
    assert any(one.verdict is not None for one in town.world(3).rounds.values())
