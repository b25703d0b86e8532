import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event, Thread
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.core import ParameterError
from federation.trust import eigentrust, sparse
from federation.trust.eigentrust import HEAVIEST, MOST_NODES, M, Problem, unpack
from federation.trust.sparse import Matrix, Rows

Pairs = Mapping[tuple[int, int], int]
"""Weights by source and target."""


def problem(
    nodes: int,
    edges: Pairs,
    *,
    seeds: Iterable[int] = (0,),
    silent: Iterable[int] = (),
    cap: int = M,
) -> Problem:
    return Problem(
        nodes=nodes,
        sources=np.array([pair[0] for pair in edges], "<u4").tobytes(),
        targets=np.array([pair[1] for pair in edges], "<u4").tobytes(),
        weights=bytes(edges.values()),
        seeds=tuple(seeds),
        silent=tuple(silent),
        edge_cap=cap,
    )


def random_problem(nodes: int, edges: int, seed: int, *, cap: int = M // 1_000) -> Problem:
    """Draw a graph in which some are judged by many and some by nobody."""
    random = np.random.default_rng(seed)
    sources = random.integers(0, nodes, edges)
    targets = (nodes * random.random(edges) ** 3).astype(np.int64)
    keys = np.unique(sources << 32 | targets)
    random.shuffle(keys)
    return Problem(
        nodes=nodes,
        sources=(keys >> 32).astype("<u4").tobytes(),
        targets=(keys & 0xFFFFFFFF).astype("<u4").tobytes(),
        weights=random.integers(0, 256, len(keys)).astype("u1").tobytes(),
        seeds=tuple(random.permutation(nodes)[:7].tolist()),
        silent=tuple(sorted(random.permutation(nodes)[: nodes // 50].tolist())),
        edge_cap=cap,
    )


# The same bits as the reference.


@st.composite
def drawn(draw: st.DrawFn, nodes: int = 0) -> Problem:
    nodes = nodes or draw(st.integers(1, 12))
    places = st.integers(0, nodes - 1)
    edges = draw(st.dictionaries(st.tuples(places, places), st.integers(0, HEAVIEST), max_size=60))
    return problem(
        nodes,
        edges,
        seeds=draw(st.lists(places, min_size=1, unique=True)),
        silent=draw(st.sets(places)),
        cap=draw(st.integers(0, M) | st.integers(0, 10**6) | st.just(M)),
    )


@given(one=drawn())
def test_it_gives_the_bits_of_the_reference(one: Problem) -> None:
    assert sparse.reckon(one) == eigentrust.reckon(one)


@pytest.mark.parametrize("seed", range(6))
def test_it_gives_the_bits_of_the_reference_on_larger_graphs(seed: int) -> None:
    one = random_problem(500 + 400 * seed, 12_000, seed, cap=M // 10**seed)

    assert sparse.reckon(one) == eigentrust.reckon(one)


@pytest.mark.parametrize("cap", [0, 1, 254, 255, M - 1, M])
@pytest.mark.parametrize("seeds", [1, 7, 60])
def test_no_sum_leaves_its_64_bits(cap: int, seeds: int) -> None:
    # Everybody judges everybody as strongly as can be, and one node is all that the others see.
    full = {(i, j): HEAVIEST for i in range(60) for j in range(60) if i != j}
    star = {(i, 0): HEAVIEST for i in range(60)} | {(0, i): HEAVIEST for i in range(60)}

    for edges in (full, star):
        one = problem(60, edges, seeds=range(seeds), cap=cap)
        assert sparse.reckon(one) == eigentrust.reckon(one)
        assert sum(unpack(one, sparse.reckon(one))) == M


@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_a_graph_without_edges_leaves_all_with_the_seeds(nodes: int) -> None:
    one = problem(nodes, {}, seeds=range(nodes))

    assert sparse.reckon(one) == eigentrust.reckon(one)


# Blocks.


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut even small graphs into many blocks."""
    monkeypatch.setattr(sparse, "BLOCK", 50)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("seed", range(5))
def test_how_rows_are_cut_never_shows(seed: int) -> None:
    one = random_problem(120, 1_500, seed)
    matrix = Matrix(one)

    assert len(matrix._blocks) > 5
    assert matrix.reckon() == eigentrust.reckon(one)


@pytest.mark.usefixtures("small_blocks")
def test_a_row_longer_than_a_block_is_not_cut() -> None:
    one = problem(400, {(i, 200): 1 + i % HEAVIEST for i in range(400)}, seeds=range(400))

    assert Matrix(one).reckon() == eigentrust.reckon(one)


def backwards(work: Callable[[Rows], None], over: Sequence[Rows]) -> Iterator[None]:
    return map(work, reversed(over))


@pytest.mark.usefixtures("small_blocks")
def test_the_order_of_blocks_never_shows() -> None:
    one = random_problem(120, 1_500, 9)

    assert sparse.reckon(one, each=backwards) == eigentrust.reckon(one)


@pytest.mark.usefixtures("small_blocks")
def test_threads_give_the_same_bits() -> None:
    one = random_problem(300, 5_000, 10)

    with ThreadPoolExecutor(4) as pool:
        assert sparse.reckon(one, each=pool.map) == eigentrust.reckon(one)


def test_a_fault_of_who_maps_over_blocks_is_not_lost() -> None:
    def breaking(_work: Callable[[Rows], None], _over: Sequence[Rows]) -> Iterator[None]:
        raise RuntimeError
        yield

    with pytest.raises(RuntimeError):
        sparse.reckon(problem(2, {(0, 1): 1}), each=breaking)


@pytest.mark.slow
def test_other_threads_run_while_a_block_is_multiplied() -> None:
    # Without that a thread pool would only add work. One product takes some milliseconds; a thread
    # that could not run meanwhile would wake once for each at most.
    one = random_problem(200_000, 2_000_000, 11)
    block = Matrix(one)._blocks[0].matrix(one.nodes)
    shares = np.ones(one.nodes, np.int64)
    stop, woken = Event(), []

    def wake() -> None:
        while not stop.wait(0.0002):
            woken.append(1)

    thread = Thread(target=wake)
    thread.start()
    products = 0
    while len(woken) < 100 and products < 2_000:
        block @ shares
        products += 1
    stop.set()
    thread.join()

    assert len(woken) > 2 * products


# Changes.

NODES: Final = 9


@st.composite
def changes(draw: st.DrawFn, pairs: int = 25) -> tuple[int, list[Pairs]]:
    """Draw a first graph and changes to it, and how many nodes there are in the end."""
    nodes = draw(st.integers(NODES, NODES + 4))
    place = st.integers(0, NODES - 1)
    later = st.integers(0, nodes - 1)
    weights = st.integers(0, HEAVIEST)
    first = draw(st.dictionaries(st.tuples(place, place), weights, max_size=pairs))
    then = st.dictionaries(st.tuples(later, later), weights, max_size=pairs)
    return nodes, [first, *draw(st.lists(then, min_size=1, max_size=3))]


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
@given(drawn=changes())
def test_a_changed_matrix_is_the_one_that_is_built_anew(
    block: int, drawn: tuple[int, list[Pairs]]
) -> None:
    nodes, (first, *then) = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse, "BLOCK", block)
        matrix = Matrix(problem(NODES, first, cap=M // 50))
        now = dict(first)
        for step, edges in enumerate(then):
            now |= edges
            rules = {"seeds": (step, 7), "silent": (3 + step,), "cap": M // (20 + step)}
            matrix.changed(problem(nodes, edges, **rules))  # type: ignore[arg-type]
            fresh = problem(nodes, now, **rules)  # type: ignore[arg-type]

            assert matrix.reckon() == sparse.reckon(fresh) == eigentrust.reckon(fresh)


@pytest.mark.parametrize("seed", range(3))
def test_a_larger_matrix_takes_changes_and_new_edges(seed: int) -> None:
    random = np.random.default_rng(seed)
    before = random_problem(2_000, 20_000, seed)
    ends = [np.frombuffer(raw, "<u4") for raw in (before.sources, before.targets)]
    now = {(int(i), int(j)): weight for i, j, weight in zip(*ends, before.weights, strict=True)}
    known = list(now)
    edges = {known[at]: int(random.integers(256)) for at in random.integers(0, len(known), 200)}
    edges |= {
        (int(i), int(j)): int(random.integers(256)) for i, j in random.integers(0, 2_500, (200, 2))
    }
    matrix = Matrix(before)
    matrix.changed(problem(2_500, edges, seeds=before.seeds, cap=before.edge_cap))
    fresh = problem(2_500, now | edges, seeds=before.seeds, cap=before.edge_cap)

    assert matrix.reckon() == sparse.reckon(fresh) != sparse.reckon(before)


def test_a_change_that_is_refused_changes_nothing() -> None:
    one = problem(5, {(0, 1): 9, (1, 2): 9, (2, 4): 3})
    matrix = Matrix(one)
    double = replace(
        problem(5, {(0, 1): 1}), sources=bytes(8), targets=b"\1\0\0\0" * 2, weights=b"\1\1"
    )
    for refused in (problem(4, {(0, 1): 1}), problem(5, {(0, 5): 1}), double):
        with pytest.raises(ParameterError):
            matrix.changed(refused)

    assert matrix.reckon() == eigentrust.reckon(one)


# What is refused.


@pytest.mark.parametrize(
    "broken",
    [
        {"nodes": 0},
        {"nodes": MOST_NODES + 1},
        {"nodes": 1},
        {"seeds": ()},
        {"seeds": (0, 0)},
        {"seeds": (2,)},
        {"seeds": (-1,)},
        {"silent": (2,)},
        {"edge_cap": -1},
        {"edge_cap": M + 1},
        {"sources": b""},
        {"sources": b"\0\0\0"},
        {"targets": b"\2\0\0\0"},
        {"sources": b"\0\0\0\x80"},
        {"targets": b"\xff\xff\xff\xff"},
        {"weights": b""},
        {"sources": bytes(8), "targets": b"\1\0\0\0" * 2, "weights": b"\1\1"},
        # 256 times one pair: its weights would come to 0 in one byte.
        {"sources": bytes(1_024), "targets": b"\1\0\0\0" * 256, "weights": b"\1" * 256},
    ],
    ids=lambda broken: str(broken)[:60],
)
def test_a_problem_that_is_none_is_refused(broken: dict[str, object]) -> None:
    one = replace(problem(2, {(0, 1): 1}), **broken)  # type: ignore[arg-type]

    for refusing in (sparse.reckon, eigentrust.reckon):
        with pytest.raises(ParameterError):
            refusing(one)


# What it costs to import.


def test_a_node_with_a_small_graph_never_loads_the_libraries() -> None:
    code = (
        "import sys, federation.trust, federation.trust.graph, federation.trust.paths;"
        "print(sorted({'numpy', 'scipy', 'federation.trust.sparse'} & set(sys.modules)))"
    )
    found = subprocess.run(  # noqa: S603 # our own interpreter
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )

    assert found.stdout.strip() == "[]"
