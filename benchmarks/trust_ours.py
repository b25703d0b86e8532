"""The shipped computation of trust over a stored graph: build, rounds, floor, one more epoch.

Each function is called in a process of its own, on a file that `trust_graph` wrote.
"""

import hashlib
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.peak import Peak
from benchmarks.trust_graph import KAPPA, MASS, Stored, problem_of, read
from federation.core import AgentId
from federation.trust.eigentrust import ROUNDS, Problem, unpack
from federation.trust.eigentrust import reckon as reference
from federation.trust.graph import Graph
from federation.trust.sparse import Matrix, reckon

REFERENCE_MOST: Final = 100_000
"""Edges up to which the result is compared with the pure-Python reference."""
GRAPH_MOST: Final = 1_000_000
"""Edges up to which the graph that a node holds is filled act by act."""
CHANGED: Final = 0.01
"""Share of edges that change from one epoch to the next: half get another weight, half are new."""
_COUNTS: Final = Path("/proc/self/io")

Measured = dict[str, object]


def measure(path: Path, *, threads: int) -> Measured:
    """Read the file and build, then compute 64 rounds; check what comes out, outside the times."""
    with ThreadPoolExecutor(threads) as pool:
        peak = Peak()
        began = time.perf_counter()
        # Nothing here holds on to the problem: what stays in memory is the matrix's own business.
        matrix = Matrix(problem_of(read(path)))
        built = time.perf_counter()
        trust = matrix.reckon(each=pool.map if threads > 1 else map)
        done = time.perf_counter()
        high = peak.mb()
    problem = problem_of(read(path))
    unpack(problem, trust)  # raises unless none is negative and the sum is 2^60
    if len(problem.weights) <= REFERENCE_MOST and trust != reference(problem):
        raise AssertionError("the sparse computation and the reference give different bits")
    return {
        "digest": hashlib.sha256(trust).hexdigest(),
        "build_s": built - began,
        "rounds_s": done - built,
        "peak_mb": high,
        "reference_equal": len(problem.weights) <= REFERENCE_MOST or None,
    }


