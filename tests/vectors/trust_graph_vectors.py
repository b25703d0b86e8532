"""trust_graph.json: trust over fixed graphs, small ones in full and a large one by its digest."""

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from federation.charter import preset
from federation.core import ParameterError
from federation.trust.eigentrust import (
    M,
    Problem,
    edge_cap,
    packed,
    reckon,
    ticket_price,
    trust_ref,
    unpack,
)
from tests.vectors.agreement_rows import OK, Row

RULE: Final = (
    "x starts at `start`; a draw below n makes it x * 6364136223846793005 + 1442695040888963407 "
    "mod 2^64 and gives (x >> 32) mod n. `draws` times: a source below `nodes`; u below `nodes`, "
    "and the target u * u // nodes; 1 plus a draw below 255, the weight. An edge to itself is "
    "left out, and one of a pair that stands already. `graph` is SHA-256 of the edges in this "
    "order, each as source, target and weight in 4, 4 and 1 bytes, little-endian; `trust` is "
    "SHA-256 of the trust of all nodes in order, 8 bytes each, little-endian."
)
START: Final = 2026
NODES: Final = 1_000
DRAWS: Final = 12_000
SEEDS: Final = (3, 17, 58, 401, 999)
SILENT: Final = (5, 250)
CAP: Final = M // 400
"""Small enough to bind the edges of the seeds."""

Edge = tuple[int, int, int]
"""Source, target and weight."""


def vectors() -> Row:
    """All of it."""
    return {
        "rule": RULE,
        "large": _large(),
        "small": [_small(name, one) for name, one in _graphs().items()],
        "charters": [
            _charter(seats, kappa, w_min)
            for seats in (1, 7, 100, 1_000_000)
            for kappa in (1, 16, 256)
            for w_min in (1, 50_000, 333_333)
        ],
        "problems": list(_problems()),
        "answers": list(_answers()),
    }


# The large graph.


def large_edges() -> tuple[Edge, ...]:
    """Draw the edges of the large graph by the rule."""
    x = START

    def draw(below: int) -> int:
        nonlocal x
        x = (x * 6364136223846793005 + 1442695040888963407) % 2**64
        return (x >> 32) % below

    edges: dict[tuple[int, int], int] = {}
    for _ in range(DRAWS):
        source, u = draw(NODES), draw(NODES)
        target, weight = u * u // NODES, 1 + draw(255)
        if source != target:
            edges.setdefault((source, target), weight)
    return tuple((source, target, weight) for (source, target), weight in edges.items())


def large_problem() -> Problem:
    """Give the large graph as a problem; places are the numbers of its nodes."""
    return problem(NODES, large_edges(), seeds=SEEDS, silent=SILENT, cap=CAP)


def _large() -> Row:
    edges = large_edges()
    raw = reckon(large_problem())
    trust = unpack(large_problem(), raw)
    written = b"".join(
        source.to_bytes(4, "little") + target.to_bytes(4, "little") + bytes([weight])
        for source, target, weight in edges
    )
    return {
        "start": START,
        "nodes": NODES,
        "draws": DRAWS,
        "edges": len(edges),
        "graph": hashlib.sha256(written).hexdigest(),
        "seeds": list(SEEDS),
        "silent": list(SILENT),
        "edge_cap": CAP,
        "trust": hashlib.sha256(raw).hexdigest(),
        "some": {str(place): trust[place] for place in (0, 1, 3, 5, 250, 500, 998, 999)},
    }


def problem(
    nodes: int,
    edges: Iterable[Edge],
    *,
    seeds: Iterable[int] = (0,),
    silent: Iterable[int] = (),
    cap: int = M,
) -> Problem:
    """Write a graph as a problem."""
    rows = list(edges)
    return Problem(
        nodes=nodes,
        sources=packed(array("I", [source for source, _, _ in rows])),
        targets=packed(array("I", [target for _, target, _ in rows])),
        weights=bytes(weight for _, _, weight in rows),
        seeds=tuple(seeds),
        silent=tuple(silent),
        edge_cap=cap,
    )


# Small graphs.

_Graph = tuple[int, list[Edge], tuple[int, ...], tuple[int, ...], int]
"""Nodes, edges, seeds, silent and the cap of edges."""


