"""A crowd of strangers: only so many find a place, and neither a cut nor a newcomer needs one."""

import pytest

from federation.crypto import KeySigner
from federation.protocol import Keyring, World, custody, inputs, intake, restore, snapshot, step
from federation.protocol import effects as fx
from federation.records import (
    AgentAdmit,
    AgentDeclare,
    Custody,
    Delegate,
    OperatorAdmit,
    Record,
    Role,
)
from tests.builders import Chain, named
from tests.federation.protocol.acts import next_cut, next_tick
from tests.federation.protocol.town import Town, keys, verify
from tests.federation.protocol.trial import durable_of

PEER = named("peer")


def take(world: World, *records: Record) -> list[fx.Effect]:
    return step(world, inputs.Arrived(records=records, peer=PEER), 0)


def chatter(pen: Chain, count: int) -> list[Record]:
    return [pen.say(AgentDeclare(family="f", provider="p", model="m")) for _ in range(count)]


def crowd(town: Town, count: int) -> list[Chain]:
    return [town.stranger(Role.AGENT, 100 + number) for number in range(count)]


def admission(town: Town, agent: Chain, grant: bytes) -> AgentAdmit:
    return AgentAdmit(
        agent=agent.id,
        operator=town.founding.operators[0],
        delegate=grant,
        custody=Custody.SELF,
    )


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> int:
    """Let an instance have room for a few strangers only."""
    monkeypatch.setattr(intake, "MOST_STRANGERS", 5)
    return 5


def test_there_is_room_for_thousands_of_strangers() -> None:
    assert intake.MOST_STRANGERS == 4_096


def test_a_crowd_of_strangers_finds_only_so_many_places(narrow: int) -> None:
    town = Town.of(1, 5)
    world = town.world()
    before = len(world.log)
    first, *others = crowd(town, 20)
    chatter(first, 2)
    take(world, *first.records)
    effects = [effect for one in others for effect in take(world, *one.records)]
    late = others[-1]
    chatter(late, 2)
    effects += take(world, *late.records[1:])

    assert len(world.log) == before + narrow + 2
    assert len(world.strangers) == narrow
    assert world.log.waiting == 0
    # Nobody pays for it, and nobody is asked for what would be dropped again.
    assert {type(one) for one in effects} <= {fx.StoreRecord, fx.Relay}
    # Who has a place has all the room of a stranger.
    take(world, *chatter(first, 20))
    assert world.log.count_of(first.id) == 8


def test_a_stranger_that_is_asked_for_is_stored_in_a_crowd_too(narrow: int) -> None:
    town = Town.of(1, 5)
    world = town.world()
    for one in crowd(town, narrow):
        take(world, *one.records)
    late = town.stranger(Role.AGENT, 99)
    last = chatter(late, 2)[-1]
    world.asked.add(last.id)
    for record in reversed(late.records):
        take(world, record)

    assert last.id in world.log
    assert late.id in world.strangers
    assert len(world.strangers) == narrow + 1


def test_a_newcomer_whom_this_instance_is_about_to_admit_is_stored_in_a_crowd_too(
    narrow: int,
) -> None:
    town = Town.of(1, 5)
    world = town.world()
    for one in crowd(town, narrow):
        take(world, *one.records)
    operator = town.stranger(Role.OPERATOR, 99)
    take(world, *operator.records)
    assert operator.id not in world.log
    step(world, inputs.Arrived(records=tuple(operator.records), peer=None, welcome=True), 0)

    assert operator.id in world.log
    # It has all the room of a stranger, and no more.
    take(world, *chatter(operator, 20))
    assert world.log.count_of(operator.id) <= 8


def test_a_newcomer_whom_an_operator_names_is_stored_in_a_crowd_too_and_its_place_becomes_free(
    narrow: int,
) -> None:
    town = Town.of(1, 5)
    world = town.world()
    for one in crowd(town, narrow):
        take(world, *one.records)
    newcomer, other = town.stranger(Role.AGENT, 97), town.stranger(Role.AGENT, 98)
    stranger = town.stranger(Role.OPERATOR, 99)
    take(world, *newcomer.records, *other.records)
    take(world, stranger.say(Delegate(agent=other.id, scope=())))
    assert newcomer.id not in world.log
    grant = town.pen(Role.OPERATOR, 0).say(Delegate(agent=newcomer.id, scope=()))
    town.arrive(world, grant)
    assert world.awaited == {newcomer.id}
    town.arrive(world, *newcomer.records)

    assert newcomer.id in world.strangers
    assert not world.awaited
    assert other.id not in world.log
    town.say(0, admission(town, newcomer, grant.id))
    next_cut(town)
    assert newcomer.id in world.state.agents
    assert world.strangers == {one for one in world.log.authors() if not world.is_admitted(one)}
    assert len(world.strangers) == narrow


def test_an_admission_keeps_a_place_for_whom_it_names(narrow: int) -> None:
    town = Town.of(1, 5)
    world = town.world()
    agent, operator = town.stranger(Role.AGENT, 97), town.stranger(Role.OPERATOR, 98)
    for one in crowd(town, narrow):
        take(world, *one.records)
    ring = Keyring(
        agent=town.founding.instances[0], keys=(KeySigner(keys("town", "instance", 0).current),)
    )
    for body in (admission(town, agent, named("grant")), OperatorAdmit(operator=operator.id)):
        town.arrive(world, custody.author(world, ring, body, now=town.now))

    assert world.awaited == {agent.id, operator.id}
    take(world, *agent.records, *operator.records)
    assert {agent.id, operator.id} <= world.strangers
    assert not world.awaited


def test_a_crowd_stops_nobody(narrow: int) -> None:
    town = Town.of(4, 4)
    strangers = crowd(town, 4 * (narrow + 2))
    for index, world in enumerate(town.live()):
        for one in strangers[index::4]:
            town.arrive(world, *one.records)
    next_tick(town, 2)

    assert len({world.digest for world in town.live()}) == 1
    assert all(len(world.strangers) >= narrow for world in town.live())
    record = town.propose(0)
    town.open_round(record)
    assert all(record.id in world.state.artifacts for world in town.live())


@pytest.mark.parametrize("pictured", [False, True])
def test_a_restart_finds_the_same_strangers(narrow: int, *, pictured: bool) -> None:
    town = Town.of(1, 5)
    world = town.world()
    first, *others = crowd(town, narrow + 3)
    town.arrive(world, *first.records)
    town.admit(town.stranger(Role.AGENT, 90))
    next_cut(town)
    picture = snapshot.take(world) if pictured else None
    for one in others:
        town.arrive(world, *one.records)
    late = town.stranger(Role.AGENT, 91)
    town.arrive(world, town.pen(Role.OPERATOR, 0).say(Delegate(agent=late.id, scope=())))
    name = town.founding.instances[0]
    back, _ = restore(
        town.founding.charter,
        town.founding.records,
        durable_of(town.stored[name]),
        instance=name,
        signer=KeySigner(keys("town", "instance", 0).current),
        now=town.now,
        verify=verify,
        snapshot=picture,
    )

    assert len(back.strangers) == narrow
    assert back.strangers == world.strangers
    assert back.awaited == world.awaited == {late.id}
