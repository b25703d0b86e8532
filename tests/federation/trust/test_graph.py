from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from federation.core import AgentId, ParameterError
from federation.trust.eigentrust import M, column, reckon, unpack
from federation.trust.graph import NO_EDGE, Edge, Graph

APPROVAL: Final = 16
ANN, BOB, CYD, DAN = AGENTS = tuple(bytes([letter]) * 32 for letter in b"abcd")

Act = Callable[[Graph], None]


def graph(*acts: Act) -> Graph:
    one = Graph(APPROVAL)
    for act in acts:
        act(one)
    return one


def rows(one: Graph) -> dict[tuple[AgentId, AgentId], int]:
    """Read the packed columns by agent."""
    problem = one.problem(seeds=[ANN], silent=[], edge_cap=M)
    agents = list(one.agents())
    read = [
        ((agents[i], agents[j]), weight)
        for i, j, weight in zip(
            column("I", problem.sources), column("I", problem.targets), problem.weights, strict=True
        )
    ]
    assert len(dict(read)) == len(read)
    return dict(read)


def trust_of(one: Graph, seeds: Sequence[AgentId] = (ANN,), cap: int = M) -> dict[AgentId, int]:
    problem = one.problem(seeds=seeds, silent=[], edge_cap=cap)
    return one.named(problem, unpack(problem, reckon(problem)))


# Edges.


@pytest.mark.parametrize(
    ("approvals", "vouch", "weight"),
    [(0, 0, 0), (0, 1, 1), (1, 0, 16), (2, 7, 39), (15, 15, 255), (16, 0, 255), (10**9, 255, 255)],
)
def test_an_edge_weighs_what_was_approved_and_the_vouch(
    approvals: int, vouch: int, weight: int
) -> None:
    assert Edge(approvals=approvals, vouch=vouch).weight(APPROVAL) == weight


def test_a_new_graph_has_nobody() -> None:
    empty = graph()

    assert (empty.edges, empty.version, tuple(empty.agents()), list(empty.vouches())) == (
        0, 0, (), []
    )  # fmt: skip
    assert dict(empty.out_of(ANN)) == dict(empty.into(ANN)) == {}
    assert trust_of(empty) == {ANN: M}


def test_both_ends_know_an_edge() -> None:
    one = graph(lambda g: g.approve(ANN, BOB), lambda g: g.vouch(ANN, BOB, 3))
    edge = Edge(approvals=1, vouch=3)

    assert dict(one.out_of(ANN)) == {BOB: edge}
    assert dict(one.into(BOB)) == {ANN: edge}
    assert one.edge(ANN, BOB) == edge
    assert one.edge(BOB, ANN) == NO_EDGE
    assert dict(one.out_of(BOB)) == dict(one.into(ANN)) == {}
    assert (one.edges, one.approval, rows(one)) == (1, 16, {(ANN, BOB): 19})


def test_the_edges_of_an_agent_cannot_be_changed_from_outside() -> None:
    one = graph(lambda g: g.approve(ANN, BOB))

    with pytest.raises(TypeError):
        one.out_of(ANN)[BOB] = NO_EDGE  # type: ignore[index]


def test_nobody_judges_itself() -> None:
    one = graph(lambda g: g.approve(ANN, ANN, 9), lambda g: g.vouch(ANN, ANN, 200))

    assert (one.edges, one.version) == (0, 0)


def test_the_latest_vouch_counts() -> None:
    one = graph(*(lambda g, w=w: g.vouch(ANN, BOB, w) for w in (9, 200, 3)))  # type: ignore[misc]

    assert list(one.vouches()) == [(ANN, BOB, 3)]
    assert rows(one) == {(ANN, BOB): 3}


def test_an_edge_without_acts_is_gone() -> None:
    one = graph(
        lambda g: g.approve(ANN, BOB),
        lambda g: g.vouch(ANN, BOB, 5),
        lambda g: g.approve(ANN, BOB, -1),
        lambda g: g.vouch(ANN, BOB, 0),
    )

    assert (one.edges, rows(one), list(one.vouches())) == (0, {}, [])
    assert dict(one.out_of(ANN)) == dict(one.into(BOB)) == {}


def test_an_agent_without_a_vouch_can_withdraw_it() -> None:
    one = graph(lambda g: g.vouch(ANN, BOB, 0))

    assert (one.edges, one.version) == (0, 0)


def test_more_approvals_than_were_given_cannot_be_taken_back() -> None:
    one = graph(lambda g: g.approve(ANN, BOB))

    with pytest.raises(AssertionError, match="taken back"):
        one.approve(ANN, BOB, -2)


