"""A process that does nothing but compute trust; `node.runtime.reckoning` starts and feeds it.

It reads problems from standard input and answers each with the trust of every node, until its
input ends, which happens however its parent ends; then it ends at once, also in the middle of a
problem. It holds no key and opens no file. What computes is imported by `main` alone, because the
parent imports this module for its frames and must not load what computes.

A problem is a head (`HEAD`), then sources, targets and weights as they stand in it, then the
places of the seeds and of the silent in 4 bytes each. An answer is its length in bytes (`ANSWER`),
then 8 bytes per node. All numbers are little-endian.
"""

import os
import struct
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import BinaryIO, Final

from federation.trust.eigentrust import Problem
from node.base import pipes

NICENESS: Final = 5
"""The event loop of the parent goes first."""
HEAD: Final = struct.Struct("<6Q")
"""Bytes that follow the head; numbers of nodes, edges, seeds and silent; the edge cap."""
ANSWER: Final = struct.Struct("<Q")
"""Bytes of the answer that follows."""
LARGEST: Final = 2**31
"""Bytes that a problem or an answer may have: 20 times those of ten million edges."""
PLACE: Final = 4
"""Bytes of the place of a node."""
TRUST: Final = 8
"""Bytes of the trust of a node."""


def pieces(problem: Problem) -> list[bytes]:
    """Give a problem as it travels, without joining what is large.

    Raises ValueError if it or its answer is larger than `LARGEST`, and struct.error if a number
    does not fit into its place.
    """
    rest = [
        problem.sources,
        problem.targets,
        problem.weights,
        struct.pack(f"<{len(problem.seeds)}I", *problem.seeds),
        struct.pack(f"<{len(problem.silent)}I", *problem.silent),
    ]
    size = sum(map(len, rest))
    if max(size, TRUST * problem.nodes) > LARGEST:
        raise ValueError("a problem is too large for a process of its own")
    head = HEAD.pack(
        size,
        problem.nodes,
        len(problem.weights),
        len(problem.seeds),
        len(problem.silent),
        problem.edge_cap,
    )
    return [head, *rest]


def read(source: BinaryIO) -> Problem | None:
    """Read a problem; None if the source ends first, or brings something else."""
    head = source.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    size, nodes, edges, seeds, silent, edge_cap = HEAD.unpack(head)
    sizes = [edges * PLACE, edges * PLACE, edges, seeds * PLACE, silent * PLACE]
    if sum(sizes) != size or max(size, TRUST * nodes) > LARGEST:
        return None
    parts = [source.read(one) for one in sizes]
    if [len(part) for part in parts] != sizes:
        return None
    return Problem(
        nodes=nodes,
        sources=parts[0],
        targets=parts[1],
        weights=parts[2],
        seeds=struct.unpack(f"<{seeds}I", parts[3]),
        silent=struct.unpack(f"<{silent}I", parts[4]),
        edge_cap=edge_cap,
    )


def serve(source: BinaryIO, target: BinaryIO, reckon: Callable[[Problem], bytes]) -> None:
    """Answer problems until the source ends."""
    while problem := read(source):
        trust = reckon(problem)
        target.write(ANSWER.pack(len(trust)))
        target.write(trust)
        target.flush()


def main() -> None:
    """Serve the parent."""
    os.nice(NICENESS)
    pipes.end_with_parent(sys.stdin.buffer)
    from federation.trust.sparse import reckon  # noqa: PLC0415 # it loads scipy: see above

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        serve(sys.stdin.buffer, sys.stdout.buffer, partial(reckon, each=threads.map))


if __name__ == "__main__":
    main()
