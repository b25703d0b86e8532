"""Trust has the same bits whatever the machine does, and however its graph came about.

Each case runs the golden graph in a process of its own, under other libraries' paths: other
kernels, thread counts, processor features and hash seeds. With floats several of these change
bits (`a float would not do` shows that the comparison would see it).
"""

import os
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
import pytest

from federation.trust import eigentrust, sparse
from federation.trust.eigentrust import M, unpack
from federation.trust.graph import Graph
from tests.vectors.agreement_rows import load, under, word
from tests.vectors.trust_graph_vectors import CAP, NODES, SEEDS, SILENT, large_edges

ROOT: Final = Path(__file__).parents[3]
GOLDEN: Final = word(under(load("trust_graph.json"), "large"), "trust")
APPROVAL: Final = 16

RUN: Final = """
import hashlib, warnings
from concurrent.futures import ThreadPoolExecutor
warnings.simplefilter("ignore")  # numpy says which features it was told to leave.
from federation.trust import eigentrust, sparse
from tests.vectors.trust_graph_vectors import large_problem
sparse.BLOCK = 1_000
one = large_problem()
with ThreadPoolExecutor(3) as pool:
    for raw in (sparse.reckon(one), sparse.reckon(one, each=pool.map), eigentrust.reckon(one)):
        print(hashlib.sha256(raw).hexdigest())
"""

NO_AVX512: Final = "X86_V4 AVX512_ICL AVX512_SPR"
SURROUNDINGS: Final[dict[str, dict[str, str]]] = {
    "as it is": {},
    "kernels of Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "kernels of Prescott": {"OPENBLAS_CORETYPE": "Prescott", "PYTHONHASHSEED": "0"},
    "kernels of SkylakeX": {"OPENBLAS_CORETYPE": "SkylakeX", "PYTHONHASHSEED": "1"},
    "one thread": {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    "seven threads": {"OPENBLAS_NUM_THREADS": "7", "OMP_NUM_THREADS": "7"},
    "no AVX-512": {"NPY_DISABLE_CPU_FEATURES": NO_AVX512, "PYTHONHASHSEED": "4294967295"},
    "no AVX2": {"NPY_DISABLE_CPU_FEATURES": f"X86_V3 {NO_AVX512}"},
}


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_the_golden_trust_has_one_digest_under_all_circumstances(name: str) -> None:
    found = subprocess.run(  # noqa: S603 # our own interpreter
        [sys.executable, "-c", RUN],
        cwd=ROOT,
        env={**os.environ, **SURROUNDINGS[name]},
        check=True,
        capture_output=True,
        text=True,
    )

    assert found.stdout.split() == [GOLDEN] * 3


def name_of(place: int) -> bytes:
    """Name a node of the golden graph, so that ids stand in the order of places."""
    return place.to_bytes(32, "big")


def acts() -> list[Callable[[Graph], None]]:
    """Give the acts behind the golden graph: 16 for each approval and the rest as a vouch.

    The approvals of an edge come in two parts, which may arrive far from each other.
    """
    found: list[Callable[[Graph], None]] = []
    for source, target, weight in large_edges():
        by, agent = name_of(source), name_of(target)
        approvals, vouch = divmod(weight, APPROVAL)
        found += [
            lambda g, a=by, b=agent, n=count: g.approve(a, b, n)  # type: ignore[misc]
            for count in (approvals // 2, approvals - approvals // 2)
        ]
        if vouch:
            found.append(lambda g, a=by, b=agent, v=vouch: g.vouch(a, b, v))  # type: ignore[misc]
    return found


def grown(random: Random) -> Graph:
    """Grow the golden graph from its acts in a random order, with detours that end where it is."""
    graph = Graph(APPROVAL)
    todo = acts()
    random.shuffle(todo)
    for at, act in enumerate(todo):
        act(graph)
        if at % 10 == 0:
            # Somebody who has no part in it, or a pair that has another edge in the end.
            graph.vouch(name_of(NODES + at % 70), name_of(at % NODES), 1 + at % 255)
            graph.vouch(name_of(NODES + at % 70), name_of(at % NODES), 0)
    return graph


@pytest.mark.parametrize("seed", range(3))
def test_the_order_in_which_acts_arrive_never_shows(seed: int) -> None:
    random = Random(seed)
    graph = grown(random)
    problem = graph.problem(
        seeds=random.sample([name_of(place) for place in SEEDS], len(SEEDS)),
        silent=[name_of(place) for place in SILENT],
        edge_cap=CAP,
    )
    for reckon in (sparse.reckon, eigentrust.reckon):
        trust = graph.named(problem, unpack(problem, reckon(problem)))
        raw = b"".join(trust.get(name_of(at), 0).to_bytes(8, "little") for at in range(NODES))

        assert sha256(raw).hexdigest() == GOLDEN
        assert sum(trust.values()) == M


def test_a_float_would_not_do() -> None:
    # The same flows, summed in another order: what every node would have to agree on.
    random = np.random.default_rng(1)
    flows = random.integers(0, CAP, 10_000)
    floats = flows.astype(np.float64) / 3
    order = random.permutation(len(flows))

    assert flows[order].sum() == flows.sum()
    assert sum(floats[order].tolist()) != sum(floats.tolist())