@pytest.mark.parametrize("weight", [-1, 256])
def test_a_vouch_has_a_legal_weight(weight: int) -> None:
    with pytest.raises(AssertionError, match="legal weight"):
        Graph(APPROVAL).vouch(ANN, BOB, weight)


def test_vouches_are_listed_sorted_and_without_mere_approvals() -> None:
    one = graph(
        lambda g: g.vouch(CYD, BOB, 7),
        lambda g: g.vouch(ANN, DAN, 1),
        lambda g: g.approve(ANN, CYD),
        lambda g: g.vouch(ANN, BOB, 2),
    )

    assert list(one.vouches()) == [(ANN, BOB, 2), (ANN, DAN, 1), (CYD, BOB, 7)]


def test_vouches_are_found_from_both_ends_without_mere_approvals() -> None:
    one = graph(
        lambda g: g.vouch(ANN, BOB, 9),
        lambda g: g.vouch(ANN, CYD, 9),
        lambda g: g.approve(ANN, DAN),
        lambda g: g.vouch(DAN, BOB, 9),
        lambda g: g.vouch(ANN, CYD, 0),
        lambda g: g.vouch(CYD, CYD, 9),
    )

    assert one.vouchees(ANN) == {BOB}
    assert one.vouchers(BOB) == {ANN, DAN}
    assert not one.vouchers(DAN)
    assert not one.vouchers(CYD)
    assert not one.vouchees(CYD)


def test_the_version_grows_when_a_weight_does_and_not_otherwise() -> None:
    one = Graph(APPROVAL)
    seen = []
    for act in (
        lambda: one.approve(ANN, BOB, 15),
        lambda: one.vouch(ANN, BOB, 15),
        lambda: one.approve(ANN, BOB),  # The edge is full.
        lambda: one.vouch(ANN, BOB, 15),
        lambda: one.approve(ANN, BOB, 0),
        lambda: one.approve(ANN, BOB, -1),
        lambda: one.vouch(ANN, BOB, 0),
    ):
        act()
        seen.append(one.version)

    assert seen == [1, 2, 2, 2, 2, 2, 3]


# Problems.


def test_seeds_have_places_even_without_an_edge() -> None:
    one = graph(lambda g: g.approve(BOB, CYD))
    problem = one.problem(seeds=[DAN, ANN, DAN], silent=[CYD, BOB, BOB], edge_cap=5)

    # By id, not by place.
    agents = list(one.agents())
    assert [agents[place] for place in problem.seeds] == [ANN, DAN]
    assert problem.silent == (0, 1)
    assert (problem.nodes, problem.edge_cap) == (4, 5)


def test_who_has_no_place_cannot_be_silenced() -> None:
    problem = graph().problem(seeds=[ANN], silent=[BOB], edge_cap=M)

    assert (problem.silent, problem.nodes) == ((), 1)


def test_there_is_no_trust_without_a_seed() -> None:
    with pytest.raises(ParameterError, match="seed"):
        graph().problem(seeds=[], silent=[], edge_cap=M)


def test_a_problem_is_a_copy() -> None:
    one = graph(lambda g: g.approve(ANN, BOB))
    problem = one.problem(seeds=[ANN], silent=[], edge_cap=M)
    kept = replace(problem)
    one.vouch(BOB, CYD, 200)
    one.approve(ANN, BOB)

    assert problem == kept
    # The answer to it may come when the graph has grown.
    assert one.named(problem, unpack(problem, reckon(problem))).keys() == {ANN, BOB}


def test_trust_is_named_in_the_order_of_ids_and_only_where_there_is_some() -> None:
    one = graph(lambda g: g.vouch(DAN, CYD, 1), lambda g: g.vouch(BOB, ANN, 1))

    assert list(trust_of(one, seeds=[DAN])) == [CYD, DAN]


def test_trust_of_another_graph_is_not_named() -> None:
    one, other = graph(lambda g: g.approve(ANN, BOB)), graph()
    problem = one.problem(seeds=[ANN], silent=[], edge_cap=M)
    trust = unpack(problem, reckon(problem))

    with pytest.raises(AssertionError, match="another graph"):
        other.named(problem, trust)
    with pytest.raises(AssertionError, match="another graph"):
        one.named(problem, trust[:1])


# Order.

PAIRS = st.tuples(st.sampled_from(AGENTS), st.sampled_from(AGENTS))


