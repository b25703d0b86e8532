"""Both readings come to the same trust over the graphs of `trust_graph.json`.

What this library comes to stands in the file: the test that makes it again compares. Here the
second reader works it all out from the inputs, and the sparse computation must give the same bits.
"""

import hashlib
from typing import Final

import pytest

from federation.trust import sparse
from federation.trust.eigentrust import reckon, unpack
from tests.vectors import trust_graph_reader as second
from tests.vectors.agreement_rows import Row, as_list, by_name, load, many, number, under, unhex
from tests.vectors.trust_graph_vectors import large_edges, large_problem, problem

GRAPHS: Final = load("trust_graph.json")
LARGE: Final = under(GRAPHS, "large")


def test_both_readings_grow_the_same_large_graph() -> None:
    grown = second.grown(LARGE)

    assert grown == list(large_edges())
    assert (len(grown), second.graph_digest(grown)) == (LARGE["edges"], LARGE["graph"])


def test_both_readings_come_to_the_same_trust_over_the_large_graph() -> None:
    trust = second.trust_of(LARGE, second.grown(LARGE))

    assert second.trust_digest(trust) == LARGE["trust"]
    assert {place: trust[int(place)] for place in under(LARGE, "some")} == LARGE["some"]
    assert list(unpack(large_problem(), reckon(large_problem()))) == trust


def test_the_large_graph_is_worth_its_digest() -> None:
    # Caps bind, silence bites, and three nodes in four have some trust: else little would be fixed.
    one = large_problem()
    trust = unpack(one, reckon(one))
    uncapped = problem(one.nodes, large_edges(), seeds=one.seeds, silent=one.silent)

    assert sum(t > 0 for t in trust) > 700
    assert sum(a != b for a, b in zip(trust, unpack(uncapped, reckon(uncapped)), strict=True)) > 700
    assert all(trust[place] > 0 for place in one.silent)


def test_the_sparse_computation_gives_the_bits_of_the_vectors() -> None:
    assert hashlib.sha256(sparse.reckon(large_problem())).hexdigest() == LARGE["trust"]


@pytest.mark.parametrize("row", many(GRAPHS, "small"), ids=by_name)
def test_both_readings_come_to_the_same_trust_over_a_small_graph(row: Row) -> None:
    edges = second.edges_of(row)
    one = problem(
        number(row, "nodes"),
        edges,
        seeds=second.places(row, "seeds"),
        silent=second.places(row, "silent"),
        cap=number(row, "edge_cap"),
    )

    assert second.trust_of(row, edges) == as_list(row["trust"])
    assert list(unpack(one, sparse.reckon(one))) == row["trust"]


@pytest.mark.parametrize("row", many(GRAPHS, "charters"))
def test_both_readings_take_the_same_seat_ticket_and_cap_from_a_charter(row: Row) -> None:
    assert {**row, **second.charter_of(row)} == row


@pytest.mark.parametrize("row", many(GRAPHS, "problems"), ids=by_name)
def test_both_readings_refuse_the_same_problems(row: Row) -> None:
    assert second.judge_problem(row) == row["code"]


@pytest.mark.parametrize("row", many(GRAPHS, "answers"), ids=by_name)
def test_both_readings_refuse_the_same_answers(row: Row) -> None:
    assert second.judge_answer(unhex(row, "bytes"), number(row, "nodes")) == row["code"]


def test_good_and_bad_stand_in_the_file() -> None:
    for name in ("problems", "answers"):
        codes = [row["code"] for row in many(GRAPHS, name)]

        assert codes[0] == "OK"
        assert codes.count("OUT_OF_RANGE") > 5
