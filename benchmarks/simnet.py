"""Run the simulated network under many seeds, or one seed again with its transcript.

    .venv/bin/python -m benchmarks.simnet --seeds 0-299 --n 4 --kind liar --json
    .venv/bin/python -m benchmarks.simnet --seeds 17 --n 4 --kind liar --transcript

Every seed is a random scenario: links, partitions, crashes, clocks, and mostly one liar (`any`),
one wherever one may lie (`liar`), none at all (`none`), or one of a kind by name. The result
counts runs by number of operators and kind of liar. The monitors of the simulation check every
step. Exit status 1 if any of them found anything.
"""

import argparse
import json
import sys
import time
from collections import Counter, defaultdict

from federation.simulation.network import Violation
from federation.simulation.network.schedules import (
    ANY,
    KINDS,
    LIAR,
    NOBODY,
    Scenario,
    build,
    draw,
    finish,
)


def main() -> int:
    """Run what the arguments ask for; human text to stderr, data to stdout."""
    asked = _arguments()
    first, _, last = asked.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    runs: defaultdict[str, Counter[str]] = defaultdict(Counter)
    events = unrested = 0
    failures: list[dict[str, object]] = []
    began = time.perf_counter()
    for seed in seeds:
        scenario = draw(seed, members=asked.n, kind=asked.kind)
        found, happened, rested = run_one(scenario, transcript=asked.transcript)
        runs[scenario.size][scenario.kind or "all honest"] += 1
        events += happened
        unrested += not rested
        if found is not None:
            failures.append({"seed": seed, "scenario": str(scenario), "found": found})
            print(f"FAILED {scenario}\n  {found}\n  {scenario.replay}", file=sys.stderr)
    wall = time.perf_counter() - began
    result = {
        "seeds": f"{seeds.start}-{seeds.stop - 1}",
        "runs": {size: dict(sorted(kinds.items())) for size, kinds in sorted(runs.items())},
        "without_progress": unrested,
        "failures": failures,
        "events": events,
        "wall_seconds": round(wall, 2),
        "seconds_per_run": round(wall / len(seeds), 3),
    }
    print(json.dumps(result, indent=2) if asked.json else _shown(result))
    return 1 if failures else 0


def run_one(scenario: Scenario, *, transcript: bool) -> tuple[str | None, int, bool]:
    """Run one scenario; give what was found, how much happened, and whether all came to rest."""
    network = build(scenario, keeps_lines=transcript)
    rested = False
    try:
        outcome = finish(network, scenario)
        rested = outcome.at_rest
        found = None if rested or not scenario.promises_progress else "it never came to rest"
    except Violation as violation:
        found = str(violation)
    if transcript:
        print("\n".join(network.transcript.lines))
        print(f"transcript hash {network.transcript.hash}", file=sys.stderr)
    return found, network.counters["events"], rested


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=".venv/bin/python -m benchmarks.simnet",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seeds", default="0-99", help="a seed or a range: 17, 0-299")
    parser.add_argument("--n", type=int, default=None, help="operators; drawn if not given")
    parser.add_argument(
        "--kind", default=ANY, choices=[ANY, LIAR, NOBODY, *KINDS], help="the liar's kind"
    )
    parser.add_argument("--json", action="store_true", help="JSON instead of text")
    parser.add_argument("--transcript", action="store_true", help="print every line of every run")
    return parser.parse_args()


def _shown(result: dict[str, object]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in result.items())


if __name__ == "__main__":
    sys.exit(main())