@given(
    approvals=st.lists(PAIRS, max_size=30),
    vouches=st.dictionaries(PAIRS, st.integers(1, 255), max_size=12),
    random=st.randoms(use_true_random=False),
)
def test_the_order_of_acts_never_shows(
    approvals: list[tuple[AgentId, AgentId]],
    vouches: dict[tuple[AgentId, AgentId], int],
    random: Random,
) -> None:
    acts: list[Act] = [
        *(lambda g, p=pair: g.approve(*p) for pair in approvals),  # type: ignore[misc]
        *(lambda g, p=pair, w=w: g.vouch(*p, w) for pair, w in vouches.items()),  # type: ignore[misc]
    ]
    one = graph(*acts)
    random.shuffle(acts)
    other = graph(*acts)

    assert rows(one) == rows(other)
    assert list(one.vouches()) == list(other.vouches())
    seeds = [ANN, CYD]
    assert trust_of(one, seeds) == trust_of(other, seeds)
    assert list(trust_of(one, seeds)) == list(trust_of(other, seeds))


class Acts(RuleBasedStateMachine):
    """Any acts in any order, beside a plain table of what was done."""

    def __init__(self) -> None:
        super().__init__()
        self.graph = Graph(APPROVAL)
        self.approvals: dict[tuple[AgentId, AgentId], int] = {}
        self.given: dict[tuple[AgentId, AgentId], int] = {}
        self.seen: dict[int, dict[tuple[AgentId, AgentId], int]] = {}

    @rule(pair=PAIRS, count=st.integers(-20, 20))
    def approve(self, pair: tuple[AgentId, AgentId], count: int) -> None:
        count = max(count, -self.approvals.get(pair, 0))
        self.graph.approve(*pair, count)
        if pair[0] != pair[1]:
            self.approvals[pair] = self.approvals.get(pair, 0) + count

    @rule(pair=PAIRS, weight=st.integers(0, 255))
    def vouch(self, pair: tuple[AgentId, AgentId], weight: int) -> None:
        self.graph.vouch(*pair, weight)
        if pair[0] != pair[1]:
            self.given[pair] = weight

    @invariant()
    def everything_tells_the_same(self) -> None:
        expected = {
            pair: Edge(approvals=self.approvals.get(pair, 0), vouch=self.given.get(pair, 0))
            for pair in self.approvals.keys() | self.given.keys()
        }
        expected = {pair: edge for pair, edge in expected.items() if edge != NO_EDGE}
        weights = {pair: edge.weight(APPROVAL) for pair, edge in expected.items()}

        assert rows(self.graph) == weights
        assert self.graph.edges == len(weights)
        assert {(a, b): e for a in AGENTS for b, e in self.graph.out_of(a).items()} == expected
        assert {(a, b): e for b in AGENTS for a, e in self.graph.into(b).items()} == expected
        vouched = {pair for pair, edge in expected.items() if edge.vouch}
        assert {(a, b) for a in AGENTS for b in self.graph.vouchees(a)} == vouched
        assert {(a, b) for b in AGENTS for a in self.graph.vouchers(b)} == vouched
        assert list(self.graph.vouches()) == sorted(
            (*pair, edge.vouch) for pair, edge in expected.items() if edge.vouch
        )
        # One version is one graph.
        assert self.seen.setdefault(self.graph.version, weights) == weights


TestActs = Acts.TestCase


def test_an_act_costs_the_same_in_a_large_graph() -> None:
    # By what it touches, not by the clock: the columns change in one row only.
    one = Graph(APPROVAL)
    names = [number.to_bytes(32, "big") for number in range(300)]
    for by in names[:20]:
        for agent in names:
            one.vouch(by, agent, 9)
    before = one.problem(seeds=names[:1], silent=[], edge_cap=M)
    one.vouch(names[3], names[100], 10)
    after = one.problem(seeds=names[:1], silent=[], edge_cap=M)

    assert (after.sources, after.targets) == (before.sources, before.targets)
    assert sum(a != b for a, b in zip(before.weights, after.weights, strict=True)) == 1
    one.vouch(names[3], names[100], 0)
    assert one.edges == len(before.weights) - 1


def test_under_another_charter_every_edge_weighs_what_a_new_graph_would_give_it() -> None:
    acts: list[Act] = [
        lambda one: one.approve(ANN, BOB, 2),
        lambda one: one.approve(BOB, CYD),
        lambda one: one.vouch(BOB, CYD, 200),
        lambda one: one.vouch(CYD, DAN, 9),
    ]
    one, other = graph(*acts), Graph(100)
    for act in acts:
        act(other)
    version = one.version
    one.under(100)

    assert rows(one) == rows(other) == {(ANN, BOB): 200, (BOB, CYD): 255, (CYD, DAN): 9}
    assert one.version > version
    assert trust_of(one) == trust_of(other)
    one.approve(BOB, CYD, -1)
    assert rows(one)[BOB, CYD] == 200
    version = one.version
    one.under(100)
    assert one.version == version
