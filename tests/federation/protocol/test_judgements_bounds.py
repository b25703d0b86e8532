"""How many vouches a cut counts for one operator and one model family, and that none makes a circle."""

import itertools

import pytest
from msgspec.structs import replace

from federation.charter import Quotas, preset
from federation.core import Code, RefusedError
from federation.protocol import Fate, World, judge, judgements
from federation.protocol.invariants import broken
from federation.records import AgentDeclare, AgentUnvouch, AgentVouch, Record
from tests.builders import named
from tests.federation.protocol.acts import next_cut, next_tick, refused
from tests.federation.protocol.town import Town
from tests.federation.protocol.trial import Trial
from tests.federation.protocol.vouching import edge, unvouch, vouch


def quotas(**fields: int) -> Quotas:
    return replace(preset("test").quotas, **fields)


def signed(town: Town, by: int, *agents: int, weight: int = 9) -> list[Record]:
    """Let a founder sign vouches past the door, and all of them arrive at once."""
    found = []
    for agent in agents:
        body = AgentVouch(agent=town.agent(agent), weight=weight, reason="")
        found.append(town.sign(by, body))
        town.arrive(town.home(by), found[-1])
    return found


def counted(world: World, records: list[Record]) -> list[Record]:
    return [one for one in records if refused(world, one) is None]


def declare(town: Town, index: int, family: str) -> None:
    body = AgentDeclare(family=family, provider="p", model="m")
    town.arrive(town.home(index), town.sign(index, body))


def in_order(records: list[Record]) -> list[Record]:
    return sorted(records, key=lambda one: (one.author, one.seq))


def test_all_agents_of_one_operator_share_the_vouches_of_a_cut() -> None:
    # Founders 0, 2 and 4 are of one operator, 1, 3 and 5 of the other.
    town = Town.of(1, 7, operators=2, quotas=quotas(vouches_operator=3))
    world = town.world()
    ours = [*signed(town, 0, 5, 6), *signed(town, 2, 5, 6), *signed(town, 4, 5)]
    others = signed(town, 1, 5, 6)
    next_cut(town)

    assert counted(world, others) == others
    assert counted(world, in_order(ours)) == in_order(ours)[:3]
    assert {refused(world, one) for one in in_order(ours)[3:]} == {Code.OVER_QUOTA}
    assert world.state.graph.edges == 5


def test_the_next_cut_has_room_again_also_within_the_epoch() -> None:
    town = Town.of(1, 6, quotas=quotas(vouches_operator=2))
    world = town.world()
    first = signed(town, 1, 3, 4, 5)
    next_cut(town)
    tick = world.state.tick
    second = signed(town, 2, 3, 4, 5)
    next_cut(town)

    assert counted(world, first) == first[:2]
    assert counted(world, second) == second[:2]
    assert world.state.tick == tick


def test_agents_that_declare_one_model_family_share_the_vouches_of_a_cut() -> None:
    town = Town.of(1, 8, operators=8, quotas=quotas(vouches_family=2))
    world = town.world()
    for index in (0, 1, 2):
        declare(town, index, "llama")
    declare(town, 3, "qwen")
    next_cut(town)
    llamas = [one for index in (0, 1, 2) for one in signed(town, index, 7)]
    qwens = signed(town, 3, 6, 7)
    next_cut(town)

    assert counted(world, in_order(llamas)) == in_order(llamas)[:2]
    assert counted(world, qwens) == qwens


def test_agents_that_declare_nothing_are_one_family() -> None:
    town = Town.of(1, 6, operators=6, quotas=quotas(vouches_family=2))
    world = town.world()
    found = [one for index in (0, 1, 2) for one in signed(town, index, 5)]
    declare(town, 3, "llama")
    said = signed(town, 3, 5)
    next_cut(town)

    assert len(counted(world, found)) == 2
    assert counted(world, said) == said
    assert judgements.family_of(world.state.agents[town.agent(3)]) == "llama"


def test_a_vouch_that_does_not_count_takes_no_place_and_an_unvouch_needs_none() -> None:
    town = Town.of(1, 6, quotas=quotas(vouches_operator=1, vouches_family=1))
    world = town.world()
    vouch(town, 1, town.agent(5))
    next_cut(town)
    void = town.sign(1, AgentVouch(agent=named("nobody"), weight=1, reason=""))
    town.arrive(world, void)
    back = unvouch(town, 1, town.agent(5))
    again = signed(town, 1, 4)
    next_cut(town)

    assert refused(world, void) is Code.UNKNOWN_AGENT
    assert refused(world, back) is None
    assert counted(world, again) == again


def test_to_repeat_or_raise_a_standing_vouch_takes_a_place() -> None:
    town = Town.of(1, 6, quotas=quotas(vouches_operator=2))
    world = town.world()
    found = [*signed(town, 1, 5), *signed(town, 1, 5), *signed(town, 1, 5, weight=200)]
    next_cut(town)

    assert counted(world, found) == found[:2]
    assert edge(world, town.agent(1), town.agent(5)).vouch == 9


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        (quotas(vouches_operator=2), "the agents of its operator have given all 2 vouches"),
        (quotas(vouches_family=2), "agents of no declared model family have given all 2 vouches"),
    ],
)
def test_the_door_counts_what_waits_of_the_operator_and_of_the_family(
    rules: Quotas, says: str
) -> None:
    town = Town.of(1, 6, quotas=rules)
    vouch(town, 1, town.agent(5))
    vouch(town, 2, town.agent(5))
    with pytest.raises(RefusedError) as error:
        vouch(town, 3, town.agent(5))

    assert error.value.code is Code.OVER_QUOTA
    assert says in error.value.why
    assert "after the next cut" in error.value.fix
    next_cut(town)
    vouch(town, 3, town.agent(5))


