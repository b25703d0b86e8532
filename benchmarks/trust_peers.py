"""The same graph through other programs: build and solve, from the same file, by their best way in.

Each solves what it can: igraph and NetworkX personalised PageRank with the seeds and weights,
NetworKit PageRank with weights (it has no seeds), scipy the same matrix in floating point.
None of them caps what passes over an edge, and none promises the same bits on another machine.
All get numpy arrays, no Python lists of tuples, wherever they take them.
"""

import importlib
import importlib.util
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.peak import Peak
from benchmarks.trust_graph import Stored, read

ROUNDS: Final = 64
DAMPING: Final = 0.75
NETWORKX_MOST: Final = 100_000
"""Edges beyond which NetworkX is not asked: it would need minutes and several GB."""

Measured = dict[str, object]
_Solve = Callable[[], object]


def missing(peer: str) -> str | None:
    """Say how to install what a peer needs, if it is not there."""
    module = {"scipy_float": "scipy"}.get(peer, peer)
    return None if importlib.util.find_spec(module) else f"pip install {module}"


def measure(peer: str, path: Path) -> Measured:
    """Build and solve in this process; what is imported for it is not counted."""
    build = PEERS[peer]()
    peak = Peak()
    began = time.perf_counter()
    solve = build(read(path))
    built = time.perf_counter()
    solve()
    solved = time.perf_counter()
    return {"build_s": built - began, "solve_s": solved - built, "peak_mb": peak.mb()}


def _igraph() -> Callable[[Stored], _Solve]:
    igraph = importlib.import_module("igraph")  # here: its memory belongs to its own process

    def build(stored: Stored) -> _Solve:
        sources, targets, weights = stored.arrays()
        pairs = np.column_stack([sources, targets]).astype(np.int64)
        graph = igraph.Graph(n=stored.nodes, edges=pairs, directed=True)
        graph.es["weight"] = weights  # a list of numbers inside, whatever one gives
        return lambda: graph.personalized_pagerank(
            damping=DAMPING,
            reset_vertices=list(stored.seeds),
            weights="weight",
            implementation="prpack",
        )

    return build


def _networkit() -> Callable[[Stored], _Solve]:
    networkit = importlib.import_module("networkit")

    def build(stored: Stored) -> _Solve:
        sources, targets, weights = stored.arrays()
        graph = networkit.GraphFromCoo(
            (weights.astype(float), (sources, targets)),
            n=stored.nodes,
            weighted=True,
            directed=True,
        )
        return lambda: networkit.centrality.PageRank(graph, damp=DAMPING, tol=1e-9).run().scores()

    return build


def _networkx() -> Callable[[Stored], _Solve]:
    nx = importlib.import_module("networkx")

    def build(stored: Stored) -> _Solve:
        sources, targets, weights = (column.tolist() for column in stored.arrays())
        graph = nx.DiGraph()
        graph.add_nodes_from(range(stored.nodes))
        graph.add_weighted_edges_from(zip(sources, targets, weights, strict=True))
        start = dict.fromkeys(stored.seeds, 1.0)
        return lambda: nx.pagerank(
            graph, alpha=DAMPING, personalization=start, dangling=start, tol=1e-12, max_iter=500
        )

    return build


def _scipy_float() -> Callable[[Stored], _Solve]:
    sparse = importlib.import_module("scipy.sparse")

    def build(stored: Stored) -> _Solve:
        sources, targets, weights = stored.arrays()
        passed = np.bincount(sources, weights=weights, minlength=stored.nodes)
        share = DAMPING / np.maximum(passed, 1)
        matrix = sparse.csr_array(
            (
                weights.astype(float) * share[sources],
                (targets.astype(np.int32), sources.astype(np.int32)),
            ),
            shape=(stored.nodes, stored.nodes),
        )
        start = np.zeros(stored.nodes)
        start[list(stored.seeds)] = 1 / len(stored.seeds)

        def solve() -> object:
            trust = start
            for _ in range(ROUNDS):
                flow = matrix @ trust
                trust = flow + (1 - flow.sum()) * start
            return trust

        return solve

    return build


PEERS: Final[dict[str, Callable[[], Callable[[Stored], _Solve]]]] = {
    "igraph": _igraph,
    "networkit": _networkit,
    "networkx": _networkx,
    "scipy_float": _scipy_float,
}
NOTES: Final = {
    "igraph": "personalised PageRank (prpack), weights, reset at the seeds; no caps",
    "networkit": "PageRank with weights, all cores; it has no seeds and no caps",
    "networkx": "personalised PageRank through scipy; no caps",
    "scipy_float": "the same 64 rounds in float64, reset at the seeds; no caps",
}
