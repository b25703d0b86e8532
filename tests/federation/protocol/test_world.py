"""The world at cut 0, and what a node may do in which slot."""

import random
from collections.abc import Callable

import msgspec
import pytest

from federation.certificates import CutSlot, Phase, RoundSlot
from federation.charter import Charter
from federation.core import AgentId, ParameterError
from federation.protocol import Founding, begin
from federation.protocol.invariants import broken
from federation.records import Delegate, Kind, OperatorAdmit, Record, Role
from federation.trust import M
from tests.builders import Chain, Identity, named
from tests.federation.protocol.acts import next_tick
from tests.federation.protocol.town import Town, founding, keys, verify


def test_cut_0_holds_all_founders_with_tier_and_weight() -> None:
    realm = founding(3, 6)
    world = begin(realm.charter, realm.records, verify=verify)

    assert world.state.cut == 0
    assert set(world.state.agents) == set(realm.agents)
    assert set(world.state.instances) == set(realm.instances)
    assert set(world.state.operators) == set(realm.operators)
    # Founders are exempt from what joining costs, and use up nothing of it.
    assert not world.state.joining.agents
    assert not world.state.joining.operators
    assert world.state.joining.bits == realm.charter.admission.agent_bits
    assert {agent.weight for agent in world.state.agents.values()} == {700_000}
    assert {agent.tier for agent in world.state.agents.values()} == {2}
    assert len(world.state.cut_members) == 3
    assert world.me is None


@pytest.mark.parametrize("seed", range(5))
def test_cut_0_does_not_depend_on_the_order_of_its_records(seed: int) -> None:
    realm = founding(3, 6)
    shuffled = random.Random(seed).sample(realm.records, len(realm.records))

    assert begin(realm.charter, shuffled, verify=verify).digest == (
        begin(realm.charter, realm.records, verify=verify).digest
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda records: records[1:],
        lambda records: (*records, records[0]),
        lambda records: (*records[:-1], founding(3, 6, seed="another").records[0]),
    ],
    ids=["one is missing", "one stands twice", "one is foreign"],
)
def test_genesis_records_must_be_those_of_the_charter(
    change: Callable[[tuple[Record, ...]], tuple[Record, ...]],
) -> None:
    realm = founding(3, 6)

    with pytest.raises(ParameterError, match="not those that the charter lists"):
        begin(realm.charter, change(realm.records), verify=verify)


def charter_of(charter: Charter, records: list[Record]) -> Charter:
    """Let a charter list other records."""
    names = tuple(sorted(one.id for one in records))
    genesis = msgspec.structs.replace(charter.genesis, records=names)
    return msgspec.structs.replace(charter, genesis=genesis)


def test_a_genesis_record_must_follow_its_author() -> None:
    realm = founding(1, 3)
    records = [one for one in realm.records if one.id != realm.operators[0]]

    with pytest.raises(ParameterError, match="does not follow"):
        begin(charter_of(realm.charter, records), records, verify=verify)


def test_every_founder_must_be_admitted_by_the_genesis_records() -> None:
    realm = founding(1, 3)
    records = list(realm.records[:-1])
    assert records[-1].kind == Kind.DELEGATE

    with pytest.raises(ParameterError, match="does not count"):
        begin(charter_of(realm.charter, records), records, verify=verify)


