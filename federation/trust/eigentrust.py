"""EigenTrust in integers (§2.3): trust flows along acts of judgement, and starts at the seeds.

A mass of 2^60 lies on the nodes. In each round a node passes three quarters of what it has on to
those it judged well, by weight; what does not arrive anywhere goes to the seeds, equally:

    W_i  = max(Σ_j w_ij, 8·max_j w_ij)
    sh_i = min(⌊3·t_i / 4⌋ // W_i, edge_cap // max_j w_ij)     0 for the silent
    y_j  = Σ_i w_ij · sh_i
    t'   = y, and M - Σ y in equal parts to the seeds, one more to the first that it divides to

*Why it is bounded.* A set S without seeds into which g edges lead gets at most g·edge_cap a round
and keeps at most 3/4 of what it has: T(S) <= g·edge_cap·4 = g·κ·t_ref, whatever its size. Padding,
caps and rounding send mass to the seeds, which are not in S (design: EigenTrust, the theorem).

*Why it is equal everywhere.* All is integer sums and divisions, so no order of nodes or edges can
show, except that of the seeds, which is that of their ids. Always from the seeds and always
64 rounds: a warm start gives other bits.

*Why it fits 64 bits.* Σ t = M = 2^60, so 3·t < 2^62, and what a node passes on is at most 3/4 of
what it has: every sum of flows is at most M, whatever the weights. W is at most 255 an edge.

This module is the reference, in plain Python; `sparse` computes the same bits for large graphs.
"""

import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from federation.charter import Trust
from federation.core import MILLION, ParameterError, Ppm

M: Final = 1 << 60
"""Trust of all nodes together."""
ROUNDS: Final = 64
"""Rounds from the seeds; (3/4)^64 of a start is 10^-8 of it."""
PASSED: Final = 3
"""A node passes on 3/4 of its trust a round."""
OF: Final = 4
"""Denominator of what is passed on; 1/4 goes back to the seeds."""
LEAST_SHARE: Final = 8
"""Nobody passes more than 1/8 of what it passes on over one edge (d_min)."""
HEAVIEST: Final = 255
"""Largest weight of an edge."""
MOST_NODES: Final = (1 << 31) - 1
"""Most nodes of a problem, and most edges: `sparse` counts both in 32 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A graph and where trust starts: everything that the computation depends on.

    Nodes are named by their place, 0 to `nodes` - 1.
    """

    nodes: int
    sources: bytes
    """Per edge the place of who judges, little-endian uint32."""
    targets: bytes
    """Per edge the place of who is judged, little-endian uint32."""
    weights: bytes
    """Per edge its weight, one byte; 0 is no edge."""
    seeds: tuple[int, ...]
    """Places of the seeds, in the order of their ids; at least one."""
    silent: tuple[int, ...]
    """Places that pass nothing on: revoked and forked identities."""
    edge_cap: int
    """Most trust that may flow over one edge in one round: κ·t_ref / 4."""


Solve: TypeAlias = Callable[[Problem], bytes | None]
"""Gives the trust of each node in order, as little-endian int64; None: it was asked for elsewhere
and comes as an input."""


def trust_ref(trust: Trust) -> int:
    """Give the trust of one average seat, of M."""
    return M // trust.seats


def in_seats(trust: Trust, t: int) -> Ppm:
    """Tell trust of `t` (of M) in ppm of one average seat, rounded down."""
    return t * MILLION // trust_ref(trust)