def test_the_door_names_the_family_that_has_used_up_its_vouches() -> None:
    town = Town.of(1, 6, operators=6, quotas=quotas(vouches_family=1))
    for index in (1, 2):
        declare(town, index, "llama")
    next_cut(town)
    vouch(town, 1, town.agent(5))
    with pytest.raises(RefusedError) as error:
        vouch(town, 2, town.agent(5))

    assert "agents of its declared model family" in error.value.why
    vouch(town, 3, town.agent(5))


def test_who_signs_a_hundred_vouches_keeps_nobody_of_its_family_from_the_door() -> None:
    town = Town.of(1, 6, operators=6, quotas=quotas(vouches_epoch=2, vouches_family=4))
    hostile = signed(town, 1, *([5] * 100))
    assert town.world().triggers >= {one.id for one in hostile}
    vouch(town, 2, town.agent(5))
    vouch(town, 3, town.agent(5))
    with pytest.raises(RefusedError) as error:
        vouch(town, 4, town.agent(5))

    assert error.value.code is Code.OVER_QUOTA
    next_cut(town)
    assert len(counted(town.world(), hostile)) == 2
    assert len(town.world().state.graph.into(town.agent(5))) == 3


@pytest.mark.parametrize("through", [(), (3,), (3, 4, 5)])
def test_a_vouch_that_would_close_a_circle_is_refused_by_door_and_cut(
    through: tuple[int, ...],
) -> None:
    town = Town.of(1, 7)
    world = town.world()
    way = [1, *through, 2]
    for by, agent in itertools.pairwise(way):
        vouch(town, by, town.agent(agent))
    next_cut(town)
    with pytest.raises(RefusedError) as error:
        vouch(town, 2, town.agent(1))

    assert error.value.code is Code.CIRCULAR_VOUCH
    assert "vouches for its author" in error.value.why
    assert "outside that circle" in error.value.fix
    (hostile,) = signed(town, 2, 1)
    assert judge(world, hostile).fate is Fate.WAITS
    next_cut(town)
    assert refused(world, hostile) is Code.CIRCULAR_VOUCH
    assert judge(world, hostile).why == (
        "the cut that contains it found that whom it names vouches for its author, itself or "
        "through others, or too many vouches lie between the two to tell"
    )
    assert edge(world, town.agent(2), town.agent(1)).vouch == 0
    assert not broken(world)


def test_of_two_that_vouch_for_each_other_at_once_the_first_by_id_counts() -> None:
    town = Town.of(1, 5)
    both = in_order([*signed(town, 1, 2), *signed(town, 2, 1)])
    next_cut(town)

    assert [refused(town.world(), one) for one in both] == [None, Code.CIRCULAR_VOUCH]


def test_the_door_sees_that_the_answer_to_a_waiting_vouch_would_be_a_circle() -> None:
    town = Town.of(1, 5)
    vouch(town, 1, town.agent(2))
    with pytest.raises(RefusedError) as error:
        vouch(town, 2, town.agent(1))

    assert error.value.code is Code.CIRCULAR_VOUCH


def test_a_circular_vouch_has_used_its_place_in_all_quotas() -> None:
    town = Town.of(1, 6, quotas=quotas(vouches_epoch=3, vouches_operator=2))
    world = town.world()
    vouch(town, 1, town.agent(2))
    next_cut(town)
    found = [*signed(town, 2, 1, 1), *signed(town, 2, 3)]
    next_cut(town)
    more = signed(town, 2, 1, 4)
    next_cut(town)

    circle, over = Code.CIRCULAR_VOUCH, Code.OVER_QUOTA
    assert [refused(world, one) for one in found] == [circle, circle, over]
    assert [refused(world, one) for one in more] == [circle, over]
    assert world.state.agents[town.agent(2)].vouched == (0, 3)


def test_a_vouch_taken_back_opens_its_circle() -> None:
    town = Town.of(1, 5)
    world = town.world()
    vouch(town, 1, town.agent(2))
    next_cut(town)
    unvouch(town, 1, town.agent(2))
    next_cut(town)
    vouch(town, 2, town.agent(1))
    next_cut(town)

    assert edge(world, town.agent(2), town.agent(1)).vouch == 255


def test_a_vouch_taken_back_is_remembered_until_it_is_given_again() -> None:
    town = Town.of(1, 5)
    world = town.world()
    pair = (town.agent(1), town.agent(2))
    vouch(town, 1, pair[1])
    next_tick(town)
    unvouch(town, 1, pair[1])
    next_cut(town)
    assert world.state.unvouched == {pair: 1}
    vouch(town, 1, pair[1])
    next_cut(town)
    assert world.state.unvouched == {}
    unvouch(town, 1, pair[1])
    next_tick(town)

    # The cut that only the tick contains belongs to the epoch that begins.
    assert world.state.unvouched.keys() == {pair}
    void = town.sign(1, AgentUnvouch(agent=pair[1], reason=""))
    town.arrive(world, void)
    next_tick(town)
    assert refused(world, void) is Code.NO_VOUCH


def test_bounded_vouches_leave_every_instance_with_the_same_world() -> None:
    town = Trial.of(3, 9, operators=3, quotas=quotas(vouches_operator=2, vouches_family=4))
    for by in range(9):
        for agent in (by + 1, by + 4, by + 7):
            body = AgentVouch(agent=town.agent(agent % 9), weight=by + 1, reason="")
            town.arrive(town.home(by), town.sign(by, body))
    town.settled()
    worlds = town.live()

    assert len({one.digest for one in worlds}) == 1
    assert all(one.state.refused == worlds[0].state.refused for one in worlds)
    codes = set(worlds[0].state.refused.values())
    assert codes == {Code.OVER_QUOTA}
    assert not any(broken(one) for one in worlds)
