"""Trust that the shell reckons: the tick waits for it, everything else goes on, and the bits agree."""

from federation.protocol import effects as fx
from federation.protocol import epochs, inputs, step
from federation.protocol.invariants import broken
from federation.records import AgentVouch
from federation.trust import Problem, reckon
from tests.builders import named
from tests.federation.protocol.acts import next_cut, next_tick
from tests.federation.protocol.town import Town


def elsewhere(problem: Problem) -> None:
    """Compute nothing here, as a node does with large graphs."""
    del problem


def vouched() -> Town:
    """Let founder 1 vouch for founder 2, so that the next tick has something to reckon."""
    town = Town.of(1, 5)
    town.world().solve = elsewhere
    town.arrive(town.world(), town.sign(1, AgentVouch(agent=town.agent(2), weight=255, reason="")))
    return next_cut(town)


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
