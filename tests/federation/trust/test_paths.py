from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, permutations
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.charter import Trust, preset
from federation.core import AgentId
from federation.trust import paths as module
from federation.trust.eigentrust import LEAST_SHARE, M, edge_cap, reckon, unpack
from federation.trust.graph import Graph
from federation.trust.paths import Inflow, Path, inflows, paths

RULES: Final = preset("community").trust
WIDE: Final = replace(RULES, seats=1, kappa=4)
"""No cap on edges."""
ANN, BOB, CYD, DAN, EVE, FAY = AGENTS = tuple(bytes([letter]) * 32 for letter in b"abcdef")

Vouches = Mapping[tuple[AgentId, AgentId], int]


def graph(vouches: Vouches) -> Graph:
    one = Graph(RULES.approval)
    for (by, agent), weight in vouches.items():
        one.vouch(by, agent, weight)
    return one


def trust_of(
    one: Graph,
    rules: Trust = WIDE,
    *,
    seeds: Iterable[AgentId] = (ANN,),
    silent: Sequence[AgentId] = (),
) -> dict[AgentId, int]:
    problem = one.problem(seeds=seeds, silent=silent, edge_cap=edge_cap(rules))
    return one.named(problem, unpack(problem, reckon(problem)))


# Inflows.


def test_what_flows_in_is_listed_largest_first() -> None:
    one = graph({(ANN, CYD): 10, (BOB, CYD): 200, (ANN, BOB): 20})
    trust = trust_of(one)
    found = inflows(one, trust, WIDE, CYD, ())

    ann = 10 * (trust[ANN] * 3 // 4 // (LEAST_SHARE * 20))
    bob = 200 * (trust[BOB] * 3 // 4 // (LEAST_SHARE * 200))
    assert ann > bob
    assert found == (
        Inflow(by=ANN, weight=10, flow=ann, capped=False),
        Inflow(by=BOB, weight=200, flow=bob, capped=False),
    )


def test_equal_flows_are_listed_by_id() -> None:
    one = graph({(BOB, CYD): 5, (ANN, CYD): 5})
    found = inflows(one, trust_of(one, seeds=[ANN, BOB]), WIDE, CYD, ())

    assert [inflow.by for inflow in found] == [ANN, BOB]


def test_a_flow_that_the_cap_holds_back_says_so() -> None:
    rules = replace(RULES, seats=1_000, kappa=1)
    one = graph({(ANN, BOB): 255, (ANN, CYD): 1, (BOB, CYD): 255})
    first, second = inflows(one, trust_of(one, rules), rules, CYD, ())

    assert [first.by, first.capped] == [BOB, False]
    # The light edge is far below the cap, and suffers from the heavy one beside it.
    assert [second.by, second.flow, second.capped] == [ANN, edge_cap(rules) // 255, True]


def test_the_silent_and_the_untrusted_are_listed_with_nothing() -> None:
    one = graph({(ANN, CYD): 5, (BOB, CYD): 6, (DAN, CYD): 7})
    trust = trust_of(one, seeds=[ANN, BOB], silent=[BOB])
    found = inflows(one, trust, WIDE, CYD, [BOB])

    assert [(inflow.by, inflow.flow) for inflow in found[1:]] == [(BOB, 0), (DAN, 0)]
    assert not any(inflow.capped for inflow in found)


def test_nothing_flows_into_who_was_not_judged() -> None:
    one = graph({(ANN, BOB): 5})

    assert inflows(one, trust_of(one), WIDE, ANN, ()) == ()
    assert inflows(one, {}, WIDE, b"x" * 32, ()) == ()


PAIRS = st.tuples(st.sampled_from(AGENTS), st.sampled_from(AGENTS)).filter(
    lambda pair: pair[0] != pair[1]
)
VOUCHES = st.dictionaries(PAIRS, st.integers(1, 255), max_size=15)
CHARTERS = st.builds(
    lambda seats, kappa: replace(RULES, seats=seats, kappa=kappa),
    st.sampled_from([1, 50, 10_000]),
    st.sampled_from([1, 16, 256]),
)


@given(vouches=VOUCHES, rules=CHARTERS, silent=st.sets(st.sampled_from(AGENTS[3:]), max_size=2))
def test_inflows_are_what_one_more_round_would_bring(
    vouches: Vouches, rules: Trust, silent: set[AgentId]
) -> None:
    one = graph(vouches)
    trust = trust_of(one, rules, silent=sorted(silent))
    into = {agent: inflows(one, trust, rules, agent, silent) for agent in AGENTS}

    # After 64 rounds, one more changes hardly anything; the seed has the rest.
    for agent in AGENTS[1:]:
        assert abs(sum(one.flow for one in into[agent]) - trust.get(agent, 0)) < M >> 20
    for agent in AGENTS:
        for inflow in into[agent]:
            assert 0 <= inflow.flow <= edge_cap(rules)
            assert inflow.by not in silent or inflow.flow == 0


# Paths.


def test_a_seed_has_its_own_path() -> None:
    one = graph({(ANN, BOB): 5, (BOB, ANN): 5})
    trust = trust_of(one)

    assert paths(one, trust, WIDE, ANN, [ANN], ()) == (Path(agents=(ANN,), flow=trust[ANN]),)
    assert paths(one, {}, WIDE, CYD, [CYD], ()) == (Path(agents=(CYD,), flow=0),)


def test_a_path_leads_from_a_seed_and_names_its_narrowest_flow() -> None:
    one = graph({(ANN, BOB): 5, (BOB, CYD): 5, (CYD, DAN): 5, (DAN, BOB): 5})
    trust = trust_of(one)
    (found,) = paths(one, trust, WIDE, DAN, [ANN], ())

    (into,) = inflows(one, trust, WIDE, DAN, ())
    assert found == Path(agents=(ANN, BOB, CYD, DAN), flow=into.flow)


def test_the_widest_path_comes_first_and_each_takes_what_it_carries() -> None:
    one = graph({(ANN, BOB): 50, (ANN, CYD): 20, (BOB, DAN): 9, (CYD, DAN): 9, (ANN, DAN): 1})
    found = paths(one, trust_of(one), WIDE, DAN, [ANN], ())

    # Of 50, 20 and 1 parts that Ann passes on, Bob and Cyd pass 3 in 32 further.
    assert [path.agents for path in found] == [(ANN, BOB, DAN), (ANN, CYD, DAN), (ANN, DAN)]
    assert [path.flow for path in found] == sorted((path.flow for path in found), reverse=True)


def test_an_agent_that_two_equal_ways_reach_is_passed_once() -> None:
    one = graph(dict.fromkeys([(ANN, CYD), (CYD, DAN), (CYD, EVE), (DAN, FAY), (EVE, FAY)], 9))
    found = paths(one, trust_of(one), WIDE, FAY, [ANN], ())

    assert [path.agents for path in found] == [(ANN, CYD, DAN, FAY), (ANN, CYD, EVE, FAY)]


def test_who_has_no_trust_has_no_path() -> None:
    one = graph({(BOB, CYD): 255, (CYD, BOB): 255, (BOB, ANN): 255})
    trust = trust_of(one)

    assert paths(one, trust, WIDE, CYD, [ANN], ()) == ()
    assert paths(one, trust, WIDE, b"x" * 32, [ANN], ()) == ()


def test_no_path_leads_through_the_silent() -> None:
    one = graph({(ANN, BOB): 5, (BOB, CYD): 5})
    trust = trust_of(one, silent=[BOB])

    assert paths(one, trust, WIDE, CYD, [ANN], [BOB]) == ()
    assert len(paths(one, trust, WIDE, BOB, [ANN], [BOB])) == 1


def test_no_more_paths_are_given_than_were_asked_for() -> None:
    one = graph({(ANN, one): 5 for one in AGENTS[1:5]} | {(one, FAY): 5 for one in AGENTS[1:5]})
    trust = trust_of(one)

    assert [len(paths(one, trust, WIDE, FAY, [ANN], (), most=most)) for most in (0, 1, 3, 9)] == [
        0, 1, 3, 4
    ]  # fmt: skip


def widest(one: Graph, trust: Mapping[AgentId, int], rules: Trust, agent: AgentId) -> int:
    """Try every path there can be."""
    flows = {
        (inflow.by, to): inflow.flow
        for to in AGENTS
        for inflow in inflows(one, trust, rules, to, ())
    }
    others = [name for name in AGENTS if name not in {ANN, agent}]
    return max(
        min(flows.get(edge, 0) for edge in pairwise((ANN, *between, agent)))
        for length in range(len(others) + 1)
        for between in permutations(others, length)
    )


@given(vouches=VOUCHES, rules=CHARTERS)
def test_paths_are_the_widest_and_count_no_trust_twice(vouches: Vouches, rules: Trust) -> None:
    one = graph(vouches)
    trust = trust_of(one, rules)
    found = paths(one, trust, rules, FAY, [ANN], (), most=50)
    carried: Counter[tuple[AgentId, AgentId]] = Counter()
    for path in found:
        assert path.agents[0] == ANN
        assert path.agents[-1] == FAY
        assert len(set(path.agents)) == len(path.agents)
        assert path.flow > 0
        for edge in pairwise(path.agents):
            carried[edge] += path.flow

    for (by, agent), flow in carried.items():
        there = {inflow.by: inflow.flow for inflow in inflows(one, trust, rules, agent, ())}
        assert flow <= there[by]
    assert [path.flow for path in found] == sorted((path.flow for path in found), reverse=True)
    assert (found[0].flow if found else 0) == widest(one, trust, rules, FAY)


def test_paths_do_not_depend_on_the_order_of_acts() -> None:
    vouches = dict.fromkeys(permutations(AGENTS, 2), 7)
    one, other = graph(vouches), graph(dict(reversed(vouches.items())))
    trust = trust_of(one)

    assert paths(one, trust, WIDE, FAY, [ANN, BOB], ()) == paths(
        other, trust, WIDE, FAY, [BOB, ANN], ()
    )


def test_a_search_ends_in_a_graph_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    one = graph(dict.fromkeys(permutations(AGENTS, 2), 7))
    trust = trust_of(one)
    all_ = paths(one, trust, WIDE, FAY, [ANN], (), most=99)
    found = []
    for steps in (0, 10, 40, 100_000):
        monkeypatch.setattr(module, "MOST_STEPS", steps)
        found.append(paths(one, trust, WIDE, FAY, [ANN], (), most=99))

    sizes = [len(some) for some in found]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    assert all(all_[: len(some)] == some for some in found)


@pytest.mark.parametrize(("seats", "kappa"), [(1, 1), (1_000_000, 1), (1_000_000, 256)])
def test_the_cap_of_no_charter_shuts_a_way(seats: int, kappa: int) -> None:
    rules = replace(RULES, seats=seats, kappa=kappa)
    one = graph({(ANN, BOB): 255})

    (found,) = inflows(one, trust_of(one, rules), rules, BOB, ())
    assert found.flow > 0
