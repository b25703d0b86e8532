"""Random schedules: every seed is a scenario, every step is watched, everything heals.

A failure prints one command that repeats exactly its run. More seeds: `make simnet SEEDS=2000`.
"""

import pytest

from federation.simulation.network import Violation
from federation.simulation.network.schedules import Scenario, draw, run


def holds(scenario: Scenario) -> str:
    """Run a scenario; give its transcript's hash, or fail with what was found and how to repeat it."""
    try:
        outcome = run(scenario)
    except Violation as violation:
        pytest.fail(f"{violation}\n{scenario}\nrepeat it with: {scenario.replay}", pytrace=False)
    if scenario.promises_progress and not outcome.at_rest:
        pytest.fail(
            f"it never came to rest\n{scenario}\nrepeat it with: {scenario.replay}", pytrace=False
        )
    return outcome.transcript_hash


def test_four_operators_one_of_whom_lies_agree(simnet_seed: int) -> None:
    scenario = draw(simnet_seed, members=4, kind="liar")

    assert scenario.kind is not None
    holds(scenario)


def test_three_operators_agree(simnet_seed: int) -> None:
    # Even seeds are strict and one of them lies; odd ones chose availability, and may only crash.
    scenario = draw(simnet_seed, members=3, kind="liar")

    assert (scenario.kind is None) is scenario.three_available is bool(simnet_seed % 2)
    holds(scenario)


def test_one_operator_decides_alone(simnet_seed: int) -> None:
    holds(draw(simnet_seed, members=1))


def test_three_strict_operators_decide_if_none_of_them_lies(rare_seed: int) -> None:
    scenario = draw(2 * rare_seed, members=3, kind="none")

    assert not scenario.three_available
    holds(scenario)


@pytest.mark.parametrize("members", [2, 7])
def test_two_and_seven_operators_agree(members: int, rare_seed: int) -> None:
    holds(draw(rare_seed, members=members))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100_000, 104_000, 100))
def test_thousands_of_seeds_agree(first: int) -> None:
    for seed in range(first, first + 100):
        holds(draw(seed))


def test_the_same_seed_gives_the_same_transcript() -> None:
    for seed in (3, 11, 42):
        assert holds(draw(seed)) == holds(draw(seed))
    assert holds(draw(3)) != holds(draw(11))
