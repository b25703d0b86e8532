"""Hypothesis profiles and the seeds of simulated networks.

Profiles: `ci` (the same examples every time; the default where CI is set), `dev` (fresh examples,
few), `slow` (fresh examples, many). Choose one with HYPOTHESIS_PROFILE. Outside `ci` a failure
prints a `@reproduce_failure` line, and the last lines name the seed of the run.

A test that asks for `simnet_seed` runs once for each seed of `--seeds`; its id names the seed, so
a failure says how to repeat it: `make simnet SEEDS=17-17`. A test that asks for `rare_seed` runs
for every seventh of them only.
"""

import os
import random

import pytest
from hypothesis import HealthCheck, settings

QUICK_SEEDS = "300"
"""How many seeds a simulated network gets when nobody asks for more."""

RARE = 7
"""One of so many seeds goes to the scenarios that take longest or add least."""

settings.register_profile(
    "ci",
    max_examples=60,
    deadline=None,  # A busy machine is not a failure.
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("dev", settings.get_profile("ci"), derandomize=False)
settings.register_profile("slow", settings.get_profile("dev"), max_examples=1_000)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev")
settings.load_profile(PROFILE)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--seeds",
        default=QUICK_SEEDS,
        help="seeds of simulated networks: a count (200) or a range (17-17)",
    )


def pytest_configure(config: pytest.Config) -> None:
    # Hypothesis draws its seed where nobody can see it. Drawn here, it can be printed, and all
    # workers of one run share it.
    if PROFILE == "ci" or config.getoption("hypothesis_seed", None) is not None:
        return
    shared = getattr(config, "workerinput", {}).get("folkmoot_seed")
    config.option.hypothesis_seed = shared or str(random.SystemRandom().randrange(2**32))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """Hand the seed of this run to a worker of pytest-xdist."""
    node.workerinput["folkmoot_seed"] = node.config.option.hypothesis_seed  # type: ignore[attr-defined]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    config = terminalreporter.config
    drawn = config.option.hypothesis_seed
    seed = "derandomized" if drawn is None else f"--hypothesis-seed={drawn}"
    terminalreporter.write_line(
        f"hypothesis profile {PROFILE}, {seed}; simulated networks --seeds={config.option.seeds}"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "simnet_seed" in metafunc.fixturenames:
        seeds = parse_seeds(metafunc.config.getoption("--seeds"))
        metafunc.parametrize("simnet_seed", seeds, ids=[f"seed={seed}" for seed in seeds])
    if "rare_seed" in metafunc.fixturenames:
        seeds = parse_seeds(metafunc.config.getoption("--seeds"))[::RARE]
        metafunc.parametrize("rare_seed", seeds, ids=[f"seed={seed}" for seed in seeds])
    if "slot_seed" in metafunc.fixturenames:
        # A seed of the certificate machine alone stands for a whole block of schedules.
        seeds = parse_seeds(metafunc.config.getoption("--seeds"))
        few = seeds if PROFILE == "slow" else seeds[:2]
        metafunc.parametrize("slot_seed", few, ids=[f"seed={seed}" for seed in few])


def parse_seeds(text: str) -> range:
    """Read `200` as the first 200 seeds and `17-20` as exactly these four."""
    first, dash, last = text.partition("-")
    try:
        seeds = range(int(first), int(last) + 1) if dash else range(int(first))
    except ValueError:
        seeds = range(0)
    if not seeds:
        raise pytest.UsageError(
            f"--seeds {text}: give a count such as 200 or a range such as 17-20"
        )
    return seeds
