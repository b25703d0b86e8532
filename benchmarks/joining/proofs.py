"""What it costs a node to look at a proof of work, step by step, cheapest first.

    python -m benchmarks proofs --json

The steps are those of registration under the terms of preset `community`: the bytes are read and
held to their canonical form, the claims compared, the gate hashed, the work verified. A bogus
proof has a gate that holds and a first part that does not: the dearest junk that a stranger can
make. The steps are measured in processor time, and once more by the clock through the process that
a node has for the work. Leaves with 1 unless every goal is met.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final

import trio
from msgspec.structs import replace

from benchmarks.joining.searches import claims, terms_of_preset
from federation import admission
from federation.admission import Terms, Work
from node.runtime.inbox import Inbox
from node.runtime.proofs import Proofs

GATE_US: Final = 20.0
"""Before the gate is passed or not: reading, claims and gate of junk."""
BOGUS_MS: Final = 12.0
VERIFY_MS: Final = 40.0
_MICRO: Final = 1e6
_MILLI: Final = 1e3
_LOOPS: Final = 200
"""Repetitions of a step of microseconds that are timed together."""
_TICK: Final = 0.002


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Figures of one step; medians of all runs, and how bad it gets."""

    median: float
    p95: float


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = measure(terms_of_preset("community"), runs=arguments.runs)
    if arguments.json:
        print(json.dumps(found, indent=2))
    else:
        for key, value in found.items():
            print(f"{key:12} {value}")
    return 0 if found["goals_met"] else 1


def measure(terms: Terms, *, runs: int) -> dict[str, object]:
    """Measure all steps under some terms, `runs` times each."""
    # With no bits every part holds, and verifying costs what it costs at any number of bits.
    free = admission.Terms(
        memory_kib=terms.memory_kib, passes=terms.passes, parts=terms.parts, bits=0, gate_bits=0
    )
    junk = admission.blank_work(**claims(0), terms=terms)
    raw = admission.work_bytes(junk)
    in_force = admission.InForce(terms=terms, beacon=junk.beacon)

    def check() -> None:
        work = admission.read_work(raw)
        fault = admission.check_claims(
            work,
            realm=junk.realm,
            role=junk.role,
            instance=junk.instance,
            key=junk.key,
            epoch=junk.epoch,
            in_force=lambda _: in_force,
        )
        assert fault is None, fault  # noqa: S101 # the measurement would be of something else

    bogus = [_bogus(terms, number) for number in range(runs)]
    good = [admission.blank_work(**claims(number), terms=free) for number in range(runs)]
    steps = {
        "read_us": _micro(lambda: admission.read_work(raw), runs),
        "claims_us": _micro(check, runs),
        "gate_us": _micro(lambda: admission.passes_gate(junk), runs),
        "bogus_ms": _milli(admission.does_work, bogus, expected=False),
        "verify_ms": _milli(admission.does_work, good, expected=True),
    }
    process = trio.run(_through_the_process, bogus, good)
    before = steps["claims_us"].median + steps["gate_us"].median
    goals = {
        f"claims and gate at most {GATE_US:.0f} µs": before <= GATE_US,
        f"a bogus proof at most {BOGUS_MS:.0f} ms": steps["bogus_ms"].median <= BOGUS_MS,
        f"a true proof at most {VERIFY_MS:.0f} ms": steps["verify_ms"].median <= VERIFY_MS,
    }
    return {
        "terms": asdict(terms),
        "runs": runs,
        # `claims_us` includes `read_us`.
        **{name: asdict(one) for name, one in steps.items()},
        "before_argon2_us": round(before, 2),
        "process": process,
        "goals": goals,
        "goals_met": all(goals.values()),
    }


def _bogus(terms: Terms, number: int) -> Work:
    """Give a proof whose first part does no work; the gate is of no account for its cost."""
    work = admission.blank_work(**claims(number), terms=terms)
    tried = 0
    while admission.does_work(work):
        tried += 1
        work = replace(work, solutions=(tried.to_bytes(8, "big"), *work.solutions[1:]))
    return work


def _micro(step: Callable[[], object], runs: int) -> Measured:
    took = []
    for _ in range(runs):
        began = time.process_time()
        for _ in range(_LOOPS):
            step()
        took.append((time.process_time() - began) / _LOOPS * _MICRO)
    return _summed(took)


def _milli(step: Callable[[Work], bool], works: list[Work], *, expected: bool) -> Measured:
    took = []
    for work in works:
        began = time.process_time()
        said = step(work)
        took.append((time.process_time() - began) * _MILLI)
        assert said is expected, "a proof is not what it is to be"  # noqa: S101 # as above
    return _summed(took)


async def _through_the_process(bogus: list[Work], good: list[Work]) -> dict[str, object]:
    """Verify through the process of a node, and watch how late its event loop is meanwhile."""
    part, late = Proofs(Inbox()), [0.0]

    async def tick() -> None:
        while True:
            due = trio.current_time() + _TICK
            await trio.sleep_until(due)
            late.append((trio.current_time() - due) * _MILLI)

    async def timed(work: Work) -> float:
        raw = admission.work_bytes(work)
        began = time.perf_counter()
        await part.verify(raw)
        return (time.perf_counter() - began) * _MILLI

    found: dict[str, object] = {}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(part.run)
        began = time.perf_counter()
        # The first one waits for the process to start.
        await part.verify(admission.work_bytes(replace(bogus[0], gate=b"\xff" * 8)))
        found["start_ms"] = round((time.perf_counter() - began) * _MILLI, 1)
        nursery.start_soon(tick)
        found["bogus_ms"] = asdict(_summed([await timed(work) for work in bogus]))
        found["verify_ms"] = asdict(_summed([await timed(work) for work in good]))
        nursery.cancel_scope.cancel()
    part.close()
    found["loop_late_ms"] = asdict(_summed(late))
    found["failures"] = part.failures
    return found


def _summed(took: list[float]) -> Measured:
    ordered = sorted(took)
    return Measured(
        median=round(statistics.median(ordered), 2), p95=round(ordered[len(ordered) * 95 // 100], 2)
    )
