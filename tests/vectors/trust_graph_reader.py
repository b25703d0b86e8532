"""A second reading of trust over graphs.

Imports nothing of `federation`. It works with exact fractions that are rounded down where the rules
say so, asks each node what it receives instead of letting each give, and finds the seeds' remainder
by handing it out one by one.
"""

import hashlib
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, floor

from tests.vectors.agreement_rows import OK, Row, as_int, as_list, number, words

MASS = 2**60
REFUSED = "OUT_OF_RANGE"


# Graphs.


def edges_of(row: Row) -> list[tuple[int, int, int]]:
    """Read the edges of a graph that is written out."""
    return [(int(i), int(j), int(w)) for i, j, w in (one.split() for one in words(row, "edges"))]


def places(row: Row, name: str) -> list[int]:
    """Read a list of places."""
    return [as_int(one) for one in as_list(row[name])]


def grown(row: Row) -> list[tuple[int, int, int]]:
    """Grow the large graph by the rule that stands in the file."""
    nodes = number(row, "nodes")
    numbers = _stream(number(row, "start"))
    found: list[tuple[int, int, int]] = []
    pairs = set()
    for _ in range(number(row, "draws")):
        i, u, w = (next(numbers) for _ in range(3))
        i, j, w = i % nodes, (u % nodes) ** 2 // nodes, w % 255 + 1
        if i != j and (i, j) not in pairs:
            pairs.add((i, j))
            found.append((i, j, w))
    return found


def _stream(x: int) -> Iterator[int]:
    while True:
        x = (6364136223846793005 * x + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        yield x >> 32


def graph_digest(edges: Sequence[tuple[int, int, int]]) -> str:
    """Hash the edges of a graph in their order."""
    raw = bytearray()
    for i, j, w in edges:
        raw += (w << 64 | j << 32 | i).to_bytes(9, "little")
    return hashlib.sha256(raw).hexdigest()


def trust_digest(trust: Sequence[int]) -> str:
    """Hash the trust of all nodes."""
    return hashlib.sha256(b"".join(t.to_bytes(8, "little") for t in trust)).hexdigest()


# Trust.


def trust_of(row: Row, edges: Sequence[tuple[int, int, int]]) -> list[int]:
    """Follow trust for 64 rounds from the seeds."""
    nodes, cap = number(row, "nodes"), number(row, "edge_cap")
    seeds, silent = places(row, "seeds"), set(places(row, "silent"))
    given: dict[int, list[int]] = {}
    judged: dict[int, list[tuple[int, int]]] = {}
    for i, j, w in edges:
        if w > 0 and i not in silent:
            given.setdefault(i, []).append(w)
            judged.setdefault(j, []).append((i, w))
    trust = handed_out([0] * nodes, seeds)
    for _ in range(64):
        unit = {i: unit_of(trust[i], weights, cap) for i, weights in given.items()}
        arrived = [sum(w * unit[i] for i, w in judged.get(j, ())) for j in range(nodes)]
        trust = handed_out(arrived, seeds)
    return trust


def unit_of(trust: int, weights: Sequence[int], cap: int) -> int:
    """Give what a node passes on for each unit of weight.

    Of 3/4 of its trust each unit gets the same part, but no edge more than an eighth, and no edge
    more than the cap.
    """
    passed = Fraction(3 * trust, 4)
    even = passed / sum(weights)
    eighth = passed / 8 / max(weights)
    return floor(min(even, eighth, Fraction(cap, max(weights))))


def handed_out(trust: Sequence[int], seeds: Sequence[int]) -> list[int]:
    """Hand what is missing out to the seeds, one after another, until nothing is left."""
    full = list(trust)
    missing = MASS - sum(full)
    for turn, seed in enumerate(seeds):
        # Whoever comes earlier never gets less.
        full[seed] += -(-(missing - turn) // len(seeds))
    return full


# Charters.


def charter_of(row: Row) -> Row:
    """Work out what follows from a charter."""
    seat = floor(Fraction(MASS, number(row, "seats")))
    return {
        "trust_ref": seat,
        "ticket_price": ceil(seat * Fraction(number(row, "w_min"), number(row, "w_max"))),
        "edge_cap": min(MASS, floor(Fraction(number(row, "kappa") * seat, 4))),
    }


# What is refused.


def judge_problem(row: Row) -> str:
    """Tell whether a graph can be reckoned."""
    nodes, edges = number(row, "nodes"), edges_of(row)
    seeds, silent = places(row, "seeds"), places(row, "silent")
    ends = [place for i, j, _ in edges for place in (i, j)]
    good = (
        nodes > 0
        and seeds != []
        and len(seeds) == len(set(seeds))
        and all(place in range(nodes) for place in [*ends, *seeds, *silent])
        and len({(i, j) for i, j, _ in edges}) == len(edges)
        and number(row, "edge_cap") in range(MASS + 1)
    )
    return OK if good else REFUSED


def judge_answer(raw: bytes, nodes: int) -> str:
    """Tell whether bytes can be the trust of so many nodes."""
    if len(raw) != nodes * 8:
        return REFUSED
    whole = [raw[at : at + 8] for at in range(0, len(raw), 8)]
    # The highest bit is the sign.
    good = all(one[7] < 128 for one in whole)
    return OK if good and sum(int.from_bytes(one, "little") for one in whole) == MASS else REFUSED
