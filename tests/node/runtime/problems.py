"""Graphs of a wanted size, always the same, and what becomes of processes that compute on them."""

import random
from array import array
from pathlib import Path

from federation.trust.eigentrust import M, Problem


def problem(edges: int, *, nodes: int | None = None, seeds: int = 3, name: int = 1) -> Problem:
    """Give a graph with so many edges, ten to a node if nobody says otherwise."""
    chance = random.Random(name)
    count = max(edges // 10, 20) if nodes is None else nodes
    # A pair has one edge at most, and nobody judges itself.
    pairs = [divmod(one, count - 1) for one in chance.sample(range(count * (count - 1)), edges)]
    return Problem(
        nodes=count,
        sources=array("I", [source for source, _ in pairs]).tobytes(),
        targets=array("I", [target + (target >= source) for source, target in pairs]).tobytes(),
        weights=bytes(chance.randrange(256) for _ in range(edges)),
        seeds=tuple(range(seeds)),
        silent=(count - 1,),
        edge_cap=M // 100,
    )


def is_running(pid: int) -> bool:
    """Tell whether a process runs; one that nobody has buried yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in {"Z", "X"}


def children_of(parent: int, program: str) -> list[int]:
    """Name the processes that a process has started and that run a program of this name."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            father = int((place / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
            command = (place / "cmdline").read_text(errors="replace")
        except OSError:
            continue
        if father == parent and program in command:
            found.append(int(place.name))
    return found