def floor(path: Path) -> Measured:
    """Measure how long memory alone keeps 64 rounds: plain copies of as many bytes as they touch.

    A round reads for each edge a place (4 bytes), a weight (1) and a number of the vector (8), and
    for each node it reads and writes a number twice (the share, the sum). A copy of half as many
    bytes reads that half and writes it. Random access, multiplying and adding are left out: no
    program that keeps the graph in memory and makes 64 rounds can be faster on one core.
    """
    stored = read(path)
    touched = 13 * stored.edges + 32 * stored.nodes
    source, target = np.ones(touched // 2, np.uint8), np.zeros(touched // 2, np.uint8)
    began = time.perf_counter()
    for _ in range(ROUNDS):
        np.copyto(target, source)
    return {"floor_s": time.perf_counter() - began, "bytes_a_round": touched}


def one_more_epoch(path: Path, *, threads: int) -> Measured:
    """Change edges of a graph that is in memory, when its file is gone, and compute anew.

    Cold, as the protocol demands, so the rounds cost what they did; what is saved is the building.
    `read_bytes` is what the process read from any file meanwhile, but for the count itself.
    """
    stored = read(path)
    problem = problem_of(stored)
    matrix = Matrix(problem)
    matrix.reckon()
    changes = _changes(stored)
    path.unlink()
    with ThreadPoolExecutor(threads) as pool:
        before = _read_bytes()
        began = time.perf_counter()
        matrix.changed(changes)
        applied = time.perf_counter()
        trust = matrix.reckon(each=pool.map if threads > 1 else map)
        done = time.perf_counter()
        after = _read_bytes()
    return {
        "changed_edges": len(changes.weights),
        "apply_s": applied - began,
        "rounds_s": done - applied,
        "file_gone": not path.exists(),
        "read_bytes": None
        if after is None or before is None
        else after.before - before.before - before.itself,
        "same_as_anew": trust == reckon(_joined(stored, changes)),
    }


def _changes(stored: Stored) -> Problem:
    """Draw the edges that change, as a problem that holds only them."""
    chance = np.random.default_rng(99)
    sources, targets, weights = stored.arrays()
    half = max(1, int(stored.edges * CHANGED / 2))
    old = chance.choice(stored.edges, half, replace=False)
    pairs = chance.integers(0, stored.nodes, (4 * half + 8, 2), dtype=np.int64)
    keys = np.unique(pairs[pairs[:, 0] != pairs[:, 1]] @ np.array([stored.nodes, 1]))
    known = sources.astype(np.int64) * stored.nodes + targets
    new = chance.permutation(keys[~np.isin(keys, known)])[:half]
    return replace(
        problem_of(stored),
        sources=_packed(sources[old], new // stored.nodes),
        targets=_packed(targets[old], new % stored.nodes),
        weights=np.concatenate(
            [weights[old] % 255 + 1, chance.integers(1, 256, len(new))]  # never the old weight
        )
        .astype(np.uint8)
        .tobytes(),
    )


def _packed(old: NDArray[np.uint32], new: NDArray[np.int64]) -> bytes:
    return np.concatenate([old, new.astype("<u4")]).astype("<u4").tobytes()


def _joined(stored: Stored, changes: Problem) -> Problem:
    """Give the whole problem after the changes: of a pair that stands twice the later one."""
    sources = np.frombuffer(stored.sources + changes.sources, "<u4")
    targets = np.frombuffer(stored.targets + changes.targets, "<u4")
    weights = np.frombuffer(stored.weights + changes.weights, np.uint8)
    keys = sources.astype(np.int64) * stored.nodes + targets
    _, from_end = np.unique(keys[::-1], return_index=True)
    last = len(keys) - 1 - from_end
    return replace(
        changes,
        sources=sources[last].tobytes(),
        targets=targets[last].tobytes(),
        weights=weights[last].tobytes(),
    )


def through_the_graph(path: Path) -> Measured:
    """Do the same as a node does: vouch by vouch into its graph, copy it, build, compute.

    Filling the graph at first, with every edge, is what a node does when it starts from nothing.
    """
    stored = read(path)
    sources, targets, weights = (column.tolist() for column in stored.arrays())
    names = [AgentId(place.to_bytes(32, "big")) for place in range(stored.nodes)]
    changes = _changes(stored)
    peak = Peak()
    began = time.perf_counter()
    graph = Graph(KAPPA)
    for source, target, heavy in zip(sources, targets, weights, strict=True):
        graph.vouch(names[source], names[target], heavy)
    filled = time.perf_counter()
    high = peak.mb()
    acts = list(
        zip(
            np.frombuffer(changes.sources, "<u4").tolist(),
            np.frombuffer(changes.targets, "<u4").tolist(),
            changes.weights,
            strict=True,
        )
    )
    seeds = [names[place] for place in stored.seeds]
    before = time.perf_counter()
    for source, target, heavy in acts:
        graph.vouch(names[source], names[target], heavy)
    applied = time.perf_counter()
    problem = graph.problem(seeds=seeds, silent=(), edge_cap=KAPPA * (MASS // stored.nodes) // 4)
    copied = time.perf_counter()
    reckon(problem)
    done = time.perf_counter()
    return {
        "fill_s": filled - began,
        "peak_mb": high,
        "acts": len(acts),
        "apply_s": applied - before,
        "problem_s": copied - applied,
        "reckon_s": done - copied,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What this process has read from files."""

    before: int
    """Bytes up to now."""
    itself: int
    """Bytes that the count took to read."""


def _read_bytes() -> _Read | None:
    try:
        text = _COUNTS.read_bytes()
    except OSError:
        return None
    return _Read(before=int(text.split()[1]), itself=len(text))
