"""Vouches never run in a circle, and to find that out costs only so much."""

from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.core import AgentId
from federation.trust import Graph, closes_circle
from federation.trust.circles import MOST_LOOKED_AT


def name(number: int) -> AgentId:
    return number.to_bytes(32)


def vouched(*pairs: tuple[int, int]) -> Graph:
    """Make a graph in which the first of each pair vouches for the second."""
    graph = Graph(16)
    for by, agent in pairs:
        graph.vouch(name(by), name(agent), 1)
    return graph


def closes(graph: Graph, by: int, agent: int, most: int = MOST_LOOKED_AT) -> bool:
    return closes_circle(graph, name(by), name(agent), most=most)


def reaches(graph: Graph, start: AgentId, end: AgentId) -> bool:
    """Follow every vouch from one end: what the search must agree with."""
    seen, todo = {start}, [start]
    while todo:
        for one in graph.vouchees(todo.pop()):
            if one not in seen:
                seen.add(one)
                todo.append(one)
    return end in seen


@pytest.mark.parametrize(
    ("pairs", "closed"),
    [
        ((), False),
        (((1, 2),), True),
        (((2, 1),), False),
        (((1, 3), (3, 2)), True),
        (((1, 3), (3, 4), (4, 5), (5, 2)), True),
        (((1, 3), (2, 3)), False),
        (((3, 1), (3, 2)), False),
        (((1, 3), (4, 2)), False),
    ],
)
def test_a_vouch_closes_a_circle_if_its_vouchee_stands_behind_its_voucher(
    pairs: tuple[tuple[int, int], ...], closed: bool
) -> None:
    # 2 is about to vouch for 1.
    assert closes(vouched(*pairs), 2, 1) is closed


def test_nobody_vouches_for_itself() -> None:
    assert closes(vouched(), 1, 1)


def test_approvals_are_no_vouches() -> None:
    graph = vouched()
    graph.approve(name(1), name(2))

    assert not closes(graph, 2, 1)


def test_a_vouch_that_is_taken_back_closes_nothing() -> None:
    graph = vouched((1, 3), (3, 2))
    graph.vouch(name(3), name(2), 0)

    assert not closes(graph, 2, 1)
    assert not graph.vouchees(name(3))
    assert not graph.vouchers(name(2))


def test_to_vouch_again_for_the_same_agent_closes_nothing() -> None:
    assert not closes(vouched((2, 1), (1, 3)), 2, 1)


def test_a_newcomer_costs_nothing_however_many_stand_behind_its_voucher() -> None:
    crowd = vouched(*((number, 2) for number in range(10, 200)))

    assert not closes(crowd, 2, 1, most=0)
    # And the other way round: who vouches for many, by one for whom nobody does.
    many = vouched(*((1, number) for number in range(10, 200)))
    assert not closes(many, 2, 1, most=190)


def test_what_takes_too_long_to_tell_is_refused() -> None:
    # Two fans that do not meet: both are looked at in full before the answer is no.
    fans = [(1, number) for number in range(10, 60)] + [(number, 2) for number in range(100, 150)]
    graph = vouched(*fans)

    assert not closes(graph, 2, 1, most=100)
    assert closes(graph, 2, 1, most=49)


def test_every_vouch_is_looked_at_once_whichever_ways_lead_to_it() -> None:
    # Ten agents that each vouch for all after them, and fifteen that vouch for the voucher.
    ladder = [(place, later) for place in range(11, 20) for later in range(place + 1, 21)]
    graph = vouched(*ladder, *((number, 2) for number in range(30, 45)))

    assert len(ladder) == 45
    assert not closes(graph, 2, 11, most=60)
    assert closes(graph, 2, 11, most=59)


def test_a_chain_of_ten_thousand_is_followed_and_a_longer_one_refused() -> None:
    chain = [(1, 100), *((100 + place, 101 + place) for place in range(MOST_LOOKED_AT - 1))]
    graph = vouched((3, 2), *chain)

    assert not closes(graph, 2, 1)
    graph.vouch(name(99 + MOST_LOOKED_AT), name(100 + MOST_LOOKED_AT), 1)
    assert closes(graph, 2, 1)
    # Where nobody stands behind the voucher either, the chain need not be followed to its end.
    wide = vouched((1, 99), *((99, place) for place in range(100, 200)), *chain[1:])
    assert not closes(wide, 2, 1)


EDGES = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=40)


@given(edges=EDGES)
def test_vouches_that_close_no_circle_never_make_one(edges: list[tuple[int, int]]) -> None:
    graph = vouched()
    for by, agent in edges:
        closed = closes(graph, by, agent)
        assert closed is (reaches(graph, name(agent), name(by)))
        if not closed:
            graph.vouch(name(by), name(agent), 1)
    for number in range(1, 10):
        assert not any(reaches(graph, one, name(number)) for one in graph.vouchees(name(number)))


@given(edges=EDGES, most=st.integers(0, 30), seed=st.randoms(use_true_random=False))
def test_the_order_of_vouches_changes_no_answer(
    edges: list[tuple[int, int]], most: int, seed: Random
) -> None:
    shuffled = list(edges)
    seed.shuffle(shuffled)
    one, other = vouched(*edges), vouched(*shuffled)

    for by, agent in permutations(range(1, 6), 2):
        assert closes(one, by, agent, most) is closes(other, by, agent, most)
