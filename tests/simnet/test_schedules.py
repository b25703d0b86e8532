"""Random schedules: every seed is a scenario, every step is watched, everything heals.

A failure prints one command that repeats exactly its run. More seeds: `make simnet SEEDS=2000`.
"""

import pytest

from federation.simulation.network import Violation
from federation.simulation.network.schedules import Scenario, draw, run

OTHERS = (3, 1, 3, 2, 3, 1, 3, 2, 3, 7)
"""Numbers of operators beside four, in turn by seed; seven take longest, so they are rare."""


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


def test_four_operators_one_of_whom_may_lie_agree(simnet_seed: int) -> None:
    holds(draw(simnet_seed, members=4))


def test_communities_of_other_sizes_agree(simnet_seed: int) -> None:
    holds(draw(simnet_seed, members=OTHERS[simnet_seed % len(OTHERS)]))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100_000, 104_000, 100))
def test_thousands_of_seeds_agree(first: int) -> None:
    for seed in range(first, first + 100):
        holds(draw(seed))


def test_the_same_seed_gives_the_same_transcript() -> None:
    for seed in (3, 11, 42):
        assert holds(draw(seed)) == holds(draw(seed))
    assert holds(draw(3)) != holds(draw(11))
