from dataclasses import replace

import pytest
from msgspec.structs import replace as changed

from federation.charter import TopicClass
from federation.core import Lots
from federation.records import Kind
from federation.simulation.network.community import community
from federation.simulation.network.links import Weather
from federation.simulation.network.monitors import Violation
from federation.simulation.network.schedules import KINDS, Opinionated, build, draw, finish, run
from federation.simulation.network.watch import REVIEW, TIMING, is_at_rest, watched


def test_a_scenario_is_a_function_of_its_seed() -> None:
    assert draw(17) == draw(17)
    assert draw(17) != draw(18)


def test_scenarios_of_many_seeds_hold_every_number_of_operators_and_every_kind_of_liar() -> None:
    drawn = [draw(seed) for seed in range(300)]

    assert {one.members for one in drawn} == {1, 2, 3, 4, 7}
    assert {one.kind for one in drawn} == {None, *KINDS}
    assert {one.three_available for one in drawn if one.members == 3} == {True, False}
    assert {one.size for one in drawn} == {"1", "2", "3 strict", "3 available", "4", "7"}
    assert any(one.crashes for one in drawn)
    assert any(one.jumps for one in drawn)
    assert any(one.weather.gaps for one in drawn)
    assert any(one.picky for one in drawn)


def test_nobody_lies_where_nothing_is_promised() -> None:
    drawn = [draw(seed, kind=kind) for seed in range(300) for kind in ("any", "liar")]

    assert all(one.kind is None for one in drawn if one.members == 1 or one.three_available)


def test_a_liar_that_is_asked_for_lies_wherever_it_may() -> None:
    drawn = [draw(seed, kind="liar") for seed in range(300)]

    assert all(one.kind for one in drawn if one.members > 1 and not one.three_available)
    assert {one.kind for one in drawn} == {None, *KINDS}


def test_three_are_strict_and_available_in_turn() -> None:
    drawn = [draw(seed, members=3).three_available for seed in range(6)]

    assert drawn == [False, True] * 3
    assert not draw(1, members=3, kind="twins").three_available
    assert draw(1, members=3, kind="twins").kind == "twins"


def test_progress_is_promised_to_the_honest_and_to_four_and_more() -> None:
    drawn = [draw(seed) for seed in range(300)]

    assert all(one.promises_progress for one in drawn if one.kind is None or one.members >= 4)
    assert not any(one.promises_progress for one in drawn if one.kind and one.members < 4)


def test_members_and_kind_can_be_fixed_without_changing_anything_else() -> None:
    free = draw(23)
    same = draw(23, members=free.members)

    assert same == free
    assert draw(23, members=1, kind="twins").kind is None
    for members in (2, 4, 7):
        twins = draw(23, members=members, kind="twins")
        assert twins.kind == "twins"
        assert draw(23, members=members, kind="none") == replace(twins, kind=None)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_kind_of_liar_can_be_built(name: str) -> None:
    there = community(4, agents=5, timing=TIMING, review=REVIEW)
    liar = KINDS[name](there, 2, Lots(name))

    assert not liar.is_honest


def test_the_same_scenario_runs_the_same_way_twice() -> None:
    first, again = run(draw(5, members=4)), run(draw(5, members=4), keeps_lines=True)

    assert first == again
    assert first.at_rest
    assert first.events > 100


def test_a_run_without_promised_progress_is_watched_for_its_time() -> None:
    scenario = draw(3, members=2, kind="selective-leader")
    outcome = run(scenario)

    assert outcome.ended <= scenario.weather.good_from + 3_000


def test_a_scenario_tells_how_to_repeat_it() -> None:
    scenario = draw(17, members=4, kind="twins")

    assert str(scenario).startswith("seed 17: n = 4, twins at i")
    assert scenario.replay == (
        ".venv/bin/python -m benchmarks.simnet --seeds 17 --n 4 --kind twins --transcript"
    )
    assert "all honest" in str(draw(17, members=4, kind="none"))
    assert "available" in str(next(one for one in map(draw, range(100)) if one.three_available))


@pytest.mark.parametrize("kind", ["any", "liar", "none", "late-voter"])
def test_what_a_scenario_prints_of_itself_draws_it_again(kind: str) -> None:
    for seed in range(60):
        scenario = draw(seed, kind=kind)
        again = draw(seed, members=scenario.members, kind=scenario.kind or "none")

        assert again == scenario


def test_what_is_found_names_the_seed() -> None:
    scenario = draw(2, members=1)
    network = build(scenario)
    network.monitors[0].broke("a rule", "a detail")

    with pytest.raises(Violation, match="seed 2"):
        finish(network, scenario)


def test_a_proposal_waits_while_the_instance_of_its_agent_is_down() -> None:
    scenario = replace(draw(1, members=1), crashes=((0, 0, 500),), proposals=((50, 0),))
    outcome = run(scenario)

    assert outcome.at_rest


def test_opinions_are_drawn_and_stay_the_same() -> None:
    review = changed(REVIEW, topics=(TopicClass(prefix="code", sensitivity="low"),), fast_low=400)
    there = community(1, agents=9, timing=TIMING, review=review)
    kinds: set[Kind] = set()
    for seed in range(8):
        network = watched(there, seed=str(seed), policy=Opinionated(seed))
        network.start()
        network.at(20, lambda network=network: network.propose(0))  # type: ignore[misc]
        network.run_until(lambda network=network: is_at_rest(network))  # type: ignore[misc]
        (world,) = network.worlds
        kinds |= {kind for kind in Kind if world.log.by_kind(kind)}

    assert {Kind.OBJECT, Kind.ARGUE, Kind.COMMIT, Kind.REVEAL} <= kinds


def test_a_muted_kind_of_packet_drives_fences_up() -> None:
    quiet = replace(draw(0, members=4, kind="none"), picky=0, muted=None, crashes=(), jumps=())
    calm = replace(quiet, weather=Weather(good_from=2_500))

    def lost(muted: str | None) -> int:
        return run(replace(calm, muted=muted)).counters.get("lost", 0)

    assert lost(None) == 0
    assert all(lost(kind) > 10 for kind in ("seal", "cosign", "propose"))
