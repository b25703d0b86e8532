"""What three instances cost that have nothing to do: memory, and share of a core.

They are real processes on loopback that found a realm, are connected, call their cuts and compare
their logs; nobody proposes anything.
The realm is the demo's, whose ticks come every four seconds: a community with hourly ticks does
less.
"""

import argparse
import json
import tempfile
from pathlib import Path

import trio

from node.base.entropy import random_bytes
from node.demo.cruxeval import load
from node.demo.instance import Instance
from node.demo.over_network import Stage, stage

_SETTLE_S = 5.0
GOAL_MB = 200.0
GOAL_SHARE = 0.03


async def measure(staged: Stage, seconds: float) -> dict[str, object]:
    """Start the instances, let them rest, and look at what they use."""
    await staged.start()
    await trio.sleep(_SETTLE_S)
    before = [_cpu(one) for one in staged.instances]
    await trio.sleep(seconds)
    shares = [
        round((_cpu(one) - used) / seconds, 4)
        for one, used in zip(staged.instances, before, strict=True)
    ]
    memory = [round(one.memory_mb() or 0.0, 1) for one in staged.instances]
    peaks = [round(one.peak_mb() or 0.0, 1) for one in staged.instances]
    clean = await staged.stop()
    return {
        "seconds": seconds,
        "core_share": shares,
        "rss_mb": memory,
        "peak_mb": peaks,
        "clean_exits": clean,
        "goals_met": max(shares) <= GOAL_SHARE and max(memory) <= GOAL_MB,
    }


def _cpu(one: Instance) -> float:
    used = one.cpu_s()
    if used is None:
        raise RuntimeError(f"instance {one.place} has ended; see {one.log}")
    return used


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        staged = stage(Path(root), load(), reviewers=9, entropy=random_bytes)
        try:
            found = trio.run(measure, staged, arguments.seconds)
        finally:
            for one in staged.instances:
                if one.process is not None and one.process.poll() is None:
                    one.kill()
    if arguments.json:
        print(json.dumps(found))
    else:
        for key, value in found.items():
            print(f"{key:12} {value}")
    return 0 if found["goals_met"] else 1
