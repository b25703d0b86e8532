"""A made graph of trust, and the form in which its edges are kept in a file.

The shape is that of large social graphs: a few judge a great deal and are judged a great deal, most
hardly at all, and a tenth of the agents judge nobody.
The file holds what a node keeps of an edge: who judges, who is judged, how heavily; nine bytes.
Edges stand in the order in which they came, which is no order at all: sorted ones would save every
program that reads them most of its work.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from federation.trust.eigentrust import Problem

SEEDS: Final = 20
EDGE_BYTES: Final = 9
KAPPA: Final = 16  # of the community preset
MASS: Final = 1 << 60
_HEAD: Final = 3  # little-endian uint64: nodes, edges, seeds

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Columns as they stand in the file."""

    nodes: int
    sources: bytes
    """Who judges, little-endian uint32."""
    targets: bytes
    """Who is judged, little-endian uint32."""
    weights: bytes
    """How heavily, one byte each, 1 to 255."""
    seeds: tuple[int, ...]

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return len(self.weights)

    def arrays(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]:
        """See the columns as arrays, without copying."""
        return (
            np.frombuffer(self.sources, "<u4"),
            np.frombuffer(self.targets, "<u4"),
            np.frombuffer(self.weights, np.uint8),
        )


def make(nodes: int, edges: int, *, seed: int = 1) -> Stored:
    """Make a graph with exactly so many different edges; the same arguments give the same bytes."""
    if nodes < SEEDS or not 0 < edges <= nodes * nodes // 8:
        raise ValueError(
            f"no graph has {nodes} nodes and {edges} edges here: take at least {SEEDS} nodes "
            "and at most an eighth of all pairs"
        )
    chance = np.random.default_rng(seed)
    judges, judged = chance.permutation(nodes), chance.permutation(nodes)
    pairs: Ints = np.empty(0, np.int64)
    while len(pairs) < edges:
        more = max(1000, int(1.25 * (edges - len(pairs))))
        source = judges[(0.9 * nodes * chance.random(more) ** 2.0).astype(np.int64)]
        target = judged[(nodes * chance.random(more) ** 2.5).astype(np.int64)]
        other = source != target
        pairs = np.union1d(pairs, source[other] * nodes + target[other])
    pairs = chance.permutation(pairs)[:edges]
    sources = pairs // nodes
    return Stored(
        nodes=nodes,
        sources=sources.astype("<u4").tobytes(),
        targets=(pairs % nodes).astype("<u4").tobytes(),
        weights=chance.integers(1, 256, edges).astype(np.uint8).tobytes(),
        seeds=tuple(sorted(chance.choice(np.unique(sources), SEEDS, replace=False).tolist())),
    )


def write(stored: Stored, path: Path) -> None:
    """Write the file."""
    with path.open("wb") as file:
        file.write(np.array([stored.nodes, stored.edges, len(stored.seeds)], "<u8").tobytes())
        file.write(np.array(stored.seeds, "<u4").tobytes())
        for column in (stored.sources, stored.targets, stored.weights):
            file.write(column)


def read(path: Path) -> Stored:
    """Read the file."""
    with path.open("rb") as file:
        nodes, edges, seeds = np.frombuffer(file.read(8 * _HEAD), "<u8").tolist()
        return Stored(
            nodes=nodes,
            seeds=tuple(np.frombuffer(file.read(4 * seeds), "<u4").tolist()),
            sources=file.read(4 * edges),
            targets=file.read(4 * edges),
            weights=file.read(edges),
        )


def problem_of(stored: Stored) -> Problem:
    """Give what the computation takes: a realm with as many seats as nodes, nobody silent."""
    return Problem(
        nodes=stored.nodes,
        sources=stored.sources,
        targets=stored.targets,
        weights=stored.weights,
        seeds=stored.seeds,
        silent=(),
        edge_cap=KAPPA * (MASS // stored.nodes) // 4,
    )
