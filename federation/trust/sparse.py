"""EigenTrust over large graphs: the bits of `eigentrust.reckon`, by sparse matrices of integers.

A round is one product of a sparse matrix with a vector, in int64: no float touches a trust value,
and why no sum leaves 64 bits is told in `eigentrust`. Integer sums do not depend on their order,
so neither the library's loops, nor the processor, nor how the work is shared out can show.

*Memory.* Rows are targets. A place takes 4 bytes an edge and a weight 1; the rounds need a copy of
the weights in 8, since the library multiplies numbers of one type only. That makes 13 bytes an
edge. *Time.* The rows are cut into blocks of about a million edges, which `each` may spread over
threads: the library lets go of the interpreter's lock during a product.

Only who wants this module imports it: a small node never loads numpy and scipy.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from federation.core import ParameterError
from federation.trust.eigentrust import LEAST_SHARE, OF, PASSED, ROUNDS, M, Problem, check

Numbers = NDArray[np.int64]
Places = NDArray[np.int32]
Weights = NDArray[np.uint8]

BLOCK: Final = 1 << 20
"""Edges of a block of rows, about: small enough to share out and to rebuild alone."""


class Each(Protocol):
    """Maps a function over blocks, like `map`; a thread pool's `map` is one too."""

    def __call__(self, work: "Callable[[Rows], None]", over: "Sequence[Rows]", /) -> Iterable[None]:
        """Call `work` once for each block, in any order, until the result is read to its end."""


class Rows:
    """A block of rows: who is judged, from one place to the next block's."""

    def __init__(self, first: int, starts: Places, sources: Places, weights: Weights) -> None:
        """Take the rows from place `first` on; `starts` has where each begins, and the end."""
        self.first = first
        """Place of the first row."""
        self.starts = starts
        self.sources = sources
        """Who judged, by row and rising within it."""
        self.weights = weights

    @property
    def end(self) -> int:
        """Place after the last row."""
        return self.first + len(self.starts) - 1

    def matrix(self, nodes: int) -> csr_array:
        """Give the rows as a matrix over as many sources as there are nodes, widened weights."""
        form = (len(self.starts) - 1, nodes)
        return csr_array((self.weights.astype(np.int64), self.sources, self.starts), shape=form)

    def extend(self, end: int) -> None:
        """Add empty rows up to a place."""
        more = np.full(end - self.end, self.starts[-1], self.starts.dtype)
        self.starts = np.concatenate((self.starts, more))

    def put(self, targets: Places, sources: Places, weights: Weights) -> None:
        """Set weights of edges into these rows, sorted by target, then source."""
        at, known = self._find(targets - self.first, sources)
        self.weights[at[known]] = weights[known]
        new = ~known
        if new.any():
            self.sources = np.insert(self.sources, at[new], sources[new])
            self.weights = np.insert(self.weights, at[new], weights[new])
            grown = np.bincount(targets[new] - self.first, minlength=len(self.starts) - 1)
            self.starts[1:] += np.cumsum(grown).astype(self.starts.dtype)

    def _find(self, rows: Places, sources: Places) -> tuple[Numbers, NDArray[np.bool_]]:
        """Find where edges stand or belong, all at once, by bisection within their rows."""
        low = self.starts[rows].astype(np.int64)
        end = self.starts[rows + 1].astype(np.int64)
        high = end.copy()
        while (open_ := low < high).any():
            middle = (low + high) >> 1
            # A closed search looks at row 0, which may be no edge at all: it is not moved.
            below = open_ & (self.sources[np.where(open_, middle, 0)] < sources)
            low = np.where(below, middle + 1, low)
            high = np.where(open_ & ~below, middle, high)
        known = low < end
        known[known] = self.sources[low[known]] == sources[known]
        return low, known


