"""Run one measurement by name: `python -m benchmarks NAME [options]`."""

import importlib
import sys
from typing import Final

NAMES: Final = {
    "ingest": "records of peers, from bytes to durable: rate, share of raw verification, stalls",
    "idle": "three instances with nothing to do: memory, share of a core",
    "simnet": "the simulated network under many seeds",
    "trust": "trust over a large made graph: time, memory, and other programs beside it",
    "otc": "trust on real graphs: what it foretells, and what Sybils get",
    "mint": "how long newcomers search for a proof of work, against theory",
    "proofs": "what a proof of work costs whoever checks it, step by step",
    "newcomers": "10,000 admitted newcomers beside an honest realm: what they change there",
    "flood": "a flood of false registrations: what it costs a node, and whether honest ones get in",
}
_ELSEWHERE: Final = {name: f"joining.{name}" for name in ("mint", "proofs", "newcomers", "flood")}
"""Where a measurement lies, if not in a module of its name."""


def main() -> int:
    """Hand over to the measurement that the first argument names."""
    name, rest = (sys.argv[1:2] or [""])[0], sys.argv[2:]
    if name not in NAMES:
        known = "\n".join(f"  {one:8} {what}" for one, what in NAMES.items())
        print(f"usage: python -m benchmarks NAME [options]\n\n{known}", file=sys.stderr)
        return 0 if name in {"-h", "--help"} else 2
    sys.argv = [f"python -m benchmarks {name}", *rest]
    where = _ELSEWHERE.get(name, name)
    status: int = importlib.import_module(f"benchmarks.{where}").main()
    return status


if __name__ == "__main__":
    sys.exit(main())
