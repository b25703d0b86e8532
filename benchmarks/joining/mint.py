"""How long newcomers search for a proof of work, against what theory foretells.

    python -m benchmarks mint --runs 30 --json

Each run searches for one proof with a key of its own, at the memory of preset `community`; what is
measured is processor time, for one core that has nothing else to do. 30 runs at its 9 bits take
ten minutes; `--bits 5` takes a sixteenth of that, and the time of one hash then tells what the full
terms take (`full`). What is compared with theory are the hashes that a search took, for they do not
depend on the machine. Leaves with 1 unless their mean is within three standard errors of theory.
"""

import argparse
import json
import time
from dataclasses import asdict, replace
from typing import Final

from benchmarks.joining.searches import (
    Spread,
    claims,
    foretold_tries,
    is_likely,
    spread,
    terms_of_preset,
)
from federation import admission
from federation.admission import Mint, Terms
from federation.records import Role

_MILLI: Final = 1e3
_PART_TRIES: Final = 8
_GATE_TRIES: Final = 20_000
_SHOW: Final = ("mean", "p50", "p95", "p95_to_mean")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--bits", type=int, help="of each part; the preset's by default")
    parser.add_argument("--preset", default="community")
    parser.add_argument("--role", choices=("agent", "operator"), default="agent")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    full = terms_of_preset(arguments.preset, Role(arguments.role))
    terms = full if arguments.bits is None else replace(full, bits=arguments.bits)
    found = measure(terms, full, runs=arguments.runs)
    print(json.dumps(found, indent=2) if arguments.json else _shown(found))
    return 0 if found["goals_met"] else 1


def measure(terms: Terms, full: Terms, *, runs: int) -> dict[str, object]:
    """Search `runs` times under some terms; tell what `full` terms would take by that."""
    times, tries, hashing, gates = list[float](), list[float](), 0.0, list[float]()
    for number in range(runs):
        mint = Mint(blank=admission.blank_work(**claims(number), terms=terms))
        progress, began = mint.start(), time.process_time()
        while not progress.at_gate:
            progress = mint.advance(progress, _PART_TRIES)
        parts_end = time.process_time()
        while not progress.is_over:
            progress = mint.advance(progress, _GATE_TRIES)
        ended = time.process_time()
        mint.finish(progress)
        times.append(ended - began)
        gates.append(ended - parts_end)
        tries.append(progress.tried)
        hashing += parts_end - began
    hash_s = hashing / sum(tries)
    gate_s = sum(gates) / runs
    likely = is_likely(sum(tries) / runs, runs, terms)
    return {
        "terms": asdict(terms),
        "runs": runs,
        "hash_ms": round(hash_s * _MILLI, 3),
        "gate_s": round(gate_s, 3),
        "seconds": asdict(spread(times)),
        "hashes": asdict(spread(tries)),
        "foretold": {
            "seconds": asdict(_foretold(terms, hash_s, gate_s)),
            "hashes": asdict(spread([float(one) for one in foretold_tries(terms)])),
        },
        "full": {
            "bits": full.bits,
            "seconds": asdict(_foretold(full, hash_s, gate_s)),
        },
        "goals": {"hashes within three standard errors of theory": likely},
        "goals_met": likely,
    }


def _foretold(terms: Terms, hash_s: float, gate_s: float) -> Spread:
    """Foretell a search from the time of one hash; that of the gate is taken as it was measured."""
    return spread([tries * hash_s + gate_s for tries in foretold_tries(terms)])


def _shown(found: dict[str, object]) -> str:
    lines = [f"{found['runs']} searches, {found['terms']}", f"{'':22}" + "".join(map(_head, _SHOW))]
    rows = {
        "seconds": found["seconds"],
        "  foretold": _part(found, "foretold", "seconds"),
        "hashes": found["hashes"],
        "  foretold ": _part(found, "foretold", "hashes"),
        f"seconds at {_part(found, 'full', 'bits')} bits": _part(found, "full", "seconds"),
    }
    for name, row in rows.items():
        assert isinstance(row, dict)  # noqa: S101 # made in this module
        lines.append(f"{name:22}" + "".join(f"{row[key]:>14}" for key in _SHOW))
    lines.append(f"one hash takes {found['hash_ms']} ms, a gate {found['gate_s']} s")
    lines.append(f"goals: {found['goals']}")
    return "\n".join(lines)


def _head(name: str) -> str:
    return f"{name:>14}"


def _part(found: dict[str, object], name: str, key: str) -> object:
    part = found[name]
    assert isinstance(part, dict)  # noqa: S101 # made in this module
    return part[key]
