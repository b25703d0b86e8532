"""What an instance says of itself, and why."""

from dataclasses import replace

from federation.protocol import World
from federation.protocol import effects as fx
from node.runtime.health import Condition, health
from tests.federation.protocol.town import Town


def others(town: Town, world: World) -> list[bytes]:
    assert world.me is not None
    return [one for one in town.founding.instances if one != world.me.instance]


def test_one_instance_alone_is_ready() -> None:
    told = health(Town.of(1, 3, seed="health 1").world(), [], stopping=False)

    assert (told.state, told.reasons) == (Condition.READY, ())


def test_too_few_members_here_is_told_with_the_numbers() -> None:
    town = Town.of(3, 3, seed="health 3")
    world = town.world()
    alone = health(world, [], stopping=False)
    two = health(world, others(town, world)[:1], stopping=False)

    assert alone.state is two.state is Condition.WAITING
    assert alone.reasons == ("1 of 3 members are here, a quorum is 3",)
    assert two.reasons == ("2 of 3 members are here, a quorum is 3",)


def test_with_a_quorum_here_it_is_ready() -> None:
    town = Town.of(4, 4, seed="health 4")
    world = town.world()

    assert health(world, others(town, world)[:2], stopping=False).state is Condition.READY
    assert health(world, others(town, world)[:1], stopping=False).state is Condition.WAITING


def test_whoever_is_no_member_does_not_count() -> None:
    town = Town.of(3, 3, seed="health 3")

    assert health(town.world(), [bytes(32)] * 2, stopping=False).state is Condition.WAITING


def test_after_a_restart_it_settles_first() -> None:
    town = Town.of(3, 3, seed="health settling")
    world = town.world()
    assert world.me is not None
    world.me.settled = False
    told = health(world, others(town, world), stopping=False)

    assert told.state is Condition.SETTLING
    assert "signs nothing until a quorum" in told.reasons[0]
    # Without a quorum that is the more urgent news.
    assert health(world, [], stopping=False).state is Condition.WAITING


def test_lost_signatures_are_told_also_when_it_is_ready() -> None:
    world = Town.of(1, 3, seed="health lost").world()
    assert world.me is not None
    world.me.silent_until = 3
    told = health(world, [], stopping=False)

    assert told.state is Condition.READY
    assert told.reasons == ("it lost signed state and stays silent in what was opened up to cut 3",)


def test_a_world_that_others_do_not_certify_is_told() -> None:
    world = Town.of(1, 3, seed="health diverged").world()
    for live in world.slots.values():
        live.state = replace(live.state, diverged=True)
    told = health(world, [], stopping=False)

    assert world.slots
    assert told.reasons == ("the others certify another world than this instance: run the doctor",)


def test_a_cut_that_waits_for_proofs_of_work_is_told() -> None:
    world = Town.of(1, 3, seed="health proofs").world()
    world.asked_work = fx.Prove(cut=bytes(32), proofs=(b"one", b"two"))
    told = health(world, [], stopping=False)

    assert told.state is Condition.READY
    assert told.reasons == ("the next cut waits for 2 proofs of work to be verified",)


def test_a_node_that_stops_says_nothing_else() -> None:
    told = health(Town.of(3, 3, seed="health 3").world(), [], stopping=True)

    assert (told.state, told.reasons) == (Condition.STOPPING, ("the instance is shutting down",))


def test_an_observer_is_no_member_here() -> None:
    town = Town.of(1, 3, seed="health 1")
    world = town.world()
    me, world.me = world.me, None
    told = health(world, [], stopping=False)
    world.me = me

    assert told.state is Condition.WAITING
