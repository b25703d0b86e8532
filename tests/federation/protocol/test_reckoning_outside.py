"""Trust that the shell reckons: the tick waits for it, everything else goes on, and the bits agree."""

import pytest

from federation.core import ParameterError
from federation.crypto import KeySigner
from federation.protocol import World, epochs, inputs, restore, snapshot, step
from federation.protocol import effects as fx
from federation.protocol.invariants import broken
from federation.records import AgentDeclare, AgentVouch
from federation.trust import Problem, reckon
from tests.builders import named
from tests.federation.protocol.acts import next_cut, next_tick
from tests.federation.protocol.alike import differences
from tests.federation.protocol.test_progress import Follower, all_records
from tests.federation.protocol.town import Town, keys, verify
from tests.federation.protocol.trial import Trial


def elsewhere(problem: Problem) -> None:
    """Compute nothing here, as a node does with large graphs."""
    del problem


def vouched() -> Trial:
    """Let founder 1 vouch for founder 2, so that the next tick has something to reckon."""
    town = Trial.of(1, 5)
    town.world().solve = elsewhere
    town.arrive(town.world(), town.sign(1, AgentVouch(agent=town.agent(2), weight=255, reason="")))
    next_cut(town)
    return town


def asked(town: Town) -> fx.Reckon:
    """Let time pass until the core has asked for trust, and give what it asked."""
    town.until(lambda town: town.world().asked_trust is not None, most=10**5)
    world = town.world()
    problem = epochs.reckoning(world.state, elsewhere)
    assert isinstance(problem, Problem)
    assert world.asked_trust is not None
    return fx.Reckon(cut=world.asked_trust, problem=problem)


def answer(town: Town, effect: fx.Reckon, *, cut: bytes | None = None) -> None:
    """Answer as the shell does."""
    trust = reckon(effect.problem)
    town._run(town.world(), inputs.Reckoned(cut=cut or effect.cut, trust=trust))


def test_the_core_asks_the_shell_once() -> None:
    town = vouched()
    world = town.world()
    # Past the town, so that nothing carries the effect out before it is seen here.
    town.take_down(0)
    found: list[fx.Effect] = []
    for _ in range(100):
        town.rest(100)
        found += step(world, inputs.Wake(), town.now)
    told = [one for one in found if isinstance(one, fx.Reckon)]

    assert [one.cut for one in told] == [world.asked_trust]


def test_a_tick_waits_for_trust_and_comes_out_as_if_it_were_reckoned_here() -> None:
    town, twin = vouched(), vouched()
    world, other = town.world(), twin.world()
    other.solve = reckon
    next_tick(twin)
    before = world.state.cut
    effect = asked(town)
    town.rest(3_000)

    assert (world.state.cut, world.state.tick) == (before, 0)
    answer(town, effect)

    assert (world.state.cut, world.state.tick) == (before + 1, 1)
    assert world.state.agents[town.agent(2)].trust == other.state.agents[town.agent(2)].trust
    assert world.state.agents[town.agent(2)].trust > world.state.agents[town.agent(3)].trust
    assert (world.reckoned, world.asked_trust) == (None, None)
    assert not broken(world)


def test_records_are_taken_while_trust_is_reckoned_and_it_is_asked_for_once() -> None:
    town = vouched()
    world = town.world()
    asked(town)
    record = town.propose(0)
    effects = step(world, inputs.Wake(), town.now)

    assert record.id in world.log
    assert not [one for one in effects if isinstance(one, fx.Reckon)]


def test_an_answer_to_another_question_changes_nothing() -> None:
    town = vouched()
    world = town.world()
    effect = asked(town)
    cut = world.state.cut
    answer(town, effect, cut=named("other"))

    assert (world.state.cut, world.reckoned) == (cut, None)


def test_a_tick_without_new_judgements_asks_for_nothing() -> None:
    town = vouched()
    world = town.world()
    answer(town, asked(town))
    next_tick(town, 2)

    assert world.asked_trust is None
    assert world.state.tick >= 3


def test_an_answer_that_is_none_is_refused_and_the_tick_waits_on() -> None:
    town = vouched()
    world = town.world()
    effect = asked(town)
    cut = world.state.cut
    for trust in (b"", bytes(8 * effect.problem.nodes)):
        with pytest.raises(ParameterError, match="trust refused"):
            step(world, inputs.Reckoned(cut=effect.cut, trust=trust), town.now)
    assert (world.state.cut, world.reckoned) == (cut, None)
    answer(town, effect)

    assert world.state.tick == 1


def test_what_a_tick_lacks_is_fetched_while_its_trust_is_reckoned() -> None:
    town = Town.of(1, 5)
    vouch = town.sign(1, AgentVouch(agent=town.agent(2), weight=255, reason=""))
    town.arrive(town.world(), vouch)
    next_cut(town)
    said = town.sign(3, AgentDeclare(family="f", provider="p", model="m"))
    town.arrive(town.world(), said)
    next_tick(town)
    follower = Follower(town)
    follower.world.solve = elsewhere
    # The last record certifies the tick; without what was said its closure is incomplete.
    follower.take(*(one for one in all_records(town) if one.author != said.author))
    world = follower.world

    assert (world.state.cut, world.asked_trust is not None) == (1, True)
    assert said.id in follower.asked
    assert world.asked_trust is not None
    problem = epochs.reckoning(world.state, elsewhere)
    assert isinstance(problem, Problem)
    step(world, inputs.Reckoned(cut=world.asked_trust, trust=reckon(problem)), 0)
    assert world.state.cut == 1
    follower.take(said)
    assert (world.state.tick, world.digest) == (1, town.world().digest)


def test_a_node_that_stops_while_trust_is_reckoned_comes_back_beyond_the_tick() -> None:
    town = vouched()
    asked(town)
    picture = snapshot.take(town.world())

    def back(content: bytes | None) -> World:
        found, _ = restore(
            town.founding.charter,
            town.founding.records,
            town.durable(0),
            instance=town.founding.instances[0],
            signer=KeySigner(keys(town.seed, "instance", 0).current),
            now=town.now,
            verify=verify,
            snapshot=content,
        )
        return found

    folded, revived = back(None), back(picture)

    assert (town.world().state.tick, folded.state.tick) == (0, 1)
    assert differences(folded, revived) == []
    assert not broken(revived)