def ticket_price(trust: Trust) -> int:
    """Give τ, the least trust that has a voting weight: what w_min is of w_max, of a seat.

    Rounded up, so that not even the smallest weight is above w_max · t / t_ref.
    """
    return -(-trust_ref(trust) * trust.w_min // trust.w_max)


def edge_cap(trust: Trust) -> int:
    """Give the most trust that may flow over one edge in one round: κ·t_ref / 4, at most M."""
    return min(M, trust.kappa * trust_ref(trust) // OF)


def share(trust: int, *, total: int, heaviest: int, cap: int) -> int:
    """Give what a node passes on in a round for each unit of weight of an edge.

    `total` is the sum of the weights of its edges, `heaviest` the largest of them, at least 1.
    """
    return min(trust * PASSED // OF // max(total, LEAST_SHARE * heaviest), cap // heaviest)


def reckon(problem: Problem) -> bytes:
    """Compute trust: per node in order, as little-endian int64.

    Raises ParameterError if the problem is not one; its edges may come in any order.
    """
    sources, targets = column("I", problem.sources), column("I", problem.targets)
    check(
        problem,
        highest=max((*sources, *targets), default=-1),
        pairs=len(set(zip(sources, targets, strict=False))),
    )
    passing = list(_passing(problem, sources, targets))
    trust = [0] * problem.nodes
    _spread(trust, problem.seeds)
    for _ in range(ROUNDS):
        received = [0] * problem.nodes
        for place, total, heaviest, edges in passing:
            each = share(trust[place], total=total, heaviest=heaviest, cap=problem.edge_cap)
            for target, weight in edges:
                received[target] += weight * each
        _spread(received, problem.seeds)
        trust = received
    assert sum(trust) == M, "trust was lost or made"  # noqa: S101 # our own invariant
    return packed(array("q", trust))


def unpack(problem: Problem, raw: bytes) -> Sequence[int]:
    """Read trust per node in order, from whoever computed it.

    Raises ParameterError unless there is one number for each node, none is negative and their
    sum is M. That they are the right ones can only be seen by computing them again.
    """
    if len(raw) != 8 * problem.nodes:
        raise _refused(
            "trust refused", why=f"{len(raw)} bytes are no 8 for each of {problem.nodes} nodes"
        )
    trust = column("q", raw)
    if min(trust) < 0 or sum(trust) != M:
        raise _refused("trust refused", why="it is negative somewhere or its sum is not 2^60")
    return trust


def check(problem: Problem, *, highest: int, pairs: int) -> None:
    """Raise ParameterError unless every part of a problem fits the others.

    `highest` is the highest place that an edge names, -1 if there is no edge; `pairs` says how
    many pairs of nodes have one. Two edges of a pair would pass twice what the cap allows.
    """
    edges = len(problem.weights)
    named = (*problem.seeds, *problem.silent)
    for broken, why in (
        (not 1 <= problem.nodes <= MOST_NODES, f"it has {problem.nodes} nodes"),
        (edges > MOST_NODES, f"it has {edges} edges"),
        (
            not len(problem.sources) == len(problem.targets) == 4 * edges,
            "its columns are of different lengths",
        ),
        (pairs < edges, "a pair of nodes has two edges"),
        (not problem.seeds, "it has no seed"),
        (len(set(problem.seeds)) < len(problem.seeds), "a seed stands twice"),
        (
            not all(0 <= place < problem.nodes for place in named) or highest >= problem.nodes,
            f"it names a place beyond its {problem.nodes} nodes",
        ),
        (not 0 <= problem.edge_cap <= M, "its edge cap is not within 0 and 2^60"),
    ):
        if broken:
            raise _refused("trust not computed", why=why)


def column(code: str, raw: bytes, *, order: str = sys.byteorder) -> "array[int]":
    """Read little-endian integers of an `array` type code; whole ones, else ParameterError.

    `order` is that of this machine.
    """
    read = array(code)
    if len(raw) % read.itemsize:
        raise _refused(
            "numbers not read", why=f"{len(raw)} bytes are no whole number of {read.itemsize}"
        )
    read.frombytes(raw)
    if order == "big":
        read.byteswap()
    return read


def packed(numbers: "array[int]", *, order: str = sys.byteorder) -> bytes:
    """Write integers as little-endian bytes: the inverse of `column`."""
    if order == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


_Passing: TypeAlias = tuple[int, int, int, list[tuple[int, int]]]
"""A place, the total and the largest weight of its edges, and its edges as (target, weight)."""


def _passing(
    problem: Problem, sources: Sequence[int], targets: Sequence[int]
) -> Iterator[_Passing]:
    """List who passes something on: those with an edge that are not silent."""
    silent = frozenset(problem.silent)
    by_source: dict[int, list[tuple[int, int]]] = {}
    for source, target, weight in zip(sources, targets, problem.weights, strict=True):
        if weight and source not in silent:
            by_source.setdefault(source, []).append((target, weight))
    for source, edges in by_source.items():
        weights = [weight for _, weight in edges]
        yield source, sum(weights), max(weights), edges


def _spread(trust: list[int], seeds: Sequence[int]) -> None:
    """Give the seeds what `trust` lacks of M, equally; the first get one more each."""
    each, left = divmod(M - sum(trust), len(seeds))
    for index, seed in enumerate(seeds):
        trust[seed] += each + (index < left)


def _refused(what: str, *, why: str) -> ParameterError:
    return ParameterError(what, why=why, fix="give what `Graph.problem` and `reckon` give")