def _graphs() -> Mapping[str, _Graph]:
    cap = M // 100
    ring = [(4, 5, 255), (5, 6, 255), (6, 4, 255)]
    fan = [(0, friend, friend) for friend in range(1, 10)]
    full = [(i, j, 255) for i in range(5) for j in range(5) if i != j]
    return {
        "a seed alone": (1, [], (0,), (), M),
        "seven seeds in another order": (7, [], (3, 1, 0, 2, 4, 6, 5), (), M),
        "one edge": (2, [(0, 1, 1)], (0,), (), M),
        "an edge of no weight": (2, [(0, 1, 0)], (0,), (), M),
        "an edge under the cap": (3, [(0, 1, 200), (0, 2, 100)], (0,), (), 1_000_001),
        "no flow at all": (2, [(0, 1, 255)], (0,), (), 254),
        "nine friends": (10, fan, (0,), (), M),
        "a chain": (6, [(i, i + 1, 7 * i + 1) for i in range(5)], (0,), (), M),
        "a chain back to the seed": (4, [(0, 1, 9), (1, 2, 9), (2, 3, 9), (3, 0, 9)], (0,), (), M),
        "an edge to itself": (2, [(0, 1, 3), (1, 1, 255)], (0,), (), M),
        "a silent friend": (4, [(0, 1, 3), (1, 2, 3), (0, 2, 1), (2, 3, 9)], (0,), (1,), M),
        "a silent seed": (3, [(0, 2, 3), (1, 2, 3)], (0, 1), (0,), M),
        "a ring that nobody judged": (7, [(0, 1, 1), *ring, (6, 0, 255)], (0, 1), (), cap),
        "a ring that one was fooled by": (7, [(0, 1, 1), (1, 4, 255), *ring], (0, 1, 2), (), cap),
        "everybody judges everybody": (5, full, (4, 2, 0), (), cap),
    }


def _small(name: str, graph: _Graph) -> Row:
    nodes, edges, seeds, silent, cap = graph
    one = problem(nodes, edges, seeds=seeds, silent=silent, cap=cap)
    return {**_written(name, graph), "trust": list(unpack(one, reckon(one)))}


def _written(name: str, graph: _Graph) -> Row:
    nodes, edges, seeds, silent, cap = graph
    return {
        "name": name,
        "nodes": nodes,
        "edges": [" ".join(map(str, edge)) for edge in edges],
        "seeds": list(seeds),
        "silent": list(silent),
        "edge_cap": cap,
    }


# What a charter says.


def _charter(seats: int, kappa: int, w_min: int) -> Row:
    trust = replace(
        preset("community").trust, seats=seats, kappa=kappa, w_min=w_min, w_max=1_000_000
    )
    return {
        "seats": seats,
        "kappa": kappa,
        "w_min": w_min,
        "w_max": trust.w_max,
        "trust_ref": trust_ref(trust),
        "ticket_price": ticket_price(trust),
        "edge_cap": edge_cap(trust),
    }


# What is refused.


def _problems() -> Iterator[Row]:
    one: Edge = (0, 1, 9)
    graphs: Mapping[str, _Graph] = {
        "a good one": (2, [one], (0,), (), M),
        "no nodes": (0, [], (0,), (), M),
        "no seed": (2, [one], (), (), M),
        "a seed twice": (2, [one], (1, 0, 1), (), M),
        "a seed beyond the nodes": (2, [one], (0, 2), (), M),
        "a silent place beyond the nodes": (2, [one], (0,), (2,), M),
        "an edge from beyond the nodes": (2, [(2, 1, 9)], (0,), (), M),
        "an edge to beyond the nodes": (2, [(0, 4_294_967_295, 9)], (0,), (), M),
        "a pair with two edges": (2, [one, one], (0,), (), M),
        "a pair with two edges, one of no weight": (2, [one, (0, 1, 0)], (0,), (), M),
        "the largest cap": (2, [one], (0,), (), M),
        "a cap above the mass": (2, [one], (0,), (), M + 1),
        "a cap below nothing": (2, [one], (0,), (), -1),
    }
    for name, graph in graphs.items():
        nodes, edges, seeds, silent, cap = graph
        made = problem(nodes, edges, seeds=seeds, silent=silent, cap=cap)
        yield {**_written(name, graph), "code": _code(lambda made=made: reckon(made))}  # type: ignore[misc]


def _answers() -> Iterator[Row]:
    half = M // 2
    answers: Mapping[str, bytes] = {
        "a good one": _numbers(half, half),
        "nothing": b"",
        "one node too few": _numbers(M),
        "one node too many": _numbers(half, half, 0),
        "a byte too many": _numbers(half, half) + b"\0",
        "one too little": _numbers(half, half - 1),
        "one too much": _numbers(half, half + 1),
        "less than nothing": _numbers(M + 1, -1),
        "big-endian": half.to_bytes(8, "big") * 2,
        "nobody has any": _numbers(0, 0),
    }
    two = problem(2, [])
    for name, raw in answers.items():
        code = _code(lambda raw=raw: unpack(two, raw))  # type: ignore[misc]
        yield {"name": name, "nodes": 2, "bytes": raw.hex(), "code": code}


def _numbers(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(8, "little", signed=True) for number in numbers)


def _code(act: object) -> str:
    assert callable(act)
    try:
        act()
    except ParameterError as error:
        return error.code.value
    return OK