class Matrix:
    """A problem made ready; takes changed edges without being built anew."""

    def __init__(self, problem: Problem) -> None:
        """Build from the edges of a problem; raises ParameterError if it is none."""
        sources, targets = _places(problem)
        weights = np.frombuffer(problem.weights, np.uint8)
        form = (problem.nodes, problem.nodes)
        whole = csr_array((weights, (targets, sources)), shape=form)
        # The weights of a pair that stands twice were added up in one byte; fewer are left.
        _check_pairs(problem, whole.nnz)
        self._problem = _without_edges(problem)
        self._blocks = list(_cut(whole))
        del whole
        self._measure()

    def changed(self, problem: Problem) -> None:
        """Take over edges that changed, with their new weights, and everything else of a problem.

        `problem` has the edges that changed since, and nodes, seeds, silent places and cap as they
        are now; a weight of 0 ends an edge. Raises ParameterError if it is none, or has fewer
        nodes than before; then nothing is changed.
        """
        sources, targets = _places(problem)
        keys = targets.astype(np.int64) << 32 | sources
        _check_pairs(problem, len(np.unique(keys)))
        if problem.nodes < self._problem.nodes:
            raise ParameterError(
                "edges not changed",
                why=f"{self._problem.nodes} nodes cannot become {problem.nodes}",
                fix="nodes keep their places; build a new matrix",
            )
        order = np.argsort(keys)
        sources, targets = sources[order], targets[order]
        weights = np.frombuffer(problem.weights, np.uint8)[order]
        self._blocks[-1].extend(problem.nodes)
        for block in self._blocks:
            first, end = np.searchsorted(targets, (block.first, block.end))
            block.put(targets[first:end], sources[first:end], weights[first:end])
        self._problem = _without_edges(problem)
        self._measure()

    def reckon(self, *, each: Each = map) -> bytes:
        """Compute trust: per node in order, as little-endian int64."""
        problem = self._problem
        seeds = np.array(problem.seeds, np.int64)
        matrices = {block.first: block.matrix(problem.nodes) for block in self._blocks}
        most = self._most(problem)
        shares = np.empty(problem.nodes, np.int64)
        trust = np.zeros(problem.nodes, np.int64)
        _spread(trust, seeds)

        def share_out(block: Rows) -> None:
            # No number is negative, and without a sign to look at they divide twice as fast.
            part = slice(block.first, block.end)
            mine = shares[part].view(np.uint64)
            np.multiply(trust[part], PASSED, out=shares[part])
            np.floor_divide(mine, OF, out=mine)
            np.floor_divide(mine, self._divisors[part].view(np.uint64), out=mine)
            np.minimum(shares[part], most[part], out=shares[part])

        def receive(block: Rows) -> None:
            trust[block.first : block.end] = matrices[block.first] @ shares

        for _ in range(ROUNDS):
            # Everybody has shared out before anybody receives.
            for work in (share_out, receive):
                for _done in each(work, self._blocks):
                    pass
            _spread(trust, seeds)
        assert trust.min() >= 0, "a sum left its 64 bits"  # noqa: S101 # our own invariant
        return trust.astype("<i8", copy=False).tobytes()

    def _measure(self) -> None:
        """Reckon for each node by what its trust is divided, and its heaviest edge."""
        nodes = self._problem.nodes
        totals = np.zeros(nodes, np.int64)
        self._heaviest = np.zeros(nodes, np.int64)
        for block in self._blocks:
            ones = np.ones(block.end - block.first, np.int64)
            matrix = block.matrix(nodes)
            totals += matrix.T @ ones
            # The widened weights: with another type than the sums' this takes ten times as long.
            np.maximum.at(self._heaviest, block.sources, matrix.data)
        self._divisors = np.maximum(totals, LEAST_SHARE * self._heaviest)
        # Who has no edge passes nothing on whatever it is divided by; 1 can be divided by.
        np.maximum(self._divisors, 1, out=self._divisors)

    def _most(self, problem: Problem) -> Numbers:
        """Give the most that each node may pass on per unit of weight; 0 for the silent."""
        most = problem.edge_cap // np.maximum(self._heaviest, 1)
        most[list(problem.silent)] = 0
        return most


def reckon(problem: Problem, *, each: Each = map) -> bytes:
    """Compute trust: per node in order, as little-endian int64; raises as `eigentrust.reckon`.

    `each` maps a function over blocks of rows: a thread pool's `map` gives the same bits sooner.
    """
    return Matrix(problem).reckon(each=each)


def _places(problem: Problem) -> tuple[Places, Places]:
    """Read both ends of the edges without a copy; raises ParameterError if one is no node."""
    check(problem, highest=-1, pairs=len(problem.weights))
    ends = [np.frombuffer(raw, "<u4") for raw in (problem.sources, problem.targets)]
    highest = max(int(places.max(initial=0)) for places in ends) if problem.weights else -1
    check(problem, highest=highest, pairs=len(problem.weights))
    # Places stay below 2^31, so they read the same with a sign.
    sources, targets = (places.view("<i4") for places in ends)
    return sources, targets


def _without_edges(problem: Problem) -> Problem:
    """Give everything else of a problem: its columns are as large as the matrix itself."""
    return replace(problem, sources=b"", targets=b"", weights=b"")


def _check_pairs(problem: Problem, pairs: int) -> None:
    check(problem, highest=-1, pairs=pairs)


def _cut(whole: csr_array) -> Iterator[Rows]:
    """Cut a matrix into blocks of rows with about as many edges each."""
    nodes, edges = len(whole.indptr) - 1, whole.nnz
    count = 1 + edges // BLOCK
    inner = np.searchsorted(whole.indptr, [edges * at // count for at in range(1, count)])
    for first, end in pairwise(np.unique([0, *inner, nodes]).tolist()):
        start, stop = whole.indptr[first], whole.indptr[end]
        yield Rows(
            first,
            whole.indptr[first : end + 1] - start,
            whole.indices[start:stop].copy(),
            whole.data[start:stop].copy(),
        )


def _spread(trust: Numbers, seeds: Numbers) -> None:
    """Give the seeds what `trust` lacks of M, equally; the first get one more each."""
    each, left = divmod(M - int(trust.sum()), len(seeds))
    trust[seeds] += each
    trust[seeds[:left]] += 1