def test_trust_starts_at_the_seeds_that_the_charter_names() -> None:
    realm = founding(1, 4)
    named_two = realm.agents[1:3]
    world = begin(seeded(realm, *named_two), realm.records, verify=verify)

    assert {
        name: agent.trust for name, agent in world.state.agents.items() if agent.trust
    } == dict.fromkeys(named_two, M // 2)
    assert broken(world) == []


def test_a_seed_must_be_admitted_by_the_genesis_records() -> None:
    realm = founding(1, 4)
    charter = seeded(realm, realm.agents[0], realm.operators[0])

    with pytest.raises(ParameterError, match="does not count"):
        begin(charter, realm.records, verify=verify)


def seeded(realm: Founding, *seeds: AgentId) -> Charter:
    genesis = msgspec.structs.replace(realm.charter.genesis, seeds=tuple(sorted(seeds)))
    return msgspec.structs.replace(realm.charter, genesis=genesis)


def test_an_admission_of_the_genesis_must_count() -> None:
    town = Town.of(1, 3)
    extra = town.say(0, OperatorAdmit(operator=named("nobody")))
    records = [*town.founding.records, extra]

    with pytest.raises(ParameterError, match="does not count"):
        begin(charter_of(town.founding.charter, records), records, verify=verify)


def test_a_forked_genesis_is_refused() -> None:
    town = Town.of(1, 3)
    pens = town.pen(Role.OPERATOR, 0), town.pen(Role.OPERATOR, 0)
    twins = [
        pen.say(Delegate(agent=town.agent(0), scope=(kind,)))
        for pen, kind in zip(pens, ("a.b", "c.d"), strict=True)
    ]
    records = [*town.founding.records, *twins]

    with pytest.raises(ParameterError, match="forked"):
        begin(charter_of(town.founding.charter, records), records, verify=verify)


def test_a_genesis_record_with_a_wrong_signature_is_refused() -> None:
    realm = founding(1, 3)
    records = [msgspec.structs.replace(realm.records[0], signature=bytes(64)), *realm.records[1:]]

    with pytest.raises(ParameterError, match="does not verify"):
        begin(realm.charter, records, verify=verify)


def test_whoever_a_cut_has_admitted_is_admitted() -> None:
    town = Town.of(1, 3)
    world, newcomer = town.world(), town.stranger(Role.AGENT)
    founders = town.founding

    for name in (founders.agents[0], founders.operators[0], founders.instances[0]):
        assert world.is_admitted(name)
    assert not world.is_admitted(newcomer.id)

    town.admit(newcomer)
    assert not world.is_admitted(newcomer.id)
    town.in_cut(1)

    assert world.is_admitted(newcomer.id)


def test_only_the_next_cut_has_a_pinned_world_and_it_stays_known() -> None:
    town = Town.of(3, 6)
    world = town.world()
    first = CutSlot(number=1, previous=world.state.digest)

    assert world.pinned(CutSlot(number=2, previous=world.state.digest)) is None
    assert world.pinned(CutSlot(number=1, previous=named("another history"))) is None
    before = world.pinned(first)
    assert before is not None
    town.in_cut(3)

    assert world.pinned(first) == before
    assert world.pinned(CutSlot(number=world.state.cut, previous=named("x"))) is None


def test_a_rounds_slots_are_pinned_by_its_opening_cut() -> None:
    town = Town.of(3, 6)
    world = town.world()
    assert world.pinned(RoundSlot(round_id=named("round"), phase=Phase.COMMIT)) is None
    opened = town.open_round(town.propose(1))
    pinned = world.pinned(RoundSlot(round_id=opened, phase=Phase.COMMIT))

    assert pinned is not None
    # The home of the author's round speaks first.
    assert pinned.members[0].voice == town.founding.instances[1]
    assert pinned.charter_hash == world.state.charter_hash


def test_a_node_that_lost_signatures_is_silent_up_to_a_cut_and_in_the_next() -> None:
    town = Town.of(3, 6)
    world = town.world()
    opened = town.open_round(town.propose(1))
    slot = RoundSlot(round_id=opened, phase=Phase.COMMIT)
    me, cut = world.me, world.rounds[opened].pin.cut
    assert me is not None

    assert not world.is_silent(slot)
    me.silent_until = cut
    assert world.is_silent(slot)
    assert world.is_silent(CutSlot(number=cut + 1, previous=named("x")))
    assert not world.is_silent(CutSlot(number=cut + 2, previous=named("x")))
    me.silent_until = cut - 1
    assert not world.is_silent(slot)
    me.settled = False
    assert world.is_silent(slot)


def test_an_observer_is_silent_everywhere() -> None:
    realm = founding(1, 3)
    world = begin(realm.charter, realm.records, verify=verify)

    assert world.is_silent(CutSlot(number=1, previous=world.state.digest))


def test_an_instance_that_rotates_its_key_goes_on_signing() -> None:
    town = Town.of(3, 6)
    name, three = town.founding.instances[1], keys("town", "instance", 1)
    world = town.world(1)
    opened = town.open_round(town.propose(0))
    ((_, head),) = world.log.heads_of(name)
    records = world.log.path(head, -1)
    owner = Identity(role=Role.INSTANCE, number=1, inception=records[0], realm=world.realm)
    pen = Chain(owner, records, 0, three.current, three.next, three.recovery)
    me, old = world.me, pen.key
    assert me is not None
    town.arrive(world, pen.rotate())
    me.rotate(pen.signer)
    votes = {1: 1, 2: 1, 4: 1, 5: 1}
    town.in_phase(opened, Phase.COMMIT)
    for index, choice in votes.items():
        town.cast(index, opened, choice)
    town.in_phase(opened, Phase.DECIDE)
    for index in votes:
        town.reveal(index, opened)
    # All three must sign: the open round still hears the old key, later slots the new one.
    town.in_phase(opened, None)
    next_tick(town, 2)
    later = town.open_round(town.propose(2, title="Later"))

    (voice,) = [one for one in world.rounds[opened].seats if one.voice == name]
    assert voice.key == old
    (voice,) = [one for one in world.rounds[later].seats if one.voice == name]
    assert voice.key == pen.key == me.signer.public
    assert me.signer_of(old) is not None
    assert me.signer_of(named("another key")) is None
    town.in_phase(later, Phase.COMMIT).settled()
    assert len({one.digest for one in town.live()}) == 1
