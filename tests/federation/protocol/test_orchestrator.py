"""`step`: the one door. It settles after a restart, and nothing that comes in can break it."""

import random
from dataclasses import dataclass, field
from dataclasses import replace as changed
from functools import cache

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.certificates import MessagePacket, Phase, blob_hash, packet_from_bytes
from federation.core import InstanceId, Millis, PeerError
from federation.crypto import KeySigner
from federation.protocol import World, begin, inputs, start, step
from federation.protocol import effects as fx
from federation.protocol.invariants import broken, disagreements
from federation.records import parse_record, wire
from tests.builders import named
from tests.federation.protocol.acts import next_tick
from tests.federation.protocol.town import Town, keys, verify

SOME = settings.default.max_examples // 2
"""Examples of tests that run whole worlds: 30, and many more in the slow profile."""


def busy() -> Town:
    """Give a town of four in which everybody has signed, in the middle of a round."""
    town = Town.of(4, 8)
    town.in_phase(town.open_round(town.propose(0)), Phase.COMMIT)
    return town


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
                return changed(
                    event, records=(msgspec.structs.replace(records[0], signature=bytes(64)),)
                )
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
