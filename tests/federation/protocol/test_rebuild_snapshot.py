"""A start from a snapshot: the same node as after a fold of the whole log, only sooner."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.certificates import CutSlot, Phase, RoundSlot, slot_key
from federation.charter import preset
from federation.core import InstanceId
from federation.crypto import KeySigner, is_signed_by, plain_hash
from federation.protocol import Durable, World, inputs, restore, snapshot, step
from federation.protocol import effects as fx
from federation.protocol.invariants import broken
from federation.records import Role
from tests.builders import named
from tests.federation.protocol.acts import claim, fork, is_forked
from tests.federation.protocol.alike import differences
from tests.federation.protocol.curating import file_dispute, newest_round, standing
from tests.federation.protocol.town import keys, rules, verify
from tests.federation.protocol.trial import Trial


@dataclass
class Album(Trial):
    """A town whose instances keep a snapshot of each cut, with what their stores held by then."""

    kept: dict[InstanceId, list[bytes]] = field(default_factory=dict)

    def _perform(self, me: InstanceId, effects: list[fx.Effect]) -> None:  # type: ignore[override]
        Trial._perform(self, me, effects)
        cut = any(isinstance(one, fx.Tell) and one.event is fx.Happening.CUT for one in effects)
        if cut and me not in self.down:
            self.kept.setdefault(me, []).append(snapshot.take(self.worlds[me]))

    def back(
        self, index: int, content: bytes | None, durable: Durable | None = None, **rest: object
    ) -> tuple[World, list[fx.Effect]]:
        """Bring an instance back beside the town, from a snapshot or without one."""
        return restore(
            self.founding.charter,
            self.founding.records,
            durable or self.durable(index),
            **{  # type: ignore[arg-type]
                "instance": self.founding.instances[index],
                "signer": KeySigner(keys(self.seed, "instance", index).current),
                "now": self.now,
                "verify": verify,
                "snapshot": content,
                **rest,
            },
        )

    def pictures(self, index: int) -> list[bytes]:
        return self.kept[self.founding.instances[index]]


def album(instances: int, agents: int = 6, **rest: object) -> Album:
    town = Album.of(instances, agents, operators=max(agents, instances), **rest)
    assert isinstance(town, Album)
    return town


def lived(instances: int = 3, *, seed: int = 0) -> Album:
    """Let a town decide one artifact and get some way into the next two."""
    town = album(instances)
    town.vote(town.propose(0), {1: 1, 2: -1, 4: 1})
    town.settled()
    town.open_round(town.propose(1, "Second"))
    town.rest(seed)
    town.propose(2, "Third")
    town.rest(seed)
    return town


def refusals(effects: list[fx.Effect]) -> list[fx.Tell]:
    return [
        one
        for one in effects
        if isinstance(one, fx.Tell) and one.event is fx.Happening.SNAPSHOT_REFUSED
    ]


@settings(max_examples=8)
@given(
    instances=st.sampled_from([2, 3, 4]),
    seed=st.integers(0, 2_500),
    index=st.integers(0, 3),
    trusted=st.booleans(),
)
def test_a_node_started_from_any_of_its_snapshots_is_the_one_that_folds_its_whole_log(
    instances: int, seed: int, index: int, trusted: bool
) -> None:
    town = lived(instances, seed=seed)
    index %= instances
    folded, _ = town.back(index, None)
    assert len(town.pictures(index)) >= 3

    # A snapshot can be taken at any time between two steps, not only when a cut was folded.
    for content in (*town.pictures(index), snapshot.take(town.world(index))):
        world, effects = town.back(index, content, trusted=trusted)
        assert differences(folded, world) == []
        assert broken(world) == []
        assert not refusals(effects)


def test_a_start_from_the_newest_snapshot_tells_no_old_news() -> None:
    town = lived()
    town.settled()
    _, effects = town.back(0, town.pictures(0)[-1])
    _, everything = town.back(0, None)

    assert [one for one in everything if isinstance(one, fx.Tell)]
    told = [one for one in effects if isinstance(one, fx.Tell)]
    assert all(one.event is fx.Happening.PHASE for one in told)


def test_a_node_started_from_a_snapshot_goes_on_with_the_others() -> None:
    town = lived(4)
    town.take_down(2)
    town.rest(1_500)
    name = town.founding.instances[2]
    content = town.pictures(2)[-1]
    world, effects = town.back(2, content, trusted=True)
    town.worlds[name] = world
    town.down.discard(name)
    town._perform(name, effects)
    for peer in town.founding.instances:
        if peer != name:
            town._fetch(name, peer)
            town._send(name, inputs.Met(voice=peer, cut=town.worlds[peer].state.cut, seen=None))
    town.settled()

    assert world.me is not None
    assert world.me.settled
    assert len({one.digest for one in town.live()}) == 1
    assert len({snapshot.digest(snapshot.take(one)) for one in town.live()}) == 1
    assert [broken(one) for one in town.live()] == [[]] * 4


def check_alike(town: Album) -> None:
    """Check that a snapshot of now brings back what a fold of the whole log does."""
    folded, _ = town.back(0, None)
    for content in (*town.kept.get(town.founding.instances[0], []), snapshot.take(town.world())):
        world, effects = town.back(0, content)
        assert differences(folded, world) == []
        assert not refusals(effects)


def test_a_snapshot_of_genesis_is_as_good_as_none() -> None:
    check_alike(album(2))


def test_a_round_that_ended_as_it_opened_comes_back_so() -> None:
    town = album(2, 1)
    opened = town.open_round(town.propose(0))
    check_alike(town)
    town.settled()

    assert town.world().rounds[opened].verdict is not None
    check_alike(town)


def test_a_round_whose_box_came_too_late_comes_back_void() -> None:
    town = album(2, review=rules(deadline=1_000))
    opened = town.open_round(town.propose(0))
    town.in_phase(opened, None).settled()
    final = town.world().rounds[opened].finals[Phase.COMMIT]

    assert final.void
    check_alike(town)


def test_the_branches_of_a_forked_author_come_back() -> None:
    town = album(2)
    town.in_cut(1)
    fork(town)
    town.settled()
    check_alike(town)
    town.settled()

    assert is_forked(town.world(), town.agent(0))
    check_alike(town)


def test_a_lone_instance_goes_on_by_itself() -> None:
    town = Album.of(1, 4, operators=4)
    town.vote(town.propose(0), {1: 1, 2: 1, 3: 1})
    town.settled()
    newcomer = town.stranger(Role.AGENT, 9)
    town.admit(newcomer)
    town.settled()
    record = claim(newcomer, "By a newcomer")
    town.arrive(town.world(), record)
    world, _ = town.back(0, town.pictures(0)[-1])  # type: ignore[attr-defined]

    assert world.me is not None
    assert world.me.settled
    # The newcomer was admitted by a cut, so its proposal calls the next one.
    assert record.id in world.triggers or record.id in world.state.artifacts


@pytest.mark.parametrize("spoil", [lambda one: one[:-1], lambda one: b"\x00" + one, lambda _: b""])
def test_a_snapshot_that_cannot_be_used_is_told_of_and_the_log_is_folded(
    spoil: Callable[[bytes], bytes],
) -> None:
    town = lived()
    content = spoil(town.pictures(0)[-1])
    folded, _ = town.back(0, None)
    world, effects = town.back(0, content)

    assert differences(folded, world) == []
    assert refusals(effects) == [
        fx.Tell(event=fx.Happening.SNAPSHOT_REFUSED, subject=plain_hash(content))
    ]
    assert any(isinstance(one, fx.Refused) and one.peer is None for one in effects)


def test_a_store_that_lost_records_of_a_snapshot_folds_what_it_has() -> None:
    town = lived()
    durable = town.durable(0)
    lost = replace(durable, records=durable.records[:-3])
    content = snapshot.take(town.worlds[town.founding.instances[0]])
    while not town.world().positions[durable.records[-1].author].seq >= durable.records[-1].seq:
        town.rest(100)
        content = snapshot.take(town.world())
    world, effects = town.back(0, content, lost)

    assert refusals(effects)
    assert broken(world) == []


def test_a_trusted_store_is_not_verified_again_and_another_is() -> None:
    town = lived()
    asked = []

    def counting(key: bytes, payload: bytes, signature: bytes) -> bool:
        asked.append(payload)
        return is_signed_by(key, payload, signature)

    content = town.pictures(0)[-1]
    town.back(0, content, verify=counting)
    verified = len(asked)
    asked.clear()
    town.back(0, content, verify=counting, trusted=True)

    known = len(town.world().log)
    assert verified >= known
    # Left are the genesis, and the signatures of the slots that are open.
    assert len(asked) <= verified - (known - len(town.founding.records))


def test_an_observer_starts_from_a_snapshot_as_well() -> None:
    town = lived()
    content = town.pictures(0)[-1]
    durable = town.durable(0)
    folded, _ = town.back(0, None, durable, instance=None, signer=None)
    world, effects = town.back(0, content, durable, instance=None, signer=None)

    assert not refusals(effects)
    assert world.digest == town.world().digest
    # It has even lists whose certificates nobody has filed yet: the snapshot brought them.
    assert world.certificates.keys() >= folded.certificates.keys()


def test_entries_of_slots_that_were_closed_need_not_be_kept() -> None:
    town = lived()
    durable = town.durable(0)
    content = town.pictures(0)[-1]
    whole, _ = town.back(0, content, durable)
    open_slots = set(whole.slots)
    fewer = [entry for entry in durable.journal if slot_key(entry.slot) in open_slots]
    assert len(fewer) < len(durable.journal)
    world, _ = town.back(0, content, replace(durable, journal=fewer))

    assert differences(whole, world) == []


def test_the_slots_of_open_rounds_are_open_again_and_those_of_closed_ones_are_not() -> None:
    town = lived(seed=700)
    world, _ = town.back(0, town.pictures(0)[-1])
    closed = [name for name, one in world.rounds.items() if one.closed]
    waiting = [one for one in world.rounds.values() if one.phase is not None]

    assert closed
    assert waiting
    for one in waiting:
        key = slot_key(RoundSlot(round_id=one.pin.round, phase=one.phase or Phase.FAST))
        assert key in world.slots
    slots = [live.slot for live in world.slots.values()]
    assert not [one for one in slots if isinstance(one, RoundSlot) and one.round_id in closed]
    numbers = sorted(one.number for one in slots if isinstance(one, CutSlot))
    assert numbers == [world.state.cut, world.state.cut + 1]


def test_final_slots_of_open_rounds_still_answer_with_their_certificate() -> None:
    town = lived(seed=700)
    observer, _ = town.back(0, town.pictures(0)[-1], instance=None, signer=None)
    final = [key for key, live in observer.slots.items() if live.state.is_final]
    assert final
    for key in final:
        sent = next(raw for _, raw in town.packets if key in raw)
        name = town.founding.instances[1]
        effects = step(observer, inputs.Packet(packet=sent, peer=name), town.now)
        assert not [one for one in effects if isinstance(one, fx.Refused)]
    assert named("nobody") not in observer.rounds


def test_a_node_back_from_a_snapshot_knows_which_rounds_wait_for_their_lot() -> None:
    town = album(
        1,
        5,
        badges={4: ("arbiter",)},
        review=rules(k=2, q_min=2, commit=2_000, rule=4_000, admin=2_000),
        disputes=msgspec.structs.replace(preset("test").disputes, q_dispute=2, r_dispute=0),
    )
    artifact = standing(town)
    file_dispute(town, 3, artifact)
    # One reviewer is left and no vote can decide: an arbiter must, and the next cut draws it.
    name = newest_round(town, artifact, 2)
    cut = town.world().state.cut
    assert town.world().rounds[name].pin.beacon is None
    back, _ = town.back(0, town.pictures(0)[-1])

    assert back.state.cut == cut
    assert back.lots == town.world().lots == {name}
